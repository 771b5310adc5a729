//! The limits of each user, and the trees of control groups that keep them.

use std::fmt::Debug;
use std::io;
use std::path::PathBuf;

use loadgo_core::system::UserId;

use crate::refusal::Refusal;

/// Limits that can be written into the groups of a user.
pub(crate) trait LimitUser: Debug + Send + Sync {
    /// Writes the limits of `user` into the user's groups, of which there is one in each tree.
    fn impose_on(&self, user: UserId, groups: &[PathBuf]) -> Result<(), Refusal>;

    /// The nice value of all that `user` runs; `None`: that of loadgo.
    fn nice_of(&self, user: UserId) -> Option<i32>;
}

/// The limits of each user, and the trees that keep them.
#[derive(Debug, Default)]
pub(super) struct EachGroups {
    /// The run's groups in trees other than that of the accounts, below which each user has a group.
    pub trees: Vec<PathBuf>,
    /// `None`: nobody is limited alone.
    pub(super) limits: Option<Box<dyn LimitUser>>,
}

impl EachGroups {
    /// Writes the limits of `user` into the user's groups.
    pub(super) fn impose_on(&self, user: UserId, groups: &[PathBuf]) -> io::Result<()> {
        let Some(limits) = &self.limits else { return Ok(()) };
        limits.impose_on(user, groups).map_err(|refusal| io::Error::other(refusal.why_not()))
    }
}
