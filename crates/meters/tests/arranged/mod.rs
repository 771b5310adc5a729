//! Programs that wait for a known cause, and measure the wait themselves. They are the test's own executable, started again.

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

/// Variable with the name of the program that the executable runs.
const PROGRAM_VARIABLE: &str = "LOADGO_ARRANGED";
const FILE_BYTES: usize = 32 << 20;
const PAGE_BYTES: usize = 4096;

/// Number of times that a program reads.
const READS: usize = 80;
/// Number of reads a second that its group allows.
pub const READS_PER_SECOND: u32 = 100;

/// A program's own measurements of its work.
#[derive(Clone, Copy, Debug)]
pub struct Truth {
    /// Time from the beginning to the end of the work, in nanoseconds.
    pub wall_ns: u64,
    /// Processor time that the kernel charges; on a virtual machine, without stolen time.
    pub cpu_ns: u64,
    /// Time ready without a processor, including time throttled by a quota.
    pub ready_ns: u64,
}

/// A running program, which begins its work when [`go`] says so; and its file.
pub struct Program(Child, PathBuf);

/// Starts the test's executable as the program `name`.
pub fn start(name: &str) -> Program {
    let executable = std::env::current_exe().unwrap();
    let mut command = Command::new(executable);
    command.args(["arranged_program", "--exact", "--nocapture"]).env(PROGRAM_VARIABLE, name);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let file = file_of(name, child.id());
    Program(child, file)
}

impl Program {
    /// The process's id.
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Waits until the program is ready to work.
    pub fn await_ready(&mut self) {
        self.await_line("ready");
    }

    fn go(&mut self) {
        self.0.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
    }

    fn await_truth(&mut self) -> Truth {
        let line = self.await_line("did");
        let numbers: Vec<u64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
        Truth { wall_ns: numbers[0], cpu_ns: numbers[1], ready_ns: numbers[2] }
    }

    /// The next line that contains `word`, from there on.
    fn await_line(&mut self, word: &str) -> String {
        let mut output = BufReader::with_capacity(1, self.0.stdout.as_mut().unwrap());
        loop {
            let mut line = String::new();
            assert!(output.read_line(&mut line).unwrap() > 0, "the arranged program ended");
            if let Some(index) = line.find(word) {
                return line[index..].trim().to_string();
            }
        }
    }
}

/// Lets the programs work, and waits until all are done. Calls `on_first_end` as soon as one of them is done.
pub fn go(programs: &mut [Program], on_first_end: impl FnOnce()) -> Vec<Truth> {
    programs.iter_mut().for_each(Program::go);
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        for (number, program) in programs.iter_mut().enumerate() {
            let sender = sender.clone();
            scope.spawn(move || sender.send((number, program.await_truth())));
        }
        drop(sender);
        let first = receiver.recv().expect("a program has worked");
        on_first_end();
        let mut truths: Vec<_> = std::iter::once(first).chain(receiver).collect();
        truths.sort_by_key(|(number, _)| *number);
        truths.into_iter().map(|(_, truth)| truth).collect()
    })
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
        let _ = std::fs::remove_file(&self.1); // the program does not do that, because its waits for it would be in its account
    }
}

/// Runs the program as which the executable was started, if any.
pub fn run_program() {
    let Ok(name) = std::env::var(PROGRAM_VARIABLE) else { return };
    if !name.starts_with("spin") {
        stay_on_one_processor();
    }
    let path = cold_file(&name);
    let mut line = String::new();
    burn(20_000_000); // longer than a program counts as being loaded
    println!("ready");
    std::io::stdin().read_line(&mut line).unwrap();
    let (wall, cpu, ready) = (monotonic_ns(), cpu_ns(), ready_ns());
    match name.as_str() {
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

/// The folder of the programs' files.
pub fn folder() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

fn file_of(name: &str, pid: u32) -> PathBuf {
    folder().join(format!("arranged-{name}-{pid}"))
}

/// The path of the program's file. Programs that read have one, of which no page is in memory.
fn cold_file(name: &str) -> PathBuf {
    let path = file_of(name, std::process::id());
    if !name.starts_with("spin") {
        let file = File::create(&path).unwrap();
        for block in 0..FILE_BYTES >> 20 {
            file.write_all_at(&vec![block as u8; 1 << 20], (block as u64) << 20).unwrap();
        }
        fsync(&file).unwrap();
        fadvise(&file, 0, None, Advice::DontNeed).unwrap();
    }
    path
}

/// Touches pages of a mapped file that lie far apart, so that each must be read.
fn touch(path: &Path) {
    let file = File::open(path).unwrap();
    fadvise(&file, 0, None, Advice::Random).unwrap();
    let mapped = MappedWords::for_reading(file.as_fd(), FILE_BYTES).unwrap();
    for page in scattered() {
        std::hint::black_box(mapped.words()[page * PAGE_BYTES / 8].load(Relaxed));
    }
}

fn read_past_the_cache(path: &Path) {
    let file = open(path, OFlags::RDONLY | OFlags::DIRECT, Mode::empty()).unwrap();
    let mut buffer = vec![0_u8; 2 * PAGE_BYTES];
    let aligned = buffer.as_ptr().align_offset(PAGE_BYTES);
    for page in scattered() {
        rustix::io::pread(&file, &mut buffer[aligned..][..PAGE_BYTES], (page * PAGE_BYTES) as u64).unwrap();
    }
}

/// Numbers of pages all over the file, so far from each other that reading one brings no other into memory.
fn scattered() -> impl Iterator<Item = usize> {
    (0..READS).map(|step| step * (FILE_BYTES / PAGE_BYTES / READS))
}

/// Binds this thread to its present processor. Since Linux 6.12 the scheduler may move a sleeping task, and then counts its sleep as
/// ready time. So a program that moves could not measure itself.
fn stay_on_one_processor() {
    let mut present = CpuSet::new();
    present.set(sched_getcpu());
    sched_setaffinity(None, &present).expect("the thread already runs on it");
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

/// Time in nanoseconds that this thread has waited for a processor.
fn ready_ns() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split(' ').nth(1).and_then(|number| number.parse().ok()).expect("the kernel counts it")
}
