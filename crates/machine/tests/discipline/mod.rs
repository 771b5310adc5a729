//! What the tests of the disciplines share: one processor that keeps the door's contract, and a crowd that does so at random.

pub mod bare;

use loadgo_machine::disciplines::{Facts, Job, Off, ReadyList, Stay, Turn, Why};
use proptest::prelude::*;

pub const MS: u64 = 1_000_000;

/// One interaction: when it begins, what is known of it, and the processor time that it needs.
#[derive(Clone, Copy, Debug)]
pub struct Interaction {
    pub at: u64,
    pub facts: Facts,
    pub work: u64,
}

/// An interaction that begins.
pub fn interaction(at: u64, work: u64, facts: Facts) -> Interaction {
    Interaction { at, work, facts: Facts { begins: true, ..facts } }
}

/// Who runs from when to when on one processor, with at most `limit` eligible; job n does the n-th interaction.
pub fn schedule(list: &mut impl ReadyList, interactions: &[Interaction], limit: usize) -> Vec<(Job, u64, u64)> {
    let mut one =
        Processor { left: interactions.iter().map(|i| i.work).collect(), running: None, eligible: 0, turns: Vec::new() };
    let mut to_come: Vec<Job> = (0..interactions.len() as Job).collect();
    to_come.sort_by_key(|job| interactions[*job as usize].at);
    let mut to_come = to_come.into_iter().peekable();
    let mut now = 0;
    loop {
        one.admit(list, interactions, limit, now);
        one.dispatch(list, now);
        let arrival = to_come.peek().map(|job| interactions[*job as usize].at);
        let Some(next) = [arrival, one.end()].into_iter().flatten().min() else { return one.turns };
        now = next;
        if one.end() == Some(now) {
            one.end_turn(list, interactions, now);
        } else if let Some(job) = to_come.next() {
            list.ask(job, &interactions[job as usize].facts, now);
        }
    }
}

struct Processor {
    left: Vec<u64>,
    running: Option<(Turn, u64)>,
    eligible: usize,
    turns: Vec<(Job, u64, u64)>,
}

impl Processor {
    fn end(&self) -> Option<u64> {
        self.running.map(|(turn, since)| since + turn.slice_ns.min(self.left[turn.job as usize]))
    }

    fn admit(&mut self, list: &mut impl ReadyList, interactions: &[Interaction], limit: usize, now: u64) {
        while let Some(job) = list.candidate().filter(|_| self.eligible < limit) {
            list.admit(job, now);
            self.eligible += 1;
            list.ready(job, Why::Admitted, now);
            if self.running.is_some_and(|(turn, _)| list.preempts(job, turn.job)) {
                self.leave(list, Off::Preempted, interactions, now);
            }
        }
    }

    fn dispatch(&mut self, list: &mut impl ReadyList, now: u64) {
        if self.running.is_none() {
            self.running = list.next(now).map(|turn| (turn, now));
        }
    }

    fn end_turn(&mut self, list: &mut impl ReadyList, interactions: &[Interaction], now: u64) {
        let (turn, since) = self.running.expect("somebody runs");
        let done = now - since == self.left[turn.job as usize];
        self.leave(list, if done { Off::Done } else { Off::TurnOver }, interactions, now);
    }

    fn leave(&mut self, list: &mut impl ReadyList, why: Off, interactions: &[Interaction], now: u64) {
        let (Turn { job, .. }, since) = self.running.take().expect("somebody runs");
        self.left[job as usize] -= now - since;
        self.turns.push((job, since, now));
        match (list.off(job, now - since, why, now), why) {
            (_, Off::Done) => self.eligible -= 1,
            (Stay::Eligible, _) => list.ready(job, Why::Again, now),
            (Stay::Asks, _) => {
                self.eligible -= 1;
                list.ask(job, &Facts { begins: false, ..interactions[job as usize].facts }, now);
            }
        }
    }
}

/// Where a job of the crowd is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Where {
    Away,
    Asks,
    Waits,
    Ready,
    Runs(u64, u64),
}

/// What happens next in a crowd: what, to which job, and how long after what was before.
pub type Happening = (u8, u8, u32);

/// Any happenings among `jobs` jobs.
pub fn happenings(jobs: u8) -> impl Strategy<Value = Vec<Happening>> {
    prop::collection::vec((0..8u8, 0..jobs, 0..200_000_000u32), 1..400)
}

/// Lives through `happenings`; after each, whoever waits is counted, and nobody is given who does not wait. In the end all that
/// are there are served until they are done: nobody is lost.
pub fn live_through(list: &mut impl ReadyList, happenings: &[Happening], jobs: u8) {
    let mut crowd = Crowd { places: vec![Where::Away; jobs as usize], now: 0 };
    for (what, job, later) in happenings {
        crowd.now += u64::from(*later);
        crowd.happens(list, *what, Job::from(*job));
        crowd.check(list);
    }
    crowd.serve_all(list);
}

struct Crowd {
    places: Vec<Where>,
    now: u64,
}

impl Crowd {
    fn happens(&mut self, list: &mut impl ReadyList, what: u8, job: Job) {
        match (what, self.places[job as usize]) {
            (0..=2, Where::Away) => self.ask(list, job, true),
            (0..=1, Where::Waits) => self.ready(list, job, Why::Woken),
            (_, Where::Runs(since, slice)) if what < 7 => self.off(list, job, since, slice, what),
            (2, _) => self.admit(list),
            (3..=4, _) => self.next(list),
            (7, place) if place != Where::Away => {
                list.forget(job);
                self.places[job as usize] = Where::Away;
            }
            _ => {}
        }
    }

    fn ask(&mut self, list: &mut impl ReadyList, job: Job, begins: bool) {
        let pages = job % 7;
        let facts = Facts { image_words: u64::from(job) * 700, pages, priority: job % 3, nice: job as i32 % 40 - 20, begins };
        list.ask(job, &facts, self.now);
        self.places[job as usize] = Where::Asks;
    }

    fn admit(&mut self, list: &mut impl ReadyList) {
        let Some(job) = list.candidate() else { return };
        assert_eq!(self.places[job as usize], Where::Asks, "the candidate asks");
        list.admit(job, self.now);
        self.ready(list, job, Why::Admitted);
    }

    fn ready(&mut self, list: &mut impl ReadyList, job: Job, why: Why) {
        list.ready(job, why, self.now);
        self.places[job as usize] = Where::Ready;
        let runs = self.places.iter().position(|place| matches!(place, Where::Runs(..)));
        if let Some(running) = runs.filter(|running| list.preempts(job, *running as Job)) {
            let Where::Runs(since, slice) = self.places[running] else { unreachable!("it runs") };
            self.off(list, running as Job, since, slice, 6);
        }
    }

    fn next(&mut self, list: &mut impl ReadyList) {
        let turn = list.next(self.now);
        assert_eq!(turn.is_some(), self.places.contains(&Where::Ready), "the processor is idle only when nobody is ready");
        if let Some(Turn { job, slice_ns }) = turn {
            assert_eq!(self.places[job as usize], Where::Ready, "who is given the processor is ready");
            assert!(slice_ns > 0, "a turn is for some time");
            self.places[job as usize] = Where::Runs(self.now, slice_ns);
        }
    }

    /// `job` leaves its processor: because its turn is over when that is so, else for a reason that depends on `what`.
    fn off(&mut self, list: &mut impl ReadyList, job: Job, since: u64, slice: u64, what: u8) {
        let ran = slice.min(self.now - since);
        let why = match what {
            _ if ran == slice => Off::TurnOver,
            0..=1 => Off::Done,
            6 => Off::Preempted,
            _ => Off::Waits,
        };
        let stay = list.off(job, ran, why, self.now);
        match why {
            Off::Done => self.places[job as usize] = Where::Away,
            Off::Waits => self.places[job as usize] = Where::Waits,
            _ if stay == Stay::Asks => self.ask(list, job, false),
            _ => {
                list.ready(job, Why::Again, self.now);
                self.places[job as usize] = Where::Ready;
            }
        }
    }

    fn check(&self, list: &impl ReadyList) {
        let count = |place: Where| self.places.iter().filter(|p| **p == place).count();
        assert_eq!((list.asking(), list.waiting()), (count(Where::Asks), count(Where::Ready)), "who asks, and who is ready");
        assert_eq!(list.candidate().is_some(), list.asking() > 0, "somebody asks");
    }

    fn serve_all(&mut self, list: &mut impl ReadyList) {
        for job in 0..self.places.len() {
            match self.places[job] {
                Where::Waits => self.ready(list, job as Job, Why::Woken),
                Where::Runs(..) => self.done(list, job as Job),
                _ => {}
            }
        }
        for _ in 0..2 * self.places.len() {
            self.admit(list);
            self.next(list);
            if let Some(job) = self.places.iter().position(|place| matches!(place, Where::Runs(..))) {
                self.done(list, job as Job);
            }
            self.check(list);
        }
        assert!(self.places.iter().all(|place| *place == Where::Away), "all were served: {:?}", self.places);
    }

    fn done(&mut self, list: &mut impl ReadyList, job: Job) {
        list.off(job, 0, Off::Done, self.now);
        self.places[job as usize] = Where::Away;
    }
}
