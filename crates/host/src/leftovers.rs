//! Undoes the things that a run makes outside its folder. Each is written down before it is made, so that nothing stays behind.
//!
//! Each run has a state file, which it keeps locked while it lives. At its end, it undoes the things in the file, the last one
//! first. A killed run leaves its file without a lock, and the next run undoes these things instead.
//! If several runs need a kernel setting, the last of them to end restores its first value.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::refusal::Refusal;

mod home;
pub mod thing;
pub mod undo;

pub use thing::Thing;
use undo::{kill_those_in, undo};

/// The things of one run; dropping it undoes them all.
#[derive(Debug)]
pub struct Leftovers {
    directory: PathBuf,
    path: PathBuf,
    file: File,
    things: Vec<Thing>,
    finished: bool,
}

impl Leftovers {
    /// Begins the list of the run `run_id` in [`state_directory`].
    pub fn begin(run_id: &str) -> io::Result<Leftovers> {
        Leftovers::begin_in(&state_directory(), run_id)
    }

    /// Begins the list of the run `run_id` in `directory`, which is made if it does not exist, and must belong to this user.
    pub fn begin_in(directory: &Path, run_id: &str) -> io::Result<Leftovers> {
        own_directory(directory)?;
        let _others_wait = DirectoryLock::take(directory)?;
        let pid = std::process::id();
        let path = free_name(directory, pid);
        let mut file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path)?;
        file.try_lock()?;
        file.write_all(format!("run\t{run_id}\t{pid}\n").as_bytes())?;
        Ok(Leftovers { directory: directory.to_owned(), path, file, things: Vec::new(), finished: false })
    }

    /// Writes `thing` down. The caller makes the thing only after this call.
    pub fn note(&mut self, thing: Thing) -> io::Result<()> {
        let line = thing.line()?;
        self.file.write_all(line.as_bytes())?;
        self.things.push(thing);
        Ok(())
    }

    /// Sets the kernel's file `path` to `value` until the end of the run. Returns its previous value.
    pub fn set(&mut self, path: &Path, value: &str) -> io::Result<String> {
        let directory = self.directory.clone();
        let _others_wait = DirectoryLock::take(&directory)?; // no other run restores it between our reading and our note
        let before = fs::read_to_string(path)?.trim_end().to_owned();
        self.note_among_others(path, &before, before == value)?;
        if before != value {
            fs::write(path, value)?;
        }
        Ok(before)
    }

    /// Notes that `undo` must be written into `path` at the end. If the setting was already `in_place` before all runs, it is not
    /// noted. If another run has made it, the last of these runs undoes it. That run may have been killed: the run that clears up
    /// after it must see that this one needs the setting.
    pub(crate) fn note_setting(&mut self, path: &Path, undo: &str, in_place: bool) -> io::Result<()> {
        let directory = self.directory.clone();
        let _others_wait = DirectoryLock::take(&directory)?;
        self.note_among_others(path, undo, in_place)
    }

    fn note_among_others(&mut self, path: &Path, undo: &str, in_place: bool) -> io::Result<()> {
        match old_value_in_other_runs(&self.directory, &self.path, path, |_| true) {
            None if in_place => Ok(()),
            shared => {
                let old = shared.unwrap_or_else(|| undo.to_owned());
                self.note(Thing::Setting { path: path.to_owned(), old })
            }
        }
    }

    /// Undoes all things, the last one first. Returns a refusal for each that could not be undone; the next run tries it again.
    ///
    /// Where the directory cannot be locked, kernel settings stay: a run that begins now must not read one that is half restored.
    pub fn finish(&mut self) -> Vec<Refusal> {
        if self.finished {
            return Vec::new();
        }
        self.finished = true;
        let error = match DirectoryLock::take(&self.directory) {
            Ok(_others_wait) => return undo_all(&self.directory, &self.path, &self.things, &[]),
            Err(error) => error,
        };
        let (settings, others): (Vec<Thing>, _) =
            self.things.iter().cloned().partition(|thing| matches!(thing, Thing::Setting { .. }));
        let mut left_behind = undo_all(&self.directory, &self.path, &others, &settings);
        if !settings.is_empty() {
            left_behind.push(cannot_lock(&self.directory, "kernel settings of a run", error));
        }
        left_behind
    }
}

impl Drop for Leftovers {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Result of clearing up after runs that were killed.
#[derive(Debug, Default)]
pub struct Cleared {
    /// Undone things: a sentence for each run.
    pub undone: Vec<String>,
    /// Things that could not be undone, each with the remedy.
    pub left_behind: Vec<Refusal>,
}

/// Undoes the things that killed runs have left, as listed in [`state_directory`].
pub fn clear_stale() -> Cleared {
    clear_stale_in(&state_directory())
}

/// Undoes the things that killed runs have left in `directory`.
pub fn clear_stale_in(directory: &Path) -> Cleared {
    let mut cleared = Cleared::default();
    if !directory.exists() {
        return cleared;
    }
    if let Err(error) = own_directory(directory) {
        cleared
            .left_behind
            .push(Refusal::new(directory.display().to_string()).because(error).with_remedy("make that directory yours"));
        return cleared;
    }
    match DirectoryLock::take(directory) {
        Ok(_others_wait) => state_files(directory).iter().for_each(|path| clear_if_stale(directory, path, &mut cleared)),
        Err(error) => cleared.left_behind.push(cannot_lock(directory, "things that a run has left", error)),
    }
    cleared
}

fn cannot_lock(directory: &Path, things: &str, error: io::Error) -> Refusal {
    let attempt = format!("{things} cannot be undone: cannot lock {}", directory.display());
    Refusal::new(attempt).because(error).with_remedy("make its file `lock` writable")
}

/// The directory of the state files: `/run/loadgo` for root, else in the user's runtime directory, else in `/tmp`.
pub fn state_directory() -> PathBuf {
    let uid = rustix::process::geteuid().as_raw();
    if uid == 0 && Path::new("/run").is_dir() {
        return PathBuf::from("/run/loadgo");
    }
    match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(runtime) if uid != 0 && Path::new(&runtime).is_dir() => Path::new(&runtime).join("loadgo"),
        _ => PathBuf::from(format!("/tmp/loadgo-{uid}")),
    }
}

fn clear_if_stale(directory: &Path, path: &Path, cleared: &mut Cleared) {
    let Ok(file) = File::open(path) else { return };
    if file.try_lock().is_err() {
        return;
    }
    let (run, mut things) = read_state(path);
    things.retain(|thing| !matches!(thing, Thing::Membership(_))); // the process that would return is dead
    let left_behind = undo_all(directory, path, &things, &[]);
    let done = things.len() - left_behind.len();
    cleared.undone.extend((done > 0).then(|| format!("undone after a run that was killed ({run}): {done} things")));
    cleared.left_behind.extend(left_behind);
}

/// Undoes `things`. The state file then lists only things that could not be undone, and those `kept`; without any, it is removed.
fn undo_all(directory: &Path, state: &Path, things: &[Thing], kept: &[Thing]) -> Vec<Refusal> {
    // A paging device can be removed only when no process pages to it, so all processes are killed first.
    things.iter().for_each(kill_those_in);
    let (mut left, mut left_behind): (Vec<Thing>, _) = (kept.iter().rev().cloned().collect(), Vec::new());
    for leftover in things.iter().rev() {
        if let Thing::Setting { path, .. } = leftover
            && old_value_in_other_runs(directory, state, path, lives).is_some()
        {
            continue;
        }
        if let Err(error) = undo(leftover) {
            left_behind.push(
                Refusal::new(format!("could not be undone: {}", leftover.in_words()))
                    .because(error)
                    .with_remedy(leftover.remedy()),
            );
            left.push(leftover.clone());
        }
    }
    left.reverse();
    keep_only(state, &left);
    left_behind
}

/// Rewrites the state file with `things` alone. If it cannot be written, all its entries stay, and the next run tries them again.
fn keep_only(state: &Path, things: &[Thing]) {
    if things.is_empty() {
        let _ = fs::remove_file(state);
        return;
    }
    let first = fs::read_to_string(state).unwrap_or_default().lines().next().unwrap_or_default().to_owned();
    let lines: Vec<String> = things.iter().filter_map(|thing| thing.line().ok()).collect();
    // The file is rewritten in place, because the lock belongs to the file and not to its name.
    let _ = fs::write(state, format!("{first}\n{}", lines.concat()));
}

/// The value that `setting` had before another run changed it whose state file `counts`; `None` if none has.
fn old_value_in_other_runs(directory: &Path, mine: &Path, setting: &Path, counts: fn(&Path) -> bool) -> Option<String> {
    state_files(directory).iter().filter(|path| *path != mine && counts(path)).find_map(|path| {
        read_state(path).1.into_iter().find_map(|thing| match thing {
            Thing::Setting { path, old } if path == setting => Some(old),
            _ => None,
        })
    })
}

fn lives(state: &Path) -> bool {
    File::open(state).is_ok_and(|file| file.try_lock().is_err())
}

fn state_files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "run")).collect();
    paths.sort();
    paths
}

fn free_name(directory: &Path, pid: u32) -> PathBuf {
    let names = (0..).map(|n| directory.join(format!("{pid}-{n}.run")));
    names.into_iter().find(|path| !path.exists()).expect("the numbers do not end")
}

/// Makes `directory`, or checks that it belongs to this user and that no other user may write in it.
fn own_directory(directory: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = fs::symlink_metadata(directory)?;
    let uid = rustix::process::geteuid().as_raw();
    if !found.is_dir() || found.uid() != uid || found.mode() & 0o022 != 0 {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "not a directory of this user alone"));
    }
    Ok(())
}

/// Reads the run's name and its things. A last line that a kill has cut is skipped, because its thing was not made yet.
fn read_state(path: &Path) -> (String, Vec<Thing>) {
    let mut text = String::new();
    let _ = File::open(path).and_then(|mut file| file.read_to_string(&mut text));
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let mut lines = whole.lines();
    let run = lines.next().unwrap_or("").split('\t').nth(1).unwrap_or("").to_owned();
    (run, lines.filter_map(Thing::of_line).collect())
}

/// A lock held while state files are made, read and removed, so that no run sees another's half-made file.
struct DirectoryLock {
    _file: File,
}

impl DirectoryLock {
    fn take(directory: &Path) -> io::Result<DirectoryLock> {
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(directory.join("lock"))?;
        file.lock()?;
        Ok(DirectoryLock { _file: file })
    }
}
