//! The control groups of a run: one for the run, one for each user beneath it.
//!
//! If the host has the `cpuacct` controller of cgroup v1, that tree is used. It counts nanoseconds, and joining it is five times
//! as fast as with v2. Otherwise the v2 tree is used, whose `cpu.stat` counts microseconds without any controller.

pub mod accounts;
pub(crate) mod costs;
pub(crate) mod each;
pub mod hierarchy;
pub(crate) mod quotas;
mod user_groups;

use accounts::Accounts;
use each::EachGroups;
use hierarchy::{Hierarchy, Version, hierarchies};
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use loadgo_core::system::UserId;

use crate::leftovers::undo::{groups_below, kill_group, processes_of, remove_group};
use crate::leftovers::{Leftovers, Thing};
use crate::own_names::own_name;
use crate::refusal::Refusal;
use crate::small_files::{labelled, open_directory};
use rustix::io::Errno;

/// The groups of one run.
#[derive(Debug)]
pub struct Groups {
    version: Version,
    name: String,
    run: PathBuf,
    directory: OwnedFd,
    accounts: Accounts,
    further: Vec<PathBuf>,
    each: EachGroups,
}

impl Groups {
    /// Makes the group of the run `run_id` in the first tree that permits it.
    pub fn create(run_id: &str, leftovers: &mut Leftovers) -> Result<Groups, Refusal> {
        let found = hierarchies();
        let mut refusals = Vec::new();
        for hierarchy in in_order_of_worth(&found) {
            match Groups::create_in(hierarchy, run_id, leftovers) {
                Ok(groups) => return Ok(groups),
                Err(refusal) => refusals.push(refusal.why_not()),
            }
        }
        let what = match refusals.is_empty() {
            true => "no control group tree with an account of processor time is mounted".to_owned(),
            false => refusals.join("; "),
        };
        Err(Refusal::new(what).with_remedy(REMEDY))
    }

    /// Makes the group of the run `run_id` in this tree.
    pub fn create_in(hierarchy: &Hierarchy, run_id: &str, leftovers: &mut Leftovers) -> Result<Groups, Refusal> {
        let name = group_name(run_id);
        let run = make_group(hierarchy, &name, leftovers)?;
        let open =
            || open_directory(&run).map_err(|error| Refusal::new(run.display().to_string()).because(error).with_remedy(REMEDY));
        let (directory, version) = (open()?, hierarchy.version);
        let accounts = Accounts::new(open()?, version);
        accounts.all().map_err(|error| Refusal::new(format!("no processor time in {}", run.display())).because(error))?;
        Ok(Groups { version, name, run, directory, accounts, further: Vec::new(), each: EachGroups::default() })
    }

    /// The kind of the tree that keeps the accounts.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The run's group in the tree that keeps the accounts.
    pub fn path(&self) -> &Path {
        &self.run
    }

    /// The run's group in the tree of `controller`, which is made if there is none. Users who join afterwards are in it.
    pub fn with_controller(&mut self, controller: &str, leftovers: &mut Leftovers) -> Result<PathBuf, Refusal> {
        let found = hierarchies();
        let holder = found.iter().find(|hierarchy| hierarchy.has(controller)).ok_or_else(|| {
            Refusal::new(format!("no control group tree holds the controller {controller}"))
                .with_remedy("a kernel that has it, not switched off")
        })?;
        if holder.version == Version::V2 {
            return self.with_controller_of_v2(holder, controller, leftovers);
        }
        let known = self.further.iter().chain([&self.run]).find(|path| path.starts_with(&holder.mount));
        if let Some(path) = known {
            return Ok(path.clone());
        }
        let path = make_group(holder, &self.name, leftovers)?;
        self.further.push(path.clone());
        Ok(path)
    }

    fn with_controller_of_v2(
        &mut self,
        tree: &Hierarchy,
        controller: &str,
        leftovers: &mut Leftovers,
    ) -> Result<PathBuf, Refusal> {
        let path = match self.version {
            Version::V2 => self.run.clone(),
            Version::V1 => make_group(tree, &self.name, leftovers)?,
        };
        let above = path.parent().unwrap_or(&tree.mount).to_owned();
        enable(&above, controller, leftovers)?;
        if self.version == Version::V1 && !self.further.contains(&path) {
            self.further.push(path.clone());
        }
        Ok(path)
    }

    /// Makes the groups of `user`, with the user's limits.
    pub fn add_user(&self, user: UserId) -> io::Result<()> {
        self.user_paths(user).iter().try_for_each(|path| create_if_missing(path))?;
        self.each.impose_on(user, &self.user_paths(user))
    }

    /// The `cgroup.procs` files of the user's groups. A new process writes `0` into each before it executes its program.
    pub fn join_paths(&self, user: UserId) -> Vec<CString> {
        self.groups_to_join(user)
            .into_iter()
            .map(|path| CString::new(path.join("cgroup.procs").as_os_str().as_bytes()).expect("a path without zeros"))
            .collect()
    }

    /// Moves a shell that was logged in from outside into the groups of `user`. The processes that logged it in leave the user's
    /// own group, which then has the shell's programs only.
    pub(crate) fn follow(&self, user: UserId, shell: u32) -> io::Result<()> {
        let clients = self.run.join(CLIENTS);
        match fs::create_dir(&clients) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        for client in self.processes(user)? {
            match fs::write(clients.join("cgroup.procs"), client.to_string()) {
                Err(error) if Errno::from_io_error(&error) == Some(Errno::SRCH) => {} // it has ended
                moved => moved?,
            }
        }
        for group in self.groups_to_join(user) {
            fs::write(group.join("cgroup.procs"), shell.to_string())?;
        }
        Ok(())
    }

    /// Another handle on the accounts of these groups, for a meter.
    pub fn accounts(&self) -> io::Result<Accounts> {
        Ok(Accounts::new(self.directory.as_fd().try_clone_to_owned()?, self.version).with_quotas(self.quotas()))
    }

    /// The processor time of `user`, all processes together, in nanoseconds.
    pub fn user_cpu_ns(&self, user: UserId) -> io::Result<u64> {
        self.accounts.read(&self.accounts.open(user)?)
    }

    /// The processor time of all users together, in nanoseconds.
    pub(crate) fn users_cpu_ns(&self) -> io::Result<u64> {
        self.accounts.all()
    }

    /// The memory charged to all users together, in bytes, where a memory controller counts it.
    pub fn memory_bytes(&self) -> Option<u64> {
        let groups = [&self.run].into_iter().chain(&self.further);
        let files = groups.flat_map(|group| ["memory.current", "memory.usage_in_bytes"].map(|name| group.join(name)));
        files.into_iter().find_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok())
    }

    /// How many of the users' processes the kernel has killed for want of memory, under a limit or on the whole host. `None` where
    /// no memory controller counts them.
    pub fn memory_kills(&self) -> Option<u64> {
        [&self.run].into_iter().chain(&self.further).find_map(|group| {
            let killed = |group: &Path, file| labelled(&fs::read_to_string(group.join(file)).ok()?, "oom_kill");
            killed(group, "memory.events").or_else(|| {
                // v1 counts in each group alone; a group below it is a user's with limits of its own.
                let below: u64 = groups_below(group).iter().filter_map(|user| killed(user, "memory.oom_control")).sum();
                Some(killed(group, "memory.oom_control")? + below)
            })
        })
    }

    /// The users who have a group now, in no order.
    pub fn users(&self) -> io::Result<Vec<UserId>> {
        let names = fs::read_dir(&self.run)?.flatten().map(|entry| entry.file_name());
        Ok(names.filter_map(|name| name.to_str()?.strip_prefix('u')?.parse().ok()).collect())
    }

    /// The memory controller's counts for all users together, where there is one: the text of `memory.stat`, and the kind of its
    /// tree.
    pub(crate) fn memory_counts(&self) -> Option<(String, Version)> {
        let mut groups = [&self.run].into_iter().chain(&self.further);
        groups.find_map(|group| {
            let version = if group.join("memory.current").exists() { Version::V2 } else { Version::V1 };
            let stat = fs::read_to_string(group.join("memory.stat")).ok()?;
            let on_devices = fs::read_to_string(group.join("memory.swap.current")).unwrap_or_default();
            Some((format!("{stat}swap {on_devices}"), version))
        })
    }

    /// The ids of the processes of `user`.
    pub fn processes(&self, user: UserId) -> io::Result<Vec<i32>> {
        processes_of(&self.user_path(user))
    }

    /// Kills all processes of `user`; those that are just being born too, where the kernel can (v2).
    pub fn kill(&self, user: UserId) -> io::Result<()> {
        kill_group(&self.user_path(user))
    }

    /// Whether no process of `user` is left.
    pub(crate) fn is_empty(&self, user: UserId) -> bool {
        processes_of(&self.user_path(user)).is_ok_and(|processes| processes.is_empty())
    }

    /// Kills all processes of `user` and removes the group.
    pub fn remove_user(&self, user: UserId) -> io::Result<()> {
        self.user_paths(user).iter().try_for_each(|path| remove_group(path))
    }

    fn user_path(&self, user: UserId) -> PathBuf {
        self.run.join(user_name(user))
    }

    /// The groups of `user` alone: in the tree that keeps the accounts, and in the trees that hold each user to limits.
    fn user_paths(&self, user: UserId) -> Vec<PathBuf> {
        let each = self.each.trees.iter().map(|run| run.join(user_name(user)));
        [self.user_path(user)].into_iter().chain(each).collect()
    }

    /// The groups that processes of `user` belong to: the user's own, and the run's in the other trees.
    fn groups_to_join(&self, user: UserId) -> Vec<PathBuf> {
        let shared = self.further.iter().filter(|run| !self.each.trees.contains(run)).cloned();
        self.user_paths(user).into_iter().chain(shared).collect()
    }
}

fn user_name(user: UserId) -> String {
    format!("u{user}")
}

fn create_if_missing(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// The group of the commands that logged in the shells which are followed. It is no user's name.
const CLIENTS: &str = "clients";
const REMEDY: &str = "run as root, or inside a subtree that is yours: systemd-run --user --scope -p Delegate=yes loadgo …";

/// The trees that can keep accounts, the best first.
pub(crate) fn in_order_of_worth(found: &[Hierarchy]) -> Vec<&Hierarchy> {
    let v1 = found.iter().filter(|hierarchy| hierarchy.version == Version::V1 && hierarchy.has("cpuacct"));
    let v2 = found.iter().filter(|hierarchy| hierarchy.version == Version::V2);
    v1.chain(v2).collect()
}

/// The name of the run's group; no two runs share one.
pub(crate) fn group_name(run_id: &str) -> String {
    let safe: String =
        run_id.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' }).take(80).collect();
    own_name(&safe)
}

/// Makes the group `name` where the tree permits: root at the top of a v2 tree, everybody below its own group.
fn make_group(hierarchy: &Hierarchy, name: &str, leftovers: &mut Leftovers) -> Result<PathBuf, Refusal> {
    let root = rustix::process::geteuid().is_root();
    let tops = match hierarchy.version {
        Version::V2 if root => vec![&hierarchy.mount, &hierarchy.own],
        _ => vec![&hierarchy.own],
    };
    let mut refusal = Refusal::new("there is no control group tree");
    for top in tops {
        match make_below(top, name, hierarchy.version, leftovers) {
            Ok(path) => return Ok(path),
            Err(error) => refusal = Refusal::new(format!("cannot make a group in {}", top.display())).because(error),
        }
    }
    Err(refusal.with_remedy(REMEDY))
}

fn make_below(top: &Path, name: &str, version: Version, leftovers: &mut Leftovers) -> io::Result<PathBuf> {
    let path = top.join(name);
    if version == Version::V2 {
        // Who moves a process between two groups must be able to write in the group above both.
        fs::OpenOptions::new().write(true).open(top.join("cgroup.procs"))?;
    }
    leftovers.note(Thing::Cgroup(path.clone()))?;
    match fs::create_dir(&path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(path),
        other => other.map(|()| path),
    }
}

/// Gives the groups below `above` the controller. The kernel requires that a group other than the root then holds no processes
/// itself. When this process is in the way, it moves into a group of its own until the end of the run.
fn enable(above: &Path, controller: &str, leftovers: &mut Leftovers) -> Result<(), Refusal> {
    let file = above.join("cgroup.subtree_control");
    let refuse = |error: io::Error| {
        let attempt = format!("cannot enable the controller {controller} in {}", above.display());
        Refusal::new(attempt).because(error).with_remedy(REMEDY)
    };
    let held = fs::read_to_string(&file).unwrap_or_default();
    let in_place = held.split_whitespace().any(|name| name == controller);
    let command = format!("+{controller}");
    let mut write = || {
        leftovers.note_setting(&file, &format!("-{controller}"), in_place)?;
        if in_place { Ok(()) } else { fs::write(&file, &command) }
    };
    match write() {
        Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
            step_aside(above, leftovers).map_err(refuse)?;
            leftovers.note_setting(&file, &format!("-{controller}"), in_place).map_err(refuse)?;
            fs::write(&file, &command).map_err(refuse)
        }
        other => other.map_err(refuse),
    }
}

/// Gives the groups below `run`, a group of loadgo's without processes of its own, the controller.
///
/// It is taken away before the group above gives the controller up: the kernel refuses the other order.
fn enable_below(run: &Path, controller: &str, leftovers: &mut Leftovers) -> Result<(), Refusal> {
    let file = run.join("cgroup.subtree_control");
    let noted = leftovers.note_setting(&file, &format!("-{controller}"), false);
    noted.and_then(|()| fs::write(&file, format!("+{controller}"))).map_err(|error| {
        let attempt = format!("cannot enable the controller {controller} in {}", run.display());
        Refusal::new(attempt).because(error).with_remedy(REMEDY)
    })
}

fn step_aside(above: &Path, leftovers: &mut Leftovers) -> io::Result<()> {
    let aside = above.join(format!("loadgo-driver-{}", std::process::id()));
    leftovers.note(Thing::OwnCgroup(aside.clone()))?;
    fs::create_dir(&aside)?;
    leftovers.note(Thing::Membership(above.join("cgroup.procs")))?;
    fs::write(aside.join("cgroup.procs"), "0")
}
