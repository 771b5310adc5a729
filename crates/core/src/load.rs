//! The load of a run: its number of users, its length, and its model.
//!
//! People at terminals are a *closed* load: the next think time starts at the prompt. In an *open* load, sessions arrive
//! as a Poisson stream, and times count from the planned arrival.

use crate::arrivals::DayOfArrivals;
use crate::time::Span;

/// The model of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoadModel {
    /// All users log in. They start together when the last one is logged in, and stay until the load ends.
    Closed,
    /// Users arrive at this rate a second, and leave after their passes.
    Open(f64),
}

/// The end of the warm-up phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    /// The moment when every user has typed a line.
    FirstLine,
    /// This long after the barrier.
    For(Span),
}

/// The load that a driver offers to the system.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedLoad {
    /// Closed or open.
    pub model: LoadModel,
    /// Rates that change over the day, in place of the one rate of an open load.
    pub day: Option<DayOfArrivals>,
    /// The number of the first user. It is over 1 where other drivers have the users before.
    pub first_user: u32,
    /// Number of users; in an open load, the number that arrives.
    pub users: u32,
    /// Number of passes of each user; `None`: until the time is up.
    pub passes: Option<u32>,
    /// Length of the steady phase; `None`: until every user has done the passes.
    pub duration: Option<Span>,
    /// The end of the warm-up phase.
    pub warm_up: WarmUp,
    /// The seed of all random streams.
    pub seed: u64,
    /// Largest number of log-ins that are under way at once.
    pub log_ins_at_once: u32,
    /// Time in which an interrupted command must give the prompt back. Then its session is hung up.
    pub grace: Span,
}

impl OfferedLoad {
    /// The number of the last user.
    pub fn last_user(&self) -> u32 {
        self.first_user + self.users - 1
    }

    /// A closed load of `users`, each of whom does this number of passes.
    pub fn closed(users: u32, passes: u32) -> OfferedLoad {
        OfferedLoad {
            model: LoadModel::Closed,
            day: None,
            first_user: 1,
            users,
            passes: Some(passes),
            duration: None,
            warm_up: WarmUp::FirstLine,
            seed: 1,
            log_ins_at_once: 16,
            grace: Span::from_secs(5),
        }
    }
}

/// A phase of a run. An interaction belongs to the phase in which its line was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Not every user has typed a line yet.
    WarmUp,
    /// All users are there, and figures are computed from this phase.
    Steady,
    /// At least one user has finished.
    RampDown,
}
