//! The supervisor's locks: one processor at a time goes through the paths that a lock protects.
//!
//! A processor that finds the lock taken loops until its turn comes, in the order of arrival (a loop lock, today a spin lock).
//! Paths are never interrupted, so when a lock will be free is known as soon as a path is entered.

use crate::meters::Category;
use crate::spec::LockedPath;

/// The locks of a machine.
#[derive(Clone, Debug)]
pub(super) struct SupervisorLocks {
    /// The lock of each category's path, as an index of `free_at`.
    by_category: [Option<u16>; Category::COUNT],
    /// When the last processor that wants each lock will release it.
    free_at: Vec<u64>,
}

impl SupervisorLocks {
    /// The locks of these paths, each with the name of its lock; `None` without any. Paths may share a lock.
    pub fn of(paths: &[(LockedPath, String)]) -> Option<Box<SupervisorLocks>> {
        let mut names: Vec<&str> = Vec::new();
        let mut by_category = [None; Category::COUNT];
        for (path, name) in paths {
            let lock = names.iter().position(|known| known == name).unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            });
            by_category[category_of(*path) as usize] = Some(lock as u16);
        }
        (!names.is_empty()).then(|| Box::new(SupervisorLocks { by_category, free_at: vec![0; names.len()] }))
    }

    /// Takes the lock of a path of this category for `length_ns`, as soon as it is free. Returns the wait until then.
    pub fn take(&mut self, category: Category, length_ns: u64, now: u64) -> u64 {
        let Some(lock) = self.by_category[category as usize] else { return 0 };
        let free_at = &mut self.free_at[usize::from(lock)];
        let taken_at = now.max(*free_at);
        *free_at = taken_at.saturating_add(length_ns);
        taken_at - now
    }
}

/// The category of a path's processor time.
fn category_of(path: LockedPath) -> Category {
    match path {
        LockedPath::PageFault => Category::PageFault,
        LockedPath::SegmentFault => Category::SegmentFault,
        LockedPath::BoundFault => Category::BoundFault,
        LockedPath::DeviceInterrupt => Category::Interrupt,
        LockedPath::Getwork => Category::Getwork,
        LockedPath::ProcessCreation => Category::ProcessCreation,
    }
}
