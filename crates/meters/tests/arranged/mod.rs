//! Programs that wait for what they are told to, and measure it themselves: the test's own executable, started again.

pub mod group;

use loadgo_sys::clock::monotonic_ns;
use loadgo_sys::mapped::MappedWords;
use rustix::fs::{Advice, Mode, OFlags, fadvise, fsync, open};
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::channel;
use std::thread;

const ASKED: &str = "LOADGO_ARRANGED";
const FILE_BYTES: usize = 32 << 20;
const PAGE: usize = 4096;

/// How often a program reads, and how often a second its group lets it.
const READS: usize = 80;
pub const READS_PER_SECOND: u32 = 100;

/// A program's own measurements: from its beginning to its end, and its processor time.
#[derive(Clone, Copy, Debug)]
pub struct Truth {
    /// From first to last, in nanoseconds.
    pub wall_ns: u64,
    /// Processor time that the kernel charges; on a virtual machine, without stolen time.
    pub cpu_ns: u64,
    /// Ready, and not on a processor: held back by a quota, too.
    pub ready_ns: u64,
}

/// A program under way; it works when it is told to go.
pub struct Program(Child, PathBuf);

/// Starts the test's executable as the program `what`.
pub fn start(what: &str) -> Program {
    let executable = std::env::current_exe().unwrap();
    let mut command = Command::new(executable);
    command.args(["arranged_program", "--exact", "--nocapture"]).env(ASKED, what);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let file = file_of(what, child.id());
    Program(child, file)
}

impl Program {
    /// The process's id.
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Waits until it is ready.
    pub fn ready(&mut self) {
        self.line("ready");
    }

    fn go(&mut self) {
        self.0.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
    }

    fn did(&mut self) -> Truth {
        let said = self.line("did");
        let numbers: Vec<u64> = said.split(' ').filter_map(|word| word.parse().ok()).collect();
        Truth { wall_ns: numbers[0], cpu_ns: numbers[1], ready_ns: numbers[2] }
    }

    fn line(&mut self, begins: &str) -> String {
        let mut byte = BufReader::with_capacity(1, self.0.stdout.as_mut().unwrap());
        loop {
            let mut line = String::new();
            assert!(byte.read_line(&mut line).unwrap() > 0, "the arranged program ended");
            if let Some(at) = line.find(begins) {
                return line[at..].trim().to_string();
            }
        }
    }
}

/// Lets the programs work, and waits until all have; `one_has` is called as soon as one of them has.
pub fn go(programs: &mut [Program], one_has: impl FnOnce()) -> Vec<Truth> {
    programs.iter_mut().for_each(Program::go);
    let (tell, told) = channel();
    thread::scope(|scope| {
        for (number, program) in programs.iter_mut().enumerate() {
            let tell = tell.clone();
            scope.spawn(move || tell.send((number, program.did())));
        }
        drop(tell);
        let first = told.recv().expect("a program has worked");
        one_has();
        let mut truths: Vec<_> = std::iter::once(first).chain(told).collect();
        truths.sort_by_key(|(number, _)| *number);
        truths.into_iter().map(|(_, truth)| truth).collect()
    })
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
        let _ = std::fs::remove_file(&self.1); // not by the program, whose waits for that would be in its account
    }
}

/// Runs the program that the executable was started as, if any.
pub fn program() {
    let Ok(what) = std::env::var(ASKED) else { return };
    if !what.starts_with("spin") {
        stay_on_one_processor();
    }
    let path = cold_file(&what);
    let mut line = String::new();
    burn(20_000_000); // past its loading
    println!("ready");
    std::io::stdin().read_line(&mut line).unwrap();
    let (wall, cpu, ready) = (monotonic_ns(), cpu_ns(), ready_ns());
    match what.as_str() {
        "pages" => touch(&path),
        "reads" => read_past_the_cache(&path),
        "spin" => burn(300_000_000),
        "spin-long" => burn(1_000_000_000),
        other => panic!("no such program: {other}"),
    }
    println!("did {} {} {}", monotonic_ns() - wall, cpu_ns() - cpu, ready_ns() - ready);
    std::io::stdin().read_line(&mut line).unwrap();
    std::process::exit(0);
}

/// Where the programs' files are.
pub fn folder() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

fn file_of(what: &str, pid: u32) -> PathBuf {
    folder().join(format!("arranged-{what}-{pid}"))
}

/// A file beside the executable, of which nothing is in memory.
fn cold_file(what: &str) -> PathBuf {
    let path = file_of(what, std::process::id());
    if !what.starts_with("spin") {
        let file = File::create(&path).unwrap();
        for block in 0..FILE_BYTES >> 20 {
            file.write_all_at(&vec![block as u8; 1 << 20], (block as u64) << 20).unwrap();
        }
        fsync(&file).unwrap();
        fadvise(&file, 0, None, Advice::DontNeed).unwrap();
    }
    path
}

/// Touches pages far apart in a mapped file, each of which has to be read.
fn touch(path: &Path) {
    let file = File::open(path).unwrap();
    fadvise(&file, 0, None, Advice::Random).unwrap();
    let mapped = MappedWords::for_reading(file.as_fd(), FILE_BYTES).unwrap();
    for page in scattered() {
        std::hint::black_box(mapped.words()[page * PAGE / 8].load(Relaxed));
    }
}

fn read_past_the_cache(path: &Path) {
    let file = open(path, OFlags::RDONLY | OFlags::DIRECT, Mode::empty()).unwrap();
    let mut space = vec![0_u8; 2 * PAGE];
    let aligned = space.as_ptr().align_offset(PAGE);
    for page in scattered() {
        rustix::io::pread(&file, &mut space[aligned..][..PAGE], (page * PAGE) as u64).unwrap();
    }
}

/// Places all over the file, so far from each other that reading one brings no other.
fn scattered() -> impl Iterator<Item = usize> {
    (0..READS).map(|step| step * (FILE_BYTES / PAGE / READS))
}

/// Binds this thread to its present processor. Since Linux 6.12 the scheduler may move a sleeping task, and then counts its sleep as
/// ready time. So a program that moves could not measure itself.
fn stay_on_one_processor() {
    let mut here = CpuSet::new();
    here.set(sched_getcpu());
    sched_setaffinity(None, &here).expect("a processor that it is on already");
}

fn burn(ns: u64) {
    let end = cpu_ns() + ns;
    while cpu_ns() < end {
        std::hint::spin_loop();
    }
}

fn cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// How long this thread has waited for a processor.
fn ready_ns() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split(' ').nth(1).and_then(|number| number.parse().ok()).expect("the kernel tells it")
}
