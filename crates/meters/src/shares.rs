//! What the clock found processors doing, and how often.

/// What a processor was doing at a sample of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    /// It ran a user's program.
    User,
    /// It ran a user's program's system call.
    Primitive,
    /// It handled a page fault.
    PageFault,
    /// It handled the interrupt of a device, the clock or another processor.
    Interrupt,
    /// It did what an interrupt had left to be done.
    SoftInterrupt,
    /// It chose another task, or switched to it.
    Getwork,
    /// It ran a thread of the kernel.
    KernelThread,
}

/// How many samples found each thing being done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shares {
    pub user: u64,
    pub primitive: u64,
    pub page_fault: u64,
    pub interrupt: u64,
    pub soft_interrupt: u64,
    pub getwork: u64,
    pub kernel_thread: u64,
}

impl Shares {
    /// Counts a sample.
    pub fn add(&mut self, doing: Doing) {
        *match doing {
            Doing::User => &mut self.user,
            Doing::Primitive => &mut self.primitive,
            Doing::PageFault => &mut self.page_fault,
            Doing::Interrupt => &mut self.interrupt,
            Doing::SoftInterrupt => &mut self.soft_interrupt,
            Doing::Getwork => &mut self.getwork,
            Doing::KernelThread => &mut self.kernel_thread,
        } += 1;
    }
}
