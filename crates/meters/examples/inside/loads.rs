//! Known loads. Each runs in a process of its own, which begins when its parent writes a line.

use std::fs;
use std::hint::black_box;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// One load.
pub struct Load {
    /// The load's name.
    pub name: &'static str,
    /// Number of system calls, pages, processes, or milliseconds.
    pub amount: u64,
    /// The part of one processor that the load may use, in percent; None for no limit.
    pub quota_percent: Option<u64>,
}

/// All loads.
pub const LOADS: &[Load] = &[
    Load { name: "sleep", amount: 1000, quota_percent: None },
    Load { name: "calls", amount: 50_000, quota_percent: None },
    Load { name: "touch", amount: 20_000, quota_percent: None },
    Load { name: "programs", amount: 20, quota_percent: None },
    Load { name: "spin", amount: 1000, quota_percent: None },
    Load { name: "governed", amount: 2000, quota_percent: Some(20) },
];

impl Load {
    /// The control group of the load's process.
    pub fn group(&self) -> String {
        format!("/sys/fs/cgroup/{}", self.name)
    }

    fn set_quota(&self, percent: Option<u64>) -> io::Result<()> {
        let microseconds = percent.map_or_else(|| "max".into(), |percent| (percent * 1000).to_string());
        fs::write(self.group() + "/cpu.max", microseconds + " 100000")
    }
}

/// Runs the load called `name` when the parent says so. The processes of [`Child`] call this.
pub fn perform(name: &str, amount: u64) {
    let mut pages = vec![0u8; if name == "touch" { amount as usize * PAGE_BYTES } else { 0 }];
    wait_for_go();
    match name {
        "sleep" => sleep(Duration::from_millis(amount)),
        "calls" => (0..amount).for_each(|_| _ = black_box(rustix::process::getppid())),
        "touch" => pages.iter_mut().step_by(PAGE_BYTES).for_each(|byte| *black_box(byte) = 1),
        "programs" => {
            (0..amount).for_each(|_| assert!(Command::new("/init").args(["nothing", "0"]).status().is_ok_and(|s| s.success())))
        }
        "spin" | "governed" => spin(Duration::from_millis(amount)),
        _ => return, // `nothing`
    }
    println!("done");
    io::stdin().read_to_end(&mut Vec::new()).expect("the parent closes the pipe");
}

const PAGE_BYTES: usize = 4096;

fn wait_for_go() {
    if std::env::args().nth(1).is_some_and(|load| load != "nothing") {
        println!("waiting");
        io::stdin().lock().read_line(&mut String::new()).expect("the parent says go");
    }
}

fn spin(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        black_box((0..2000u64).fold(0, |sum, number| black_box(sum ^ number)));
    }
}

/// A process that runs a load.
pub struct Child {
    process: std::process::Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Child {
    /// Starts the process in its group, and returns when it is ready to begin.
    pub fn start(load: &Load) -> io::Result<Child> {
        fs::create_dir_all(load.group())?;
        let amount = load.amount.to_string();
        let mut process =
            Command::new("/init").args([load.name, &amount]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else { unreachable!("both are pipes") };
        fs::write(load.group() + "/cgroup.procs", process.id().to_string())?;
        let mut child = Child { process, input, output: BufReader::new(output) };
        child.expect_line("waiting\n")?;
        Ok(child)
    }

    /// The process's id.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Lets the load begin, and returns when it is done. The process stays, so that its figures can be read.
    ///
    /// The quota holds only in between. The kernel counts a throttled time as a whole when it ends. So no process may be
    /// throttled across a reading of the figures: while it starts, or after it is done.
    pub fn go(&mut self, load: &Load) -> io::Result<()> {
        load.set_quota(load.quota_percent)?;
        self.input.write_all(b"go\n")?;
        self.expect_line("done\n")?;
        load.set_quota(None)
    }

    /// Lets the process end.
    pub fn end(mut self) -> io::Result<()> {
        drop(self.input);
        self.process.wait().map(drop)
    }

    fn expect_line(&mut self, expected: &str) -> io::Result<()> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        if line == expected {
            Ok(())
        } else {
            Err(io::Error::other(format!("the load printed {line:?} instead of {expected:?}")))
        }
    }
}
