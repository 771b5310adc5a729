//! The file of a program, found as a shell finds it.

use std::env::split_paths;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The executable file of the program `name`. A name with a slash is the path itself; another name is searched in the directories
/// of `search_path`, which colons separate.
pub fn program_file(name: &OsStr, search_path: &OsStr) -> Option<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        return Some(PathBuf::from(name)).filter(|path| is_executable(path));
    }
    let directories = split_paths(search_path).filter(|directory| !directory.as_os_str().is_empty());
    directories.map(|directory| directory.join(name)).find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(name: &str, search_path: &str) -> Option<PathBuf> {
        program_file(OsStr::new(name), OsStr::new(search_path))
    }

    #[test]
    fn the_first_executable_file_of_that_name_is_taken() {
        let (folder, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        for (directory, mode) in [(&folder, 0o644), (&other, 0o755)] {
            let path = directory.path().join("tool");
            std::fs::write(&path, "").expect("written");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("set");
        }
        let both = format!("{}::{}", folder.path().display(), other.path().display());
        assert_eq!(search("tool", &both), Some(other.path().join("tool")));
        assert_eq!(search("no-such-tool", &both), None);
    }

    #[test]
    fn a_name_with_a_slash_is_not_looked_up() {
        assert_eq!(search("/bin/sh", ""), Some("/bin/sh".into()));
        assert_eq!(search("./sh", "/bin"), None);
        assert_eq!(search("/etc", "/bin"), None);
    }
}
