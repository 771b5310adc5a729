//! Processor sharing: all processes run at once, each at an equal share of the processors, and at most at one processor's speed.
//!
//! Virtual time is the processor time of a process that has been there from the beginning. A process that joins at virtual time v
//! with s ns of work leaves at v + s, whatever other processes join or leave. One heap of these times therefore gives the next
//! process to leave. Source: Parekh and Gallager, "A generalized processor sharing approach to flow control", 1993.

use super::processor::Processor;
use super::processors::ProcessorSet;
use crate::calendar::Calendar;
use crate::disciplines::ProcessId;
use crate::meters::Category;

/// Parts of a nanosecond in virtual time, as a power of two.
const VIRTUAL_FRACTION_BITS: u32 = 10;
/// Limit of virtual time; beyond it, virtual time is set back to 0.
const VIRTUAL_RESET_UNITS: u64 = 1 << 62;
/// Longest uninterrupted work that virtual time can represent: 104 days.
pub(super) const MOST_WORK_NS: u64 = (1 << 53) - 1;
const BUSY_CATEGORIES: usize = Category::IdleZero as usize;

/// The activity of a process with its share of the processors.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedActivity {
    /// The category of the processor time.
    pub category: Category,
    /// Processor time of the activity.
    pub ns: u64,
    /// Whether the process works (else it does a step of the supervisor).
    pub is_work: bool,
}

/// The processes that share the processors.
#[derive(Clone, Debug)]
pub(super) struct SharedProcessors {
    count: u64,
    /// Processes by the virtual time at which they leave.
    leaving: Calendar,
    virtual_now: u64,
    /// The clock's time when virtual time was last computed.
    since: u64,
    /// When the next process leaves.
    pub due: Option<u64>,
    /// The processors that are busy.
    busy: Vec<u16>,
    /// Number of processes by the category of their activity.
    mix: [u64; BUSY_CATEGORIES],
    /// The activity of each process.
    activities: Vec<SharedActivity>,
    /// Interrupts that the next process to join handles.
    interrupts: u64,
}

impl SharedProcessors {
    /// This number of processors, without processes.
    pub fn new(count: usize) -> SharedProcessors {
        SharedProcessors {
            count: count as u64,
            leaving: Calendar::default(),
            virtual_now: 0,
            since: 0,
            due: None,
            busy: Vec::new(),
            mix: [0; BUSY_CATEGORIES],
            activities: Vec::new(),
            interrupts: 0,
        }
    }

    /// Updates virtual time and the processors' times to `now`.
    #[inline(always)]
    fn update(&mut self, now: u64, processors: &mut [Processor]) {
        self.charge(now, processors);
        let there = self.leaving.len() as u64;
        if there > 0 {
            self.virtual_now += self.virtual_span(now - self.since, there);
        }
        self.since = now;
    }

    /// Updates the busy processors' times to `now`.
    fn charge(&self, now: u64, processors: &mut [Processor]) {
        if now == self.since || self.leaving.is_empty() {
            return;
        }
        for p in &self.busy {
            let processor = &mut processors[*p as usize];
            split(&self.mix, now - self.since, &mut processor.time_ns);
            processor.since = now;
        }
    }

    #[inline]
    fn virtual_span(&self, span_ns: u64, there: u64) -> u64 {
        let span = u128::from(span_ns) << VIRTUAL_FRACTION_BITS;
        if there <= self.count { span as u64 } else { (span * u128::from(self.count) / u128::from(there)) as u64 }
    }

    /// Computes when the next process leaves.
    fn look_ahead(&mut self) {
        let there = self.leaving.len() as u64;
        let shares = there.max(self.count);
        self.due = self.leaving.next_at().map(|at| {
            let left = u128::from(at.saturating_sub(self.virtual_now)) * u128::from(shares);
            let span_ns = left.div_ceil(u128::from(self.count) << VIRTUAL_FRACTION_BITS);
            self.since.saturating_add(u64::try_from(span_ns).unwrap_or(u64::MAX))
        });
    }

    /// Sets virtual time back to 0, and moves all processes to the new one.
    #[cold]
    fn begin_again(&mut self) {
        let mut leaving = Calendar::default();
        while let Some((at, pid)) = self.leaving.take_next() {
            leaving.enter(at.saturating_sub(self.virtual_now), pid);
        }
        self.leaving = leaving;
        self.virtual_now = 0;
    }

    /// Lets `pid` run at its share from `now` on, for this much processor time, and says whether a processor was idle.
    #[inline(always)]
    pub fn add(&mut self, pid: ProcessId, activity: SharedActivity, processors: &mut ProcessorSet, now: u64) -> bool {
        self.update(now, processors.all_mut());
        if self.virtual_now > VIRTUAL_RESET_UNITS {
            self.begin_again();
        }
        if self.activities.len() <= pid as usize {
            self.activities.resize(pid as usize + 1, SharedActivity { category: Category::User, ns: 0, is_work: false });
        }
        self.activities[pid as usize] = activity;
        self.mix[activity.category as usize] += 1;
        let span = activity.ns.saturating_mul(1 << VIRTUAL_FRACTION_BITS);
        self.leaving.enter(self.virtual_now.saturating_add(span), pid);
        self.look_ahead();
        let Some(p) = processors.take_idle() else { return false };
        processors[p].close(now);
        processors[p].category = Category::User;
        self.busy.push(p as u16);
        true
    }

    /// Removes `pid`, whose command is given up, at `now`, and says whether a processor idles from then on.
    pub fn remove(&mut self, pid: ProcessId, processors: &mut ProcessorSet, now: u64) -> bool {
        self.update(now, processors.all_mut());
        self.leaving.retain(|other| other != pid);
        self.release_share(pid, processors, now)
    }

    /// Removes the process that leaves at `due`, with its activity, and says whether a processor idles from then on.
    #[inline(always)]
    pub fn take_due(&mut self, due: u64, processors: &mut ProcessorSet) -> (ProcessId, SharedActivity, bool) {
        self.update(due, processors.all_mut());
        let (_, pid) = self.leaving.take_next().expect("the process that is due is there");
        let activity = self.activities[pid as usize];
        (pid, activity, self.release_share(pid, processors, due))
    }

    /// Removes a share: a processor idles, or the other processes have larger shares.
    #[inline(always)]
    fn release_share(&mut self, pid: ProcessId, processors: &mut ProcessorSet, now: u64) -> bool {
        self.mix[self.activities[pid as usize].category as usize] -= 1;
        self.look_ahead();
        if self.leaving.len() as u64 >= self.count {
            return false;
        }
        let p = self.busy.pop().expect("a process that leaves has run");
        processors.make_idle(p as usize, now);
        true
    }

    /// Keeps an interrupt for the next process to join.
    pub fn queue_interrupt(&mut self) {
        self.interrupts += 1;
    }

    /// Takes the interrupts that the process which joins now handles.
    #[inline]
    pub fn take_interrupts(&mut self) -> u64 {
        std::mem::take(&mut self.interrupts)
    }

    /// The times of all processors up to `now`, with the busy processors' times split by [`split`].
    pub fn times(&self, now: u64, processors: &[Processor]) -> Vec<[u64; Category::COUNT]> {
        let mut processors = processors.to_vec();
        self.charge(now, &mut processors);
        processors.iter().map(|processor| processor.times(now)).collect()
    }
}

/// Splits a span of a busy processor by the activities of the processes that share it. The indivisible remainder is work.
#[inline]
fn split(mix: &[u64; BUSY_CATEGORIES], span_ns: u64, time_ns: &mut [u64; Category::COUNT]) {
    let there: u64 = mix.iter().sum();
    let mut remainder_ns = span_ns;
    for category in 1..BUSY_CATEGORIES {
        if mix[category] > 0 {
            let part_ns = (u128::from(span_ns) * u128::from(mix[category]) / u128::from(there)) as u64;
            time_ns[category] += part_ns;
            remainder_ns -= part_ns;
        }
    }
    time_ns[Category::User as usize] += remainder_ns;
}
