//! A program that runs beside the users for the whole run: it starts before the first log-in and ends with the run.
//!
//! The program's output goes into files of the run's folder, which is its working directory. The kernel kills the program with
//! SIGKILL when the thread that started it dies, so it ends even when the run is killed. Processes that the program has started
//! by then must end by themselves.

use crate::refusal::Refusal;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use loadgo_sys::child::{Exit, has_ended, signal_group, start_that_dies_with_this_thread, wait_with_usage};
use loadgo_sys::program_file::program_file;
use rustix::process::Signal;

/// Longest time until a program has printed its first line, which says where the program can be reached.
const FIRST_LINE_LIMIT: Duration = Duration::from_secs(30);
/// Time between SIGTERM and SIGKILL for a program that is asked to end.
const END_LIMIT: Duration = Duration::from_secs(2);
const LOOK_INTERVAL: Duration = Duration::from_millis(5);
/// Longest first line that is accepted as the variable's value, in bytes.
const LONGEST_VALUE_BYTES: usize = 4096;

/// A program that was started; dropping it ends it.
#[derive(Debug)]
pub struct Beside {
    name: String,
    command: String,
    value: String,
    pid: i32,
    errors: PathBuf,
    over: Option<Over>,
}

/// How the program ended, and the processor time that it used.
#[derive(Debug)]
struct Over {
    exit: Exit,
    cpu_s: f64,
}

impl Beside {
    /// Starts `command`, looked up in `search_path`, in `folder`, and waits for its first line. The calling thread must outlive
    /// the program.
    ///
    /// # Errors
    /// There is no such program, it cannot be started, or it ends before it has printed anything.
    pub fn start(name: &str, command: &str, search_path: &str, folder: &Path) -> Result<Beside, Refusal> {
        let refusal = || Refusal::new(format!("beside the users: {name} = {command:?}"));
        let refused = |path: &Path, error: io::Error| refusal().because_of(format!("{}: {error}", path.display()));
        let words = shlex::split(command).ok_or_else(|| refusal().because_of("a quote is not closed"))?;
        let (program, arguments) = words.split_first().ok_or_else(|| refusal().because_of("it is empty"))?;
        let path = program_file(OsStr::new(program), OsStr::new(search_path))
            .ok_or_else(|| refusal().because_of(format!("there is no program {program:?} on the PATH ({search_path})")))?;
        let path = path.canonicalize().map_err(|error| refused(&path, error))?;
        let (output_path, errors) = (folder.join(format!("{name}.out")), folder.join(format!("{name}.err")));
        let file = |path: &Path| File::create_new(path).map_err(|error| refused(path, error));
        let mut order = Command::new(&path);
        order.args(arguments).current_dir(folder).env("PATH", search_path);
        order.stdin(Stdio::null()).stdout(file(&output_path)?).stderr(file(&errors)?);
        let pid = start_that_dies_with_this_thread(&mut order).map_err(|error| refused(&path, error))?;
        let (name, command) = (name.to_owned(), command.to_owned());
        let mut beside = Beside { name, command, value: String::new(), pid, errors, over: None };
        beside.value = beside.first_line(&output_path, &refusal())?;
        Ok(beside)
    }

    /// The program's first line; `refusal` without the reason if there is none.
    fn first_line(&mut self, output_path: &Path, refusal: &Refusal) -> Result<String, Refusal> {
        let because = |reason: String| refusal.clone().because_of(reason);
        let until = Instant::now() + FIRST_LINE_LIMIT;
        loop {
            let over = self.has_ended();
            let text = std::fs::read(output_path).map_err(|error| because(format!("{}: {error}", output_path.display())))?;
            if let Some(end) = text.iter().position(|byte| *byte == b'\n') {
                let line = String::from_utf8_lossy(&text[..end]).trim().to_owned();
                let good = !line.is_empty() && line.len() <= LONGEST_VALUE_BYTES && !line.contains(char::is_control);
                return if good { Ok(line) } else { Err(because("its first line is no value of a variable".into())) };
            }
            if over {
                return Err(because(format!("it ended before it said anything{}", self.last_words())));
            }
            if Instant::now() >= until {
                let seconds = FIRST_LINE_LIMIT.as_secs();
                return Err(because(format!("it said nothing for {seconds} s: its first line is where it is")));
            }
            sleep(LOOK_INTERVAL);
        }
    }

    /// The name of the variable that tells users where the program is.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The program's first line, which is the variable's value.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Whether the program has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.look(false);
        self.over.is_some()
    }

    /// Ends the program, and describes its run in words.
    pub fn finish(mut self) -> String {
        let early = self.has_ended();
        self.end();
        let Beside { name, command, value, .. } = &self;
        let cpu = self.over.as_ref().map_or_else(String::new, |over| {
            format!(", and used {:.3} s of this host's processors beside the users", over.cpu_s)
        });
        match self.over.as_ref().filter(|_| early) {
            Some(over) => format!("{name}: `{command}` at {value} ended early, {}{}", how(over.exit), self.last_words()),
            None => format!("{name} was `{command}` at {value}{cpu}"),
        }
    }

    fn end(&mut self) {
        let until = Instant::now() + END_LIMIT;
        self.signal(Signal::TERM);
        while !self.has_ended() && Instant::now() < until {
            sleep(LOOK_INTERVAL);
        }
        self.signal(Signal::KILL);
        self.look(true);
    }

    /// Signals the program and its descendants; does nothing after the program was waited for.
    fn signal(&self, signal: Signal) {
        if self.over.is_none() {
            signal_group(self.pid, signal); // the group is its own, and lives, because it was not waited for
        }
    }

    /// Records the program's end, if it has ended; with `until_it_ends`, waits for the end.
    fn look(&mut self, until_it_ends: bool) {
        if self.over.is_some() || !has_ended(self.pid, until_it_ends).unwrap_or(false) {
            return;
        }
        self.signal(Signal::KILL); // what it has started and left: the group is still its own
        if let Ok((exit, used)) = wait_with_usage(self.pid) {
            self.over = Some(Over { exit, cpu_s: (used.user_ns + used.system_ns) as f64 / 1e9 });
        }
    }

    /// A colon and the last line of the program's standard error, for a message; empty when there is no such line.
    fn last_words(&self) -> String {
        let text = std::fs::read(&self.errors).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("").trim();
        let line: String = line.chars().filter(|c| !c.is_control()).take(300).collect();
        if line.is_empty() { String::new() } else { format!(": {line}") }
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        self.look(true);
    }
}

fn how(exit: Exit) -> String {
    match exit {
        Exit::Signal(signal) => format!("by signal {signal}"),
        Exit::Status(status) => format!("with status {status}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

    fn start(command: &str) -> (tempfile::TempDir, Result<Beside, Refusal>) {
        let folder = tempfile::tempdir().expect("a folder");
        let begun = Beside::start("PLACE", command, PATH, folder.path());
        (folder, begun)
    }

    fn lives(pid: i32) -> bool {
        Path::new(&format!("/proc/{pid}")).exists()
    }

    #[test]
    fn its_first_line_is_where_it_is_and_it_is_gone_when_it_is_finished() {
        let (folder, begun) = start("sh -c 'pwd; exec sleep 1000'");
        let beside = begun.expect("it begins");
        assert_eq!(Path::new(beside.value()), folder.path().canonicalize().expect("a folder"));
        let pid = beside.pid;
        assert!(lives(pid));
        let told = beside.finish();
        assert!(told.contains("PLACE was `sh"), "{told}");
        assert!(told.contains("of this host's processors"), "{told}");
        assert!(!lives(pid));
    }

    #[test]
    fn what_it_has_started_goes_with_it_though_it_ended_before() {
        let (_folder, begun) = start("sh -c 'sleep 1000 & echo $!'");
        let mut beside = begun.expect("it begins");
        let started: i32 = beside.value().parse().expect("a process");
        beside.look(true);
        drop(beside);
        // A killed orphan is reaped by whoever is process 1, in its own time.
        let until = Instant::now() + FIRST_LINE_LIMIT;
        while runs(started) {
            assert!(Instant::now() < until, "it is still there");
            sleep(LOOK_INTERVAL);
        }
    }

    /// Whether the process exists and is no zombie.
    fn runs(pid: i32) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
    }

    #[test]
    fn one_that_is_dropped_is_gone() {
        let (_folder, begun) = start("sh -c 'echo here; exec sleep 1000'");
        let beside = begun.expect("it begins");
        let pid = beside.pid;
        drop(beside);
        assert!(!lives(pid));
    }

    #[test]
    fn one_that_does_not_begin_says_why() {
        for (command, told) in [
            ("loadgo-no-such-program", "no program"),
            ("sh -c 'echo nothing to serve >&2; exit 3'", "ended before it said anything: nothing to serve"),
            ("sh -c 'echo; exec sleep 1000'", "no value of a variable"),
            ("sh -c 'echo", "quote"),
        ] {
            let why = start(command).1.expect_err(command);
            let why = why.to_string();
            assert!(why.contains(told) && why.contains("PLACE"), "{why}");
        }
    }

    #[test]
    fn one_that_ends_early_says_how() {
        let (_folder, begun) = start("sh -c 'echo here; echo the disk is full >&2; exit 7'");
        let mut beside = begun.expect("it begins");
        while !beside.has_ended() {
            std::thread::yield_now();
        }
        let told = beside.finish();
        assert!(told.contains("ended early, with status 7: the disk is full"), "{told}");
    }
}
