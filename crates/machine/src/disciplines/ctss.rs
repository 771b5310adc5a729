//! CTSS's exponential queues: a program's level grows with its size and with its processor time.
//!
//! A program of w_p words enters queue [log2([w_p / w_q] + 1)]. Here w_q is the number of words that move in and out in one
//! quantum, so swapping a program never takes longer than running it. The head of the lowest occupied queue l runs for up to
//! 2^l quanta. If it is not done then, it goes to the tail of queue l + 1. When a lower queue becomes occupied, the running
//! program goes back to the head of its queue.
//! Source: Corbató, Merwin-Daggett, Daley, "An experimental time-sharing system", SJCC 1962. The programmer's guide of 1963 has
//! the same rules, but puts the pre-empted program at the tail.
//! Assumed: a pre-empted program keeps the rest of its 2^l quanta. So does a program that waited for a device, and it returns at
//! the tail of its queue. From the last queue, a program goes to the tail of the last.
//!
//! A program that has waited for a time (60 s in later systems) rises by a level. It goes to the tail of the queue there,
//! with all quanta of that level. Assumed: the scheduler sees that when it next decides, so that the running program is not
//! interrupted. Without the rise, as in 1962, a stream of small programs can starve a large one.

use super::order::ProcessHeap;
use super::{CandidateFacts, EligibilityAfterTurn, LeaveCause, ProcessId, ReadyCause, ReadyList, Turn};

/// CTSS's queues. See the head of the file.
#[derive(Clone, Debug)]
pub struct Ctss {
    quantum_ns: u64,
    words_per_quantum: u64,
    last_level: u32,
    programs: Vec<CtssProgram>,
    asking: ProcessHeap<CtssKey>,
    ready: ProcessHeap<CtssKey>,
    /// Waiting after which a program rises by a level; 0: none does.
    rise_ns: u64,
    /// The instant at which each waiting program rises, with its position; empty where none does.
    rises: ProcessHeap<(u64, i64)>,
    /// The next positions behind all others and before all others.
    tail: i64,
    head: i64,
}

/// A program's level, and its position on that level.
type CtssKey = (u32, i64);

#[derive(Clone, Copy, Debug, Default)]
struct CtssProgram {
    level: u32,
    /// Used part of the 2^level quanta.
    had_ns: u64,
    /// The program was pre-empted, and goes to the head of its queue.
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
            asking: ProcessHeap::default(),
            ready: ProcessHeap::default(),
            rise_ns: 0,
            rises: ProcessHeap::default(),
            tail: 0,
            head: -1,
        }
    }

    /// The same queues, in which a program rises by a level after it has waited for so long; 0: none does.
    pub fn rising(self, rise_ns: u64) -> Ctss {
        Ctss { rise_ns, ..self }
    }

    /// The level at which a program of this number of words enters.
    pub fn level_of(&self, words: u64) -> u32 {
        (words / self.words_per_quantum).saturating_add(1).ilog2().min(self.last_level)
    }

    fn turn_ns(&self, level: u32) -> u64 {
        1u64.checked_shl(level).unwrap_or(u64::MAX).saturating_mul(self.quantum_ns)
    }

    fn position_behind(&mut self) -> i64 {
        self.tail += 1;
        self.tail - 1
    }

    fn position_before(&mut self) -> i64 {
        self.head -= 1;
        self.head + 1
    }

    /// Notes that `pid` waits from `since` on, at this key.
    fn waits(&mut self, pid: ProcessId, (level, position): CtssKey, since: u64) {
        if self.rise_ns > 0 && level > 0 {
            self.rises.insert((since.saturating_add(self.rise_ns), position), pid);
        }
    }

    /// Lets the programs rise that have waited for long enough by `now`.
    fn raise(&mut self, now: u64) {
        while let Some(((at, _), pid)) = self.rises.first().filter(|((at, _), _)| *at <= now) {
            self.rises.remove(pid);
            let level = self.programs[pid as usize].level - 1;
            self.programs[pid as usize] = CtssProgram { level, ..CtssProgram::default() };
            let key = (level, self.position_behind());
            if self.ready.remove(pid) {
                self.ready.insert(key, pid);
            } else {
                self.asking.remove(pid);
                self.asking.insert(key, pid);
            }
            self.waits(pid, key, at);
        }
    }
}

impl ReadyList for Ctss {
    fn ask(&mut self, pid: ProcessId, facts: &CandidateFacts, now: u64) {
        self.raise(now);
        if self.programs.len() <= pid as usize {
            self.programs.resize(pid as usize + 1, CtssProgram::default());
        }
        if facts.begins {
            self.programs[pid as usize] = CtssProgram { level: self.level_of(facts.image_words), ..CtssProgram::default() };
        }
        let key = (self.programs[pid as usize].level, self.position_behind());
        self.asking.insert(key, pid);
        self.waits(pid, key, now);
    }

    fn candidate(&self) -> Option<ProcessId> {
        self.asking.first().map(|(_, pid)| pid)
    }

    fn admit(&mut self, pid: ProcessId, _now: u64) {
        assert!(self.asking.remove(pid), "process {pid} does not ask to be eligible");
        self.rises.remove(pid);
    }

    fn ready(&mut self, pid: ProcessId, _why: ReadyCause, now: u64) {
        self.raise(now);
        let preempted = std::mem::take(&mut self.programs[pid as usize].preempted);
        let position = if preempted { self.position_before() } else { self.position_behind() };
        let key = (self.programs[pid as usize].level, position);
        self.ready.insert(key, pid);
        self.waits(pid, key, now);
    }

    fn next(&mut self, now: u64) -> Option<Turn> {
        self.raise(now);
        let pid = self.ready.take_first()?;
        self.rises.remove(pid);
        let program = self.programs[pid as usize];
        Some(Turn { pid, slice_ns: self.turn_ns(program.level) - program.had_ns })
    }

    fn off(&mut self, pid: ProcessId, ran_ns: u64, why: LeaveCause, now: u64) -> EligibilityAfterTurn {
        self.raise(now);
        let level = self.programs[pid as usize].level;
        let turn_ns = self.turn_ns(level);
        let program = &mut self.programs[pid as usize];
        program.had_ns += ran_ns;
        if why == LeaveCause::TurnOver || program.had_ns >= turn_ns {
            *program = CtssProgram { level: (level + 1).min(self.last_level), ..CtssProgram::default() };
        } else {
            program.preempted = why == LeaveCause::Preempted;
        }
        EligibilityAfterTurn::Eligible
    }

    fn preempts(&self, arrived: ProcessId, running: ProcessId) -> bool {
        self.programs[arrived as usize].level < self.programs[running as usize].level
    }

    fn forget(&mut self, pid: ProcessId) {
        self.asking.remove(pid);
        self.ready.remove(pid);
        self.rises.remove(pid);
    }

    fn asking(&self) -> usize {
        self.asking.len()
    }

    fn waiting(&self) -> usize {
        self.ready.len()
    }
}
