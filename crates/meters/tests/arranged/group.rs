//! A control group of the arranged programs, of version 1 or 2. It is removed when it is dropped.

use std::fs;
use std::os::linux::fs::MetadataExt;
use std::path::Path;

/// A group.
pub struct Group {
    path: String,
    v1: bool,
}

impl Group {
    /// A group whose processes together may have a fifth of a processor.
    pub fn with_a_fifth() -> Group {
        let group = Group::new("cpu", "quota");
        if group.v1 {
            group.set("cpu.cfs_period_us", "100000");
            group.set("cpu.cfs_quota_us", "20000");
        } else {
            group.set("cpu.max", "20000 100000");
        }
        group
    }

    /// A group whose processes can read only `reads_per_second` times a second from the device that holds `file`.
    pub fn with_slow_reads(file: &Path, reads_per_second: u32) -> Group {
        let device = device_of(file);
        let group = Group::new("blkio", "reads");
        match group.v1 {
            true => group.set("blkio.throttle.read_iops_device", &format!("{device} {reads_per_second}")),
            false => group.set("io.max", &format!("{device} riops={reads_per_second}")),
        }
        group
    }

    fn new(controller: &str, purpose: &str) -> Group {
        let name = format!("loadgo-test-{purpose}-{}-{:?}", std::process::id(), std::thread::current().id());
        let v1 = fs::exists(format!("/sys/fs/cgroup/{controller}/cgroup.procs")).unwrap();
        let path = if v1 { format!("/sys/fs/cgroup/{controller}/{name}") } else { format!("/sys/fs/cgroup/{name}") };
        fs::create_dir(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        Group { path, v1 }
    }

    fn set(&self, file: &str, value: &str) {
        fs::write(format!("{}/{file}", self.path), value).unwrap_or_else(|error| panic!("{}/{file}: {error}", self.path));
    }

    /// Moves a process into the group.
    pub fn add(&self, pid: u32) {
        self.set("cgroup.procs", &pid.to_string());
    }

    /// Time in nanoseconds for which the quota has throttled the processes, by the kernel's count.
    pub fn throttled_ns(&self) -> u64 {
        let stat = fs::read_to_string(format!("{}/cpu.stat", self.path)).unwrap();
        let number = |name: &str| stat.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
        number("throttled_time ").or_else(|| number("throttled_usec ").map(|us| us * 1000)).expect("cpu.stat has it")
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.path);
    }
}

/// The numbers of the disk that holds the file, not of its partition.
fn device_of(file: &Path) -> String {
    let device = fs::metadata(file).unwrap().st_dev();
    let (major, minor) = (device >> 8 & 0xfff, device & 0xff | device >> 12 & 0xfff00);
    let device = format!("/sys/dev/block/{major}:{minor}");
    let is_partition = fs::exists(format!("{device}/partition")).unwrap_or(false);
    let numbers = if is_partition { format!("{device}/../dev") } else { format!("{device}/dev") };
    fs::read_to_string(&numbers).unwrap_or_else(|error| panic!("{numbers}: {error}")).trim().to_string()
}
