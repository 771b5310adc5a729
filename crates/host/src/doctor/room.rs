//! The room that this host has for the users of a driver: terminals, open files, processes.

use super::answer::{Answer, read};
use super::preflight::{least_process_limit, most_open_files};
use crate::refusal::Refusal;
use rustix::pty::{OpenptFlags, openpt};
use std::io;

/// Fewest users for whom a driver's host has room without a remark.
const ENOUGH_USERS: u64 = 1000;

/// An answer for each of these.
pub(super) fn answers() -> Vec<Answer> {
    vec![terminals(), open_files(), processes()]
}

fn terminals() -> Answer {
    let ability = "terminals";
    let (most, used) = (read("/proc/sys/kernel/pty/max"), read("/proc/sys/kernel/pty/nr"));
    match openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).map_err(io::Error::from) {
        Ok(_) => Answer::exact(ability, format!("{used} of {most} in use (kernel.pty.max)")),
        Err(error) => {
            Answer::absent(ability, Refusal::new("cannot open /dev/ptmx").because(error).with_remedy("mount devpts at /dev/pts"))
        }
    }
}

/// A driver has a terminal open for each user.
fn open_files() -> Answer {
    let (ability, most) = ("open files", most_open_files());
    let how = format!("{most} at most in a process (RLIMIT_NOFILE); a driver needs one for each user");
    enough(ability, most, how, || {
        let remedy = "ulimit -Hn 65536 (as root), or LimitNOFILE=65536 in the unit that starts it";
        Refusal::new(format!("a process may open {most} files")).with_remedy(remedy)
    })
}

/// A user has some processes at a time: the log-in command, a shell, a command.
fn processes() -> Answer {
    let ability = "processes";
    let Some((name, most, used)) = least_process_limit() else {
        return Answer::estimated(ability, "no limit is known", Refusal::new("/proc tells none").with_remedy("mount /proc"));
    };
    let how = format!("{used} of {most} in use ({name})");
    enough(ability, most.saturating_sub(used), how, || {
        Refusal::new(format!("there may be {most}, and {used} run")).with_remedy(format!("raise {name}"))
    })
}

/// An answer that is exact where there is room for [`ENOUGH_USERS`].
fn enough(ability: &'static str, room: u64, how: String, refusal: impl FnOnce() -> Refusal) -> Answer {
    if room >= ENOUGH_USERS { Answer::exact(ability, how) } else { Answer::estimated(ability, how, refusal()) }
}
