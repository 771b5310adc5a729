//! When a process began, whether it leads a session on a terminal, and in which process id namespace this process is.

use crate::small_files::{open_at, read_at_start};
use rustix::fs::{CWD, Mode, OFlags, openat, readlinkat};
use std::io;

/// This process's process id namespace.
const PID_NAMESPACE: &str = "/proc/self/ns/pid";

/// The process id namespace of this process, as `readlink` prints it.
pub(crate) fn own_pid_namespace() -> io::Result<Vec<u8>> {
    Ok(readlinkat(CWD, PID_NAMESPACE, Vec::new())?.into_bytes())
}

/// When a process began, and whether it leads a session on a terminal.
pub(crate) struct Began {
    /// Time since the kernel's boot, in clock ticks.
    pub at_ticks: u64,
    pub leads_a_terminal: bool,
    /// Whether the process is a zombie.
    pub has_ended: bool,
}

impl Began {
    /// Reads `/proc/PID/stat`, of which the fields 6, 7 and 22 are the session, the terminal and the beginning (proc_pid_stat(5)).
    pub(crate) fn of(pid: u32) -> io::Result<Began> {
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
        let (has_ended, at_ticks) = (matches!(*words.first()?, "Z" | "X"), words.get(19)?.parse().ok()?);
        Some(Began { at_ticks, leads_a_terminal: session == pid && terminal != 0, has_ended })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_blanks_is_no_field() {
        let stat = b"42 (a) b (c) S 1 42 42 34816 42 0 0 0 0 0 0 0 0 0 20 0 1 0 777 0 0\n";
        let began = Began::parse(42, stat).expect("a process");
        assert_eq!((began.at_ticks, began.leads_a_terminal), (777, true));
        assert!(!Began::parse(43, stat).expect("a process").leads_a_terminal);
    }
}
