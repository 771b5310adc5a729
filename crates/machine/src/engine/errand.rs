//! What an interaction needs beside plain work: stops spread evenly over the work, and the steps of the supervisor that they take.
//!
//! All that is drawn is drawn from a branch of the user's own stream, in a fixed order when the command is given: another machine
//! draws the same (common random numbers), and an abandoned command does not shift what the next one draws. When pages are missed is
//! drawn from a second branch: how often that is differs from machine to machine.

use std::collections::VecDeque;

use crate::disciplines::Job;
use crate::draw::Draw;
use crate::meters::{Category, FaultKind, Primitive};
use crate::spec::{Amount, Command};
use loadgo_core::random::{RandomStream, StreamPurpose};

/// The most stops of a kind that one command makes: each is at least an event, so that more would not end within a sitting.
pub(crate) const MOST_STOPS: u64 = 1_000_000;

/// What an errand is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// To make the process.
    Creation,
    /// A user's command.
    Command,
}

/// What work stops for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A segment fault.
    Segment,
    /// A bound fault.
    Bound,
    /// A wall crossing.
    Wall,
    /// A process to be made.
    Process,
    /// A message to or from the network.
    Message,
    /// A request to a store.
    Request(usize),
    /// A line to the terminal.
    Line,
}

/// Stops of one kind: the n-th of `count` comes after (n - 1/2)/count of the work.
#[derive(Clone, Copy, Debug)]
struct Stops {
    stop: Stop,
    count: u64,
    done: u64,
}

/// What is counted when a step is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Nothing.
    Nothing,
    /// A fault.
    Fault(FaultKind),
    /// A primitive.
    Primitive(Primitive),
}

/// What a process does on a processor before it works on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Processor time.
    Spend { category: Category, ns: u64, counted: Counted },
    /// A page fault begins.
    Fault,
    /// A page fault has been handled: a frame is taken, and the page waited for.
    TakeFrame,
    /// A request to a store.
    Request(usize),
    /// A line has gone out.
    Line { bytes: u64 },
}

/// What work goes on until.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goal {
    /// The end.
    End,
    /// A stop.
    Stop,
    /// A page fault.
    Fault,
}

/// An interaction's needs, and what it has used.
#[derive(Clone, Debug)]
pub(crate) struct Errand {
    /// What it is for.
    pub aim: Aim,
    /// What is drawn on the way.
    pub stream: RandomStream,
    /// What is drawn of the pages that it misses; a branch of `user_misses`.
    pub misses: RandomStream,
    user_misses: RandomStream,
    /// The work in all.
    pub work_ns: u64,
    /// What the work in hand goes on until.
    pub goal: Goal,
    /// To be done before that.
    pub steps: VecDeque<Step>,
    /// Words of its image.
    pub image_words: u64,
    /// Its program has not been brought in yet since the command, another program than the one before, was given.
    pub fresh: bool,
    /// The program of the command before.
    pub previous: Option<u32>,
    /// Processor time of the supervisor on its behalf.
    pub cpu_system_ns: u64,
    /// Of that, for the page fault in hand.
    pub fault_cpu_ns: u64,
    /// Page faults, or programs brought in.
    pub faults_major: u64,
    /// Time that it waited for them.
    pub paging_wait_ns: u64,
    /// When the first line went out.
    pub first_output: Option<u64>,
    /// Bytes of its lines.
    pub bytes_out: u64,
    /// Bytes of a network message, of the last one, and how many messages are to come.
    pub message_bytes: f64,
    /// Network bytes that are left.
    pub network_bytes: f64,
    /// More than [`MOST_STOPS`] were drawn, and of what.
    pub too_many: Option<&'static str>,
    stops: Vec<Stops>,
    next: usize,
}

impl Errand {
    /// None yet; those to come are of the user of `job`.
    pub fn of(seed: u64, job: Job) -> Errand {
        let misses = RandomStream::new(seed, job + 1, StreamPurpose::Misses);
        Errand::new(misses.clone(), misses)
    }

    fn new(stream: RandomStream, mut user_misses: RandomStream) -> Errand {
        Errand {
            aim: Aim::Creation,
            stream,
            misses: user_misses.branch(),
            user_misses,
            work_ns: 0,
            goal: Goal::End,
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
        }
    }

    /// Begins anew, with nothing needed.
    pub fn clear(&mut self, aim: Aim, stream: RandomStream) {
        let (mut steps, mut stops) = (std::mem::take(&mut self.steps), std::mem::take(&mut self.stops));
        steps.clear();
        stops.clear();
        *self = Errand { aim, steps, stops, previous: self.previous, ..Errand::new(stream, self.user_misses.clone()) };
    }

    /// Draws what `command` needs; its work on a machine of this speed and its pages.
    pub fn draw(&mut self, command: &Command, arguments: &[f64], speed: f64, message_bytes: u32) -> (u64, u32) {
        let stream = &mut self.stream;
        let work_ns = whole(command.cpu.draw(stream) / speed);
        let pages = whole(command.pages.draw(stream)).min(u64::from(u32::MAX - 1)) as u32;
        self.image_words = whole(command.image_words.draw(stream));
        let segments = number(&command.segment_faults, stream);
        let bounds = number(&command.bound_faults, stream);
        let walls = number(&command.wall_crossings, stream);
        let processes = number(&command.processes, stream);
        let lines = number(&command.lines_out, stream);
        self.network_bytes = match &command.network_bytes {
            Amount::Drawn(law) => law.draw(stream),
            Amount::Argument(place) => arguments.get((*place as usize).wrapping_sub(1)).copied().unwrap_or(0.0),
        };
        self.message_bytes = if message_bytes == 0 { self.network_bytes } else { f64::from(message_bytes) };
        let messages = if self.network_bytes > 0.0 { whole((self.network_bytes / self.message_bytes).ceil()) } else { 0 };
        for (stop, count, what) in [
            (Stop::Segment, segments, "segment faults"),
            (Stop::Bound, bounds, "bound faults"),
            (Stop::Wall, walls, "wall crossings"),
            (Stop::Process, processes, "processes"),
            (Stop::Message, messages, "network messages"),
        ] {
            self.add(stop, count, what);
        }
        for (store, law) in &command.requests {
            let count = number(law, &mut self.stream);
            self.add(Stop::Request(*store), count, "requests");
        }
        self.add(Stop::Line, lines, "lines");
        self.work_ns = work_ns;
        (work_ns, pages)
    }

    fn add(&mut self, stop: Stop, count: u64, what: &'static str) {
        let count = self.bounded(count, what);
        if count > 0 {
            self.stops.push(Stops { stop, count, done: 0 });
        }
    }

    /// This count, or the most there may be of it: then it is noted, and the run ends.
    pub fn bounded(&mut self, count: u64, what: &'static str) -> u64 {
        if count > MOST_STOPS {
            self.too_many = Some(what);
        }
        count.min(MOST_STOPS)
    }

    /// Work until the next stop, when so much is left of the work; `None` when there is no more.
    pub(crate) fn work_to_stop(&mut self, left_ns: u64) -> Option<u64> {
        let worked = self.work_ns - left_ns;
        let place = |stops: &Stops| {
            let halves = u128::from(self.work_ns) * u128::from(2 * stops.done + 1);
            (halves / u128::from(2 * stops.count)) as u64
        };
        let to_come = self.stops.iter().enumerate().filter(|(_, stops)| stops.done < stops.count);
        let (at, next) = to_come.map(|(next, stops)| (place(stops), next)).min()?;
        self.next = next;
        Some(at.saturating_sub(worked))
    }

    /// The stop that work has come to.
    pub(crate) fn take_stop(&mut self) -> Stop {
        let stops = &mut self.stops[self.next];
        stops.done += 1;
        stops.stop
    }
}

/// The nearest whole number; of less than nothing 0, and at most 2^63 - 1 (processors turn into signed numbers faster).
#[inline]
pub fn whole(value: f64) -> u64 {
    (value.max(0.0) + 0.5) as i64 as u64
}

/// A count with this law, at most 10^18: a value between two whole numbers is the upper one so often that the mean is right.
pub fn number(law: &Draw, stream: &mut RandomStream) -> u64 {
    let value = law.draw(stream).min(1e18);
    let least = value as u64;
    let rest = value - least as f64;
    least + u64::from(rest > 0.0 && stream.unit() < rest)
}
