//! The program in the foreground of a terminal, as `/proc` shows it at a moment.
//!
//! A program waits for keys if one of its processes sleeps in a system call that ends when the terminal has input. The call must
//! wait for nothing else that another process could end. A program that also listens to a socket (tmux, nvim, ssh) may get its
//! screen from there. A process that runs, or waits for a disk, is at work.
//!
//! Where the foreground is empty, a process of the session that runs will take the terminal or give it away: the session is at work.
//! Where none runs, or the only process in the foreground waits for a child, the terminal changes hands. All else is not known.
//! Timers and eventfds of a process do not count, nor do threads that sleep until another thread wakes them. A process that has
//! ended does not count either, although nobody has waited for it yet.

use rustix::fs::makedev;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};

/// The state of a program in the foreground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ForegroundState {
    /// The program sleeps until the terminal has input.
    WaitsForKeys,
    /// A process of the program runs, waits for a processor, or waits for a disk; or one of the session, if there is no program.
    AtWork,
    /// The terminal seems to be between two programs. One has ended and the shell is not back, or the shell has not handed the
    /// terminal over yet.
    ChangesHands,
    /// Neither is known.
    Unknown,
}

/// Most processes of a session that are looked at.
const MOST_PROCESSES: usize = 64;
/// Most descriptors of one waiting system call that are looked at.
const MOST_DESCRIPTORS: usize = 64;
/// The major and minor number of `/dev/tty`, the terminal of the process that opens it.
const OWN_TERMINAL: (u32, u32) = (5, 0);

/// The state of the process group `group` in the foreground of a terminal; `leader` is the session's first process.
pub(crate) fn look(leader: u32, group: u32) -> ForegroundState {
    let family = processes_from(leader).into_iter().filter(|process| !matches!(process.state, b'Z' | b'X'));
    let (members, others): (Vec<_>, Vec<_>) = family.partition(|process| process.group == group);
    let any_works = |processes: &[Process]| processes.iter().any(|process| matches!(process.state, b'R' | b'D'));
    if any_works(&members) || (members.is_empty() && any_works(&others)) {
        return ForegroundState::AtWork;
    }
    if members.is_empty() && !others.is_empty() {
        return ForegroundState::ChangesHands;
    }
    let calls: Vec<_> = members.iter().map(|process| (process, process.call())).collect();
    if calls.iter().any(|(_, call)| call.as_deref().is_some_and(|call| call.starts_with("running"))) {
        return ForegroundState::AtWork; // it has been woken since
    }
    let waits = |process: &Process, call: &str| process.waits_for_terminal(call) == Some(true) && process.other_threads_wait();
    let waits = calls.iter().any(|(process, call)| call.as_deref().is_some_and(|call| waits(process, call)));
    let waits_for_child =
        |call: &Option<String>| call.as_deref().and_then(WaitingCall::parse).is_some_and(|call| call.waits_for_child());
    match &calls[..] {
        _ if waits => ForegroundState::WaitsForKeys,
        [(_, call)] if waits_for_child(call) => ForegroundState::ChangesHands,
        _ => ForegroundState::Unknown,
    }
}

/// A process as its `/proc/PID/stat` has it.
struct Process {
    pid: u32,
    state: u8,
    group: u32,
    terminal: u64,
    threads: u32,
}

/// The process `first` and those that came from it, as far as they are still its descendants.
fn processes_from(first: u32) -> Vec<Process> {
    let mut found = Vec::new();
    let mut rest = vec![first];
    while let Some(pid) = rest.pop() {
        found.extend(Process::read(pid));
        if found.len() + rest.len() < MOST_PROCESSES {
            let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
            rest.extend(children.split_ascii_whitespace().filter_map(|child| child.parse::<u32>().ok()).take(MOST_PROCESSES));
        }
    }
    found
}

impl Process {
    fn read(pid: u32) -> Option<Process> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        Process::parse(pid, &stat)
    }

    /// Reads a line of `/proc/PID/stat`. The name, which may hold anything, ends with the last parenthesis.
    fn parse(pid: u32, stat: &str) -> Option<Process> {
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        let terminal: u64 = fields.get(4)?.parse::<i64>().ok()? as u32 as u64;
        Some(Process {
            pid,
            state: *fields.first()?.as_bytes().first()?,
            group: fields.get(2)?.parse().ok()?,
            terminal: makedev((terminal >> 8 & 0xfff) as u32, (terminal & 0xff | terminal >> 12 & 0xfff00) as u32),
            threads: fields.get(17)?.parse().ok()?,
        })
    }

    /// The system call in which the process sleeps, as the kernel prints it.
    fn call(&self) -> Option<String> {
        fs::read_to_string(format!("/proc/{}/syscall", self.pid)).ok()
    }

    /// Whether the process sleeps until its terminal has input, and nothing else from outside wakes it; `None` if it cannot be known.
    fn waits_for_terminal(&self, call: &str) -> Option<bool> {
        let awaited = self.awaited_descriptors(&WaitingCall::parse(call)?)?;
        let mut awaits_terminal = false;
        for descriptor in awaited {
            let path = format!("/proc/{}/fd/{descriptor}", self.pid);
            if self.is_terminal(&path) {
                awaits_terminal = true;
            } else if !fs::read_link(&path).ok()?.to_str()?.starts_with("anon_inode:") {
                return Some(false);
            }
        }
        Some(awaits_terminal)
    }

    /// Whether all other threads sleep until another thread or a timer of the process wakes them, as the thread of a timer does.
    fn other_threads_wait(&self) -> bool {
        if self.threads == 1 {
            return true;
        }
        let waits = |thread: &fs::DirEntry| {
            let call = fs::read_to_string(thread.path().join("syscall")).ok();
            let number = call.and_then(|call| WaitingCall::parse(&call)).map(|call| call.number);
            number.is_some_and(|number| [libc::SYS_futex, libc::SYS_rt_sigtimedwait].contains(&number))
        };
        let Ok(threads) = fs::read_dir(format!("/proc/{}/task", self.pid)) else { return false };
        let mut others = threads.flatten().filter(|thread| thread.file_name().to_str() != Some(&self.pid.to_string()));
        others.by_ref().take(MOST_PROCESSES).all(|thread| waits(&thread)) && others.next().is_none()
    }

    fn is_terminal(&self, path: &str) -> bool {
        fs::metadata(path)
            .is_ok_and(|file| file.rdev() == self.terminal || file.rdev() == makedev(OWN_TERMINAL.0, OWN_TERMINAL.1))
    }

    /// The descriptors whose input ends `call`; `None` if the call is none that waits for input.
    fn awaited_descriptors(&self, call: &WaitingCall) -> Option<Vec<i32>> {
        let [first, second, third, fourth, ..] = call.arguments;
        match call.kind()? {
            CallKind::Read => Some(vec![first as i32]),
            CallKind::Poll => self.polled(first, second),
            CallKind::Select => self.selected(first, [second, third, fourth]),
            CallKind::Epoll => {
                let list = fs::read_to_string(format!("/proc/{}/fdinfo/{first}", self.pid)).ok()?;
                Some(
                    list.lines()
                        .filter_map(|line| line.strip_prefix("tfd:")?.split_ascii_whitespace().next()?.parse().ok())
                        .collect(),
                )
            }
        }
    }

    /// The descriptors in the list of `poll` at `address`, of 8 bytes each.
    fn polled(&self, address: u64, count: u64) -> Option<Vec<i32>> {
        if count > MOST_DESCRIPTORS as u64 {
            return None;
        }
        let list = self.memory(address, 8 * count as usize)?;
        let descriptors = list.chunks_exact(8).map(|entry| i32::from_ne_bytes(entry[..4].try_into().expect("four bytes")));
        Some(descriptors.filter(|descriptor| *descriptor >= 0).collect())
    }

    /// The descriptors in the sets of `select` at `addresses`, of `count` bits each.
    fn selected(&self, count: u64, addresses: [u64; 3]) -> Option<Vec<i32>> {
        if count > 1024 {
            return None;
        }
        let mut descriptors = Vec::new();
        for address in addresses.into_iter().filter(|address| *address != 0) {
            let set = self.memory(address, count.div_ceil(8) as usize)?;
            descriptors.extend((0..count as usize).filter(|bit| set[bit / 8] >> (bit % 8) & 1 == 1).map(|bit| bit as i32));
        }
        Some(descriptors)
    }

    fn memory(&self, address: u64, bytes: usize) -> Option<Vec<u8>> {
        let mut read = vec![0; bytes];
        File::open(format!("/proc/{}/mem", self.pid)).ok()?.read_exact_at(&mut read, address).ok()?;
        Some(read)
    }
}

/// A system call in which a process sleeps, as `/proc/PID/syscall` has it.
struct WaitingCall {
    number: i64,
    arguments: [u64; 6],
}

/// The kinds of system calls that wait for input.
enum CallKind {
    Read,
    Poll,
    Select,
    Epoll,
}

impl WaitingCall {
    /// Reads the number and the arguments; `None` for a process that runs or sleeps outside of a call.
    fn parse(text: &str) -> Option<WaitingCall> {
        let mut words = text.split_ascii_whitespace();
        let number = words.next()?.parse().ok().filter(|number| *number >= 0)?;
        let mut arguments = [0; 6];
        for argument in &mut arguments {
            *argument = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
        }
        Some(WaitingCall { number, arguments })
    }

    /// Whether the process sleeps until a child of it has ended.
    fn waits_for_child(&self) -> bool {
        [libc::SYS_wait4, libc::SYS_waitid].contains(&self.number)
    }

    fn kind(&self) -> Option<CallKind> {
        match self.number {
            libc::SYS_read => Some(CallKind::Read),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_poll => Some(CallKind::Poll),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_select => Some(CallKind::Select),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_epoll_wait => Some(CallKind::Epoll),
            libc::SYS_ppoll => Some(CallKind::Poll),
            libc::SYS_pselect6 => Some(CallKind::Select),
            libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 => Some(CallKind::Epoll),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn a_stat_line_is_read_whatever_the_process_is_called() {
        let fields = "S 7 42 42 34816 42 4194304 1 2 3 4 5 6 7 8 20 0 3 0 99";
        let process = Process::parse(9, &format!("9 (a) b ( c) {fields}")).expect("a process");
        assert_eq!((process.state, process.group, process.threads), (b'S', 42, 3));
        assert_eq!(process.terminal, makedev(136, 0));
        assert!(Process::parse(9, "9 (a").is_none());
    }

    #[test]
    fn a_process_that_runs_sleeps_in_no_call() {
        assert!(WaitingCall::parse("running\n").is_none());
        assert!(WaitingCall::parse("-1 0x7ffc 0x7f00\n").is_none());
        let call = WaitingCall::parse("0 0x3 0x7ffc 0x1 0x0 0x0 0x0 0x7ffc 0x7f00\n").expect("a read");
        assert_eq!((call.number, call.arguments[0]), (0, 3));
    }

    #[test]
    fn a_program_that_is_gone_is_not_known_and_the_terminal_changes_hands_while_its_session_lives() {
        assert_eq!(look(u32::MAX, u32::MAX), ForegroundState::Unknown);
        let mut session = Command::new("sleep").arg("1000").spawn().expect("sleep is there");
        until_in_state(session.id(), b'S');
        assert_eq!(look(session.id(), u32::MAX), ForegroundState::ChangesHands);
        session.kill().and_then(|()| session.wait()).expect("it is there");
    }

    #[test]
    fn a_program_that_has_ended_and_that_nobody_has_waited_for_is_gone() {
        // It ends when the shell has become another program, which waits for nobody.
        let line = r#"set -m; until [ "$(cat /proc/$$/comm)" = sleep ]; do sleep 0.01; done & echo $!; exec sleep 1000"#;
        let mut session = Command::new("bash").args(["-c", line]).stdout(Stdio::piped()).spawn().expect("bash is there");
        let mut said = String::new();
        BufReader::new(session.stdout.take().expect("a pipe")).read_line(&mut said).expect("a number");
        let program: u32 = said.trim().parse().expect("a number");
        until_in_state(program, b'Z');
        until_in_state(session.id(), b'S');
        assert_eq!(look(session.id(), program), ForegroundState::ChangesHands);
        session.kill().and_then(|()| session.wait()).expect("it is there");
    }

    #[test]
    fn a_session_that_works_without_a_program_in_the_foreground_is_at_work() {
        let mut session = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("a shell");
        until_in_state(session.id(), b'R');
        assert_eq!(look(session.id(), u32::MAX), ForegroundState::AtWork);
        session.kill().and_then(|()| session.wait()).expect("it is there");
    }

    fn until_in_state(pid: u32, state: u8) {
        while Process::read(pid).is_none_or(|process| process.state != state) {
            thread::sleep(Duration::from_millis(5));
        }
    }
}
