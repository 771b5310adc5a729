//! Things that a run makes outside its folder, written down before they are made, so that nothing stays behind.
//!
//! Each run has a state file that it keeps locked while it lives. When it ends it undoes what the file lists, last
//! made first. A run that was killed leaves the file without its lock: the next run undoes it instead.
//! A kernel setting that several runs have changed gets its first value back when the last of them ends.

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
    /// Begins the list of the run `run_id` in the place that is usual for this user.
    pub fn begin(run_id: &str) -> io::Result<Leftovers> {
        Leftovers::begin_in(&state_directory(), run_id)
    }

    /// Begins the list of the run `run_id` in `directory`, which is made if need be and must be the user's own.
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

    /// Writes `thing` down; to be called before it is made.
    pub fn note(&mut self, thing: Thing) -> io::Result<()> {
        let line = thing.line()?;
        self.file.write_all(line.as_bytes())?;
        self.things.push(thing);
        Ok(())
    }

    /// Sets the kernel's file `path` to `value` until the end of the run; its value before.
    pub fn set(&mut self, path: &Path, value: &str) -> io::Result<String> {
        let directory = self.directory.clone();
        let _others_wait = DirectoryLock::take(&directory)?; // nobody puts it back between our look and our note
        let before = fs::read_to_string(path)?.trim_end().to_owned();
        self.note_among_others(path, &before, before == value)?;
        if before != value {
            fs::write(path, value)?;
        }
        Ok(before)
    }

    /// Writes down that `undo` is to be written into `path` at the end. A setting that is already `in_place` is left alone,
    /// unless another run that lives has put it there: then the last of them undoes it.
    pub(crate) fn note_setting(&mut self, path: &Path, undo: &str, in_place: bool) -> io::Result<()> {
        let directory = self.directory.clone();
        let _others_wait = DirectoryLock::take(&directory)?;
        self.note_among_others(path, undo, in_place)
    }

    fn note_among_others(&mut self, path: &Path, undo: &str, in_place: bool) -> io::Result<()> {
        match old_value_in_living_runs(&self.directory, &self.path, path) {
            None if in_place => Ok(()),
            shared => {
                let old = shared.unwrap_or_else(|| undo.to_owned());
                self.note(Thing::Setting { path: path.to_owned(), old })
            }
        }
    }

    /// Undoes everything, last made first; returns what could not be undone. The next run tries that again.
    pub fn finish(&mut self) -> Vec<Refusal> {
        if self.finished {
            return Vec::new();
        }
        self.finished = true;
        let Ok(_others_wait) = DirectoryLock::take(&self.directory) else {
            return vec![cannot_lock(&self.directory)];
        };
        undo_all(&self.directory, &self.path, &self.things)
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

/// Undoes the things that killed runs have left in the usual place.
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
    let Ok(_others_wait) = DirectoryLock::take(directory) else {
        cleared.left_behind.push(cannot_lock(directory));
        return cleared;
    };
    state_files(directory).iter().for_each(|path| clear_if_stale(directory, path, &mut cleared));
    cleared
}

fn cannot_lock(directory: &Path) -> Refusal {
    let attempt = format!("things that a run has left cannot be undone: cannot lock {}", directory.display());
    Refusal::new(attempt).with_remedy("make its file `lock` writable")
}

/// Where the state files are: `/run/loadgo` for root, else the user's runtime directory, else one in `/tmp`.
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
    let (run, things) = read_state(path);
    let left_behind = undo_all(directory, path, &things);
    let done = things.len() - left_behind.len();
    cleared.undone.extend((done > 0).then(|| format!("undone after a run that was killed ({run}): {done} things")));
    cleared.left_behind.extend(left_behind);
}

/// Undoes `things`. The state file then lists only things that could not be undone; without any, the file is removed.
fn undo_all(directory: &Path, state: &Path, things: &[Thing]) -> Vec<Refusal> {
    // Nobody may still page when the paging device goes.
    things.iter().for_each(kill_those_in);
    let (mut left, mut left_behind) = (Vec::new(), Vec::new());
    for leftover in things.iter().rev() {
        if let Thing::Setting { path, .. } = leftover
            && old_value_in_living_runs(directory, state, path).is_some()
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

/// Reduces the state file to `things`. When the file cannot be written, all its entries stay, and the next run tries them again.
fn keep_only(state: &Path, things: &[Thing]) {
    if things.is_empty() {
        let _ = fs::remove_file(state);
        return;
    }
    let first = fs::read_to_string(state).unwrap_or_default().lines().next().unwrap_or_default().to_owned();
    let lines: Vec<String> = things.iter().filter_map(|thing| thing.line().ok()).collect();
    // In place, for the lock is on this file and not on its name.
    let _ = fs::write(state, format!("{first}\n{}", lines.concat()));
}

/// The value that `setting` had before the first of the other runs that live changed it.
fn old_value_in_living_runs(directory: &Path, mine: &Path, setting: &Path) -> Option<String> {
    state_files(directory).iter().filter(|path| *path != mine && lives(path)).find_map(|path| {
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

/// Makes `directory`, or checks that it is this user's and that nobody else may write in it.
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

/// The run's name and its things; a last line that was cut by a kill is not read, for its thing was not made.
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
