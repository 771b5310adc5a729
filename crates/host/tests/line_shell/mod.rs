//! A shell on pipes that says `ready` on its standard output after each line.

use loadgo_sys::child::{join_groups_before_exec, wait_with_usage};
use std::ffi::CString;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

/// A running shell.
pub struct Shell {
    /// Process of the shell.
    pub child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Shell {
    /// Starts a shell in the control groups of these paths.
    pub fn start(paths: Vec<CString>) -> Shell {
        let mut command = Command::new("sh");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        join_groups_before_exec(&mut command, paths);
        let mut child = command.spawn().expect("there is a shell");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        Shell { child, output }
    }

    /// Types a line, and waits until the shell has said `ready`.
    pub fn type_line(&mut self, line: &str) {
        let keys = format!("{line}\necho ready\n");
        self.child.stdin.as_mut().expect("its input").write_all(keys.as_bytes()).expect("the shell reads");
        let mut said = String::new();
        while said.trim_end() != "ready" {
            said.clear();
            assert!(self.output.read_line(&mut said).expect("the shell writes") > 0, "the shell has ended");
        }
        self.await_sleep();
    }

    /// Waits until the shell sleeps: after its `ready` it is on its way to read the next line, and uses a little more.
    fn await_sleep(&self) {
        let stat = || std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("the shell lives");
        while !stat().rsplit_once(')').is_some_and(|(_, fields)| fields.starts_with(" S ")) {
            std::thread::yield_now();
        }
    }

    /// Types a line that begins a program, which reads the lines that follow. Returns the program's process id.
    pub fn begin_reader(&mut self, line: &str) -> u32 {
        self.child.stdin.as_mut().expect("its input").write_all(format!("{line}\n").as_bytes()).expect("the shell reads");
        // The shell may take a line that comes at once together with this one.
        self.children_once(|children| !children.is_empty()).parse().expect("a process id")
    }

    /// Ends the program that reads lines.
    pub fn end_reader(&mut self) {
        self.child.stdin.as_mut().expect("its input").write_all(b"exit\n").expect("the program reads");
        self.children_once(str::is_empty);
    }

    /// The list of the shell's children, once it is as `wanted`.
    fn children_once(&self, wanted: impl Fn(&str) -> bool) -> String {
        loop {
            let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", self.child.id())).expect("a list");
            if wanted(children.trim()) {
                return children.trim().to_owned();
            }
            std::thread::yield_now();
        }
    }

    /// Ends the shell. Returns its usage with all descendants by wait4: processor nanoseconds, minor and major faults.
    pub fn end(mut self) -> (u64, u64, u64) {
        drop(self.child.stdin.take());
        let (_, used) = wait_with_usage(self.child.id() as i32).expect("nobody else waits for it");
        (used.user_ns + used.system_ns, used.faults_minor, used.faults_major)
    }
}
