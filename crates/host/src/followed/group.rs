//! A control group for each followed session, below the group that the session's shell was in.
//!
//! There its processor time is counted apart, and what limits the group above (a slice of systemd, a container) limits it still.

use crate::groups::accounts::{Accounts, OpenedAccount};
use crate::groups::hierarchy::{Hierarchy, hierarchies, hierarchies_of};
use crate::groups::{group_name, in_order_of_worth};
use crate::leftovers::undo::dissolve_group;
use crate::leftovers::{Leftovers, Thing};
use crate::refusal::Refusal;
use crate::small_files::open_directory;
use loadgo_core::system::UserId;
use std::fs;
use std::io;
use std::path::PathBuf;

/// The tree in which followed sessions have groups.
#[derive(Debug)]
pub(crate) struct FollowedGroups {
    tree: Hierarchy,
    name: String,
    accounts: Accounts,
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
                Ok(accounts) => return Ok(FollowedGroups { tree: tree.clone(), name, accounts }),
                Err(error) => refusal = Refusal::new(format!("no group in {}", tree.own.display())).because(error),
            }
        }
        Err(refusal)
    }

    /// A handle on the accounts, for a meter.
    pub(crate) fn accounts(&self) -> io::Result<Accounts> {
        Ok(Accounts::new(open_directory(&self.tree.mount)?, self.tree.version))
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
        Ok((path, opened?))
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
