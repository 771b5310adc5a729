//! Checks the clocked time of page faults. `truth TIMES` prints, for minor and for major faults, the mean time without meters, and the
//! meters' time as a part of it, raw and corrected. Each figure is the median of TIMES pairs of runs without and with meters.

use loadgo_core::record::FaultRow;
use loadgo_core::time::Instant;
use loadgo_host::commands::oneshot::{Oneshot, Streams, Warmth};
use loadgo_meters::{MeterRequest, Meters, Tier};
use loadgo_sys::clock::monotonic_ns;

/// Prints the processor time of a first touch of a page less that of a later one, in ns.
const MINOR: &str = "import mmap, os, time
def touch():
    began = time.thread_time_ns()
    for page in pages: memory[page] = 1
    return time.thread_time_ns() - began
pages, fresh, warm = range(0, 4 << 20, 4096), 0, 0
for _ in range(128):
    memory = mmap.mmap(-1, 4 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    fresh += touch()
    warm += touch()
    memory.close()
open(os.environ['TRUTH_RESULT'], 'w').write(str((fresh - warm) / (128 * len(pages))))";

/// Prints the time of touching a page of a file that is not in memory, less that of a later touch, in ns.
const MAJOR: &str = "import mmap, os, random, time
path = os.environ['TRUTH_FILE']
file = os.open(path, os.O_RDONLY)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
memory = mmap.mmap(file, 0, prot=mmap.PROT_READ)
memory.madvise(mmap.MADV_RANDOM)
pages = list(range(0, len(memory), 4096 * 16))
random.shuffle(pages)
def touch():
    began = time.monotonic_ns()
    for page in pages: memory[page]
    return time.monotonic_ns() - began
cold, warm = touch(), touch()
open(os.environ['TRUTH_RESULT'], 'w').write(str((cold - warm) / len(pages)))";

fn main() {
    let times: usize = std::env::args().nth(1).map_or(9, |word| word.parse().expect("TIMES is a number"));
    let file = std::env::temp_dir().join(format!("loadgo-truth-{}", std::process::id()));
    std::fs::write(&file, vec![1; 64 << 20]).expect("a file can be written");
    std::fs::File::open(&file).and_then(|file| file.sync_all()).expect("the disk takes the file");
    let path = file.display().to_string();
    for (name, load, kinds) in [("minor", MINOR, ["minor", "segment"]), ("major", MAJOR, ["major", "major"])] {
        let mut ratios: Vec<[f64; 3]> = (0..times).map(|_| pair(load, &path, &kinds)).collect();
        let median = |index: usize, ratios: &mut Vec<[f64; 3]>| {
            ratios.sort_by(|left, right| left[index].total_cmp(&right[index]));
            ratios[ratios.len() / 2][index]
        };
        let (bare, raw, corrected) = (median(0, &mut ratios), median(1, &mut ratios), median(2, &mut ratios));
        println!("{name} {bare:.0} ns; clocked {raw:.3} of it, corrected {corrected:.3}");
    }
    std::fs::remove_file(file).expect("it is ours");
}

/// Runs the load without and with meters. Returns the true mean, and the raw and the corrected mean as parts of it. Each run has a control
/// group of its own, whose memory is accounted.
fn pair(load: &str, path: &str, kinds: &[&str]) -> [f64; 3] {
    let result_path = format!("{path}.result");
    let command =
        ["env", &format!("TRUTH_FILE={path}"), &format!("TRUTH_RESULT={result_path}"), "python3", "-c", load].map(Into::into);
    let run = |oneshot: &mut Oneshot| {
        oneshot.run(&command, Streams::Null, Warmth::AsItIs).expect("the command runs");
        let text = std::fs::read_to_string(&result_path).expect("the load has written its result");
        text.parse::<f64>().expect("the result is a number")
    };
    let bare = run(&mut Oneshot::open().expect("a command can be run"));
    let wanted = MeterRequest { tier: Tier::Exact, accounts: 8, commands: Vec::new(), locks: false, profile_hz: None };
    let now = || Instant(monotonic_ns());
    let mut meters = Meters::begin(&wanted, now()).expect("this host has the meters");
    let mut oneshot = Oneshot::open().expect("a command can be run");
    oneshot.take_waits_from(Box::new(meters.waits(Vec::new()).expect("sessions are distinguished")));
    let metered = run(&mut oneshot);
    let sample = meters.sample(now()).expect("the kernel answers");
    std::fs::remove_file(result_path).expect("it is ours");
    let is_counted = |row: &&FaultRow| row.user.is_some() && kinds.contains(&row.kind);
    let [count, ns] = sample
        .faults
        .iter()
        .filter(is_counted)
        .fold([0, 0], |[count, ns], row| [count + row.count, ns + row.cpu_ns.unwrap_or(0) + row.wait_ns.unwrap_or(0)]);
    let calibration = meters.calibration();
    let raw = ns as f64 / count as f64;
    eprintln!("{bare:.0} ns, {metered:.0} metered, {raw:.0} clocked; {calibration}");
    let correction = calibration.fault.map_or(0.0, |price| price.clock_correction_ns());
    [bare, raw / bare, (raw + correction) / bare]
}
