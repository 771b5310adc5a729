//! A simulated machine in motion: users' processes, processors, memory and stores, moved by one calendar of events.

use std::sync::Arc;

use clockwork::Clockwork;

use super::disciplines::ReadyList;
use super::disciplines::ctss::Ctss;
use super::disciplines::first_come::FirstCome;
use super::disciplines::linux::Linux;
use super::disciplines::multics::Multics;
use super::disciplines::priority::Priority;
use super::disciplines::round_robin::RoundRobin;
use super::disciplines::tenex::Tenex;
use super::meters::{MemoryMeter, Meters};
use super::spec::{Discipline, Machine};
use loadgo_core::system::{Usage, UserId};
use sink::Sink;

mod clockwork;
mod costs;
mod eligible;
mod errand;
mod giving_up;
mod impossible;
mod loading;
mod own_load;
mod paging;
mod process;
mod processor;
mod processors;
mod readings;
mod route;
mod sharing;
pub mod sink;
mod storage;
mod tallies;
mod users;
mod work;

/// So many events pass before it is asked again whether to go on.
const EVENTS_BETWEEN_LOOKS: u32 = 1 << 16;
/// So many looks in a row at which no time has passed are a standstill.
const LOOKS_WITHOUT_TIME: u32 = 100;
/// The last moment of a machine's time, after 292 years: the longest of all spans, 2^63 - 1 ns, ends beyond it.
const END_OF_TIME: u64 = i64::MAX as u64 - 1;
const TIME_IS_OVER: &str = "the machine's time would pass 292 years before anything else happens: check `speed`, `cpu`, `think`, \
                            `arrivals` and the stores' times";

/// What a machine tells a driver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Told {
    /// The user has a process that waits for a command.
    Attached {
        /// Whose.
        user: UserId,
        /// When.
        at: u64,
    },
    /// The user's command has been answered.
    Ready {
        /// Whose.
        user: UserId,
        /// When.
        at: u64,
        /// How.
        answer: Answer,
    },
}

/// How a command was answered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answer {
    /// What it used.
    pub usage: Usage,
    /// When the first line came out.
    pub first_output: Option<u64>,
    /// Bytes of its lines.
    pub bytes_out: u64,
    /// The command's exit status, where the machine tells it; 130 when it was abandoned.
    pub exit_status: Option<u8>,
}

/// What moving time has come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moved {
    /// This is told.
    Told(Told),
    /// Many events have come, and nothing is told yet.
    NotYet,
    /// The moment that was asked for has come; or, where none was, nothing will ever happen. [`Engine::trouble`] may tell why.
    Nothing,
}

/// Who holds page frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pages {
    /// Frames in all.
    pub frames: u32,
    /// Held by the supervisor.
    pub wired: u32,
    /// Held by nobody.
    pub free: u32,
    /// Held by each user's process, from user 1; of equal shares (which nobody gives up) the whole pages of the share.
    pub held: Vec<u32>,
}

/// A machine in motion.
#[derive(Clone, Debug)]
pub struct Engine(Inner);

/// One for each discipline, so that nothing is looked up while it runs.
#[derive(Clone, Debug)]
enum Inner {
    FirstCome(Clockwork<FirstCome>),
    RoundRobin(Clockwork<RoundRobin>),
    Priority(Clockwork<Priority>),
    Ctss(Clockwork<Ctss>),
    Multics(Clockwork<Multics>),
    Tenex(Clockwork<Tenex>),
    Linux(Clockwork<Linux>),
}

/// The same of whichever clockwork it is.
macro_rules! of_each {
    ($engine:expr, $clockwork:ident => $asked:expr) => {
        match $engine {
            Inner::FirstCome($clockwork) => $asked,
            Inner::RoundRobin($clockwork) => $asked,
            Inner::Priority($clockwork) => $asked,
            Inner::Ctss($clockwork) => $asked,
            Inner::Multics($clockwork) => $asked,
            Inner::Tenex($clockwork) => $asked,
            Inner::Linux($clockwork) => $asked,
        }
    };
}

impl Engine {
    /// The machine, with nobody on it.
    ///
    /// # Errors
    /// A configuration that cannot work, in words, with what would help.
    pub fn new(machine: &Arc<Machine>, seed: u64) -> Result<Engine, String> {
        impossible::refuse(machine)?;
        Ok(Engine(match machine.processors.discipline {
            Discipline::FirstCome | Discipline::Sharing => Inner::FirstCome(Clockwork::new(machine, seed, FirstCome::default())),
            Discipline::RoundRobin { quantum_ns, .. } => {
                Inner::RoundRobin(Clockwork::new(machine, seed, RoundRobin::new(quantum_ns)))
            }
            Discipline::Priority { preemptive } => Inner::Priority(Clockwork::new(machine, seed, Priority::new(preemptive))),
            Discipline::Ctss { quantum_ns, words_per_quantum, levels } => {
                Inner::Ctss(Clockwork::new(machine, seed, Ctss::new(quantum_ns, words_per_quantum, levels)))
            }
            Discipline::Multics { first_ns, last_ns, most_ns } => {
                Inner::Multics(Clockwork::new(machine, seed, Multics::new(first_ns, last_ns, most_ns)))
            }
            Discipline::Tenex { ref queues, credit_ns } => {
                Inner::Tenex(Clockwork::new(machine, seed, Tenex::new(queues, credit_ns)))
            }
            Discipline::Linux { slice_ns, .. } => Inner::Linux(Clockwork::new(machine, seed, Linux::new(slice_ns))),
        }))
    }

    /// The machine with its own load on it.
    ///
    /// # Errors
    /// As of [`Engine::new`], and when it has no load.
    pub(crate) fn with_own_load(machine: &Arc<Machine>, seed: u64) -> Result<Engine, String> {
        if machine.load.is_empty() {
            return Err("the machine has no load of its own: give it a [[load]], or run a script on it".into());
        }
        let mut engine = Engine::new(machine, seed)?;
        of_each!(&mut engine.0, clockwork => clockwork.load())?;
        Ok(engine)
    }

    /// The present moment, in nanoseconds since the machine's beginning.
    pub fn now(&self) -> u64 {
        of_each!(&self.0, clockwork => clockwork.now)
    }

    /// Makes a process for the user; [`Told::Attached`] follows.
    ///
    /// # Errors
    /// The system table is full, in words.
    pub fn attach(&mut self, user: UserId) -> Result<(), String> {
        let most = clockwork::MOST_JOBS;
        if user == 0 || user as usize > most {
            return Err(format!("user {user} is not between 1 and {most}"));
        }
        of_each!(&mut self.0, clockwork => clockwork.attach(user - 1))
    }

    /// The user's command comes in, with the words after its name as far as they are numbers; [`Told::Ready`] follows.
    pub fn begin(&mut self, user: UserId, command: usize, arguments: &[f64]) {
        of_each!(&mut self.0, clockwork => {
            clockwork.begin(user - 1, command as u32, arguments);
            clockwork.look_why_idle();
        });
    }

    /// The user gives the command up: [`Told::Ready`] with status 130 follows soon.
    pub fn abandon(&mut self, user: UserId) {
        of_each!(&mut self.0, clockwork => clockwork.abandon(user - 1));
    }

    /// The user is gone; nothing follows.
    pub fn detach(&mut self, user: UserId) {
        of_each!(&mut self.0, clockwork => clockwork.detach(user - 1));
    }

    /// Moves time to the next thing told, or to `until`; `None` when `until` has come or, without it, when nothing will ever happen.
    pub fn advance(&mut self, until: Option<u64>) -> Option<Told> {
        loop {
            match self.move_on(until) {
                Moved::Told(told) => return Some(told),
                Moved::NotYet => {}
                Moved::Nothing => return None,
            }
        }
    }

    /// As [`Engine::advance`], but it comes back after some tens of thousands of events, for a look at whether to go on.
    pub fn move_on(&mut self, until: Option<u64>) -> Moved {
        of_each!(&mut self.0, clockwork => move_on(clockwork, until))
    }

    /// Why the machine cannot go on, in words; `None` as long as it can.
    pub fn trouble(&self) -> Option<&str> {
        of_each!(&self.0, clockwork => clockwork.trouble.as_deref())
    }

    /// The meters at the present moment.
    pub fn meters(&self) -> Meters {
        of_each!(&self.0, clockwork => clockwork.meters())
    }

    /// Who holds the page frames at the present moment; `None` where there is no demand paging.
    pub fn pages(&self) -> Option<Pages> {
        of_each!(&self.0, clockwork => clockwork.pages())
    }

    /// Who holds which part of memory at the present moment, and what has come and gone; `None` where everything always is in it.
    pub fn memory(&self) -> Option<MemoryMeter> {
        of_each!(&self.0, clockwork => clockwork.memory())
    }

    /// Runs the machine's own load until the sink has enough; it may be run on from there.
    ///
    /// # Errors
    /// As of [`crate::simulate::run`].
    pub fn run(&mut self, sink: &mut impl Sink) -> Result<Meters, String> {
        of_each!(&mut self.0, clockwork => run(clockwork, sink))
    }
}

fn move_on<L: ReadyList>(clockwork: &mut Clockwork<L>, until: Option<u64>) -> Moved {
    let end = until.unwrap_or(END_OF_TIME).min(END_OF_TIME);
    for _ in 0..EVENTS_BETWEEN_LOOKS {
        if let Some(told) = clockwork.told.pop_front() {
            return Moved::Told(told);
        }
        if clockwork.trouble.is_some() {
            return Moved::Nothing;
        }
        if !clockwork.step(end) {
            match until {
                Some(until) if until <= END_OF_TIME => clockwork.now = clockwork.now.max(until),
                None if clockwork.next_at().is_none() => {}
                _ => clockwork.trouble = Some(TIME_IS_OVER.into()),
            }
            return Moved::Nothing;
        }
    }
    Moved::NotYet
}

fn run<L: ReadyList>(clockwork: &mut Clockwork<L>, sink: &mut impl Sink) -> Result<Meters, String> {
    let until = sink.ends_at().unwrap_or(u64::MAX);
    let mut looks_without_time = 0;
    loop {
        let looked = clockwork.now;
        for _ in 0..EVENTS_BETWEEN_LOOKS {
            if !clockwork.step(until.min(END_OF_TIME)) {
                return stands_at(clockwork, until);
            }
            if let Some((class, response_ns)) = clockwork.finished.take()
                && !sink.finished(class, clockwork.now, response_ns)
            {
                return outcome(clockwork);
            }
        }
        if clockwork.trouble.is_some() || !sink.goes_on(clockwork.now) {
            return outcome(clockwork);
        }
        looks_without_time = if clockwork.now == looked { looks_without_time + 1 } else { 0 };
        if looks_without_time == LOOKS_WITHOUT_TIME {
            return Err(
                "users give commands without end and no time passes: give them a think time, or their commands work".into()
            );
        }
    }
}

/// Nothing happens up to `until`, or up to the end of all time.
#[cold]
fn stands_at<L: ReadyList>(clockwork: &mut Clockwork<L>, until: u64) -> Result<Meters, String> {
    if clockwork.trouble.is_none() && clockwork.next_at().is_none() {
        return Err("nothing can happen any more: nobody thinks, works or waits for a device".into());
    }
    if until <= END_OF_TIME {
        clockwork.now = clockwork.now.max(until);
    } else {
        clockwork.trouble.get_or_insert_with(|| TIME_IS_OVER.into());
    }
    outcome(clockwork)
}

/// The meters, unless the machine could not go on as it was described.
#[cold]
fn outcome<L: ReadyList>(clockwork: &Clockwork<L>) -> Result<Meters, String> {
    clockwork.trouble.clone().map_or_else(|| Ok(clockwork.meters()), Err)
}
