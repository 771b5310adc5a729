//! Processor sharing: all processes run at once, each at an equal share of the processors, and at most at one processor's speed.
//!
//! Virtual time is the processor time that a process which has been there from the beginning would have had. A process that joins at
//! virtual time v with s to do leaves at v + s, whoever joins or leaves meanwhile; so one heap of those times says who leaves next,
//! and nobody else is touched. Source: Parekh and Gallager, "A generalized processor sharing approach to flow control", 1993.

use super::processor::Processor;
use super::processors::ProcessorSet;
use crate::calendar::Calendar;
use crate::disciplines::Job;
use crate::meters::Category;

/// Parts of a nanosecond in virtual time, as a power of two.
const VIRTUAL_FRACTION_BITS: u32 = 10;
/// Virtual time is counted anew from here.
const VIRTUAL_RESET_UNITS: u64 = 1 << 62;
/// The most work at one go that virtual time has room for: 104 days.
pub(super) const MOST_WORK_NS: u64 = (1 << 53) - 1;
pub(super) const LONG_COMMAND_MESSAGE: &str = "a command works for more than 104 days at one go, and that cannot be shared out: check `speed` and `cpu`, or use a \
                        discipline with a quantum";
const BUSY_CATEGORIES: usize = Category::IdleZero as usize;

/// What a process does with its share of the processors.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedActivity {
    /// The category of the processor time.
    pub category: Category,
    /// The processor time that it takes.
    pub ns: u64,
    /// Whether the process works (else it does a step of the supervisor).
    pub is_work: bool,
}

/// The processes that share the processors.
#[derive(Clone, Debug)]
pub(super) struct SharedProcessors {
    count: u64,
    /// Who leaves at which virtual time.
    leaving: Calendar,
    virtual_now: u64,
    /// The clock when virtual time was last brought up to it.
    since: u64,
    /// When the next one leaves.
    pub due: Option<u64>,
    /// The processors that are busy.
    busy: Vec<u16>,
    /// How many do what.
    mix: [u64; BUSY_CATEGORIES],
    /// For each process, what it does.
    activities: Vec<SharedActivity>,
    /// Interrupts that the next one to join handles.
    interrupts: u64,
}

impl SharedProcessors {
    /// So many processors, and nobody.
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

    /// Brings virtual time and the processors' times up to `now`.
    #[inline(always)]
    fn bring_up(&mut self, now: u64, processors: &mut [Processor]) {
        self.charge(now, processors);
        let there = self.leaving.len() as u64;
        if there > 0 {
            self.virtual_now += self.virtual_span(now - self.since, there);
        }
        self.since = now;
    }

    /// Brings the busy processors' times up to `now`.
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

    /// Finds out when the next one leaves.
    fn look_ahead(&mut self) {
        let there = self.leaving.len() as u64;
        let shares = there.max(self.count);
        self.due = self.leaving.next_at().map(|at| {
            let left = u128::from(at.saturating_sub(self.virtual_now)) * u128::from(shares);
            let span_ns = left.div_ceil(u128::from(self.count) << VIRTUAL_FRACTION_BITS);
            self.since.saturating_add(u64::try_from(span_ns).unwrap_or(u64::MAX))
        });
    }

    /// Takes those who are there over into a virtual time that begins again.
    #[cold]
    fn begin_again(&mut self) {
        let mut leaving = Calendar::default();
        while let Some((at, job)) = self.leaving.take_next() {
            leaving.enter(at.saturating_sub(self.virtual_now), job);
        }
        self.leaving = leaving;
        self.virtual_now = 0;
    }

    /// Lets `job` run at its share from `now` on, for this much processor time; whether there was an idle processor for it.
    #[inline(always)]
    pub fn add(&mut self, job: Job, activity: SharedActivity, processors: &mut ProcessorSet, now: u64) -> bool {
        self.bring_up(now, processors.all_mut());
        if self.virtual_now > VIRTUAL_RESET_UNITS {
            self.begin_again();
        }
        if self.activities.len() <= job as usize {
            self.activities.resize(job as usize + 1, SharedActivity { category: Category::User, ns: 0, is_work: false });
        }
        self.activities[job as usize] = activity;
        self.mix[activity.category as usize] += 1;
        let span = activity.ns.saturating_mul(1 << VIRTUAL_FRACTION_BITS);
        self.leaving.enter(self.virtual_now.saturating_add(span), job);
        self.look_ahead();
        let Some(p) = processors.take_idle() else { return false };
        processors[p].close(now);
        processors[p].category = Category::User;
        self.busy.push(p as u16);
        true
    }

    /// Takes `job`, which is given up, out at `now`; whether a processor idles from then on.
    pub fn remove(&mut self, job: Job, processors: &mut ProcessorSet, now: u64) -> bool {
        self.bring_up(now, processors.all_mut());
        self.leaving.retain(|other| other != job);
        self.release_share(job, processors, now)
    }

    /// Takes out the process that is due at `due`, with what it did; whether a processor idles from then on.
    #[inline(always)]
    pub fn take_due(&mut self, due: u64, processors: &mut ProcessorSet) -> (Job, SharedActivity, bool) {
        self.bring_up(due, processors.all_mut());
        let (_, job) = self.leaving.take_next().expect("the process that is due is there");
        let activity = self.activities[job as usize];
        (job, activity, self.release_share(job, processors, due))
    }

    /// One process fewer: a processor idles, or the others have larger shares.
    #[inline(always)]
    fn release_share(&mut self, job: Job, processors: &mut ProcessorSet, now: u64) -> bool {
        self.mix[self.activities[job as usize].category as usize] -= 1;
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

    /// The times of processors up to `now`, those of the busy ones split as above.
    pub fn times(&self, now: u64, processors: &[Processor]) -> Vec<[u64; Category::COUNT]> {
        let mut processors = processors.to_vec();
        self.charge(now, &mut processors);
        processors.iter().map(|processor| processor.times(now)).collect()
    }
}

/// Splits a span of a busy processor by what those who share it do; what cannot be divided is work.
#[inline]
fn split(mix: &[u64; BUSY_CATEGORIES], span_ns: u64, time_ns: &mut [u64; Category::COUNT]) {
    let there: u64 = mix.iter().sum();
    let mut rest_ns = span_ns;
    for category in 1..BUSY_CATEGORIES {
        if mix[category] > 0 {
            let part_ns = (u128::from(span_ns) * u128::from(mix[category]) / u128::from(there)) as u64;
            time_ns[category] += part_ns;
            rest_ns -= part_ns;
        }
    }
    time_ns[Category::User as usize] += rest_ns;
}
