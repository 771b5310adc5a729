//! Limits of this host that a run with so many users would exceed, each with its remedy; checked before the first log-in.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, Rlimit, geteuid, getrlimit, setrlimit};

use crate::conditions::kilobytes;
use crate::groups::hierarchy::{Hierarchy, hierarchies};
use crate::refusal::Refusal;

/// Processes that a user has at a time: the shell, a command, what that starts.
const PROCESSES_EACH: u64 = 3;
/// Threads of a run that count as processes, and begin later: driver, starters, writer, sampler.
const RUN_THREADS: u64 = 14;
/// Threads of the report for each processor: Polars has several pools, and waits for ever if it gets no thread for one.
const REPORT_THREADS_PER_PROCESSOR: u64 = 4;
/// Descriptors that a run opens beside the terminals and beside those that the process has open already.
const OTHER_DESCRIPTORS: u64 = 76;
/// Smallest size of a user's home, in bytes.
const HOME_BYTES: u64 = 64 << 10;

/// Time that the kernel takes for one scheduling group when it updates the load of all, with the run queue locked.
/// Measured with 16,000 groups on Linux 6.18.
const GROUP_UPDATE_NS: u64 = 250;
/// Most users whose sessions the kernel may group: the update of their groups makes no line later than 1 ms.
const MOST_GROUPED_SESSIONS: u64 = 1_000_000 / GROUP_UPDATE_NS;

/// Limits of the kernel on the number of tasks, and where they stand.
const KERNEL_LIMITS: [(&str, &str); 2] =
    [("kernel.pid_max", "/proc/sys/kernel/pid_max"), ("kernel.threads-max", "/proc/sys/kernel/threads-max")];

/// Demands of a run on the host.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// How many users are logged in together.
    pub users: u64,
    /// The command that logs them in.
    pub login: &'a str,
    /// Where the homes are laid.
    pub homes: &'a Path,
    /// How many log-ins are in flight together.
    pub log_ins_at_once: u64,
}

/// A limit that stands, or might stand, in the way of a run.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Whether the limit certainly stops the run; otherwise it only might.
    pub fatal: bool,
    /// The limit with both figures, and the remedy.
    pub refusal: Refusal,
}

impl Finding {
    fn new(fatal: bool, limit: String, remedy: impl Into<String>) -> Finding {
        Finding { fatal, refusal: Refusal::new(limit).with_remedy(remedy) }
    }
}

/// Raises this process's limit on descriptors to the most that it may have; the limit afterwards.
pub fn raise_descriptor_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    // A refusal leaves the limit as it was, which is then told.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Compares the plan with the limits of this host; empty when nothing is short.
pub fn preflight(plan: &Plan<'_>) -> Vec<Finding> {
    let checks = [
        terminals(plan),
        descriptors(plan),
        process_ids(plan),
        own_processes(plan),
        memory(plan),
        ssh(plan),
        disk(plan),
        grouped_sessions(plan.users, are_sessions_grouped()),
    ];
    checks.into_iter().flatten().chain(group_processes(plan)).collect()
}

fn terminals(plan: &Plan<'_>) -> Option<Finding> {
    let (most, used) = (number("/proc/sys/kernel/pty/max")?, number("/proc/sys/kernel/pty/nr").unwrap_or(0));
    let reserved = number("/proc/sys/kernel/pty/reserve").unwrap_or(0);
    let wanted = used + plan.users;
    let finding = || {
        Finding::new(
            true,
            format!("{} users need {wanted} terminals with those in use, and kernel.pty.max is {most}", plan.users),
            format!("sysctl kernel.pty.max={}", wanted + reserved + 64),
        )
    };
    (wanted > most).then(finding)
}

/// The most files that this process may open.
pub(super) fn most_open_files() -> u64 {
    getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX)
}

/// The limit of processes that is reached first: its name, its value, and the number of those that count already.
pub(super) fn least_process_limit() -> Option<(&'static str, u64, u64)> {
    let (running, user) = (running_tasks()?, geteuid());
    let of_kernel = KERNEL_LIMITS.iter().filter_map(|(name, path)| Some((*name, number(path)?, running)));
    let own = getrlimit(Resource::Nproc).current.filter(|_| !user.is_root());
    let of_user = own.map(|most| ("RLIMIT_NPROC", most, tasks_of_user(user.as_raw())));
    let groups = groups_of_processes().into_iter();
    let of_groups =
        groups.filter_map(|group| Some(("pids.max", number(group.join("pids.max"))?, number(group.join("pids.current"))?)));
    of_kernel.chain(of_user).chain(of_groups).min_by_key(|(_, most, used)| most.saturating_sub(*used))
}

/// Number of tasks on this host.
fn running_tasks() -> Option<u64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').nth(3)?.split('/').nth(1)?.parse().ok()
}

fn descriptors(plan: &Plan<'_>) -> Option<Finding> {
    let most = most_open_files();
    let open = fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64);
    let wanted = open + plan.users + OTHER_DESCRIPTORS;
    let finding = || {
        Finding::new(
            true,
            format!("{} users need {wanted} open files in the driver, and RLIMIT_NOFILE is {most}", plan.users),
            format!("ulimit -Hn {wanted} (as root), or LimitNOFILE={wanted} in the unit that starts it"),
        )
    };
    (wanted > most).then(finding)
}

fn process_ids(plan: &Plan<'_>) -> Option<Finding> {
    let running = running_tasks()?;
    let wanted = running + plan.users * PROCESSES_EACH;
    let (name, most) =
        KERNEL_LIMITS.iter().filter_map(|(name, path)| Some((*name, number(path)?))).min_by_key(|(_, most)| *most)?;
    let needed_at_least = running + plan.users;
    let finding = || {
        Finding::new(
            needed_at_least > most,
            format!("{} users may have {wanted} processes with those that run, and {name} is {most}", plan.users),
            format!("sysctl {name}={}", (2 * wanted).next_power_of_two()),
        )
    };
    (wanted > most).then(finding)
}

fn own_processes(plan: &Plan<'_>) -> Option<Finding> {
    let user = geteuid();
    let most = getrlimit(Resource::Nproc).current.filter(|_| !user.is_root())?;
    let wanted = tasks_of_user(user.as_raw()) + own_threads() + plan.users * PROCESSES_EACH;
    let finding = || {
        Finding::new(
            wanted - plan.users * (PROCESSES_EACH - 1) > most,
            format!("{} users may have {wanted} processes with yours, and RLIMIT_NPROC is {most}", plan.users),
            format!("ulimit -u {wanted} (as root), or a line `nproc {wanted}` in /etc/security/limits.conf"),
        )
    };
    (wanted > most).then(finding)
}

/// The `pids.max` of every group that this process is in.
fn group_processes(plan: &Plan<'_>) -> Vec<Finding> {
    let finding = |group: &Path| {
        let (most, used) = (number(group.join("pids.max"))?, number(group.join("pids.current")).unwrap_or(0));
        let wanted = used + own_threads() + plan.users * PROCESSES_EACH;
        (wanted > most).then(|| {
            Finding::new(
                used + own_threads() + plan.users > most,
                format!("{} users may have {wanted} processes, and {}/pids.max is {most}", plan.users, group.display()),
                format!("echo {} >{}/pids.max, or TasksMax= in the unit", 2 * wanted, group.display()),
            )
        })
    };
    groups_of_processes().iter().filter_map(|group| finding(group)).collect()
}

/// Every control group that this process is in and that may limit processes.
fn groups_of_processes() -> Vec<PathBuf> {
    let holders = hierarchies().into_iter().filter(|hierarchy| hierarchy.has("pids"));
    let inside = |h: Hierarchy| -> Vec<PathBuf> {
        h.own.ancestors().take_while(|path| path.starts_with(&h.mount)).map(Path::to_owned).collect()
    };
    holders.flat_map(inside).collect()
}

fn memory(plan: &Plan<'_>) -> Option<Finding> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let available = (kilobytes(&text, "MemAvailable:") + kilobytes(&text, "SwapFree:")) * 1024;
    let wanted = plan.users * bytes_each(plan.login);
    let finding = || {
        Finding::new(
            wanted > 2 * available,
            format!("{} sessions of `{}` need about {}, and {} are free", plan.users, plan.login, mb(wanted), mb(available)),
            "fewer users, a smaller shell, or a paging device (`limit` with swap=zram:SIZE)",
        )
    };
    (wanted > available).then(finding)
}

/// Memory of the system for one session, as measured: a calculator 0.15 MB, dash 0.2, bash 0.6, ssh 1.4 and the shell.
fn bytes_each(login: &str) -> u64 {
    let program = login.split_whitespace().next().unwrap_or("");
    let kilobytes = match program.rsplit('/').next().unwrap_or("") {
        "sh" | "dash" | "busybox" => 200,
        "bash" | "su" | "sudo" | "login" => 600,
        "zsh" | "fish" => 1500,
        "ssh" => 2000,
        "loadgo-calculator" => 150,
        _ => 300,
    };
    kilobytes << 10
}

/// sshd refuses log-ins by chance when too many have not finished; its default is 10:30:100.
fn ssh(plan: &Plan<'_>) -> Option<Finding> {
    if !logs_in_here_by_ssh(plan.login) {
        return None;
    }
    let start = max_startups(&fs::read_to_string("/etc/ssh/sshd_config").unwrap_or_default());
    let finding = || {
        Finding::new(
            false,
            format!("sshd begins to refuse at {start} log-ins at once (MaxStartups), and {} are planned", plan.log_ins_at_once),
            format!("MaxStartups {0}:30:{0} in /etc/ssh/sshd_config, or fewer log-ins at once", 2 * plan.log_ins_at_once),
        )
    };
    (plan.log_ins_at_once > start).then(finding)
}

fn logs_in_here_by_ssh(login: &str) -> bool {
    let mut words = login.split_whitespace();
    let by_ssh = words.next().is_some_and(|program| program == "ssh" || program.ends_with("/ssh"));
    let hostname = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let here = |host: &str| matches!(host, "localhost" | "127.0.0.1" | "::1") || host == hostname.trim();
    by_ssh && words.any(|word| here(word.rsplit('@').next().unwrap_or(word)))
}

fn max_startups(config: &str) -> u64 {
    let value = config.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        words.next().filter(|word| word.eq_ignore_ascii_case("MaxStartups")).and(words.next())
    });
    value.and_then(|value| value.split(':').next()).and_then(|start| start.parse().ok()).unwrap_or(10)
}

fn disk(plan: &Plan<'_>) -> Option<Finding> {
    let existing = plan.homes.ancestors().find(|path| path.exists())?;
    let found = rustix::fs::statvfs(existing).ok()?;
    let (free, files) = (found.f_bavail * found.f_frsize, found.f_favail);
    let (wanted, wanted_files) = (plan.users * HOME_BYTES, plan.users * 8);
    let short_of_files = found.f_files > 0 && wanted_files > files;
    let finding = || {
        Finding::new(
            true,
            format!(
                "{} homes in {} need {} and {wanted_files} files, and {} and {files} files are free",
                plan.users,
                plan.homes.display(),
                mb(wanted),
                mb(free)
            ),
            "make room, or set TMPDIR to a place that has it",
        )
    };
    (wanted > free || short_of_files).then(finding)
}

/// The kernel's own groups of processes, one for each session, make lines late where there are thousands.
fn grouped_sessions(users: u64, are_grouped: bool) -> Option<Finding> {
    let finding = || {
        let late_ms = (users * GROUP_UPDATE_NS) as f64 / 1e6;
        Finding::new(
            false,
            format!(
                "the kernel keeps a scheduling group for each of {users} sessions, and lines may be some {late_ms:.0} ms late while it updates them all"
            ),
            "sysctl kernel.sched_autogroup_enabled=0 for the run; then processes share the processors one by one, and not session by session",
        )
    };
    (are_grouped && users > MOST_GROUPED_SESSIONS).then(finding)
}

/// Whether the kernel makes a scheduling group for each session: it does so for processes in the root of the controller `cpu`.
fn are_sessions_grouped() -> bool {
    let holder = hierarchies().into_iter().find(|hierarchy| hierarchy.has("cpu"));
    number("/proc/sys/kernel/sched_autogroup_enabled") == Some(1)
        && holder.is_none_or(|hierarchy| hierarchy.own == hierarchy.mount)
}

/// Threads that loadgo is going to start in this process.
fn own_threads() -> u64 {
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    RUN_THREADS + REPORT_THREADS_PER_PROCESSOR * processors
}

/// The threads of all processes of a user, which RLIMIT_NPROC counts.
fn tasks_of_user(uid: u32) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter(|entry| entry.file_name().as_bytes().iter().all(u8::is_ascii_digit));
    let own = pids.filter(|entry| entry.metadata().is_ok_and(|metadata| metadata.uid() == uid));
    own.map(|entry| fs::read_dir(entry.path().join("task")).map_or(1, Iterator::count) as u64).sum()
}

fn number(path: impl AsRef<Path>) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn mb(bytes: u64) -> String {
    let megabytes = bytes as f64 / 1e6;
    if megabytes < 1e3 { format!("{megabytes:.1} MB") } else { format!("{:.1} GB", megabytes / 1e3) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(users: u64, login: &str) -> Plan<'_> {
        Plan { users, login, homes: Path::new("/tmp"), log_ins_at_once: 20 }
    }

    #[test]
    fn one_user_fits() {
        assert!(preflight(&plan(1, "sh")).is_empty());
    }

    #[test]
    fn ten_million_users_meet_every_limit_and_each_has_a_remedy() {
        let findings = preflight(&plan(10_000_000, "bash"));
        for word in ["terminals", "RLIMIT_NOFILE", "kernel.", "sessions of `bash`"] {
            assert!(
                findings.iter().any(|finding| finding.refusal.why_not().contains(word) && finding.fatal),
                "{word}: {findings:#?}"
            );
        }
        assert!(findings.iter().all(|finding| !finding.refusal.remedy().is_empty()));
    }

    #[test]
    fn thousands_of_sessions_in_groups_of_the_kernel_are_a_remark_and_stop_nothing() {
        let finding = grouped_sessions(16_000, true).expect("a remark");
        assert!(!finding.fatal && finding.refusal.why_not().contains("some 4 ms late"), "{finding:?}");
        assert!(finding.refusal.remedy().contains("sched_autogroup_enabled=0"));
        assert!(grouped_sessions(16_000, false).is_none() && grouped_sessions(MOST_GROUPED_SESSIONS, true).is_none());
    }

    #[test]
    fn sshd_is_looked_at_only_when_the_login_comes_here() {
        assert!(logs_in_here_by_ssh("ssh -tt guest@localhost"));
        assert!(!logs_in_here_by_ssh("ssh far.example.org"));
        assert!(!logs_in_here_by_ssh("sh"));
        assert_eq!(max_startups("#MaxStartups 1\nmaxstartups 50:30:100\n"), 50);
        assert_eq!(max_startups(""), 10);
    }

    #[test]
    fn the_soft_limit_is_raised_to_the_hard_one() {
        raise_descriptor_limit();
        let limit = getrlimit(Resource::Nofile);
        assert_eq!(limit.current, limit.maximum);
    }
}
