//! Page faults and interrupts on this host: the meters' counts are the kernel's, to the fault. Needs root.

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

/// Lets the tests run one at a time: each loads the meters, and some count the events of the whole host.
static ALONE: Mutex<()> = Mutex::new(());

/// The meters, and the means to run commands whose faults they count separately.
struct Metered {
    meters: Meters,
    oneshot: Oneshot,
    _alone: MutexGuard<'static, ()>,
}

/// Faults of a command by kind, by the meters and by wait4.
struct MeteredRun {
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
        let wanted = MeterRequest { tier: Tier::Exact, accounts: 8, commands: Vec::new(), locks: false, profile_hz: None };
        let mut meters = Meters::begin(&wanted, now()).unwrap_or_else(|refusal| panic!("these tests need root: {refusal}"));
        let mut oneshot = Oneshot::open().expect("a command can be run");
        oneshot.take_waits_from(Box::new(meters.waits(Vec::new()).expect("sessions are distinguished")));
        Metered { meters, oneshot, _alone: alone }
    }

    fn run(&mut self, command: &[&str]) -> MeteredRun {
        let command: Vec<_> = command.iter().map(Into::into).collect();
        self.meters.sample(now()).expect("the kernel answers");
        let run = self.oneshot.run(&command, Streams::Null, Warmth::AsItIs).expect("the command runs");
        let sample = self.meters.sample(now()).expect("the kernel answers");
        let mut kinds = BTreeMap::new();
        for row in sample.faults.iter().filter(|row| row.user.is_some()) {
            *kinds.entry(row.kind).or_default() += row.count;
        }
        MeteredRun { kinds, waited: run.waited, sample }
    }

    fn python(&mut self, program: &str) -> MeteredRun {
        self.run(&["python3", "-c", program])
    }
}

impl MeteredRun {
    fn count(&self, kinds: &[&str]) -> u64 {
        kinds.iter().filter_map(|kind| self.kinds.get(kind)).sum()
    }

    /// Asserts that the meters count as many faults as wait4.
    fn assert_equals_wait4(&self) {
        let minor = self.count(&["minor", "write-protect", "segment", "bound", "minor unclocked"]);
        let major = self.count(&["major", "swap-in", "major unclocked"]);
        assert_eq!((minor, major), (self.waited.faults_minor, self.waited.faults_major), "{:?}", self.kinds);
    }
}

/// Maps 64 MB and touches each page: 16384 faults, and 32 page tables.
const TOUCH: &str = "import mmap
memory = mmap.mmap(-1, 64 << 20)
for page in range(0, 64 << 20, 4096): memory[page] = 1";

#[test]
fn first_touches_are_counted_to_the_fault() {
    let run = Metered::begin().python(TOUCH);
    run.assert_equals_wait4();
    assert!(run.count(&["minor"]) >= 16384 - 32, "{:?}", run.kinds);
    assert!(run.count(&["segment"]) >= 31, "a page table for each 2 MB: {:?}", run.kinds);
}

#[test]
fn faults_that_no_event_reports_are_few() {
    let run = Metered::begin().run(&["sh", "-c", "ls / | wc -l; cat /proc/self/stat; true"]);
    run.assert_equals_wait4();
    let unreported = run.count(&["minor unclocked", "major unclocked"]);
    assert!(unreported * 10 < run.count(&["minor"]), "{:?}", run.kinds);
    assert!(unreported > 0, "the kernel itself writes a program's arguments into its memory: {:?}", run.kinds);
    for row in run.sample.faults.iter().filter(|row| row.kind.ends_with("unclocked")) {
        assert_eq!((row.cpu_ns, row.wait_ns), (None, None), "the time of an unreported fault is unknown, not 0: {row:?}");
    }
}

#[test]
fn a_file_that_is_not_in_memory_has_major_faults_the_first_time_only() {
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
    cold.assert_equals_wait4();
    warm.assert_equals_wait4();
    // A fault is unclocked each time that this kernel does not report the switch back to the task.
    assert!(cold.count(&["major", "major unclocked"]) >= 100, "{:?}", cold.kinds);
    assert!(cold.count(&["major"]) > cold.count(&["major unclocked"]), "{:?}", cold.kinds);
    assert!(warm.count(&["major", "major unclocked"]) < 20, "{:?}", warm.kinds);
}

#[test]
fn a_childs_writes_to_its_parents_memory_are_write_protect_faults() {
    let run = Metered::begin().python(
        "import mmap, os
memory = mmap.mmap(-1, 16 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for page in range(0, 16 << 20, 4096): memory[page] = 1
child = os.fork()
if child == 0:
    for page in range(0, 16 << 20, 4096): memory[page] = 2
    os._exit(0)
os.waitpid(child, 0)",
    );
    run.assert_equals_wait4();
    if cfg!(target_arch = "x86_64") {
        assert!(run.count(&["write-protect"]) >= 4096, "{:?}", run.kinds);
    }
}

#[test]
fn a_stack_that_grows_is_a_bound_fault() {
    let run = Metered::begin().run(&["sh", "-c", "f() { [ $1 -gt 0 ] && f $(($1 - 1)); }; f 2000; true"]);
    run.assert_equals_wait4();
    assert!(run.count(&["bound"]) >= 5, "{:?}", run.kinds);
}

#[test]
fn a_fault_that_ends_in_a_signal_is_not_counted() {
    let run = Metered::begin().run(&["sh", "-c", "python3 -X faulthandler -c 'import ctypes; ctypes.string_at(8)'; ls /"]);
    run.assert_equals_wait4();
}

#[test]
fn a_page_that_was_paged_out_is_swapped_in() {
    let mut metered = Metered::begin();
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("swapped");
    std::fs::create_dir_all(&directory).expect("a directory can be made");
    let mut leftovers = Leftovers::begin_in(&directory.join("state"), "faults").expect("it is ours");
    let mut groups = Groups::create("faults", &mut leftovers).unwrap_or_else(|refusal| panic!("{refusal}"));
    groups.add_user(1).expect("the group is ours");
    let limit = Limit::parse("memory=32M,swap=zram:256M").expect("it is a limit");
    limit.apply(&mut groups, &directory, &mut leftovers).unwrap_or_else(|refusal| panic!("{refusal}"));
    let joins: String = groups.join_paths(1).iter().map(|path| format!("echo 0 >{}; ", path.to_string_lossy())).collect();
    let program = "import os
seed = os.urandom(1 << 20)
pages = [seed[i:] + seed[:i] for i in range(60)]
print(sum(page[k] for page in pages for k in range(0, 1 << 20, 4096)) >= 0)";
    let run = metered.run(&["sh", "-c", &format!("{joins}exec python3 -c '{program}'")]);
    assert!(leftovers.finish().is_empty());
    run.assert_equals_wait4();
    assert!(run.count(&["swap-in"]) >= 1000, "{:?}", run.kinds);
    assert!(run.count(&["major unclocked"]) * 100 <= run.count(&["swap-in"]), "{:?}", run.kinds);
    assert!(run.count(&["major"]) < run.count(&["swap-in"]) / 10, "{:?}", run.kinds);
}

#[test]
fn a_histogram_has_every_clocked_fault() {
    let run = Metered::begin().python(TOUCH);
    for kind in ["minor", "segment", "write-protect"] {
        let rows = run.sample.faults.iter().filter(|row| row.kind == kind && row.user.is_none());
        let (sums, buckets): (Vec<_>, Vec<_>) = rows.partition(|row| row.bucket_ns.is_none());
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
fn kernel_interrupts() -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for path in ["/proc/interrupts", "/proc/softirqs"] {
        let table = std::fs::read_to_string(path).expect("the kernel shows it");
        let processors = table.lines().next().map_or(0, |head| head.split_whitespace().count());
        for line in table.lines().skip(1) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let count = words[1..].iter().take(processors).filter_map(|word| word.parse::<u64>().ok()).sum::<u64>();
            let number = words[0].trim_end_matches(':');
            let is_device = number.parse::<u32>().is_ok() && words.len() > processors + 3;
            let name = if is_device { words[words.len() - 1] } else { number };
            if is_device || NAMES.iter().any(|(_, kernel_name)| *kernel_name == name) {
                counts.insert(name.into(), count);
            }
        }
    }
    counts
}

/// The interrupts of a sample by the kernel's names, clocked and unclocked together.
fn metered_interrupts(sample: &MeterRows) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for row in sample.faults.iter().filter(|row| row.bucket_ns.is_none()) {
        let Some(name) = row.device.as_deref() else { continue };
        let kernel_name = NAMES.iter().find(|(meters_name, _)| *meters_name == name).map_or(name, |(_, kernel_name)| kernel_name);
        *counts.entry(kernel_name.to_string()).or_default() += row.count;
    }
    counts
}

#[test]
fn interrupts_are_as_many_as_the_kernel_counts() {
    let mut metered = Metered::begin();
    let processors = aya::util::nr_cpus().expect("the kernel shows it") as u64;
    let before = kernel_interrupts();
    metered.meters.sample(now()).expect("the kernel answers");
    let after_first = kernel_interrupts();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("written").display().to_string();
    let write = format!("of={path}");
    metered
        .oneshot
        .run(&["dd", "if=/dev/zero", &write, "bs=64k", "count=64", "oflag=direct"].map(Into::into), Streams::Null, Warmth::AsItIs)
        .expect("dd runs");
    let before_second = kernel_interrupts();
    let sample = metered.meters.sample(now()).expect("the kernel answers");
    let after = kernel_interrupts();
    std::fs::remove_file(path).expect("it is ours");
    let metered_counts = metered_interrupts(&sample);
    for (name, last) in after {
        let count = metered_counts.get(&name).copied().unwrap_or(0);
        // The kernel counts an interrupt when it begins, the meters when it ends: one may be under way on each processor.
        let least = (before_second[&name] - after_first[&name]).saturating_sub(processors);
        let most = last - before[&name] + processors;
        assert!((least..=most).contains(&count), "{name}: {count} is not in {least}..={most}: {:?}", sample.faults);
    }
    assert!(metered_counts.len() >= 4, "{metered_counts:?}");
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
        writeln!(std::io::stderr(), "not run: the meters are not calibrated, since this host is too busy")
            .expect("standard error is open");
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
