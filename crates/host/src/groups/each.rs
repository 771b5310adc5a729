//! Groups of each user in the trees whose controllers hold each user to limits.

use std::fmt::Debug;
use std::fs;
use std::io;
use std::path::PathBuf;

use loadgo_core::system::UserId;

use super::{Groups, create_if_missing, enable_below};
use crate::leftovers::Leftovers;
use crate::leftovers::undo::remove_group;
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
    limits: Option<Box<dyn LimitUser>>,
}

impl EachGroups {
    /// Writes the limits of `user` into the user's groups.
    pub(super) fn impose_on(&self, user: UserId, groups: &[PathBuf]) -> io::Result<()> {
        let Some(limits) = &self.limits else { return Ok(()) };
        limits.impose_on(user, groups).map_err(|refusal| io::Error::other(refusal.why_not()))
    }
}

impl Groups {
    /// Gives each user a group of their own in the tree of `controller`. Users who log in afterwards are in it.
    pub(crate) fn divide(&mut self, controller: &str, leftovers: &mut Leftovers) -> Result<(), Refusal> {
        let run = self.with_controller(controller, leftovers)?;
        if run.join("cgroup.subtree_control").exists() {
            enable_below(&run, controller)?;
        }
        if run != self.run && !self.each.trees.contains(&run) {
            self.each.trees.push(run);
        }
        Ok(())
    }

    /// Makes groups of nobody for `impose`, which tries limits on them, and removes them.
    pub(crate) fn try_on_groups(&self, impose: impl FnOnce(&[PathBuf]) -> Result<(), Refusal>) -> Result<(), Refusal> {
        let runs = [&self.run].into_iter().chain(&self.each.trees);
        let groups: Vec<PathBuf> = runs.map(|run| run.join("trial")).collect();
        let made = groups.iter().try_for_each(|path| create_if_missing(path));
        let tried = match made {
            Ok(()) => impose(&groups),
            Err(error) => Err(Refusal::new("no group can be made for a user").because(error).with_remedy("run as root")),
        };
        // What stays is removed with the run's groups.
        groups.iter().for_each(|path| drop(remove_group(path)));
        tried
    }

    /// Holds each user who logs in from now on to `limits`.
    pub(crate) fn hold_each(&mut self, limits: impl LimitUser + 'static) {
        self.each.limits = Some(Box::new(limits));
    }

    /// Whether users are held to limits of their own.
    pub(crate) fn holds_each(&self) -> bool {
        self.each.limits.is_some()
    }

    /// The nice value of all that `user` runs.
    pub(crate) fn nice_of(&self, user: UserId) -> Option<i32> {
        self.each.limits.as_ref()?.nice_of(user)
    }

    /// The text of the first of the user's groups that has `file`.
    pub(super) fn read_of_user(&self, user: UserId, file: &str) -> Option<String> {
        self.user_paths(user).iter().find_map(|group| fs::read_to_string(group.join(file)).ok())
    }
}
