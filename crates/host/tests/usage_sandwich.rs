//! The usage meter compared with wait4 and /proc, on real processes in real control groups.

mod line_shell;

use line_shell::Shell;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use loadgo_core::system::Usage;
use loadgo_host::groups::Groups;
use loadgo_host::groups::hierarchy::{Version, hierarchies};
use loadgo_host::leftovers::Leftovers;
use loadgo_host::usage::exits::Exits;
use loadgo_host::usage::meter::UsageMeter;
use loadgo_host::usage::proc::Proc;
use loadgo_host::usage::sources::Demand;
use loadgo_sys::scheduling::allowed_processors;

static RUN: AtomicU32 = AtomicU32::new(0);

/// A run with its own state directory, groups and meter.
struct Bench {
    groups: Option<Groups>,
    meter: UsageMeter,
    _leftovers: Leftovers,
    directory: PathBuf,
}

impl Bench {
    fn new(tree: Option<Version>, taskstats: bool) -> Bench {
        let number = RUN.fetch_add(1, Ordering::Relaxed);
        let id = format!("test-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(format!("loadgo-{id}"));
        // The usual place: runs that share it agree on when delay accounting goes off again.
        let mut leftovers = Leftovers::begin(&id).expect("a state directory");
        std::fs::create_dir_all(&directory).expect("a place for files");
        let groups = tree.map(|version| {
            let found = hierarchies();
            let keeps_accounts = |version| {
                move |h: &&loadgo_host::groups::hierarchy::Hierarchy| {
                    h.version == version && (version == Version::V2 || h.has("cpuacct"))
                }
            };
            let hierarchy = found.iter().find(keeps_accounts(version)).expect("this host has both trees");
            Groups::create_in(hierarchy, &id, &mut leftovers).expect("these tests run as root")
        });
        let demand = Demand { first_user: 1, users: 4, every: 1, taskstats };
        let meter = UsageMeter::open(groups.as_ref(), demand, &mut leftovers).expect("/proc is there");
        Bench { groups, meter, _leftovers: leftovers, directory }
    }

    /// A shell that says `ready` on its standard output after each line, as the user `user`.
    fn shell(&mut self, user: u32) -> Shell {
        if let Some(groups) = &self.groups {
            groups.add_user(user).expect("a group for the user");
        }
        let paths = self.groups.as_ref().map_or(Vec::new(), |groups| groups.join_paths(user));
        let mut shell = Shell::start(paths);
        self.meter.began(user, shell.child.id());
        shell.type_line(":");
        self.meter.interaction(user);
        shell
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self._leftovers.finish();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn cpu_ns(usage: &Usage) -> u64 {
    usage.cpu_user_ns.unwrap() + usage.cpu_system_ns.unwrap()
}

const TREE: &str = "ls / >/dev/null; (ls /; sh -c 'cat /etc/passwd | sort | wc -l; ls /etc'; true) >/dev/null; i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done";
const THREADS: &str = "python3 -c 'import threading
def work(): sum(range(300000)); [bytearray(50000) for _ in range(200)]
started = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in started]; [t.join() for t in started]'";

#[test]
fn faults_of_a_tree_of_processes_equal_those_of_proc_to_the_fault() {
    for line in [TREE, THREADS, ":"] {
        let mut bench = Bench::new(Some(Version::V1), true);
        let mut shell = bench.shell(1);
        let proc = Proc::open().unwrap();
        let before = proc.stat(shell.child.id()).unwrap();
        shell.type_line(line);
        let usage = bench.meter.interaction(1);
        let after = proc.stat(shell.child.id()).unwrap();
        assert_eq!(usage.faults_minor, Some(after.minor - before.minor), "{line}");
        assert_eq!(usage.faults_major, Some(after.major - before.major), "{line}");
        assert_eq!(bench.meter.take_lost(), 0);
        shell.end();
    }
}

#[test]
fn faults_and_processor_time_of_a_session_equal_those_of_wait4() {
    for version in [Version::V1, Version::V2] {
        let mut bench = Bench::new(Some(version), true);
        bench.groups.as_ref().unwrap().add_user(1).unwrap();
        let mut shell = Shell::start(bench.groups.as_ref().unwrap().join_paths(1));
        bench.meter.began(1, shell.child.id());
        let mut sum = Usage::default();
        let add = |sum: &mut Usage, usage: Usage| {
            sum.cpu_user_ns = Some(sum.cpu_user_ns.unwrap_or(0) + cpu_ns(&usage));
            sum.faults_minor = Some(sum.faults_minor.unwrap_or(0) + usage.faults_minor.unwrap());
            sum.faults_major = Some(sum.faults_major.unwrap_or(0) + usage.faults_major.unwrap());
        };
        for line in [TREE, THREADS, TREE, ":", THREADS] {
            shell.type_line(line);
            add(&mut sum, bench.meter.interaction(1));
        }
        let (true_ns, minor, major) = shell.end();
        add(&mut sum, bench.meter.interaction(1));
        assert_eq!((sum.faults_minor, sum.faults_major), (Some(minor), Some(major)), "{version:?}");
        let ours = sum.cpu_user_ns.unwrap() as f64;
        assert!((ours / true_ns as f64 - 1.0).abs() < 0.01, "{version:?}: {ours} is not within 1 % of {true_ns}");
    }
}

#[test]
fn the_interactions_add_up_to_the_account_of_the_group() {
    for (version, taskstats) in [(Version::V1, true), (Version::V2, true), (Version::V1, false), (Version::V2, false)] {
        let mut bench = Bench::new(Some(version), taskstats);
        let mut shell = bench.shell(3);
        let before = bench.groups.as_ref().unwrap().user_cpu_ns(3).unwrap();
        let sum: u64 = (0..20)
            .map(|n| {
                shell.type_line(if n % 3 == 0 { TREE } else { "ls / >/dev/null" });
                cpu_ns(&bench.meter.interaction(3))
            })
            .sum();
        let after = bench.groups.as_ref().unwrap().user_cpu_ns(3).unwrap();
        // The shell sleeps at each reading, so that both accounts have the same work, to a part of a millisecond.
        assert!(sum <= after - before + 1_000_000 && sum + 1_000_000 >= after - before, "{sum} and {}", after - before);
        shell.end();
    }
}

#[test]
fn the_parts_of_processor_time_and_the_waits_are_measured_with_taskstats() {
    let mut bench = Bench::new(Some(Version::V1), true);
    let mut shell = bench.shell(1);
    shell.type_line(TREE);
    let usage = bench.meter.interaction(1);
    assert!(usage.ready_wait_ns.is_some() && usage.cpu_user_ns.is_some() && usage.cpu_system_ns.is_some());
    assert!(usage.paging_wait_ns.is_some() && usage.io_wait_ns.is_some(), "{:?}", bench.meter.sources().notes);
    assert_eq!(bench.meter.sources().waits, "taskstats");
    shell.end();
}

#[test]
fn waits_for_a_device_are_counted_when_delay_accounting_is_on() {
    let mut bench = Bench::new(Some(Version::V1), true);
    let mut shell = bench.shell(1);
    let file = bench.directory.join("written");
    let line = format!("dd if=/dev/zero of={} bs=4M count=1 oflag=direct 2>/dev/null", file.display());
    // One long wait a line, and many lines. Since 6.12 the kernel loses waits of a sleeper whose processor others want: one without
    // its beginning makes the line's waits unknown, one that the sleeper spent in the queue counts as 0.
    let waits = (0..40).map(|_| {
        shell.type_line(&line);
        bench.meter.interaction(1).io_wait_ns
    });
    let waited = waits.flatten().find(|waited_ns| *waited_ns > 0);
    assert!(waited.is_some(), "forty times 4 MB written through to the device without a wait that the kernel told");
    shell.end();
}

/// Two loops on one processor, one of them in a child.
const CONTENTION: &str =
    "(i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done) & i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done; wait";

/// Binds a shell, and all that it starts from then on, to one of the processors that are allowed here.
fn bind_to_one_processor(shell: &Shell) {
    let mut one = CpuSet::new();
    one.set(allowed_processors()[0]);
    sched_setaffinity(Pid::from_raw(shell.child.id() as i32), &one).expect("the shell is a child");
}

#[test]
fn a_process_that_lives_on_has_its_waits_in_each_line() {
    let mut bench = Bench::new(Some(Version::V1), true);
    let mut shell = bench.shell(1);
    // From 6.12 on, the rest of a sleep is counted as ready where the sleeping task is moved to another processor.
    bind_to_one_processor(&shell);
    let reader = shell.begin_reader("sh");
    bench.meter.interaction(1);
    let ready_wait_ns = || -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{reader}/schedstat")).expect("the reader lives");
        text.split(' ').nth(1).expect("a second field").parse().expect("a number")
    };
    for _ in 0..3 {
        let (before, began) = (ready_wait_ns(), std::time::Instant::now());
        shell.type_line(CONTENTION);
        let usage = bench.meter.interaction(1);
        let (ready, real_ns) = (usage.ready_wait_ns.expect("known"), began.elapsed().as_nanos() as u64);
        let of_reader = ready_wait_ns() - before;
        assert!(of_reader > 0 && ready > of_reader && ready < 3 * real_ns, "{ready} ns, of which {of_reader}, in {real_ns} ns");
    }
    let all = ready_wait_ns();
    shell.end_reader();
    shell.type_line(":");
    let last = bench.meter.interaction(1).ready_wait_ns.expect("known");
    assert!(last < all / 2, "{last} ns of {all} are charged to the line in which the reader ends");
    shell.end();
}

#[test]
fn the_waits_of_a_program_with_threads_that_lives_on_are_not_claimed() {
    const THREADS: &str = "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()
for line in open(0, \"rb\", buffering=0):
  if b\"exit\" in line: break
  if b\"ready\" in line: print(\"ready\")";
    let mut bench = Bench::new(Some(Version::V1), true);
    let mut shell = bench.shell(1);
    shell.begin_reader(&format!("python3 -uc '{THREADS}'"));
    shell.type_line("a line");
    let usage = bench.meter.interaction(1);
    assert_eq!((usage.ready_wait_ns, usage.paging_wait_ns, usage.io_wait_ns), (None, None, None));
    assert!(usage.faults_minor.is_some() && usage.cpu_user_ns.is_some());
    shell.end_reader();
    shell.type_line(":");
    bench.meter.interaction(1);
    shell.type_line("ls / >/dev/null");
    assert!(bench.meter.interaction(1).ready_wait_ns.is_some(), "the program has ended");
    shell.end();
}

#[test]
fn without_a_group_or_the_privilege_the_waits_beside_a_process_that_lives_on_are_not_claimed() {
    let mut bench = Bench::new(None, false);
    let mut shell = bench.shell(1);
    shell.begin_reader("sh");
    bench.meter.interaction(1);
    shell.type_line("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done");
    assert_eq!(bench.meter.interaction(1).ready_wait_ns, None, "its child ran, and not the leader");
    shell.end_reader();
    shell.end();
}

#[test]
fn without_the_privilege_proc_tells_faults_and_the_waits_of_others_are_not_claimed() {
    for tree in [Some(Version::V2), None] {
        let mut bench = Bench::new(tree, false);
        let mut shell = bench.shell(1);
        let proc = Proc::open().unwrap();
        let before = proc.stat(shell.child.id()).unwrap();
        shell.type_line(TREE);
        let usage = bench.meter.interaction(1);
        let after = proc.stat(shell.child.id()).unwrap();
        assert_eq!(usage.faults_minor, Some(after.minor - before.minor));
        assert_eq!((usage.ready_wait_ns, usage.paging_wait_ns, usage.io_wait_ns), (None, None, None));
        assert_eq!(bench.meter.sources().faults, "/proc");
        shell.type_line("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done");
        let usage = bench.meter.interaction(1);
        assert!(usage.ready_wait_ns.is_some(), "the leader ran alone: {usage:?}");
        assert!(cpu_ns(&usage) > 0);
        shell.end();
    }
}

#[test]
fn processor_time_without_a_group_is_right_to_a_tick_for_each_interaction() {
    for taskstats in [true, false] {
        let mut bench = Bench::new(None, taskstats);
        let mut shell = bench.shell(1);
        let proc = Proc::open().unwrap();
        let before = proc.sums(&proc.stat(shell.child.id()).unwrap()).cpu_ns;
        let sum: u64 = (0..5)
            .map(|_| {
                shell.type_line(THREADS);
                cpu_ns(&bench.meter.interaction(1))
            })
            .sum();
        let truth = proc.sums(&proc.stat(shell.child.id()).unwrap()).cpu_ns - before;
        assert!(sum.abs_diff(truth) <= 4 * proc.tick_ns(), "{sum} and {truth}");
        assert_eq!(bench.meter.sources().cpu_resolution_ns, proc.tick_ns());
        shell.end();
    }
}

#[test]
fn what_runs_in_the_background_is_charged_while_it_runs() {
    let mut bench = Bench::new(Some(Version::V1), true);
    let mut shell = bench.shell(1);
    shell.type_line("(i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; exec sleep 1000) & wait_for=$!");
    let started = bench.groups.as_ref().unwrap().user_cpu_ns(1).unwrap();
    while bench.groups.as_ref().unwrap().user_cpu_ns(1).unwrap() < started + 20_000_000 {
        std::hint::spin_loop();
    }
    let charged = cpu_ns(&bench.meter.interaction(1));
    assert!(charged >= 20_000_000, "{charged}");
    bench.groups.as_ref().unwrap().kill(1).unwrap();
    shell.end();
}

#[test]
fn only_every_third_interaction_is_measured_when_usage_is_sampled() {
    let mut bench = Bench::new(Some(Version::V1), true);
    let demand = Demand { first_user: 1, users: 1, every: 3, taskstats: true };
    bench.meter = UsageMeter::open(bench.groups.as_ref(), demand, &mut bench._leftovers).unwrap();
    let mut shell = bench.shell(1);
    let measured: Vec<bool> = (0..7)
        .map(|_| {
            bench.meter.sent(1, 1);
            shell.type_line("ls / >/dev/null");
            bench.meter.interaction(1).cpu_user_ns.is_some()
        })
        .collect();
    assert_eq!(measured, [true, false, false, true, false, false, true]);
    shell.end();
}

#[test]
fn records_that_do_not_fit_into_the_buffer_are_counted_as_lost() {
    let mut exits = Exits::listen_with_buffer(1, 4096).expect("these tests run as root");
    let mut shell = Shell::start(Vec::new());
    shell.type_line("i=0; while [ $i -lt 40 ]; do i=$((i+1)); ls / >/dev/null; done");
    shell.end();
    exits.drain(|_, _| {});
    assert!(exits.take_lost() > 0);
    assert_eq!(exits.take_lost(), 0);
}

#[test]
fn interactions_add_up_also_where_no_descriptor_is_to_spare() {
    let limit = getrlimit(Resource::Nofile);
    let most = limit.current.unwrap_or(u64::MAX).min(1 << 20);
    let mut bench = Bench::new(Some(Version::V1), true);
    let users = usize::try_from(most).unwrap();
    setrlimit(Resource::Nofile, Rlimit { current: Some(most), ..limit }).unwrap();
    let demand = Demand { first_user: 1, users, every: 1, taskstats: true };
    bench.meter = UsageMeter::open(bench.groups.as_ref(), demand, &mut bench._leftovers).unwrap();
    let mut shell = bench.shell(1);
    let lines = [":", "i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done", ":", TREE, ":", "ls / >/dev/null"];
    let before = bench.groups.as_ref().unwrap().user_cpu_ns(1).unwrap();
    let sum: u64 = lines
        .into_iter()
        .cycle()
        .take(40)
        .map(|line| {
            shell.type_line(line);
            cpu_ns(&bench.meter.interaction(1))
        })
        .sum();
    let after = bench.groups.as_ref().unwrap().user_cpu_ns(1).unwrap();
    assert!(sum <= after - before + 1_000_000 && sum + 1_000_000 >= after - before, "{sum} and {}", after - before);
    shell.end();
}

#[test]
fn a_second_session_of_a_user_is_not_charged_for_the_first() {
    let mut bench = Bench::new(Some(Version::V1), true);
    let mut shell = bench.shell(1);
    shell.type_line(THREADS);
    assert!(cpu_ns(&bench.meter.interaction(1)) > 20_000_000);
    bench.meter.ended(1);
    shell.end();
    let mut shell = bench.shell(1);
    shell.type_line(":");
    let usage = bench.meter.interaction(1);
    assert!(cpu_ns(&usage) < 10_000_000 && usage.faults_minor.unwrap() < 100, "{usage:?}");
    shell.end();
}
