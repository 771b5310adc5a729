//! The load: how many users, how long, in which model.
//!
//! People at terminals are a *closed* load: the next think time starts at the prompt. In an *open* load sessions arrive
//! by themselves, as a Poisson stream; there everything counts from the planned arrival.

use crate::time::Span;

/// How a load comes about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoadModel {
    /// All users log in, start together when the last one is in, and stay.
    Closed,
    /// Users arrive at this rate a second, and leave when they have done their passes.
    Open(f64),
}

/// When the load counts as whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    /// When every user has typed a line.
    FirstLine,
    /// This long after the barrier.
    For(Span),
}

/// What is asked of a driver.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedLoad {
    /// Closed or open.
    pub model: LoadModel,
    /// How many users; in an open load, how many arrive.
    pub users: u32,
    /// How often each types the script; `None` until the time is up.
    pub passes: Option<u32>,
    /// How long the steady load lasts; `None` until every user has done the passes.
    pub duration: Option<Span>,
    /// When the load counts as whole.
    pub warm_up: WarmUp,
    /// The seed of all random streams.
    pub seed: u64,
    /// How many log-ins may be under way at once.
    pub log_ins_at_once: u32,
    /// How long an interrupted command may take to give the prompt back before its session is given up.
    pub grace: Span,
}

impl OfferedLoad {
    /// A closed load of `users` who each do `passes` passes.
    pub fn closed(users: u32, passes: u32) -> OfferedLoad {
        OfferedLoad {
            model: LoadModel::Closed,
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

/// The part of the run that an interaction belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Not everybody has typed a line yet.
    WarmUp,
    /// The load is whole.
    Steady,
    /// Somebody has finished already.
    RampDown,
}
