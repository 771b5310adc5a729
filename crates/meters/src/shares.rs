//! Activities of processors at clock samples, and their counts.

/// The activity of a processor at a clock sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SampledActivity {
    /// Running a user's program.
    User,
    /// Running a system call of a user's program.
    Primitive,
    /// Handling a page fault.
    PageFault,
    /// Handling an interrupt of a device, the clock or another processor.
    Interrupt,
    /// Handling a soft interrupt.
    SoftInterrupt,
    /// Choosing another task or switching to it.
    Getwork,
    /// Running a thread of the kernel.
    KernelThread,
}

impl SampledActivity {
    /// The number in the kernel programs, `enum activity`.
    pub fn number(self) -> u64 {
        self as u64 + 1
    }
}

/// Numbers of samples by activity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ActivityCounts {
    pub user: u64,
    pub primitive: u64,
    pub page_fault: u64,
    pub interrupt: u64,
    pub soft_interrupt: u64,
    pub getwork: u64,
    pub kernel_thread: u64,
}

impl ActivityCounts {
    /// The counts at the places of `enum activity`, of which the first is none.
    pub fn from_words(
        [_, user, primitive, page_fault, interrupt, soft_interrupt, getwork, kernel_thread]: [u64; 8],
    ) -> ActivityCounts {
        ActivityCounts { user, primitive, page_fault, interrupt, soft_interrupt, getwork, kernel_thread }
    }

    /// The number of samples of users' tasks.
    pub fn of_tasks(&self) -> u64 {
        self.user + self.primitive + self.page_fault + self.interrupt + self.soft_interrupt + self.getwork
    }

    /// Adds the counts of a span to these.
    pub fn extend(&mut self, more: ActivityCounts) {
        self.user += more.user;
        self.primitive += more.primitive;
        self.page_fault += more.page_fault;
        self.interrupt += more.interrupt;
        self.soft_interrupt += more.soft_interrupt;
        self.getwork += more.getwork;
        self.kernel_thread += more.kernel_thread;
    }

    /// Counts a sample.
    pub fn add(&mut self, activity: SampledActivity) {
        *match activity {
            SampledActivity::User => &mut self.user,
            SampledActivity::Primitive => &mut self.primitive,
            SampledActivity::PageFault => &mut self.page_fault,
            SampledActivity::Interrupt => &mut self.interrupt,
            SampledActivity::SoftInterrupt => &mut self.soft_interrupt,
            SampledActivity::Getwork => &mut self.getwork,
            SampledActivity::KernelThread => &mut self.kernel_thread,
        } += 1;
    }
}
