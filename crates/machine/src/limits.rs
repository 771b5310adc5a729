//! Limits of each user of a simulated machine: a quota of processor time, and a weight against other users.
//!
//! A user is one process here, which is alone in the user's control group. So a group of processor time is the weight and the
//! quota of that process.

use std::collections::BTreeMap;

use loadgo_core::system::UserId;

pub use quota::{PERIOD_NS, Quota};

mod quota;

/// The limits of one user; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UserLimit {
    /// Processors; fractions are allowed.
    pub cpus: Option<f64>,
    /// Nice value of the user's group, for the discipline `linux`.
    pub nice: Option<i32>,
}

impl UserLimit {
    /// Whether the user has a control group of processor time, in which the nice value of a command has no effect on other users.
    pub fn has_group(&self) -> bool {
        self.cpus.is_some() || self.nice.is_some()
    }
}

/// The limits of all users of a machine, each on its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserLimits {
    /// The limits of each user that is not in `single`.
    pub everybody: UserLimit,
    /// Users with limits of their own, which replace those of everybody.
    pub single: BTreeMap<UserId, UserLimit>,
}

impl UserLimits {
    /// The limits of `user`.
    pub fn of(&self, user: UserId) -> UserLimit {
        self.single.get(&user).copied().unwrap_or(self.everybody)
    }

    /// The limits of everybody, and of each user that has others.
    pub fn all(&self) -> impl Iterator<Item = &UserLimit> {
        [&self.everybody].into_iter().chain(self.single.values())
    }
}
