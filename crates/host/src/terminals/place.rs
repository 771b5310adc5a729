//! The place of a session that was begun with `ssh` and the like: on this host after all, or elsewhere.
//!
//! The session's shell prints its process id, the boot id of its kernel and its process id namespace. If those are this host's,
//! the meter can follow the shell. A program elsewhere could print anything. So `/proc` must show that the process leads a session
//! on a terminal, and began after the command that logged in.

use crate::small_files::{open_at, read_at_start};
use loadgo_core::osc133::ESCAPE_BYTE;
use rustix::fs::{CWD, Mode, OFlags, openat, readlinkat};
use std::io;

/// The line that asks a shell of the Bourne family for its place. The echo of the line is no answer.
pub(crate) const ASK_PLACE: &str = " printf 'loadgo-%s:%s:%s:%s:\\n' place \"$$\" \
     \"$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)\" \"$(readlink /proc/self/ns/pid 2>/dev/null)\"\n";
/// The beginning of the answer.
const ANSWER: &[u8] = b"loadgo-place:";
/// The kernel's id of its boot.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// This process's process id namespace.
const PID_NAMESPACE: &str = "/proc/self/ns/pid";

/// The place that a shell names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pid: u32,
    boot_id: String,
    pid_namespace: String,
}

impl Place {
    /// The last answer that a terminal shows; `None` if it shows none.
    pub(crate) fn on_screen(screen: &[u8]) -> Option<Place> {
        let at = screen.windows(ANSWER.len()).rposition(|bytes| bytes == ANSWER)? + ANSWER.len();
        let line = screen[at..].split(|byte| matches!(*byte, b'\r' | b'\n' | ESCAPE_BYTE)).next()?;
        let mut words = std::str::from_utf8(line).ok()?.splitn(3, ':');
        let (pid, boot_id, rest) = (words.next()?.parse().ok()?, words.next()?, words.next()?);
        let pid_namespace = rest.strip_suffix(':')?;
        Some(Place { pid, boot_id: boot_id.into(), pid_namespace: pid_namespace.into() })
    }

    /// The process id of the shell if it is on this host, and fits a log-in by the process `client`.
    pub(crate) fn pid_here(&self, client: i32) -> Option<u32> {
        let boot_id = std::fs::read_to_string(BOOT_ID).ok()?;
        let pid_namespace = readlinkat(CWD, PID_NAMESPACE, Vec::new()).ok()?;
        let is_here = self.boot_id == boot_id.trim_end() && self.pid_namespace.as_bytes() == pid_namespace.as_bytes();
        let (shell, client) = (is_here.then(|| Began::of(self.pid).ok()).flatten()?, Began::of(client as u32).ok()?);
        (shell.leads_a_terminal && shell.at_ticks >= client.at_ticks).then_some(self.pid)
    }
}

/// When a process began, and whether it leads a session on a terminal.
struct Began {
    /// Time since the kernel's boot, in clock ticks.
    at_ticks: u64,
    leads_a_terminal: bool,
}

impl Began {
    /// Reads `/proc/PID/stat`, of which the fields 6, 7 and 22 are the session, the terminal and the beginning (proc_pid_stat(5)).
    fn of(pid: u32) -> io::Result<Began> {
        let proc = openat(CWD, "/proc", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let mut text = [0; 1024];
        let length = read_at_start(open_at(&proc, format!("{pid}/stat\0").as_bytes())?, &mut text)?;
        Began::parse(pid, &text[..length]).ok_or_else(|| io::Error::other("a /proc/PID/stat of an unknown form"))
    }

    fn parse(pid: u32, stat: &[u8]) -> Option<Began> {
        let text = String::from_utf8_lossy(stat);
        // The second field, a name in parentheses, may hold anything.
        let words: Vec<&str> = text.rsplit_once(") ")?.1.split(' ').collect();
        let (session, terminal) = (words.get(3)?.parse::<u32>().ok()?, words.get(4)?.parse::<i64>().ok()?);
        Some(Began { at_ticks: words.get(19)?.parse().ok()?, leads_a_terminal: session == pid && terminal != 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(pid: u32) -> Place {
        let namespace = std::fs::read_link(PID_NAMESPACE).expect("a link").display().to_string();
        Place { pid, boot_id: std::fs::read_to_string(BOOT_ID).expect("an id").trim_end().into(), pid_namespace: namespace }
    }

    #[test]
    fn the_answer_is_read_and_the_echo_of_the_question_is_none() {
        let screen = [ASK_PLACE.as_bytes(), b"\r\nloadgo-place:42:0b-1c:pid:[4026531836]:\r\n$ \x1b]133;D;0;aid=1\x07"].concat();
        let place = Place { pid: 42, boot_id: "0b-1c".into(), pid_namespace: "pid:[4026531836]".into() };
        assert_eq!(Place::on_screen(&screen), Some(place));
        for other in [ASK_PLACE.as_bytes(), b"loadgo-place:", b"loadgo-place:x:y:z:\n", b"loadgo-place:42:0b"] {
            assert_eq!(Place::on_screen(other), None, "{:?}", String::from_utf8_lossy(other));
        }
    }

    #[test]
    fn a_shell_without_these_files_is_elsewhere() {
        let place = Place::on_screen(b"loadgo-place:42:::\r\n$ ").expect("an answer");
        assert_eq!(place.pid_here(std::process::id() as i32), None);
    }

    #[test]
    fn a_process_that_leads_no_terminal_or_began_before_the_client_is_not_followed() {
        let here = std::process::id();
        assert_eq!(own(here).pid_here(here as i32), None, "a test's process leads no session on a terminal");
        assert_eq!(own(1).pid_here(here as i32), None, "it began before");
        assert_eq!(own(0x7fff_fff0).pid_here(here as i32), None, "there is no such process");
    }

    #[test]
    fn a_name_with_parentheses_and_blanks_is_no_field() {
        let stat = b"42 (a) b (c) S 1 42 42 34816 42 0 0 0 0 0 0 0 0 0 20 0 1 0 777 0 0\n";
        let began = Began::parse(42, stat).expect("a process");
        assert_eq!((began.at_ticks, began.leads_a_terminal), (777, true));
        assert!(!Began::parse(43, stat).expect("a process").leads_a_terminal);
    }
}
