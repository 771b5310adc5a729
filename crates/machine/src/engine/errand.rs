//! An errand, the work of one interaction: stops spread evenly over the work, and the supervisor's steps at each stop.
//!
//! Each command draws from a branch of the user's stream, in a fixed order when the command is given. Other machines draw the same
//! (common random numbers), and an abandoned command does not shift the draws of the next one. Page faults are drawn from a second
//! branch, since their number differs from machine to machine.

use std::collections::VecDeque;

use super::joint_demand::CommandDemand;
use crate::disciplines::ProcessId;
use crate::draw::{AmountLaw, rounded};
use crate::meters::{Category, FaultKind, Primitive};
use crate::spec::Amount;
use loadgo_core::random::{RandomStream, StreamPurpose};

/// Largest number of stops of a kind in one command. Each stop is at least an event, so more would take hours.
pub(crate) const MOST_STOPS: u64 = 1_000_000;

/// The purpose of an errand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrandPurpose {
    /// The creation of the process.
    Creation,
    /// A user's command.
    Command,
}

/// A kind of stop of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkStop {
    /// A segment fault.
    Segment,
    /// A bound fault.
    Bound,
    /// A wall crossing.
    Wall,
    /// The creation of a process.
    Process,
    /// A message to or from the network.
    Message,
    /// A request to a store.
    Request(usize),
    /// A line to the terminal.
    Line,
}

/// Stops of one kind. The n-th of `count` comes after (n - 1/2)/count of the work.
#[derive(Clone, Copy, Debug)]
struct WorkStops {
    stop: WorkStop,
    count: u64,
    done: u64,
}

/// The count that a finished step is added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepCount {
    /// No count.
    Nothing,
    /// The faults of a kind.
    Fault(FaultKind),
    /// The primitives of a kind.
    Primitive(Primitive),
}

/// A step of the supervisor before a process works on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SupervisorStep {
    /// Processor time.
    Spend { category: Category, ns: u64, counted: StepCount },
    /// A page fault begins.
    Fault,
    /// A frame is taken after a page fault has been handled, and the process waits for the page.
    TakeFrame,
    /// A request to a store.
    Request(usize),
    /// A request to a store for a time that is known already.
    Wait { store: usize, ns: u64 },
    /// A line has been printed.
    Line { bytes: u64 },
}

/// The goal up to which a process works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum WorkGoal {
    /// The end of the work.
    End,
    /// A stop.
    Stop,
    /// A page fault.
    Fault,
}

/// The work of an interaction, and the resources that it has used.
#[derive(Clone, Debug)]
pub(crate) struct Errand {
    /// The purpose.
    pub aim: ErrandPurpose,
    /// Random numbers for draws during the errand.
    pub stream: RandomStream,
    /// Random numbers for page faults; a branch of `user_misses`.
    pub misses: RandomStream,
    user_misses: RandomStream,
    /// The work of the whole errand.
    pub work_ns: u64,
    /// The goal of the current work.
    pub goal: WorkGoal,
    /// Steps to be done before the work.
    pub steps: VecDeque<SupervisorStep>,
    /// Words of the program's image.
    pub image_words: u64,
    /// Whether the command is another program than the one before, and has not been brought in yet.
    pub fresh: bool,
    /// The program of the command before.
    pub previous: Option<u32>,
    /// Processor time of the supervisor for the errand.
    pub cpu_system_ns: u64,
    /// The part of that for the current page fault.
    pub fault_cpu_ns: u64,
    /// Page faults, or programs brought in.
    pub faults_major: u64,
    /// Time of waiting for these pages or programs.
    pub paging_wait_ns: u64,
    /// When the first line was printed.
    pub first_output: Option<u64>,
    /// Bytes of the printed lines.
    pub bytes_out: u64,
    /// Bytes of a network message.
    pub message_bytes: f64,
    /// Network bytes that are left.
    pub network_bytes: f64,
    /// The kind of stop of which more than [`MOST_STOPS`] were drawn, if any.
    pub too_many: Option<&'static str>,
    stops: Vec<WorkStops>,
    next: usize,
    /// The other host's time for a byte, in ns, by the store for which messages wait.
    waits: Vec<(usize, f64)>,
    /// Whether the first message has come.
    is_receiving: bool,
}

impl Errand {
    /// An empty errand of the user of `pid`.
    pub fn of(seed: u64, pid: ProcessId) -> Errand {
        let misses = RandomStream::new(seed, pid + 1, StreamPurpose::Misses);
        Errand::new(misses.clone(), misses)
    }

    fn new(stream: RandomStream, mut user_misses: RandomStream) -> Errand {
        Errand {
            aim: ErrandPurpose::Creation,
            stream,
            misses: user_misses.branch(),
            user_misses,
            work_ns: 0,
            goal: WorkGoal::End,
            steps: VecDeque::new(),
            image_words: 0,
            fresh: false,
            previous: None,
            cpu_system_ns: 0,
            fault_cpu_ns: 0,
            faults_major: 0,
            paging_wait_ns: 0,
            first_output: None,
            bytes_out: 0,
            message_bytes: 0.0,
            network_bytes: 0.0,
            too_many: None,
            stops: Vec::new(),
            next: 0,
            waits: Vec::new(),
            is_receiving: false,
        }
    }

    /// Begins another errand, without work yet.
    pub fn clear(&mut self, aim: ErrandPurpose, stream: RandomStream) {
        let (mut steps, mut stops) = (std::mem::take(&mut self.steps), std::mem::take(&mut self.stops));
        steps.clear();
        stops.clear();
        *self = Errand { aim, steps, stops, previous: self.previous, ..Errand::new(stream, self.user_misses.clone()) };
    }

    /// Draws the work of a command, and returns its processor time on a machine of this speed and its number of pages.
    pub fn draw(&mut self, demand: CommandDemand<'_>, arguments: &[f64], speed: f64, message_bytes: u32) -> (u64, u32) {
        let CommandDemand { command, joint } = demand;
        let stream = &mut self.stream;
        let joint = joint.map(|joint| (joint, stream.normal()));
        let cpu_ns = joint.map_or_else(|| command.cpu.draw(stream), |(joint, score)| joint.cpu_ns(score));
        let work_ns = whole(cpu_ns / speed);
        let pages = whole(command.pages.draw(stream)).min(u64::from(u32::MAX - 1)) as u32;
        self.image_words = whole(command.image_words.draw(stream));
        let segments = number(&command.segment_faults, stream);
        let bounds = number(&command.bound_faults, stream);
        let walls = number(&command.wall_crossings, stream);
        let processes = number(&command.processes, stream);
        let lines = number(&command.lines_out, stream);
        self.network_bytes = match &command.network_bytes {
            Amount::Drawn(law) => law.draw(stream),
            Amount::Argument(word) => arguments.get((*word as usize).wrapping_sub(1)).copied().unwrap_or(0.0),
        };
        self.message_bytes = if message_bytes == 0 { self.network_bytes } else { f64::from(message_bytes) };
        let messages = if self.network_bytes > 0.0 { whole((self.network_bytes / self.message_bytes).ceil()) } else { 0 };
        for (stop, count, what) in [
            (WorkStop::Segment, segments, "segment faults"),
            (WorkStop::Bound, bounds, "bound faults"),
            (WorkStop::Wall, walls, "wall crossings"),
            (WorkStop::Process, processes, "processes"),
            (WorkStop::Message, messages, "network messages"),
        ] {
            self.add(stop, count, what);
        }
        for (index, (store, law)) in command.requests.iter().enumerate() {
            let stream = &mut self.stream;
            let count = match joint {
                None => number(law, stream),
                Some((joint, score)) => joint.requests(index, score, stream),
            };
            self.add(WorkStop::Request(*store), count, "requests");
        }
        self.add(WorkStop::Line, lines, "lines");
        let stream = &mut self.stream;
        self.waits.extend(command.network_wait.iter().map(|(store, law)| (*store, law.draw(stream))));
        self.work_ns = work_ns;
        (work_ns, pages)
    }

    fn add(&mut self, stop: WorkStop, count: u64, what: &'static str) {
        let count = self.bounded(count, what);
        if count > 0 {
            self.stops.push(WorkStops { stop, count, done: 0 });
        }
    }

    /// Limits a count to [`MOST_STOPS`], and notes if it was higher, which ends the run.
    pub fn bounded(&mut self, count: u64, what: &'static str) -> u64 {
        if count > MOST_STOPS {
            self.too_many = Some(what);
        }
        count.min(MOST_STOPS)
    }

    /// Work until the next stop, when `left_ns` of the work are left; `None` if no stop is left.
    pub(crate) fn work_to_stop(&mut self, left_ns: u64) -> Option<u64> {
        let worked = self.work_ns - left_ns;
        let position = |stops: &WorkStops| {
            let halves = u128::from(self.work_ns) * u128::from(2 * stops.done + 1);
            (halves / u128::from(2 * stops.count)) as u64
        };
        let to_come = self.stops.iter().enumerate().filter(|(_, stops)| stops.done < stops.count);
        let (at, next) = to_come.map(|(next, stops)| (position(stops), next)).min()?;
        self.next = next;
        Some(at.saturating_sub(worked))
    }

    /// Takes the next message from the bytes that are left, and queues the waits for it. Returns its bytes.
    ///
    /// The first message has come when the command begins.
    pub(crate) fn take_message(&mut self) -> f64 {
        let bytes = self.message_bytes.min(self.network_bytes);
        self.network_bytes -= bytes;
        if std::mem::replace(&mut self.is_receiving, true) {
            let wait = |(store, byte_ns): &(usize, f64)| SupervisorStep::Wait { store: *store, ns: whole(byte_ns * bytes) };
            self.steps.extend(self.waits.iter().map(wait));
        }
        bytes
    }

    /// Passes the stop that the work has reached.
    pub(crate) fn take_stop(&mut self) -> WorkStop {
        let stops = &mut self.stops[self.next];
        stops.done += 1;
        stops.stop
    }
}

/// The nearest whole number from 0 to 2^63 - 1. Conversions to signed numbers are faster.
#[inline]
pub fn whole(value: f64) -> u64 {
    (value.max(0.0) + 0.5) as i64 as u64
}

/// Draws a count, at most 10^18. A value between two whole numbers is rounded at random, so that the mean is kept.
pub fn number(law: &AmountLaw, stream: &mut RandomStream) -> u64 {
    rounded(law.draw(stream), || stream.unit())
}
