//! Waits for locks on this host: the meters' times lie within what the programs themselves measure. Needs root.
//!
//! A bound from below is the time from when the kernel shows that a program waits until the lock is let go. One from above is the time of the call.

mod metered;

use loadgo_core::record::LockWaitRow;
use loadgo_sys::clock::monotonic_ns;
use loadgo_sys::thread_usage::ThreadUsage;
use memmap2::MmapMut;
use metered::{Metered, own};
use rustix::fs::{FlockOperation, fcntl_lock, flock};
use std::fs::{File, read_to_string};
use std::io::{BufRead, BufReader, Write, stdin};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{scope, sleep};
use std::time::Duration;

/// Number of waits for the lock on a file.
const WAITS: usize = 5;
/// Time for which the lock is held once the other program waits.
const HOLD_TIME: Duration = Duration::from_millis(30);
/// Number of sleeps after which threads that contend for their memory's lock stop.
const SLEEPS: u64 = 200;
/// Length of the memory that it maps.
const MEMORY_BYTES: usize = 1 << 20;

type Lock = fn(&File, FlockOperation) -> rustix::io::Result<()>;

/// A load that the other tests run in a process of its own: `LOADGO_LOAD` has its name and its file.
#[test]
#[ignore = "a load of the other tests"]
fn load() {
    let load = std::env::var("LOADGO_LOAD").expect("LOADGO_LOAD names the load");
    let (name, path) = load.split_once(' ').expect("a load and a file");
    next_line();
    match name {
        "memory" => println!("took {}", contend_for_memory()),
        name => wait_for_file(Path::new(path), lock_called(name)),
    }
}

fn next_line() {
    stdin().lines().next().expect("the test writes a line").expect("it is text");
}

fn lock_called(name: &str) -> Lock {
    match name {
        "flock" => |file, operation| flock(file, operation),
        "fcntl" => |file, operation| fcntl_lock(file, operation),
        _ => panic!("no lock is called {name}"),
    }
}

/// Locks the file again and again, and prints how long each time took.
fn wait_for_file(path: &Path, lock: Lock) {
    let file = File::options().write(true).open(path).expect("the test made it");
    for _ in 0..WAITS {
        let began = monotonic_ns();
        lock(&file, FlockOperation::LockExclusive).expect("the test lets it go");
        println!("took {}", monotonic_ns() - began);
        lock(&file, FlockOperation::Unlock).expect("it is locked");
        next_line();
    }
}

/// Lets threads map memory until they have slept [`SLEEPS`] times. Returns the sum of their times in nanoseconds.
fn contend_for_memory() -> u64 {
    let sleeps = AtomicU64::new(0);
    scope(|threads| {
        let threads: Vec<_> = (0..4).map(|_| threads.spawn(|| map_until_slept(&sleeps))).collect();
        threads.into_iter().map(|thread| thread.join().expect("it maps")).sum()
    })
}

fn map_until_slept(sleeps: &AtomicU64) -> u64 {
    let (began, mut slept) = (monotonic_ns(), ThreadUsage::read().switches_voluntary);
    while sleeps.load(Relaxed) < SLEEPS {
        let now = ThreadUsage::read().switches_voluntary;
        sleeps.fetch_add(now - std::mem::replace(&mut slept, now), Relaxed);
        let mut memory = MmapMut::map_anon(MEMORY_BYTES).expect("there is memory");
        memory.iter_mut().step_by(1 << 14).for_each(|byte| *byte = 1);
    }
    monotonic_ns() - began
}

/// A user's process with a load of this test, which has not begun.
struct Waiter {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Waiter {
    fn start(metered: &mut Metered, load: &str) -> Waiter {
        let mut command = own(load);
        let mut child = metered.start(1, command.stdin(Stdio::piped()).stdout(Stdio::piped()));
        metered.line(1, 1);
        let output = BufReader::new(child.stdout.take().expect("it is a pipe"));
        Waiter { child, output }
    }

    fn go_on(&mut self) {
        self.child.stdin.as_mut().expect("it is a pipe").write_all(b"go\n").expect("the load reads");
    }

    /// The time that the load has printed.
    fn took_ns(&mut self) -> u64 {
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("it is text") > 0, "the load has ended");
            if let Some((_, took)) = line.rsplit_once("took ") {
                return took.trim().parse().expect("a number");
            }
        }
    }

    /// Waits until the kernel shows that the load waits for a lock on a file.
    fn await_waiting(&self) {
        let pid = format!(" {} ", self.child.id());
        while !read_to_string("/proc/locks").expect("it is there").lines().any(|line| line.contains("-> ") && line.contains(&pid))
        {
            std::thread::yield_now();
        }
    }
}

/// The waits of the user's command, summed: their number, time, and the longest.
fn sums(metered: &Metered, kind: &str) -> [u64; 3] {
    let is_wanted = |row: &&LockWaitRow| row.command.as_deref() == Some("lock") && row.kind.starts_with(kind);
    metered.lock_waits.iter().filter(is_wanted).fold([0; 3], |[count, wait_ns, longest_ns], row| {
        [count + row.count, wait_ns + row.wait_ns, longest_ns.max(row.longest_ns)]
    })
}

/// Checks the waits for a file's lock that this process holds.
fn waits_for_file_agree(name: &str) {
    let lock = lock_called(name);
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("lock-{name}-{}", std::process::id()));
    let file = File::create(&path).expect("the folder is there");
    let mut metered = Metered::begin(&["lock".into()]);
    let mut waiter = Waiter::start(&mut metered, &format!("{name} {}", path.display()));
    let (mut least_ns, mut most_ns) = (0, 0);
    for _ in 0..WAITS {
        lock(&file, FlockOperation::LockExclusive).expect("nobody else holds it long");
        waiter.go_on();
        waiter.await_waiting();
        let waits_since = monotonic_ns();
        sleep(HOLD_TIME);
        least_ns += monotonic_ns() - waits_since;
        lock(&file, FlockOperation::Unlock).expect("it is locked");
        most_ns += waiter.took_ns();
    }
    waiter.go_on();
    let number = std::fs::metadata(&path).expect("it is there").ino();
    std::fs::remove_file(&path).expect("it is there");
    metered.until_over(waiter.child, 1, 1);
    let mut places = metered.lock_waits.iter().filter(|row| &*row.kind == name).filter_map(|row| row.place.as_deref());
    assert!(places.any(|place| place.ends_with(&format!(":{number}"))));
    let [count, wait_ns, longest_ns] = sums(&metered, name);
    assert_eq!(count, WAITS as u64);
    assert!((least_ns..=most_ns).contains(&wait_ns), "{wait_ns} is not within {least_ns} and {most_ns}");
    assert!(longest_ns >= wait_ns / WAITS as u64 && longest_ns <= wait_ns, "{longest_ns} of {wait_ns}");
}

#[test]
fn waits_for_a_whole_file_take_what_the_waiting_program_measures() {
    waits_for_file_agree("flock");
}

#[test]
fn waits_for_a_record_of_a_file_take_what_the_waiting_program_measures() {
    waits_for_file_agree("fcntl");
}

#[test]
fn threads_that_map_memory_wait_for_its_lock() {
    let mut metered = Metered::begin(&["lock".into()]);
    let mut waiter = Waiter::start(&mut metered, "memory -");
    waiter.go_on();
    let took_ns = waiter.took_ns();
    metered.until_over(waiter.child, 1, 1);
    let [count, wait_ns, longest_ns] = sums(&metered, "mmap_lock");
    assert!(count > 0 && wait_ns <= took_ns && longest_ns <= wait_ns, "{count} waits of {wait_ns} ns within {took_ns} ns");
    let places = metered.lock_waits.iter().filter(|row| row.kind.starts_with("mmap_lock")).filter_map(|row| row.place.as_deref());
    assert!(places.clone().any(|place| place.contains("mmap") || place.contains("munmap")), "{:?}", places.collect::<Vec<_>>());
}

#[test]
fn a_lock_that_is_free_is_no_wait() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("lock-free-{}", std::process::id()));
    File::create(&path).expect("the folder is there");
    let mut metered = Metered::begin(&["lock".into()]);
    let mut waiter = Waiter::start(&mut metered, &format!("flock {}", path.display()));
    (0..=WAITS).for_each(|_| waiter.go_on());
    metered.until_over(waiter.child, 1, 1);
    std::fs::remove_file(&path).expect("it is there");
    assert_eq!(sums(&metered, "flock"), [0; 3]);
}
