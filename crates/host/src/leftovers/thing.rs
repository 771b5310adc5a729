//! The kinds of things that a run makes outside its folder, and their lines in the state file.

use std::io;
use std::path::{Path, PathBuf};

/// Something outside the run folder that must be undone when the run is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Thing {
    /// A control group with all below it; its last component begins with `loadgo`. Its processes are killed.
    Cgroup(PathBuf),
    /// The control group that this process moved into for the run; its last component begins with `loadgo`. It is removed when it
    /// is empty, and no process in it is killed.
    OwnCgroup(PathBuf),
    /// A control group for the processes of a session that is not loadgo's own; its last component begins with `loadgo`. Its
    /// processes return to the group above it, and none is killed.
    FollowedCgroup(PathBuf),
    /// A directory tree (the users' homes); its last component begins with `loadgo`.
    Home(PathBuf),
    /// A file (a swap file); its last component begins with `loadgo`.
    File(PathBuf),
    /// A device or file in use for swapping.
    Swap(PathBuf),
    /// A compressed memory device, `/dev/zramN`, made for the run.
    Zram(u32),
    /// A changed setting of the kernel.
    Setting {
        /// The setting's file.
        path: PathBuf,
        /// The text written into the file at the end: its old value, or an instruction that undoes the change.
        old: String,
    },
    /// The `cgroup.procs` of the control group that this process left for the run, and to which it returns.
    Membership(PathBuf),
}

impl Thing {
    /// The thing's description for a person.
    pub fn in_words(&self) -> String {
        match self {
            Thing::Cgroup(path) | Thing::OwnCgroup(path) | Thing::FollowedCgroup(path) => {
                format!("the control group {}", path.display())
            }
            Thing::Home(path) => format!("the homes in {}", path.display()),
            Thing::File(path) => format!("the file {}", path.display()),
            Thing::Swap(path) => format!("swapping to {}", path.display()),
            Thing::Zram(number) => format!("the device /dev/zram{number}"),
            Thing::Setting { path, old } => format!("the setting {} (it was {old})", path.display()),
            Thing::Membership(path) => format!("loadgo's move out of the control group {}", path.display()),
        }
    }

    /// The remedy when the thing cannot be undone.
    pub(super) fn remedy(&self) -> &'static str {
        match self {
            Thing::Home(_) => {
                "remove what is named by hand (`umount` for a mount, `chattr -i` for an immutable file), or the next run on this host tries again"
            }
            Thing::Cgroup(_) | Thing::OwnCgroup(_) | Thing::FollowedCgroup(_) | Thing::File(_) => {
                "remove it by hand, or the next run on this host tries again"
            }
            Thing::Swap(_) | Thing::Zram(_) | Thing::Setting { .. } | Thing::Membership(_) => {
                "undo it by hand, or the next run on this host tries again"
            }
        }
    }

    /// The thing's line in the state file, with the newline.
    ///
    /// # Errors
    /// The path cannot stand in a line, or is not a name of loadgo's.
    pub(super) fn line(&self) -> io::Result<String> {
        let (kind, path, old) = match self {
            Thing::Cgroup(path) => ("cgroup", path.clone(), ""),
            Thing::OwnCgroup(path) => ("own-cgroup", path.clone(), ""),
            Thing::FollowedCgroup(path) => ("followed-cgroup", path.clone(), ""),
            Thing::Home(path) => ("home", path.clone(), ""),
            Thing::File(path) => ("file", path.clone(), ""),
            Thing::Swap(path) => ("swap", path.clone(), ""),
            Thing::Zram(number) => ("zram", PathBuf::from(number.to_string()), ""),
            Thing::Setting { path, old } => ("setting", path.clone(), old.as_str()),
            Thing::Membership(path) => ("membership", path.clone(), ""),
        };
        let path = path.to_str().ok_or_else(|| io::Error::other("a path that is not UTF-8"))?;
        let removed =
            matches!(self, Thing::Cgroup(_) | Thing::OwnCgroup(_) | Thing::FollowedCgroup(_) | Thing::Home(_) | Thing::File(_));
        if removed && !is_ours(Path::new(path)) {
            return Err(io::Error::other(format!("{path}: the name of what is removed must begin with loadgo")));
        }
        let line = format!("{kind}\t{path}\t{old}");
        match line.contains('\n') || path.contains('\t') {
            true => Err(io::Error::other(format!("{path:?}: a path with a tab or a newline"))),
            false => Ok(line + "\n"),
        }
    }

    /// Parses a line of a state file; `None` for a line that loadgo does not write.
    pub(super) fn of_line(line: &str) -> Option<Thing> {
        let mut parts = line.splitn(3, '\t');
        let (kind, path, old) = (parts.next()?, parts.next()?, parts.next()?);
        match kind {
            "cgroup" => Some(Thing::Cgroup(path.into())),
            "own-cgroup" => Some(Thing::OwnCgroup(path.into())),
            "followed-cgroup" => Some(Thing::FollowedCgroup(path.into())),
            "home" => Some(Thing::Home(path.into())),
            "file" => Some(Thing::File(path.into())),
            "swap" => Some(Thing::Swap(path.into())),
            "zram" => path.parse().ok().map(Thing::Zram),
            "setting" => Some(Thing::Setting { path: path.into(), old: old.to_owned() }),
            "membership" => Some(Thing::Membership(path.into())),
            _ => None,
        }
    }
}

/// Whether the name of `path` shows that loadgo made it: nothing else is ever removed.
pub(crate) fn is_ours(path: &Path) -> bool {
    path.is_absolute() && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("loadgo"))
}
