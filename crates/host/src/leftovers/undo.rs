//! Undoes each kind of thing. A thing that is already gone is no error.

use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use loadgo_sys::child::signal;
use rustix::io::Errno;
use rustix::process::Signal;

use super::home::remove_home;
use super::thing::{Thing, is_ours};

/// Undoes `thing`; nothing is done when it is gone already or was never made.
pub(crate) fn undo(thing: &Thing) -> io::Result<()> {
    match undo_made(thing) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // What could not even be made: a read-only file system says so before it looks for the name.
        Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem && is_missing(thing) => Ok(()),
        other => other,
    }
}

/// Undoes `thing`, with the error for one that is gone.
fn undo_made(thing: &Thing) -> io::Result<()> {
    match thing {
        Thing::Cgroup(path) if is_ours(path) => remove_group(path),
        Thing::OwnCgroup(path) if is_ours(path) => fs::remove_dir(path),
        Thing::FollowedCgroup(path) if is_ours(path) => dissolve_group(path),
        Thing::Home(path) if is_ours(path) => remove_home(path),
        Thing::File(path) if is_ours(path) => fs::remove_file(path),
        Thing::Cgroup(_) | Thing::OwnCgroup(_) | Thing::FollowedCgroup(_) | Thing::Home(_) | Thing::File(_) => {
            Err(io::Error::other("not a name of loadgo's"))
        }
        Thing::Swap(path) => swap_off(path),
        Thing::Zram(number) => remove_zram(*number),
        Thing::Setting { path, old } => fs::write(path, old),
        Thing::Membership(path) => fs::write(path, "0"),
    }
}

/// Whether `thing` is a control group, a home or a file that does not exist.
fn is_missing(thing: &Thing) -> bool {
    match thing {
        Thing::Cgroup(path) | Thing::OwnCgroup(path) | Thing::FollowedCgroup(path) | Thing::Home(path) | Thing::File(path) => {
            path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        }
        Thing::Swap(_) | Thing::Zram(_) | Thing::Setting { .. } | Thing::Membership(_) => false,
    }
}

/// Kills the processes in `thing`, if it is a group; it is undone later.
pub(crate) fn kill_those_in(thing: &Thing) {
    if let Thing::Cgroup(path) = thing
        && is_ours(path)
    {
        // What cannot be killed now is reported when the group is removed.
        let _ = kill_group(path);
    }
}

/// Kills all processes of the group `path` and of those below it, and removes them; waits up to 5 s for the dead.
pub(crate) fn remove_group(path: &Path) -> io::Result<()> {
    for attempt in 0..500 {
        kill_group(path)?;
        match remove_tree(path) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => pause(attempt),
            other => return other,
        }
    }
    Err(Errno::BUSY.into())
}

/// Moves the processes of the group `path` into the group above it, and removes it.
pub(crate) fn dissolve_group(path: &Path) -> io::Result<()> {
    let above = path.parent().unwrap_or(path).join("cgroup.procs");
    for attempt in 0..500 {
        for pid in processes_of(path)? {
            match fs::write(&above, pid.to_string()) {
                Err(error) if Errno::from_io_error(&error) == Some(Errno::SRCH) => {} // it has ended
                moved => moved?,
            }
        }
        match fs::remove_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => pause(attempt), // one was born meanwhile
            other => return other,
        }
    }
    Err(Errno::BUSY.into())
}

/// Kills all processes of the group `path` and of those below it; with `cgroup.kill` in one step.
pub(crate) fn kill_group(path: &Path) -> io::Result<()> {
    match fs::write(path.join("cgroup.kill"), "1") {
        Ok(()) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.exists() => return Ok(()),
        Err(_) => {}
    }
    for child in groups_below(path) {
        kill_group(&child)?;
    }
    let processes = match processes_of(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    for pid in processes {
        signal(pid, Signal::KILL); // it was in a group of loadgo's a moment ago
    }
    Ok(())
}

/// The processes of the group `path` itself, none of those below it.
pub(crate) fn processes_of(path: &Path) -> io::Result<Vec<i32>> {
    let text = fs::read_to_string(path.join("cgroup.procs"))?;
    Ok(text.lines().filter_map(|line| line.parse().ok()).filter(|pid| *pid > 0).collect())
}

fn remove_tree(path: &Path) -> io::Result<()> {
    for child in groups_below(path) {
        remove_tree(&child)?;
    }
    match fs::remove_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// The control groups directly below the group `path`.
pub(crate) fn groups_below(path: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect()
}

/// Waits a moment for killed processes to end. The kernel reports an empty group only on v2, so callers try again and again.
fn pause(attempt: u64) {
    thread::sleep(Duration::from_millis(attempt.min(10)));
}

fn swap_off(path: &Path) -> io::Result<()> {
    let text = fs::read_to_string("/proc/swaps")?;
    let name = path.to_string_lossy();
    if !text.lines().any(|line| line.split_whitespace().next() == Some(&name)) {
        return Ok(());
    }
    loadgo_sys::paging::swap_off(path)
}

fn remove_zram(number: u32) -> io::Result<()> {
    if !Path::new(&format!("/sys/block/zram{number}")).exists() {
        return Ok(());
    }
    fs::write(format!("/sys/block/zram{number}/reset"), "1")?;
    match number {
        // The first device is the kernel's own, there since it was loaded: it is only emptied.
        0 => Ok(()),
        _ => fs::write("/sys/class/zram-control/hot_remove", number.to_string()),
    }
}
