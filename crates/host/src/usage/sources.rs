//! Chooses the best sources of usage that this host offers. A note says which privilege a better source needs.

use std::path::Path;
use std::{fs, io};

use crate::groups::hierarchy::Version;
use crate::leftovers::Leftovers;
use crate::refusal::Refusal;
use crate::usage::exits::Exits;
use crate::usage::taskstats::Taskstats;
use loadgo_core::system::UserId;
use rustix::process::{Resource, getrlimit};

/// The kernel's switch for delay accounting; it counts for processes that begin after it was turned on.
pub(crate) const DELAY_ACCOUNTING: &str = "/proc/sys/kernel/task_delayacct";

/// Descriptors that stay free for whatever else the process opens.
const SPARE_DESCRIPTORS: u64 = 256;

/// Where each interaction's usage came from: the section `usage` of `run.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// `cgroup v2`, `cgroup v1`, `taskstats` (the leader; its children in clock ticks) or `/proc`.
    pub cpu: &'static str,
    /// `taskstats` or `/proc`.
    pub faults: &'static str,
    /// `kernel meters`, `taskstats`, `schedstat` (only when the leader ran alone) or nothing.
    pub waits: &'static str,
    /// The smallest step of processor time.
    pub cpu_resolution_ns: u64,
    /// n if every n-th interaction of a user is measured; 1 for every interaction.
    pub every: u32,
    /// How user and system time are told apart.
    pub split: &'static str,
    /// Whether the kernel accounts for waits of paging and of I/O.
    pub has_delays: bool,
    /// Sources that were not available, each with the remedy.
    pub notes: Vec<String>,
}

impl Sources {
    /// Whether delay accounting was on at the beginning, and somebody else has switched it off since.
    pub fn delays_switched_off(&self) -> bool {
        self.has_delays && fs::read_to_string(DELAY_ACCOUNTING).is_ok_and(|value| value.trim() == "0")
    }
}

/// Demands on a meter.
#[derive(Clone, Copy, Debug)]
pub struct Demand {
    /// The number of the first user.
    pub first_user: UserId,
    /// Number of users.
    pub users: usize,
    /// Measure every n-th interaction of a user; 1: all.
    pub every: u32,
    /// Whether to ask for taskstats; `false` shows the host as a user without the privilege sees it.
    pub taskstats: bool,
}

/// The taskstats sockets.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub live: Taskstats,
    pub ended: Exits,
}

/// Opens both taskstats sockets.
pub(crate) fn open_taskstats(users: usize) -> Result<Kernel, Refusal> {
    let refused = |error: io::Error| {
        let what = format!("taskstats is not available ({error}): only the waits of the session's leader are measured");
        Refusal::new(what).with_remedy("run as root outside of containers, or grant CAP_NET_ADMIN (setcap cap_net_admin+ep)")
    };
    let live = Taskstats::open().map_err(refused)?;
    let ended = Exits::listen(users).map_err(refused)?;
    Ok(Kernel { live, ended })
}

/// Switches delay accounting on until the end of the run.
pub(crate) fn delay_accounting(leftovers: &mut Leftovers) -> Result<(), Refusal> {
    leftovers.set(Path::new(DELAY_ACCOUNTING), "1").map(|_| ()).map_err(|error| {
        let what = format!("delay accounting is off and cannot be switched on ({error}): paging and I/O waits are not measured");
        Refusal::new(what).with_remedy("sysctl kernel.task_delayacct=1 (needs root), or the boot parameter delayacct")
    })
}

pub(crate) fn name_of_cpu_source(version: Option<Version>, taskstats: bool) -> &'static str {
    match version {
        Some(Version::V2) => "cgroup v2",
        Some(Version::V1) => "cgroup v1",
        None if taskstats => "taskstats",
        None => "/proc",
    }
}

/// Whether each user may keep `each` descriptors for its meter beside the one of its terminal.
pub(crate) fn room_for_descriptors(users: usize, each: u64) -> bool {
    let most = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let open = std::fs::read_dir("/proc/self/fd").map_or(64, |entries| entries.count() as u64);
    most >= open + SPARE_DESCRIPTORS + users as u64 * (1 + each)
}
