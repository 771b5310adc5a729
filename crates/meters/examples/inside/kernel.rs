//! Prepares the emulated machine, reads its kernel's own figures, and powers it off.

use crate::loads::Load;
use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, reboot};
use std::fs;
use std::io;

/// Mounts the file systems that programs need, and turns huge pages off, because the loads count small pages.
pub fn prepare() -> io::Result<()> {
    for (kind, path) in [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev"), ("cgroup2", "/sys/fs/cgroup")] {
        fs::create_dir_all(path)?;
        mount("none", path, kind, MountFlags::empty(), None)?;
    }
    fs::write("/sys/fs/cgroup/cgroup.subtree_control", "+cpu +memory")?;
    fs::write("/sys/kernel/mm/transparent_hugepage/enabled", "never")
}

/// Ends the emulation.
pub fn power_off() {
    reboot(RebootCommand::PowerOff).expect("the first process may power off");
}

/// The kernel's version.
pub fn release() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/osrelease")?.trim().into())
}

/// The kernel's own figures, since the machine, the process or the group began.
pub struct Figures(Vec<(&'static str, u64)>);

impl Figures {
    /// Reads the figures of the machine, of the process `pid` with this one, and of the load's group.
    pub fn read(pid: u32, load: &Load) -> io::Result<Figures> {
        let machine = fs::read_to_string("/proc/stat")?;
        let group = fs::read_to_string(load.group() + "/cpu.stat")?;
        let (child, own) = (Process::read(&pid.to_string())?, Process::read("self")?);
        Ok(Figures(vec![
            ("dispatches", dispatches()?),
            ("idle_ns", (number_in(&machine, "cpu", 3) + number_in(&machine, "cpu", 4)) * TICK_NS),
            ("faults_minor", child.minor + own.minor),
            ("faults_major", child.major + own.major),
            ("run_ns", child.run_ns + own.run_ns),
            ("usage_ns", number_in(&group, "usage_usec", 0) * 1000),
            ("throttled_ns", number_in(&group, "throttled_usec", 0) * 1000),
        ]))
    }

    /// Increases since `before`, with their names.
    pub fn since(&self, before: &Figures) -> Vec<(&'static str, u64)> {
        self.0.iter().zip(&before.0).map(|((name, now), (_, before))| (*name, now.saturating_sub(*before))).collect()
    }
}

/// Length of a tick of `/proc/stat`, the same on every Linux.
const TICK_NS: u64 = 10_000_000;

/// The number at `index` after the word `name` at the beginning of a line; 0 if there is none.
fn number_in(text: &str, name: &str, index: usize) -> u64 {
    let words = text.lines().map(str::split_whitespace).find_map(|mut words| (words.next()? == name).then_some(words));
    words.and_then(|mut words| words.nth(index)).and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// Number of dispatches of all living threads.
fn dispatches() -> io::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.starts_with(|first: char| first.is_ascii_digit()) {
            sum += schedstat_sum(&name, 2);
        }
    }
    Ok(sum)
}

/// Sum over a process's threads of one number of their `schedstat`: 0 is the time on processors, 2 the number of dispatches.
fn schedstat_sum(pid: &str, index: usize) -> u64 {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let times = threads.filter_map(|thread| fs::read_to_string(thread.path().join("schedstat")).ok());
    times.filter_map(|times| times.split_whitespace().nth(index)?.parse::<u64>().ok()).sum()
}

/// The kernel's figures of a process. Its faults include those of ended children.
struct Process {
    minor: u64,
    major: u64,
    run_ns: u64,
}

impl Process {
    fn read(pid: &str) -> io::Result<Process> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        let words: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
        let number = |index: usize| words.get(index).and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
        Ok(Process { minor: number(7) + number(8), major: number(9) + number(10), run_ns: schedstat_sum(pid, 0) })
    }
}
