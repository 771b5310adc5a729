//! A control group for each followed session, below the group that the session's shell was in.
//!
//! There its processor time is counted apart, and what limits the group above (a slice of systemd, a container) limits it still.

use crate::groups::accounts::{Accounts, OpenedAccount};
use crate::groups::hierarchy::{Hierarchy, Version, hierarchies, hierarchies_of};
use crate::groups::{group_name, in_order_of_worth};
use crate::leftovers::undo::{dissolve_group, processes_of};
use crate::leftovers::{Leftovers, Thing};
use crate::refusal::Refusal;
use crate::small_files::open_directory;
use crate::usage::memory::UserProcesses;
use loadgo_core::system::UserId;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The tree in which followed sessions have groups.
#[derive(Debug)]
pub(crate) struct FollowedGroups {
    tree: Hierarchy,
    name: String,
    accounts: Accounts,
    processes: FollowedProcesses,
}

/// The groups of the sessions that are followed now, which another thread reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct FollowedProcesses(Arc<Mutex<BTreeMap<UserId, PathBuf>>>);

impl FollowedProcesses {
    fn by_user(&self) -> MutexGuard<'_, BTreeMap<UserId, PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl UserProcesses for FollowedProcesses {
    fn users(&self) -> io::Result<Vec<UserId>> {
        Ok(self.by_user().keys().copied().collect())
    }

    fn processes(&self, user: UserId) -> io::Result<Vec<i32>> {
        let path = self.by_user().get(&user).cloned().ok_or(io::ErrorKind::NotFound)?;
        processes_of(&path)
    }

    /// The users have no group together that is theirs alone.
    fn memory_counts(&self) -> Option<(String, Version)> {
        None
    }
}

impl FollowedGroups {
    /// Finds the first tree in which this process may make groups. Only root may move processes that it has not started.
    pub(crate) fn open(run_id: &str, leftovers: &mut Leftovers) -> Result<FollowedGroups, Refusal> {
        if !rustix::process::geteuid().is_root() {
            return Err(Refusal::new("only root moves sessions into control groups").with_remedy("log in as root, or use sudo"));
        }
        let (found, name) = (hierarchies(), group_name(run_id));
        let mut refusal = Refusal::new("no control group tree with an account of processor time is mounted");
        for tree in in_order_of_worth(&found) {
            match try_tree(tree, &name, leftovers) {
                Ok(accounts) => {
                    return Ok(FollowedGroups { tree: tree.clone(), name, accounts, processes: FollowedProcesses::default() });
                }
                Err(error) => refusal = Refusal::new(format!("no group in {}", tree.own.display())).because(error),
            }
        }
        Err(refusal)
    }

    /// A handle on the accounts, for a meter.
    pub(crate) fn accounts(&self) -> io::Result<Accounts> {
        Ok(Accounts::new(open_directory(&self.tree.mount)?, self.tree.version))
    }

    /// The processes of the sessions.
    pub(crate) fn processes(&self) -> FollowedProcesses {
        self.processes.clone()
    }

    /// Counts the processes of `user` no more.
    pub(crate) fn forget(&self, user: UserId) {
        self.processes.by_user().remove(&user);
    }

    /// Makes a group for the session of `user`, moves the process `pid` into it, and opens its account.
    pub(crate) fn follow(&self, user: UserId, pid: u32, leftovers: &mut Leftovers) -> io::Result<(PathBuf, OpenedAccount)> {
        let of_process = hierarchies_of(&pid.to_string());
        let is_ours = |tree: &&Hierarchy| tree.mount == self.tree.mount;
        let own = &of_process.iter().find(is_ours).ok_or_else(|| io::Error::other("it is in no control group"))?.own;
        let path = own.join(format!("{}-u{user}-{pid}", self.name));
        leftovers.note(Thing::FollowedCgroup(path.clone()))?;
        fs::create_dir(&path)?;
        let moved = fs::write(path.join("cgroup.procs"), pid.to_string());
        let opened = moved.and_then(|()| self.accounts.open_group(&path));
        if opened.is_err() {
            let _ = dissolve_group(&path); // the end of the run tries it again
        }
        let opened = opened?;
        self.processes.by_user().insert(user, path.clone());
        Ok((path, opened))
    }
}

/// Makes a group in this tree, reads its account, and removes it.
fn try_tree(tree: &Hierarchy, name: &str, leftovers: &mut Leftovers) -> io::Result<Accounts> {
    let accounts = Accounts::new(open_directory(&tree.mount)?, tree.version);
    let path = tree.own.join(format!("{name}-tried"));
    leftovers.note(Thing::FollowedCgroup(path.clone()))?;
    fs::create_dir(&path)?;
    let read = accounts.open_group(&path);
    fs::remove_dir(&path)?;
    read.map(|_| accounts)
}
