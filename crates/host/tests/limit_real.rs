//! Limits on real processes: memory, processors and both kinds of paging device, and nothing left of them afterwards.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use loadgo_host::conditions::paging_devices;
use loadgo_host::groups::Groups;
use loadgo_host::groups::hierarchy::{Version, hierarchies};
use loadgo_host::leftovers::Leftovers;
use loadgo_host::limits::Limit;
use loadgo_host::limits::each::{EachLimit, UserLimits};

static RUN: AtomicU32 = AtomicU32::new(0);

struct Limited {
    groups: Groups,
    leftovers: Leftovers,
    devices: Vec<PathBuf>,
    directory: PathBuf,
}

impl Limited {
    fn new(limit: &str) -> Limited {
        Limited::with(|groups, directory, leftovers| {
            let limit = Limit::parse(limit).unwrap();
            limit.apply(groups, directory, leftovers).unwrap_or_else(|why| panic!("{why}"))
        })
    }

    /// Users 1 and 2, each held to `limit`.
    fn each(limit: &str) -> Limited {
        Limited::with(|groups, _, leftovers| {
            let limits = UserLimits::of_everybody(EachLimit::parse(limit).unwrap());
            limits.apply(None, groups, leftovers).unwrap_or_else(|why| panic!("{why}"));
            Vec::new()
        })
    }

    fn with(apply: impl FnOnce(&mut Groups, &Path, &mut Leftovers) -> Vec<PathBuf>) -> Limited {
        let id = format!("limit-{}-{}", std::process::id(), RUN.fetch_add(1, Ordering::Relaxed));
        // Not in /tmp: that may be a file system in memory, which holds no swap file.
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("loadgo-{id}"));
        fs::create_dir_all(&directory).unwrap();
        let mut leftovers = Leftovers::begin_in(&directory.join("state"), &id).unwrap();
        let mut groups = Groups::create(&id, &mut leftovers).unwrap_or_else(|why| panic!("this test needs root: {why}"));
        let devices = apply(&mut groups, &directory, &mut leftovers);
        [1, 2].into_iter().for_each(|user| groups.add_user(user).unwrap());
        Limited { groups, leftovers, devices, directory }
    }

    fn run(&self, program: &str) -> Output {
        self.run_as(1, program)
    }

    /// How many of the 20 processes of a storm `user` could start.
    fn births(&self, user: u32) -> u32 {
        let output = self.run_as(user, STORM);
        String::from_utf8_lossy(&output.stdout).trim().parse().unwrap_or_else(|_| panic!("{output:?}"))
    }

    fn run_as(&self, user: u32, program: &str) -> Output {
        let joins: Vec<String> =
            self.groups.join_paths(user).iter().map(|path| format!("echo 0 >{}; ", path.to_str().unwrap())).collect();
        Command::new("sh").args(["-c", &format!("{}exec {program}", joins.concat())]).output().unwrap()
    }
}

/// Starts 20 processes, or as many as it may have, and prints how many.
const STORM: &str = "python3 -c 'import os, time
born = 0
try:
    while born < 20:
        if os.fork() == 0: time.sleep(2); os._exit(0)
        born += 1
except OSError: pass
print(born)'";

impl Drop for Limited {
    fn drop(&mut self) {
        assert!(self.leftovers.finish().is_empty());
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn swaps() -> Vec<String> {
    paging_devices(&fs::read_to_string("/proc/swaps").unwrap()).into_iter().map(|device| device.name).collect()
}

/// Keeps other tests from paging meanwhile, since counts and swap devices are those of the whole host: as `tests/support/paging_host.py`.
fn paging_alone() -> File {
    let devices = File::open("/sys/block").unwrap();
    devices.lock().unwrap();
    devices
}

/// Fills 60 MB with what does not compress to nothing, and reads it again.
const BIG: &str = "python3 -c 'import os
seed = os.urandom(1 << 20)
pages = [seed[i:] + seed[:i] for i in range(60)]
print(sum(page[0] for page in pages) >= 0)'";

#[test]
fn who_takes_more_memory_than_the_limit_without_paging_is_ended() {
    let _alone = paging_alone();
    let limited = Limited::new("memory=32M,swap=none");
    let output = limited.run(BIG);
    assert!(!output.status.success(), "{output:?}");
    assert!(limited.run("python3 -c 'print(1)'").status.success());
}

#[test]
fn with_a_paging_device_the_same_program_runs_in_the_same_memory() {
    let _alone = paging_alone();
    for swap in ["zram:256M", "file:256M"] {
        let limited = Limited::new(&format!("memory=32M,swap={swap}"));
        let [device] = &limited.devices[..] else { panic!("{:?}", limited.devices) };
        let device = device.to_str().unwrap().to_owned();
        assert!(swaps().contains(&device), "{device} is not among {:?}", swaps());
        let output = limited.run(BIG);
        assert!(output.status.success(), "{swap}: {output:?}");
        drop(limited);
        assert!(!swaps().contains(&device), "{device} is still in use");
        assert!(!Path::new(&device).exists() || device == "/dev/zram0", "{device} is still there");
    }
}

#[test]
fn half_a_processor_gives_half_of_the_time() {
    let limited = Limited::new("cpus=0.5");
    let program = "python3 -c 'import time
began, used = time.monotonic(), time.process_time()
while time.process_time() - used < 0.5: pass
print((time.process_time() - used) / (time.monotonic() - began))'";
    let output = limited.run(program);
    let share: f64 = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
    assert!(share < 0.65, "half of a processor is not {share}");
}

#[test]
fn each_user_has_the_memory_and_the_processes_of_the_limit() {
    let limited = Limited::each("memory=32M,swap=0,pids=6,nice=7,cpus=8,io=1G");
    let output = limited.run(BIG);
    assert!(!output.status.success(), "{output:?}");
    assert_eq!(limited.groups.memory_kills(), Some(1), "one of all the users' programs");
    for user in [1, 2] {
        assert!(limited.run_as(user, "python3 -c 'print(1)'").status.success(), "user {user} has room");
    }
    assert_eq!(limited.births(2), 5, "the program itself is the sixth process");
    let told = |file: &str| {
        let groups = limited.groups.join_paths(2);
        groups.iter().find_map(|path| fs::read_to_string(Path::new(path.to_str().ok()?).parent()?.join(file)).ok())
    };
    let told = |files: [&str; 2]| files.into_iter().find_map(told).unwrap_or_else(|| panic!("a group has none of {files:?}"));
    assert!(told(["cpu.max", "cpu.cfs_quota_us"]).starts_with("800000"), "8 processors in periods of 0.1 s");
    assert!(["7\n", "215\n"].contains(&&*told(["cpu.weight.nice", "cpu.shares"])), "the weight of nice 7");
    assert!(told(["io.max", "blkio.throttle.read_bps_device"]).contains("1073741824"), "1G a second of a disk");
}

#[test]
fn a_user_with_limits_of_its_own_is_not_held_to_those_of_the_others() {
    let limited = Limited::with(|groups, _, leftovers| {
        let (everybody, own) = (EachLimit::parse("pids=4").unwrap(), EachLimit::parse("pids=100").unwrap());
        let limits = UserLimits { everybody, single: [(2, own)].into() };
        limits.apply(None, groups, leftovers).unwrap_or_else(|why| panic!("{why}"));
        Vec::new()
    });
    assert_eq!((limited.births(1), limited.births(2)), (3, 20));
}

/// The v2 way to a controller, on whichever one the v2 tree of this host holds (`hugetlb` where all others are on v1).
#[test]
fn a_controller_of_the_v2_tree_is_enabled_for_the_run_and_given_back() {
    let found = hierarchies();
    let tree = found.iter().find(|hierarchy| hierarchy.version == Version::V2).expect("this host has a v2 tree");
    let controller =
        tree.controllers.iter().find(|name| !["cpuset", "cpu", "memory"].contains(&name.as_str())).expect("a controller");
    // Whether this controller is: a run beside this test may enable others.
    let enabled = || {
        let controllers = fs::read_to_string(tree.mount.join("cgroup.subtree_control")).unwrap();
        controllers.split_whitespace().any(|name| name == controller)
    };
    let before = enabled();
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("loadgo-v2-{}", std::process::id()));
    let mut leftovers = Leftovers::begin_in(&directory, "v2").unwrap();
    let mut groups = Groups::create_in(tree, "v2", &mut leftovers).unwrap();
    let group = groups.with_controller(controller, &mut leftovers).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(group, groups.path());
    assert!(fs::read_to_string(group.join("cgroup.controllers")).unwrap().contains(controller.as_str()));
    assert!(leftovers.finish().is_empty());
    assert_eq!(enabled(), before);
    assert!(!group.exists());
    fs::remove_dir_all(&directory).unwrap();
}
