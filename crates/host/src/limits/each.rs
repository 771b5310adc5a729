//! Limits of each user: `cpus=2,memory=1G,swap=0,pids=200,nice=5,io=20M`.
//!
//! Each user has a control group below the run's in every tree that a limit needs. `nice` is set by the user's first process
//! itself, and by the group's weight where the user has a group of processor time.

use std::collections::BTreeMap;
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

use loadgo_core::system::UserId;

use super::notation::{
    parse_io, parse_memory, parse_nice, parse_parts, parse_pids, parse_processors, parse_swap_bytes, set_once,
};
use super::{limit_memory, limit_processors, write, write_if_some};
use crate::groups::Groups;
use crate::groups::each::LimitUser;
use crate::groups::hierarchy::hierarchies;
use crate::leftovers::Leftovers;
use crate::refusal::Refusal;

const EXAMPLE: &str = "cpus=2,memory=1G,swap=0,pids=200,nice=5,io=20M";
/// Weights of a group of v1 by nice value, from -20 to 19: the kernel's own for processes (`sched_prio_to_weight`).
const SHARES_BY_NICE: [u64; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904, 3906, 3121, 2501, 1991, 1586,
    1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87, 70, 56, 45, 36, 29, 23, 18, 15,
];

/// Limits of one user; `None` is no limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EachLimit {
    /// Number of processors; fractions are allowed.
    pub cpus: Option<f64>,
    /// Memory, in bytes.
    pub memory_bytes: Option<u64>,
    /// Pages on paging devices, in bytes; 0: the user does not page.
    pub swap_bytes: Option<u64>,
    /// Number of processes and threads.
    pub pids: Option<u64>,
    /// Nice value of all that the user runs.
    pub nice: Option<i32>,
    /// Bytes a second that the user may read from each disk, and as many that may be written.
    pub io_bytes_per_s: Option<u64>,
}

/// Limits of all users of a run, each on its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserLimits {
    /// Limits of each user who has no others.
    pub everybody: EachLimit,
    /// Users with limits of their own.
    pub single: BTreeMap<UserId, EachLimit>,
}

impl EachLimit {
    /// Reads `cpus=NUMBER,memory=SIZE,swap=SIZE|none,pids=NUMBER,nice=NUMBER,io=SIZE`.
    ///
    /// # Errors
    /// The mistake, with a correct example.
    pub fn parse(text: &str) -> Result<EachLimit, Refusal> {
        let mut limit = EachLimit::default();
        for part in parse_parts(text, EXAMPLE) {
            let (name, value) = part?;
            match name {
                "cpus" => set_once(&mut limit.cpus, name, parse_processors(value)?)?,
                "memory" => set_once(&mut limit.memory_bytes, name, parse_memory(value)?)?,
                "swap" => set_once(&mut limit.swap_bytes, name, parse_swap_bytes(value)?)?,
                "pids" => set_once(&mut limit.pids, name, parse_pids(value)?)?,
                "nice" => set_once(&mut limit.nice, name, parse_nice(value)?)?,
                "io" => set_once(&mut limit.io_bytes_per_s, name, parse_io(value)?)?,
                _ => return Err(unknown(name)),
            }
        }
        Ok(limit)
    }

    /// The controllers without which the limit cannot be kept.
    fn controllers(&self) -> Vec<&'static str> {
        let needed = [
            ("cpu", self.cpus.is_some()),
            ("memory", self.memory_bytes.is_some() || self.swap_bytes.is_some()),
            ("pids", self.pids.is_some()),
            (io_controller(), self.io_bytes_per_s.is_some()),
        ];
        needed.into_iter().filter(|(_, is_needed)| *is_needed).map(|(name, _)| name).collect()
    }

    /// Writes the limits into the user's groups, of which there is one in each tree.
    fn impose(&self, groups: &[PathBuf]) -> Result<(), Refusal> {
        let with = |files: &[&str]| {
            let held = groups.iter().find(|group| files.iter().any(|file| group.join(file).exists()));
            held.ok_or_else(|| {
                Refusal::new(format!("no group of the user has {}", files.join(" or "))).with_remedy("run as root")
            })
        };
        if let Some(cpus) = self.cpus {
            let group = with(&["cpu.max", "cpu.cfs_quota_us"])?;
            limit_processors(group, cpus)?;
        }
        if let (Some(nice), Ok(group)) = (self.nice, with(&["cpu.max", "cpu.cfs_quota_us"])) {
            weigh(group, nice)?;
        }
        if self.memory_bytes.is_some() || self.swap_bytes.is_some() {
            let group = with(&["memory.max", "memory.limit_in_bytes"])?;
            let is_v1 = group.join("memory.limit_in_bytes").exists();
            if is_v1 && self.memory_bytes.is_none() && self.swap_bytes.is_some_and(|bytes| bytes > 0) {
                let why = "swap: control groups of version 1 limit it together with memory alone";
                return Err(Refusal::new(why).with_remedy("add memory=SIZE"));
            }
            limit_memory(group, self.memory_bytes, self.swap_bytes)?;
        }
        if self.pids.is_some() {
            write_if_some(with(&["pids.max"])?, "pids.max", self.pids)?;
        }
        self.io_bytes_per_s.map_or(Ok(()), |bytes| limit_disks(with(&["io.max", "blkio.throttle.read_bps_device"])?, bytes))
    }

    /// The limit with at most so many processors as all users together have: the kernel of v1 refuses more.
    fn within(&self, cpus_of_all: Option<f64>) -> EachLimit {
        let cpus = self.cpus.map(|cpus| cpus_of_all.map_or(cpus, |all| cpus.min(all)));
        EachLimit { cpus, ..self.clone() }
    }
}

impl LimitUser for UserLimits {
    fn impose_on(&self, user: UserId, groups: &[PathBuf]) -> Result<(), Refusal> {
        self.of(user).impose(groups)
    }

    fn nice_of(&self, user: UserId) -> Option<i32> {
        self.of(user).nice
    }
}

impl UserLimits {
    /// The same limits for each user.
    pub fn of_everybody(everybody: EachLimit) -> UserLimits {
        UserLimits { everybody, single: BTreeMap::new() }
    }

    /// The limits of `user`.
    pub fn of(&self, user: UserId) -> &EachLimit {
        self.single.get(&user).unwrap_or(&self.everybody)
    }

    /// Prepares the groups of a run so that each user is held to the limits from the log-in on; all users together may use
    /// `cpus_of_all`. Everything is undone with the run's leftovers, also after a refusal.
    ///
    /// # Errors
    /// A controller that this host lacks, or a limit that its kernel refuses.
    pub fn apply(&self, cpus_of_all: Option<f64>, groups: &mut Groups, leftovers: &mut Leftovers) -> Result<(), Refusal> {
        self.prepare(cpus_of_all, groups, leftovers).map_err(|refusal| refusal.about("limit_each"))?;
        let single = self.single.iter().map(|(user, limit)| (*user, limit.within(cpus_of_all))).collect();
        groups.hold_each(UserLimits { everybody: self.everybody.within(cpus_of_all), single });
        Ok(())
    }

    fn prepare(&self, cpus_of_all: Option<f64>, groups: &mut Groups, leftovers: &mut Leftovers) -> Result<(), Refusal> {
        let kinds = distinct([&self.everybody].into_iter().chain(self.single.values()));
        for controller in distinct(kinds.iter().flat_map(|limit| limit.controllers())) {
            groups.divide(controller, leftovers)?;
        }
        kinds.iter().filter_map(|limit| limit.nice).try_for_each(try_nice)?;
        kinds.iter().try_for_each(|limit| groups.try_on_groups(|trial| limit.within(cpus_of_all).impose(trial)))
    }
}

/// The values without those that came before, in their order.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.fold(Vec::new(), |mut known, value| {
        if !known.contains(&value) {
            known.push(value);
        }
        known
    })
}

fn unknown(name: &str) -> Refusal {
    format!("`{name}` cannot be limited for each user; cpus, memory, swap, pids, nice and io can, as in {EXAMPLE}").into()
}

/// The name of the controller of disks: that of v1 where no tree has that of v2.
fn io_controller() -> &'static str {
    let has_blkio = hierarchies().iter().any(|hierarchy| hierarchy.has("blkio"));
    if has_blkio { "blkio" } else { "io" }
}

/// Whether users' first processes may have this nice value; it is tried on a thread of its own, and ends with it.
fn try_nice(nice: i32) -> Result<(), Refusal> {
    let no_thread = |error| Refusal::new(format!("nice={nice}: the thread that tries it could not be started")).because(error);
    let attempt = thread::Builder::new().spawn(move || rustix::process::setpriority_process(None, nice)).map_err(no_thread)?;
    let refused = |error: rustix::io::Errno| {
        let remedy = "run as root, or with CAP_SYS_NICE, or choose a number from 0 to 19";
        Refusal::new(format!("nice={nice}: this user may not raise a priority")).because(error.into()).with_remedy(remedy)
    };
    attempt.join().unwrap_or_else(|panic| resume_unwind(panic)).map_err(refused)
}

/// Gives `group` the weight against other groups that a process with this nice value has against other processes.
fn weigh(group: &Path, nice: i32) -> Result<(), Refusal> {
    if group.join("cpu.weight.nice").exists() {
        return write(group, "cpu.weight.nice", &nice.to_string());
    }
    write(group, "cpu.shares", &SHARES_BY_NICE[(nice + 20) as usize].to_string())
}

/// Limits what the processes of `group` read from each disk, and what they write, to so many bytes a second.
fn limit_disks(group: &Path, bytes_per_s: u64) -> Result<(), Refusal> {
    let disks = disks(Path::new("/sys/block"));
    if disks.is_empty() {
        return Err(Refusal::new("io: this host has no disk that could be limited").with_remedy("leave `io` out"));
    }
    for disk in disks {
        if group.join("io.max").exists() {
            write(group, "io.max", &format!("{disk} rbps={bytes_per_s} wbps={bytes_per_s}"))?;
            continue;
        }
        for file in ["blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device"] {
            write(group, file, &format!("{disk} {bytes_per_s}"))?;
        }
    }
    Ok(())
}

/// The numbers `MAJOR:MINOR` of the disks below `blocks`: devices of some hardware, no loops and no memory.
fn disks(blocks: &Path) -> Vec<String> {
    let devices = fs::read_dir(blocks).into_iter().flatten().flatten().map(|entry| entry.path());
    let real = devices.filter(|path| path.join("device").exists());
    real.filter_map(|path| Some(fs::read_to_string(path.join("dev")).ok()?.trim().to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_six_are_read() {
        let limit = EachLimit::parse("cpus=0.25, memory=1G,swap=0,pids=200,nice=-5,io=20M").unwrap();
        let expected = EachLimit {
            cpus: Some(0.25),
            memory_bytes: Some(1 << 30),
            swap_bytes: Some(0),
            pids: Some(200),
            nice: Some(-5),
            io_bytes_per_s: Some(20 << 20),
        };
        assert_eq!(limit, expected);
        assert_eq!(EachLimit::parse("swap=none").unwrap().swap_bytes, Some(0));
        assert_eq!(EachLimit::parse("swap=2G").unwrap().swap_bytes, Some(2 << 30));
    }

    #[test]
    fn each_mistake_is_told_with_what_would_be_right() {
        for (text, said) in [
            ("", "NAME=VALUE"),
            ("disk=1G", "cpus, memory, swap, pids, nice and io"),
            ("cpus=0", "cpus=0.5"),
            ("cpus=1,cpus=2", "twice"),
            ("memory=4K", "less than 1M"),
            ("swap=zram:1G", "`limit`"),
            ("swap=some", "256M"),
            ("pids=1", "at least 2"),
            ("pids=many", "pids=200"),
            ("nice=20", "-20 to 19"),
            ("nice=low", "-20 to 19"),
            ("io=1", "less than 64K"),
        ] {
            let error = EachLimit::parse(text).expect_err(text);
            assert!(error.to_string().contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn users_have_their_own_limits_or_those_of_everybody() {
        let (all, own) = (EachLimit::parse("pids=9").unwrap(), EachLimit::parse("cpus=4").unwrap());
        let limits = UserLimits { everybody: all.clone(), single: BTreeMap::from([(7, own.clone())]) };
        assert_eq!((limits.of(1), limits.of(7)), (&all, &own));
        assert_eq!(own.within(Some(1.5)).cpus, Some(1.5));
        assert_eq!(own.within(None).cpus, Some(4.0));
    }
}
