//! A shell on a terminal announces itself, is followed into a group of its own, and comes back out of it.

use super::*;
use loadgo_sys::child;
use loadgo_sys::clock::monotonic_ns;
use loadgo_sys::spawn::{LaunchSetup, PreparedProgram, Spawner};
use rustix::process::Signal;
use std::ffi::CString;
use std::fs;
use std::os::fd::OwnedFd;

/// Rounds of readings after which a test gives up, each after a thousandth of a second.
const MOST_ROUNDS: usize = 60_000;

/// A shell that leads a terminal, and is killed at the end.
struct Shell {
    pid: i32,
    terminal: OwnedFd,
}

impl Shell {
    fn start() -> Shell {
        let words = ["sh", "-i"].map(|word| CString::new(word).expect("no zeros"));
        let program = PreparedProgram::new(CString::new("/bin/sh").expect("no zeros"), words.into());
        let directory = CString::new("/").expect("no zeros");
        let place = LaunchSetup { environment: &[], directory: &directory, join: &[], nice: None };
        let (terminal, pid) = Spawner::new().expect("memory").spawn(&program, &place).expect("a shell");
        Shell { pid, terminal }
    }

    fn type_line(&self, line: &str) {
        rustix::io::write(&self.terminal, line.as_bytes()).expect("the terminal takes a line");
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        child::signal_group(self.pid, Signal::KILL);
        child::wait(self.pid);
    }
}

fn followed(directory: &tempfile::TempDir, owner: u32) -> FollowedSessions {
    let id = format!("followed-{}", monotonic_ns());
    let directory = directory.path().join("loadgo-sessions");
    FollowedSessions::begin(Expected { id, directory, owner, users: 9, commands: Vec::new() }).expect("/proc is there")
}

/// Reads all accounts until `is_enough`. Returns the rows.
fn read_until(sessions: &mut FollowedSessions, is_enough: impl Fn(&[SessionUsageRow]) -> bool) -> Vec<SessionUsageRow> {
    let mut rows = Vec::new();
    for _ in 0..MOST_ROUNDS {
        sessions.read_into(|| Instant(monotonic_ns()), &mut rows);
        if is_enough(&rows) {
            return rows;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    panic!("it did not happen; the rows: {rows:?}");
}

fn cpu_ns(rows: &[SessionUsageRow]) -> u64 {
    rows.iter().map(|row| row.usage.cpu_user_ns.unwrap_or(0) + row.usage.cpu_system_ns.unwrap_or(0)).sum()
}

#[test]
fn a_shell_that_announces_itself_has_its_use_counted_and_comes_back_alive() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut sessions = followed(&dir, rustix::process::geteuid().as_raw());
    let shell = Shell::start();
    let group = || fs::read_to_string(format!("/proc/{}/cgroup", shell.pid)).expect("the shell lives");
    let before = group();
    let directory = sessions.directory().display().to_string();
    shell.type_line(&crate::terminals::announcement::announcing_line(&directory, 7));
    let rows = read_until(&mut sessions, |rows| !rows.is_empty());
    assert_eq!((rows[0].user, rows[0].span_ns, cpu_ns(&rows)), (Some(7), 0, 0), "the first reading counts nothing");
    assert_eq!(group() != before, rustix::process::geteuid().is_root(), "{}", group());
    shell.type_line("n=0; while [ $n -lt 100000 ]; do n=$((n+1)); done; echo over >/dev/null\n");
    let rows = read_until(&mut sessions, |rows| cpu_ns(rows) > 50_000_000);
    assert!(rows.iter().all(|row| row.user == Some(7) && row.span_ns > 0 && row.usage.faults_minor.is_some()), "{rows:?}");
    let (note, left_behind) = sessions.end();
    assert_eq!((note, left_behind.len()), (None, 0));
    assert_eq!(group(), before, "it is back in its group");
    assert!(!dir.path().join("loadgo-sessions").exists());
}

#[test]
fn what_is_no_shell_of_the_account_is_not_followed_and_waits_no_longer() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut sessions = followed(&dir, rustix::process::geteuid().as_raw());
    let namespace = String::from_utf8(own_pid_namespace().expect("a link")).expect("it is ASCII");
    let own = std::process::id();
    for name in [format!("7.{own}.{namespace}"), format!("7.1.{namespace}"), "7.1.pid:[1]".into(), format!("10.1.{namespace}")] {
        fs::write(sessions.directory().join(name), "").expect("there is room");
    }
    fs::write(sessions.directory().join("other"), "").expect("there is room");
    let mut rows = Vec::new();
    sessions.read_into(|| Instant(monotonic_ns()), &mut rows);
    let left = fs::read_dir(sessions.directory()).expect("it is there").count();
    assert_eq!((rows.len(), left), (0, 1), "only what is no announcement stays");
    let (note, _) = sessions.end();
    assert!(note.as_deref().is_some_and(|note| note.starts_with("4 sessions were not followed")), "{note:?}");
}
