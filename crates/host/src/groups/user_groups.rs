//! Groups of each user in the trees whose controllers hold each user to limits.

use std::fs;
use std::path::PathBuf;

use loadgo_core::system::UserId;

use super::each::LimitUser;
use super::quotas::Quotas;
use super::{Groups, create_if_missing, enable_below};
use crate::leftovers::Leftovers;
use crate::leftovers::undo::remove_group;
use crate::refusal::Refusal;

impl Groups {
    /// Gives each user a group of their own in the tree of `controller`. Users who log in afterwards are in it.
    pub(crate) fn divide(&mut self, controller: &str, leftovers: &mut Leftovers) -> Result<(), Refusal> {
        let run = self.with_controller(controller, leftovers)?;
        if run.join("cgroup.subtree_control").exists() {
            enable_below(&run, controller, leftovers)?;
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

    /// The quotas of the users; `None` where no user can have one.
    pub(super) fn quotas(&self) -> Option<Quotas> {
        if self.holds_each() { Quotas::find([&self.run].into_iter().chain(&self.each.trees)) } else { None }
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
