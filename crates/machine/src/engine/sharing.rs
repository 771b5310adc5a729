//! Processor sharing: all processes run at once, each at an equal share of the processors, and at most at one processor's speed.
//!
//! Virtual time is the processor time that a process which has been there from the beginning would have had. A process that joins at
//! virtual time v with s to do leaves at v + s, whoever joins or leaves meanwhile; so one heap of those times says who leaves next,
//! and nobody else is touched. Source: Parekh and Gallager, "A generalized processor sharing approach to flow control", 1993.

use super::clockwork::Clockwork;
use super::errand::{Counted, Step};
use super::process::State;
use super::processor::Processor;
use super::work::{Fate, Next};
use crate::calendar::Calendar;
use crate::disciplines::{Job, ReadyList};
use crate::meters::{Category, FaultKind};

/// Parts of a nanosecond in virtual time, as a power of two.
const FRACTION: u32 = 10;
/// Virtual time is counted anew from here.
const MOST_VIRTUAL: u64 = 1 << 62;
/// The most work at one go that virtual time has room for: 104 days.
const MOST_WORK_NS: u64 = (1 << 53) - 1;
const TOO_LONG: &str = "a command works for more than 104 days at one go, and that cannot be shared out: check `speed` and `cpu`, or use a \
                        discipline with a quantum";
const BUSY_CATEGORIES: usize = Category::IdleZero as usize;

/// Those who share the processors.
#[derive(Clone, Debug)]
pub struct Shared {
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
    /// Of each process, what it does and for how long.
    doing: Vec<(Category, u64)>,
    /// Whether the process does its work (else a step).
    works: Vec<bool>,
    /// Interrupts that the next one to join handles.
    interrupts: u64,
}

impl Shared {
    /// So many processors, and nobody.
    pub fn new(count: usize) -> Shared {
        Shared {
            count: count as u64,
            leaving: Calendar::default(),
            virtual_now: 0,
            since: 0,
            due: None,
            busy: Vec::new(),
            mix: [0; BUSY_CATEGORIES],
            doing: Vec::new(),
            works: Vec::new(),
            interrupts: 0,
        }
    }

    /// Brings virtual time and the processors' times up to `now`.
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

    fn virtual_span(&self, span_ns: u64, there: u64) -> u64 {
        let span = u128::from(span_ns) << FRACTION;
        if there <= self.count { span as u64 } else { (span * u128::from(self.count) / u128::from(there)) as u64 }
    }

    /// Finds out when the next one leaves.
    fn look_ahead(&mut self) {
        let there = self.leaving.len() as u64;
        let shares = there.max(self.count);
        self.due = self.leaving.next_at().map(|at| {
            let left = u128::from(at.saturating_sub(self.virtual_now)) * u128::from(shares);
            let span_ns = left.div_ceil(u128::from(self.count) << FRACTION);
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

    /// The times of processors up to `now`, those of the busy ones split as above.
    pub fn times(&self, now: u64, processors: &[Processor]) -> Vec<[u64; Category::COUNT]> {
        let mut processors = processors.to_vec();
        self.charge(now, &mut processors);
        processors.iter().map(|processor| processor.times(now)).collect()
    }
}

/// Splits a span of a busy processor by what those who share it do; what cannot be divided is work.
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

impl<L: ReadyList> Clockwork<L> {
    /// `job` can run, and so has its share.
    pub(super) fn joins(&mut self, job: Job) {
        self.place(job, State::Running);
        self.dispatches += 1;
        if self.processes[job as usize].on_errand {
            let interrupts = std::mem::take(&mut self.sharing().interrupts);
            let ns = interrupts.saturating_mul(self.costs.interrupt_ns);
            let step = Step::Spend { category: Category::Interrupt, ns, counted: Counted::Nothing };
            self.processes[job as usize].errand().steps.extend((ns > 0).then_some(step));
        }
        self.shares_on(job);
    }

    fn sharing(&mut self) -> &mut Shared {
        self.shared.as_mut().expect("processors that are shared")
    }

    /// An interrupt for what `job` waits for; the next one to join handles it.
    pub(super) fn interrupt_shared(&mut self) {
        let cost_ns = self.costs.interrupt_ns;
        self.sharing().interrupts += 1;
        self.tallies.faults[FaultKind::Interrupt as usize].add(cost_ns, 0);
    }

    /// `job` does whatever is next.
    fn shares_on(&mut self, job: Job) {
        if self.processes[job as usize].on_errand {
            match self.next_step(job) {
                Next::Spend(category, ns) => return self.enter_share(job, category, ns, false),
                Next::Leaves(fate) => return self.depart(job, fate),
                Next::Works => {}
            }
        }
        let process = &self.processes[job as usize];
        let ns = if process.on_errand { self.plan(job) } else { process.left_ns };
        self.enter_share(job, Category::User, ns, true);
    }

    fn enter_share(&mut self, job: Job, category: Category, ns: u64, works: bool) {
        let now = self.now;
        if ns > MOST_WORK_NS {
            self.trouble.get_or_insert_with(|| TOO_LONG.into());
        }
        let ns = ns.min(MOST_WORK_NS);
        let shared = self.shared.as_mut().expect("processors that are shared");
        shared.bring_up(now, &mut self.processors);
        if shared.virtual_now > MOST_VIRTUAL {
            shared.begin_again();
        }
        if shared.doing.len() <= job as usize {
            shared.doing.resize(job as usize + 1, (Category::User, 0));
            shared.works.resize(job as usize + 1, false);
        }
        shared.doing[job as usize] = (category, ns);
        shared.works[job as usize] = works;
        shared.mix[category as usize] += 1;
        shared.leaving.enter(shared.virtual_now.saturating_add(ns.saturating_mul(1 << FRACTION)), job);
        shared.look_ahead();
        if let Some(p) = self.idle.pop() {
            let processor = &mut self.processors[p as usize];
            processor.close(now);
            processor.category = Category::User;
            shared.busy.push(p);
        } else {
            self.ready.rise(now);
        }
    }

    /// One fewer there: a processor idles, or somebody has a larger share.
    fn leave_share(&mut self, job: Job) {
        let shared = self.shared.as_mut().expect("processors that are shared");
        shared.mix[shared.doing[job as usize].0 as usize] -= 1;
        shared.look_ahead();
        if shared.leaving.len() as u64 >= shared.count {
            return self.ready.fall(self.now);
        }
        let p = shared.busy.pop().expect("who leaves has run");
        self.go_idle(p as usize);
    }

    /// Lets the one leave whose share is used up, if that comes before everything in the calendar and at `until` or before.
    pub(super) fn share_is_due(&mut self, until: u64) -> bool {
        let entered = self.calendar.next_at();
        let shared = self.shared.as_mut().expect("processors that are shared");
        let Some(due) = shared.due.filter(|due| *due <= until && entered.is_none_or(|at| *due <= at)) else { return false };
        self.now = due;
        shared.bring_up(due, &mut self.processors);
        let (_, job) = shared.leaving.take_next().expect("who is due is there");
        let ((_, ns), works) = (shared.doing[job as usize], shared.works[job as usize]);
        self.leave_share(job);
        if works {
            self.events += 1;
            self.worked(job, ns);
            match self.reached(job) {
                Fate::Goes => self.shares_on(job),
                fate => self.depart(job, fate),
            }
        } else {
            self.step_done(job, ns);
            self.shares_on(job);
        }
        self.look_why_idle();
        true
    }

    /// `job` is given up in the middle.
    pub(super) fn leaves_share(&mut self, job: Job) {
        let now = self.now;
        let shared = self.shared.as_mut().expect("processors that are shared");
        shared.bring_up(now, &mut self.processors);
        shared.leaving.retain(|other| other != job);
        self.leave_share(job);
        self.list.forget(job);
    }
}
