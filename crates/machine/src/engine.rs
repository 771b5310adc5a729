//! The engine of a simulated machine: users' processes, processors, memory and stores, driven by one calendar of events.

use std::sync::Arc;

use clockwork::Clockwork;

use super::disciplines::any::AnyList;
use super::disciplines::ctss::Ctss;
use super::disciplines::first_come::FirstCome;
use super::disciplines::limited::Limited;
use super::disciplines::linux::Linux;
use super::disciplines::multics::Multics;
use super::disciplines::priority::Priority;
use super::disciplines::round_robin::RoundRobin;
use super::disciplines::tenex::Tenex;
use super::limits::UserLimits;
use super::meters::{MachineMeters, MemoryMeter};
use super::spec::Machine;
pub use error::EngineError;
use loadgo_core::record::LimitCounts;
use loadgo_core::system::UserId;
use sink::InteractionSink;
pub use told::{Advance, CommandResult, EngineEvent, Pages};

mod clockwork;
mod command_table;
mod costs;
mod dispatch;
mod eligibility;
mod errand;
mod error;
mod events;
mod execution;
mod impossible;
mod interactions;
mod joint_demand;
mod load_meter;
mod loading;
mod locks;
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

/// A running simulated machine.
#[derive(Clone, Debug)]
pub struct Engine(EngineByDiscipline);

/// The engine for each discipline, and for users with limits, so that calls of the discipline are static and not virtual.
#[derive(Clone, Debug)]
enum EngineByDiscipline {
    FirstCome(Clockwork<FirstCome>),
    RoundRobin(Clockwork<RoundRobin>),
    Priority(Clockwork<Priority>),
    Ctss(Clockwork<Ctss>),
    Multics(Clockwork<Multics>),
    Tenex(Clockwork<Tenex>),
    Linux(Clockwork<Linux>),
    /// Any discipline, with limits of each user.
    Limited(Clockwork<Limited>),
}

/// Evaluates an expression with the clockwork of any discipline.
macro_rules! of_each {
    ($engine:expr, $clockwork:ident => $asked:expr) => {
        match $engine {
            EngineByDiscipline::FirstCome($clockwork) => $asked,
            EngineByDiscipline::RoundRobin($clockwork) => $asked,
            EngineByDiscipline::Priority($clockwork) => $asked,
            EngineByDiscipline::Ctss($clockwork) => $asked,
            EngineByDiscipline::Multics($clockwork) => $asked,
            EngineByDiscipline::Tenex($clockwork) => $asked,
            EngineByDiscipline::Linux($clockwork) => $asked,
            EngineByDiscipline::Limited($clockwork) => $asked,
        }
    };
}

impl Engine {
    /// The machine without users.
    ///
    /// # Errors
    /// The configuration cannot work; the message says what would help.
    pub fn new(machine: &Arc<Machine>, seed: u64) -> Result<Engine, EngineError> {
        impossible::refuse(machine)?;
        Ok(Engine(match AnyList::new(&machine.processors) {
            AnyList::FirstCome(list) => EngineByDiscipline::FirstCome(Clockwork::new(machine, seed, list)),
            AnyList::RoundRobin(list) => EngineByDiscipline::RoundRobin(Clockwork::new(machine, seed, list)),
            AnyList::Priority(list) => EngineByDiscipline::Priority(Clockwork::new(machine, seed, list)),
            AnyList::Ctss(list) => EngineByDiscipline::Ctss(Clockwork::new(machine, seed, list)),
            AnyList::Multics(list) => EngineByDiscipline::Multics(Clockwork::new(machine, seed, list)),
            AnyList::Tenex(list) => EngineByDiscipline::Tenex(Clockwork::new(machine, seed, list)),
            AnyList::Linux(list) => EngineByDiscipline::Linux(Clockwork::new(machine, seed, list)),
        }))
    }

    /// The machine without users, each of whom is held to limits.
    ///
    /// # Errors
    /// As for [`Engine::new`], or the machine's discipline does not know these limits.
    pub fn limited(machine: &Arc<Machine>, seed: u64, limits: UserLimits) -> Result<Engine, EngineError> {
        impossible::refuse(machine)?;
        impossible::refuse_limits(machine, &limits)?;
        let list = Limited::new(AnyList::new(&machine.processors), limits, seed);
        Ok(Engine(EngineByDiscipline::Limited(Clockwork::new(machine, seed, list))))
    }

    /// The machine with the users of its own load.
    ///
    /// # Errors
    /// As for [`Engine::new`], or the machine has no load.
    pub(crate) fn with_own_load(machine: &Arc<Machine>, seed: u64) -> Result<Engine, EngineError> {
        if machine.load.is_empty() {
            return Err(EngineError::NoLoad);
        }
        let mut engine = Engine::new(machine, seed)?;
        of_each!(&mut engine.0, clockwork => clockwork.add_own_users())?;
        Ok(engine)
    }

    /// The present instant, in nanoseconds since the machine's beginning.
    pub fn now(&self) -> u64 {
        of_each!(&self.0, clockwork => clockwork.events.now)
    }

    /// Creates a process for the user; [`EngineEvent::Attached`] follows.
    ///
    /// # Errors
    /// The system table is full, or the user's number is too large.
    pub fn attach(&mut self, user: UserId) -> Result<(), EngineError> {
        let most = events::MOST_PROCESSES;
        if user == 0 || user as usize > most {
            return Err(EngineError::UserNumber { user, most });
        }
        of_each!(&mut self.0, clockwork => clockwork.attach(user - 1))
    }

    /// Begins the user's command with the numbers among the words after its name; [`EngineEvent::Ready`] follows.
    pub fn begin(&mut self, user: UserId, command: usize, arguments: &[f64]) {
        of_each!(&mut self.0, clockwork => {
            clockwork.begin(user - 1, command as u32, arguments);
            clockwork.update_idle_causes();
        });
    }

    /// Interrupts the user's command, and returns its result so far; [`EngineEvent::Ready`] with status 130 follows soon.
    pub fn abandon(&mut self, user: UserId) -> CommandResult {
        of_each!(&mut self.0, clockwork => clockwork.abandon(user - 1))
    }

    /// Ends the user's process; no event follows.
    pub fn detach(&mut self, user: UserId) {
        of_each!(&mut self.0, clockwork => clockwork.detach(user - 1));
    }

    /// Moves time to the next event for the caller, at most to `until`, and returns the event.
    ///
    /// `None` if time has reached `until`, or, without `until`, if no event will ever come.
    pub fn advance(&mut self, until: Option<u64>) -> Option<EngineEvent> {
        loop {
            match self.move_on(until) {
                Advance::Event(event) => return Some(event),
                Advance::NotYet => {}
                Advance::Nothing => return None,
            }
        }
    }

    /// As [`Engine::advance`], but returns [`Advance::NotYet`] after some ten thousand inner events, so that the caller can stop.
    pub fn move_on(&mut self, until: Option<u64>) -> Advance {
        of_each!(&mut self.0, clockwork => clockwork.move_on(until))
    }

    /// The reason why the machine cannot go on; `None` while it can.
    pub fn trouble(&self) -> Option<&EngineError> {
        of_each!(&self.0, clockwork => clockwork.execution.failure.as_ref())
    }

    /// The meters at the present instant.
    pub fn meters(&self) -> MachineMeters {
        of_each!(&self.0, clockwork => clockwork.meters())
    }

    /// The holders of the page frames at the present instant; `None` without demand paging.
    pub fn pages(&self) -> Option<Pages> {
        of_each!(&self.0, clockwork => clockwork.pages())
    }

    /// The holders of memory at the present instant, with the moved pages; `None` if all programs are always in memory.
    pub fn memory(&self) -> Option<MemoryMeter> {
        of_each!(&self.0, clockwork => clockwork.memory())
    }

    /// The costs of each user's limits up to the present instant; empty for users without limits.
    pub fn limit_costs(&self) -> Vec<(UserId, LimitCounts)> {
        match &self.0 {
            EngineByDiscipline::Limited(clockwork) => clockwork.limit_costs(),
            _ => Vec::new(),
        }
    }

    /// Runs the machine's own load until the sink has enough. A later call runs on from there.
    ///
    /// # Errors
    /// As for [`crate::simulate::run`].
    pub fn run(&mut self, sink: &mut impl InteractionSink) -> Result<MachineMeters, EngineError> {
        of_each!(&mut self.0, clockwork => clockwork.run_own_users(sink))
    }
}
