//! A simulated machine in motion: users' processes, processors, memory and stores, moved by one calendar of events.

use std::sync::Arc;

use clockwork::Clockwork;

use super::meters::Meters;
use super::ready_list::ReadyList;
use super::ready_list::ctss::Ctss;
use super::ready_list::first_come::FirstCome;
use super::ready_list::linux::Linux;
use super::ready_list::multics::Multics;
use super::ready_list::priority::Priority;
use super::ready_list::round_robin::RoundRobin;
use super::ready_list::tenex::Tenex;
use super::simulate::Sink;
use super::spec::{Discipline, Machine};
use crate::system::{Usage, UserId};

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
mod storage;
mod tallies;
mod users;
mod work;

/// So many events pass before it is asked again whether to go on.
const EVENTS_BETWEEN_LOOKS: u32 = 1 << 16;
/// So many looks in a row at which no time has passed are a standstill.
const LOOKS_WITHOUT_TIME: u32 = 100;

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
    pub fn with_own_load(machine: &Arc<Machine>, seed: u64) -> Result<Engine, String> {
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
        of_each!(&mut self.0, clockwork => advance(clockwork, until))
    }

    /// The meters at the present moment.
    pub fn meters(&self) -> Meters {
        of_each!(&self.0, clockwork => clockwork.meters())
    }

    /// Who holds the page frames at the present moment; `None` where there is no demand paging.
    pub fn pages(&self) -> Option<Pages> {
        of_each!(&self.0, clockwork => clockwork.pages())
    }

    /// Runs the machine's own load until the sink has enough; it may be run on from there.
    ///
    /// # Errors
    /// As of [`crate::machine::simulate::run`].
    pub fn run(&mut self, sink: &mut impl Sink) -> Result<Meters, String> {
        of_each!(&mut self.0, clockwork => run(clockwork, sink))
    }
}

fn advance<L: ReadyList>(clockwork: &mut Clockwork<L>, until: Option<u64>) -> Option<Told> {
    loop {
        if let Some(told) = clockwork.told.pop_front() {
            return Some(told);
        }
        let next = clockwork.next_at();
        if let Some(until) = until.filter(|until| next.is_none_or(|at| at > *until)) {
            clockwork.now = clockwork.now.max(until);
            return None;
        }
        next?;
        clockwork.step();
    }
}

fn run<L: ReadyList>(clockwork: &mut Clockwork<L>, sink: &mut impl Sink) -> Result<Meters, String> {
    let mut looks_without_time = 0;
    loop {
        let looked = clockwork.now;
        for _ in 0..EVENTS_BETWEEN_LOOKS {
            if !clockwork.step() {
                return Err("nothing can happen any more: nobody thinks, works or waits for a device".into());
            }
            if let Some((class, response_ns)) = clockwork.finished.take()
                && !sink.finished(class, clockwork.now, response_ns)
            {
                return Ok(clockwork.meters());
            }
        }
        if !sink.goes_on(clockwork.now) {
            return Ok(clockwork.meters());
        }
        if let Some(trouble) = clockwork.trouble() {
            return Err(trouble.into());
        }
        looks_without_time = if clockwork.now == looked { looks_without_time + 1 } else { 0 };
        if looks_without_time == LOOKS_WITHOUT_TIME {
            return Err(
                "users give commands without end and no time passes: give them a think time, or their commands work".into()
            );
        }
    }
}
