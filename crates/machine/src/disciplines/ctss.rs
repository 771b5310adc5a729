//! CTSS's exponential queues: a program's level grows with its size and with the time that it has had.
//!
//! A program of w_p words enters queue [log2([w_p / w_q] + 1)], w_q the words that move in and out in one quantum, so that swapping
//! it never takes more of the machine than running it. The head of the lowest occupied queue l runs for up to 2^l quanta; unfinished,
//! it goes to the tail of queue l + 1. When a lower queue becomes occupied, the program that runs goes back to the head of its own.
//! Source: Corbató, Merwin-Daggett, Daley, "An experimental time-sharing system", SJCC 1962. The programmer's guide of 1963 has the
//! same rules, but puts the pre-empted program at the tail.
//! Assumed: a pre-empted program, or one that waited for a device, has what it had left of its 2^l quanta, and comes back from a
//! device at the tail of its queue; from the last queue one goes to the tail of the last. The rise after 60 s of waiting, which
//! later systems had, is not here: a stream of small programs can starve a large one.

use super::order::Order;
use super::{Facts, Job, Off, ReadyList, Stay, Turn, Why};

/// CTSS's queues. See the head of the file.
#[derive(Clone, Debug)]
pub struct Ctss {
    quantum_ns: u64,
    words_per_quantum: u64,
    last_level: u32,
    programs: Vec<Program>,
    asking: Order<Place>,
    ready: Order<Place>,
    /// The next place behind all others, and the next before all others.
    tail: i64,
    head: i64,
}

/// Its level, and its place on that level.
type Place = (u32, i64);

#[derive(Clone, Copy, Debug, Default)]
struct Program {
    level: u32,
    /// Processor time that it has had of its 2^level quanta.
    had_ns: u64,
    /// It was pre-empted, and goes to the head of its queue.
    preempted: bool,
}

impl Ctss {
    /// Queues 0 to `levels` - 1, a quantum, and the words that move in and out of core in one quantum.
    pub fn new(quantum_ns: u64, words_per_quantum: u64, levels: u32) -> Ctss {
        assert!(quantum_ns > 0 && words_per_quantum > 0 && levels > 0, "a quantum, its words and the levels are above 0");
        Ctss {
            quantum_ns,
            words_per_quantum,
            last_level: levels - 1,
            programs: Vec::new(),
            asking: Order::default(),
            ready: Order::default(),
            tail: 0,
            head: -1,
        }
    }

    /// The level at which a program of so many words enters.
    pub fn level_of(&self, words: u64) -> u32 {
        (words / self.words_per_quantum).saturating_add(1).ilog2().min(self.last_level)
    }

    fn turn_ns(&self, level: u32) -> u64 {
        1u64.checked_shl(level).unwrap_or(u64::MAX).saturating_mul(self.quantum_ns)
    }

    fn behind(&mut self) -> i64 {
        self.tail += 1;
        self.tail - 1
    }

    fn before(&mut self) -> i64 {
        self.head -= 1;
        self.head + 1
    }
}

impl ReadyList for Ctss {
    fn ask(&mut self, job: Job, facts: &Facts, _now: u64) {
        if self.programs.len() <= job as usize {
            self.programs.resize(job as usize + 1, Program::default());
        }
        if facts.begins {
            self.programs[job as usize] = Program { level: self.level_of(facts.image_words), ..Program::default() };
        }
        let place = (self.programs[job as usize].level, self.behind());
        self.asking.insert(place, job);
    }

    fn candidate(&self) -> Option<Job> {
        self.asking.first().map(|(_, job)| job)
    }

    fn admit(&mut self, job: Job, _now: u64) {
        assert!(self.asking.remove(job), "job {job} does not ask to be eligible");
    }

    fn ready(&mut self, job: Job, _why: Why, _now: u64) {
        let preempted = std::mem::take(&mut self.programs[job as usize].preempted);
        let place = if preempted { self.before() } else { self.behind() };
        self.ready.insert((self.programs[job as usize].level, place), job);
    }

    fn next(&mut self, _now: u64) -> Option<Turn> {
        let job = self.ready.take_first()?;
        let program = self.programs[job as usize];
        Some(Turn { job, slice_ns: self.turn_ns(program.level) - program.had_ns })
    }

    fn off(&mut self, job: Job, ran_ns: u64, why: Off, _now: u64) -> Stay {
        let level = self.programs[job as usize].level;
        let turn_ns = self.turn_ns(level);
        let program = &mut self.programs[job as usize];
        program.had_ns += ran_ns;
        if why == Off::TurnOver || program.had_ns >= turn_ns {
            *program = Program { level: (level + 1).min(self.last_level), ..Program::default() };
        } else {
            program.preempted = why == Off::Preempted;
        }
        Stay::Eligible
    }

    fn preempts(&self, arrived: Job, running: Job) -> bool {
        self.programs[arrived as usize].level < self.programs[running as usize].level
    }

    fn forget(&mut self, job: Job) {
        self.asking.remove(job);
        self.ready.remove(job);
    }

    fn asking(&self) -> usize {
        self.asking.len()
    }

    fn waiting(&self) -> usize {
        self.ready.len()
    }
}
