//! Page faults and interrupts on this host: the meters count what the kernel counts, to the fault. For root.

use loadgo_core::record::MeterRows;
use loadgo_core::time::Instant;
use loadgo_host::commands::oneshot::{Oneshot, Streams, Warmth};
use loadgo_host::groups::Groups;
use loadgo_host::leftovers::Leftovers;
use loadgo_host::limits::Limit;
use loadgo_meters::{MeterRequest, Meters, Tier};
use loadgo_sys::child::Wait4Usage;
use loadgo_sys::clock::monotonic_ns;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One at a time: each loads the meters, and some want the machine as it is.
static ALONE: Mutex<()> = Mutex::new(());

/// The meters, and a place to run commands in whose faults they tell apart.
struct Metered {
    meters: Meters,
    oneshot: Oneshot,
    _alone: MutexGuard<'static, ()>,
}

/// Faults of a command by kind, as metered, and as wait4 has them.
struct Found {
    kinds: BTreeMap<&'static str, u64>,
    waited: Wait4Usage,
    sample: MeterRows,
}

fn now() -> Instant {
    Instant(monotonic_ns())
}

impl Metered {
    fn begin() -> Metered {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = MeterRequest { tier: Tier::Exact, accounts: 8, commands: Vec::new(), profile_hz: None, segments: false };
        let mut meters = Meters::begin(&wanted, now()).unwrap_or_else(|why| panic!("these tests need root: {why}"));
        let mut oneshot = Oneshot::open().expect("a command can be run");
        oneshot.take_waits_from(Box::new(meters.waits(Vec::new()).expect("sessions are told apart")));
        Metered { meters, oneshot, _alone: alone }
    }

    fn run(&mut self, command: &[&str]) -> Found {
        let command: Vec<_> = command.iter().map(Into::into).collect();
        self.meters.sample(now()).expect("the kernel answers");
        let run = self.oneshot.run(&command, Streams::Null, Warmth::AsItIs).expect("the command runs");
        let sample = self.meters.sample(now()).expect("the kernel answers");
        let mut kinds = BTreeMap::new();
        for row in sample.faults.iter().filter(|row| row.user.is_some()) {
            *kinds.entry(row.kind).or_default() += row.count;
        }
        Found { kinds, waited: run.waited, sample }
    }

    fn python(&mut self, program: &str) -> Found {
        self.run(&["python3", "-c", program])
    }
}

impl Found {
    fn of(&self, kinds: &[&str]) -> u64 {
        kinds.iter().filter_map(|kind| self.kinds.get(kind)).sum()
    }

    /// Every fault that wait4 tells of is there, and no other.
    fn equals_wait4(&self) {
        let minor = self.of(&["minor", "write-protect", "segment", "bound", "minor unclocked"]);
        let major = self.of(&["major", "swap-in", "major unclocked"]);
        assert_eq!((minor, major), (self.waited.faults_minor, self.waited.faults_major), "{:?}", self.kinds);
    }
}

/// Maps 64 MB and touches each page: 16384 faults, and 32 page tables.
const TOUCH: &str = "import mmap
memory = mmap.mmap(-1, 64 << 20)
for page in range(0, 64 << 20, 4096): memory[page] = 1";

#[test]
fn first_touches_are_counted_to_the_fault() {
    let found = Metered::begin().python(TOUCH);
    found.equals_wait4();
    assert!(found.of(&["minor"]) >= 16384 - 32, "{:?}", found.kinds);
    assert!(found.of(&["segment"]) >= 31, "a page table for each 2 MB: {:?}", found.kinds);
}

#[test]
fn faults_that_no_event_tells_are_few() {
    let found = Metered::begin().run(&["sh", "-c", "ls / | wc -l; cat /proc/self/stat; true"]);
    found.equals_wait4();
    let untold = found.of(&["minor unclocked", "major unclocked"]);
    assert!(untold * 10 < found.of(&["minor"]), "{:?}", found.kinds);
    assert!(untold > 0, "the kernel lays the arguments of a program itself: {:?}", found.kinds);
    for row in found.sample.faults.iter().filter(|row| row.kind.ends_with("unclocked")) {
        assert_eq!((row.cpu_ns, row.wait_ns), (None, None), "what no event tells has no time, and not none of it: {row:?}");
    }
}

#[test]
fn a_file_that_is_not_in_memory_faults_majorly_and_then_no_more() {
    let mut metered = Metered::begin();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mapped");
    std::fs::write(&path, vec![1; 8 << 20]).expect("a file can be written");
    let map = |drop: &str| {
        format!(
            "import mmap, os
file = os.open('{}', os.O_RDONLY)
os.fsync(file)
{drop}
memory = mmap.mmap(file, 0, prot=mmap.PROT_READ)
memory.madvise(mmap.MADV_RANDOM)
sum(memory[page] for page in range(0, 8 << 20, 16 * 4096))",
            path.display()
        )
    };
    let cold = metered.python(&map("os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)"));
    let warm = metered.python(&map(""));
    std::fs::remove_file(&path).expect("it is ours");
    cold.equals_wait4();
    warm.equals_wait4();
    // One is unclocked for each time that this kernel does not tell who takes up a processor again.
    assert!(cold.of(&["major", "major unclocked"]) >= 100, "{:?}", cold.kinds);
    assert!(cold.of(&["major"]) > cold.of(&["major unclocked"]), "{:?}", cold.kinds);
    assert!(warm.of(&["major", "major unclocked"]) < 20, "{:?}", warm.kinds);
}

#[test]
fn what_a_child_writes_of_its_parents_memory_is_write_protected() {
    let found = Metered::begin().python(
        "import mmap, os
memory = mmap.mmap(-1, 16 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for page in range(0, 16 << 20, 4096): memory[page] = 1
child = os.fork()
if child == 0:
    for page in range(0, 16 << 20, 4096): memory[page] = 2
    os._exit(0)
os.waitpid(child, 0)",
    );
    found.equals_wait4();
    if cfg!(target_arch = "x86_64") {
        assert!(found.of(&["write-protect"]) >= 4096, "{:?}", found.kinds);
    }
}

#[test]
fn a_stack_that_grows_is_a_bound_fault() {
    let found = Metered::begin().run(&["sh", "-c", "f() { [ $1 -gt 0 ] && f $(($1 - 1)); }; f 2000; true"]);
    found.equals_wait4();
    assert!(found.of(&["bound"]) >= 5, "{:?}", found.kinds);
}

#[test]
fn a_fault_that_ends_in_a_signal_is_none() {
    let found = Metered::begin().run(&["sh", "-c", "python3 -X faulthandler -c 'import ctypes; ctypes.string_at(8)'; ls /"]);
    found.equals_wait4();
}

#[test]
fn a_page_that_was_paged_out_is_swapped_in() {
    let mut metered = Metered::begin();
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("swapped");
    std::fs::create_dir_all(&directory).expect("a directory can be made");
    let mut leftovers = Leftovers::begin_in(&directory.join("state"), "faults").expect("it is ours");
    let mut groups = Groups::create("faults", &mut leftovers).unwrap_or_else(|why| panic!("{why}"));
    groups.add_user(1).expect("the group is ours");
    let limit = Limit::parse("memory=32M,swap=zram:256M").expect("it is a limit");
    limit.apply(&mut groups, &directory, &mut leftovers).unwrap_or_else(|why| panic!("{why}"));
    let joins: String = groups.join_paths(1).iter().map(|path| format!("echo 0 >{}; ", path.to_string_lossy())).collect();
    let program = "import os
seed = os.urandom(1 << 20)
pages = [seed[i:] + seed[:i] for i in range(60)]
print(sum(page[k] for page in pages for k in range(0, 1 << 20, 4096)) >= 0)";
    let found = metered.run(&["sh", "-c", &format!("{joins}exec python3 -c '{program}'")]);
    assert!(leftovers.finish().is_empty());
    found.equals_wait4();
    assert!(found.of(&["swap-in"]) >= 1000, "{:?}", found.kinds);
    assert!(found.of(&["major unclocked"]) * 100 <= found.of(&["swap-in"]), "{:?}", found.kinds);
    assert!(found.of(&["major"]) < found.of(&["swap-in"]) / 10, "{:?}", found.kinds);
}

#[test]
fn a_histogram_has_every_clocked_fault() {
    let found = Metered::begin().python(TOUCH);
    for kind in ["minor", "segment", "write-protect"] {
        let of_all = found.sample.faults.iter().filter(|row| row.kind == kind && row.user.is_none());
        let (sums, buckets): (Vec<_>, Vec<_>) = of_all.partition(|row| row.bucket_ns.is_none());
        let counts = |rows: &[&loadgo_core::record::FaultRow]| rows.iter().map(|row| row.count).sum::<u64>();
        assert_eq!(counts(&sums), counts(&buckets), "{kind}");
    }
}

/// Interrupts without a device: the meters' names, and the kernel's.
const NAMES: [(&str, &str); 15] = [
    ("local timer", "LOC"),
    ("rescheduling", "RES"),
    ("function call", "CAL"),
    ("single function call", "CAL"),
    ("work", "IWI"),
    ("high", "HI"),
    ("timer", "TIMER"),
    ("net-tx", "NET_TX"),
    ("net-rx", "NET_RX"),
    ("block", "BLOCK"),
    ("poll", "IRQ_POLL"),
    ("tasklet", "TASKLET"),
    ("sched", "SCHED"),
    ("hrtimer", "HRTIMER"),
    ("rcu", "RCU"),
];

/// The kernel's counts of interrupts: those of devices by the meters' name, others by the kernel's own short names.
fn interrupts_of_the_kernel() -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for path in ["/proc/interrupts", "/proc/softirqs"] {
        let table = std::fs::read_to_string(path).expect("the kernel tells");
        let processors = table.lines().next().map_or(0, |head| head.split_whitespace().count());
        for line in table.lines().skip(1) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let count = words[1..].iter().take(processors).filter_map(|word| word.parse::<u64>().ok()).sum::<u64>();
            let number = words[0].trim_end_matches(':');
            let device = number.parse::<u32>().is_ok() && words.len() > processors + 3;
            let name = if device { words[words.len() - 1] } else { number };
            if device || NAMES.iter().any(|(_, kernels)| *kernels == name) {
                counts.insert(name.into(), count);
            }
        }
    }
    counts
}

/// The interrupts of a sample by the kernel's names, clocked and unclocked together.
fn interrupts_of_the_meters(sample: &MeterRows) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for row in sample.faults.iter().filter(|row| row.bucket_ns.is_none()) {
        let Some(name) = row.device.as_deref() else { continue };
        let kernels = NAMES.iter().find(|(ours, _)| *ours == name).map_or(name, |(_, kernels)| kernels);
        *counts.entry(kernels.to_string()).or_default() += row.count;
    }
    counts
}

#[test]
fn interrupts_are_those_that_the_kernel_counts() {
    let mut metered = Metered::begin();
    let processors = aya::util::nr_cpus().expect("the kernel tells") as u64;
    let before = interrupts_of_the_kernel();
    metered.meters.sample(now()).expect("the kernel answers");
    let after_first = interrupts_of_the_kernel();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("written").display().to_string();
    let write = format!("of={path}");
    metered
        .oneshot
        .run(&["dd", "if=/dev/zero", &write, "bs=64k", "count=64", "oflag=direct"].map(Into::into), Streams::Null, Warmth::AsItIs)
        .expect("dd runs");
    let before_second = interrupts_of_the_kernel();
    let sample = metered.meters.sample(now()).expect("the kernel answers");
    let after = interrupts_of_the_kernel();
    std::fs::remove_file(path).expect("it is ours");
    let found = interrupts_of_the_meters(&sample);
    for (name, last) in after {
        let count = found.get(&name).copied().unwrap_or(0);
        // The kernel counts an interrupt when it begins, the meters when it ends: one may be under way on each processor.
        let least = (before_second[&name] - after_first[&name]).saturating_sub(processors);
        let most = last - before[&name] + processors;
        assert!((least..=most).contains(&count), "{name}: {count} is not in {least}..={most}: {:?}", sample.faults);
    }
    assert!(found.len() >= 4, "{found:?}");
}

#[test]
fn interrupts_by_source_add_up() {
    let mut metered = Metered::begin();
    let sample = metered.python(TOUCH).sample;
    for kind in ["interrupt", "soft interrupt", "interrupt unclocked", "soft interrupt unclocked"] {
        let sums = sample.faults.iter().filter(|row| row.kind == kind && row.bucket_ns.is_none());
        let (all, parts): (Vec<_>, Vec<_>) = sums.partition(|row| row.device.is_none());
        assert_eq!(all.iter().map(|row| row.count).sum::<u64>(), parts.iter().map(|row| row.count).sum::<u64>());
        assert_eq!(all.iter().filter_map(|row| row.cpu_ns).sum::<u64>(), parts.iter().filter_map(|row| row.cpu_ns).sum::<u64>());
    }
}

#[test]
fn the_meters_own_time_is_a_part_of_each_processors_time() {
    let mut metered = Metered::begin();
    let sample = metered.python(TOUCH).sample;
    let calibration = metered.meters.calibration();
    let (Some(primitive), Some(fault)) = (calibration.primitive, calibration.fault) else {
        writeln!(std::io::stderr(), "not run: the meters are not calibrated, since this host is too busy").expect("said");
        return;
    };
    let events = sample.primitives.iter().filter(|row| row.user.is_none() && row.bucket_ns.is_none()).map(|row| row.count);
    assert!(events.sum::<u64>() > 0);
    let own: u64 = sample.time.iter().filter(|row| row.category == "meters").map(|row| row.time_ns).sum();
    assert!(own as f64 >= 16000.0 * fault.meter_cost_ns().min(fault.misattributed_ns()) / 2.0, "{own} {calibration}");
    assert!(primitive.clocked_ns > 0.0);
    let mut sums = BTreeMap::new();
    for row in &sample.time {
        *sums.entry(row.processor).or_insert(0) += row.time_ns;
    }
    let span_ns = sample.time[0].span_ns;
    assert!(sums.values().all(|sum| *sum == span_ns), "{sums:?} of {span_ns}");
}
