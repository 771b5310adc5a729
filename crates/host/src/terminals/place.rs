//! The place of a session that was begun with `ssh` and the like: on this host after all, or elsewhere.
//!
//! The session's shell prints its process id, the boot id of its kernel and its process id namespace. If those are this host's,
//! the meter can follow the shell. A program elsewhere could print anything. So `/proc` must show that the process leads a session
//! on a terminal, and began after the command that logged in.

use crate::beginning::{Began, own_pid_namespace};
use loadgo_core::osc133::ESCAPE_BYTE;

/// The line that asks a shell of the Bourne family for its place. The echo of the line is no answer.
pub(crate) const ASK_PLACE: &str = " printf 'loadgo-%s:%s:%s:%s:\\n' place \"$$\" \
     \"$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)\" \"$(readlink /proc/self/ns/pid 2>/dev/null)\"\n";
/// The beginning of the answer.
const ANSWER: &[u8] = b"loadgo-place:";
/// The kernel's id of its boot.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

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
        let pid_namespace = own_pid_namespace().ok()?;
        let is_here = self.boot_id == boot_id.trim_end() && self.pid_namespace.as_bytes() == pid_namespace;
        let (shell, client) = (is_here.then(|| Began::of(self.pid).ok()).flatten()?, Began::of(client as u32).ok()?);
        (shell.leads_a_terminal && shell.at_ticks >= client.at_ticks).then_some(self.pid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(pid: u32) -> Place {
        let namespace = String::from_utf8(own_pid_namespace().expect("a link")).expect("it is ASCII");
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
}
