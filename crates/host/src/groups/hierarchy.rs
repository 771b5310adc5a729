//! The control group hierarchies that this host has mounted, and this process's group in each.

use std::fs;
use std::path::{Path, PathBuf};

/// The two kinds of control group file systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// One tree for all controllers.
    V2,
    /// A tree for each controller, or for a few together.
    V1,
}

/// A mounted tree of control groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hierarchy {
    /// The kind of the tree.
    pub version: Version,
    /// The directory where the tree is mounted.
    pub mount: PathBuf,
    /// The directory of this process's own group; the mount itself when the group is outside what is mounted.
    pub own: PathBuf,
    /// The controllers of this tree.
    pub controllers: Vec<String>,
}

impl Hierarchy {
    /// Whether the tree has `controller`.
    pub fn has(&self, controller: &str) -> bool {
        self.controllers.iter().any(|held| held == controller)
    }
}

/// The hierarchies of this host, in the order of their mounts.
pub fn hierarchies() -> Vec<Hierarchy> {
    hierarchies_of("self")
}

/// The hierarchies of this host like [`hierarchies`], with the groups of the process `pid` as [`Hierarchy::own`].
pub(crate) fn hierarchies_of(pid: &str) -> Vec<Hierarchy> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let memberships = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    let mut found: Vec<Hierarchy> = parse(&mounts, &memberships);
    for hierarchy in found.iter_mut().filter(|h| h.version == Version::V2) {
        let names = fs::read_to_string(hierarchy.mount.join("cgroup.controllers")).unwrap_or_default();
        hierarchy.controllers = names.split_whitespace().map(str::to_owned).collect();
    }
    found
}

/// The hierarchies listed in `mounts` (as `/proc/self/mountinfo`) with the groups in `memberships` (as `/proc/self/cgroup`). The
/// controllers of v2 are not listed there.
pub fn parse(mounts: &str, memberships: &str) -> Vec<Hierarchy> {
    let mut found: Vec<Hierarchy> = Vec::new();
    for hierarchy in mounts.lines().filter_map(|line| parse_mount(line, memberships)) {
        let known = found.iter().any(|h| h.version == hierarchy.version && h.controllers == hierarchy.controllers);
        if !known {
            found.push(hierarchy);
        }
    }
    found
}

fn parse_mount(line: &str, memberships: &str) -> Option<Hierarchy> {
    let (before, after) = line.split_once(" - ")?;
    let mut before = before.split(' ').skip(3);
    let (root, mount) = (before.next()?, before.next()?);
    let mut after = after.split(' ');
    let (kind, options) = (after.next()?, after.nth(1)?);
    let version = match kind {
        "cgroup2" => Version::V2,
        "cgroup" => Version::V1,
        _ => return None,
    };
    let controllers: Vec<String> = match version {
        Version::V2 => Vec::new(),
        Version::V1 => options.split(',').filter(|word| is_controller(word)).map(str::to_owned).collect(),
    };
    let mount = PathBuf::from(mount.replace("\\040", " "));
    let group = memberships.lines().find_map(|line| membership(line, &controllers));
    let own = group.and_then(|group| below(&mount, root, group)).unwrap_or_else(|| mount.clone());
    Some(Hierarchy { version, mount, own, controllers })
}

fn is_controller(option: &str) -> bool {
    !matches!(option, "rw" | "ro" | "xattr" | "noprefix" | "clone_children") && !option.contains('=')
}

/// The group in a line `ID:CONTROLLERS:PATH` when the line is about these controllers (none: v2).
fn membership<'a>(line: &'a str, controllers: &[String]) -> Option<&'a str> {
    let mut parts = line.splitn(3, ':');
    let (id, names, path) = (parts.next()?, parts.next()?, parts.next()?);
    let mine = match controllers {
        [] => id == "0" && names.is_empty(),
        some => some.iter().all(|name| names.split(',').any(|held| held == name)),
    };
    mine.then_some(path)
}

/// The directory of `group` beneath `mount`, which shows the tree from `root` on.
fn below(mount: &Path, root: &str, group: &str) -> Option<PathBuf> {
    let inside = Path::new(group).strip_prefix(root).ok()?;
    let escapes = inside.components().any(|part| part.as_os_str() == "..");
    (!escapes).then(|| mount.components().chain(inside.components()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "\
33 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw";

    #[test]
    fn a_hybrid_host_has_the_controllers_on_v1_and_a_v2_tree() {
        let found = parse(HYBRID, "3:cpu,cpuacct:/jobs/a\n1:name=systemd:/\n0::/user.slice/session-2.scope\n");
        assert_eq!(found.len(), 3);
        assert!(found[0].has("cpuacct") && found[0].version == Version::V1);
        assert_eq!(found[0].own, Path::new("/sys/fs/cgroup/cpu,cpuacct/jobs/a"));
        assert_eq!(found[2].version, Version::V2);
        assert_eq!(found[2].own, Path::new("/sys/fs/cgroup/unified/user.slice/session-2.scope"));
    }

    #[test]
    fn a_group_outside_of_the_mount_counts_as_the_mount_itself() {
        let mounts = "30 23 0:26 /docker/ab /sys/fs/cgroup rw - cgroup2 cgroup rw";
        assert_eq!(parse(mounts, "0::/docker/ab/in\n")[0].own, Path::new("/sys/fs/cgroup/in"));
        assert_eq!(parse(mounts, "0::/elsewhere\n")[0].own, Path::new("/sys/fs/cgroup"));
        let namespaced = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw";
        assert_eq!(parse(namespaced, "0::/../other\n")[0].own, Path::new("/sys/fs/cgroup"));
    }

    #[test]
    fn this_host_is_read() {
        for hierarchy in hierarchies() {
            assert!(hierarchy.mount.is_dir(), "{hierarchy:?}");
        }
    }
}
