//! A simulated machine in motion: users' processes, processors, memory and stores, moved by one calendar of events.

use std::sync::Arc;

use clockwork::Clockwork;

use super::disciplines::ctss::Ctss;
use super::disciplines::first_come::FirstCome;
use super::disciplines::linux::Linux;
use super::disciplines::multics::Multics;
use super::disciplines::priority::Priority;
use super::disciplines::round_robin::RoundRobin;
use super::disciplines::tenex::Tenex;
use super::meters::{MemoryMeter, Meters};
use super::spec::{Discipline, Machine};
use loadgo_core::system::UserId;
use sink::Sink;
pub use told::{Answer, Moved, Pages, Told};

mod clockwork;
mod command_table;
mod costs;
mod dispatch;
mod eligibility;
mod errand;
mod events;
mod execution;
mod impossible;
mod interactions;
mod loading;
mod memory;
mod own_users;
mod paging;
mod process;
mod process_table;
mod processor;
mod processors;
mod readings;
mod route;
mod scheduler;
mod shared_dispatch;
mod sharing;
pub mod sink;
mod stepping;
mod stores;
mod tallies;
pub mod told;
mod transitions;
mod users;

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
        of_each!(&mut engine.0, clockwork => clockwork.add_own_users())?;
        Ok(engine)
    }

    /// The present moment, in nanoseconds since the machine's beginning.
    pub fn now(&self) -> u64 {
        of_each!(&self.0, clockwork => clockwork.events.now)
    }

    /// Makes a process for the user; [`Told::Attached`] follows.
    ///
    /// # Errors
    /// The system table is full, in words.
    pub fn attach(&mut self, user: UserId) -> Result<(), String> {
        let most = events::MOST_JOBS;
        if user == 0 || user as usize > most {
            return Err(format!("user {user} is not between 1 and {most}"));
        }
        of_each!(&mut self.0, clockwork => clockwork.attach(user - 1))
    }

    /// The user's command comes in, with the words after its name as far as they are numbers; [`Told::Ready`] follows.
    pub fn begin(&mut self, user: UserId, command: usize, arguments: &[f64]) {
        of_each!(&mut self.0, clockwork => {
            clockwork.begin(user - 1, command as u32, arguments);
            clockwork.update_idle_causes();
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
        of_each!(&mut self.0, clockwork => clockwork.move_on(until))
    }

    /// Why the machine cannot go on, in words; `None` as long as it can.
    pub fn trouble(&self) -> Option<&str> {
        of_each!(&self.0, clockwork => clockwork.execution.failure.as_deref())
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
        of_each!(&mut self.0, clockwork => clockwork.run_own_users(sink))
    }
}
