//! The known processes with their address spaces, including processes that ended in this span or the last.

use crate::profile::maps::Layouts;
use crate::profile::records::NewMapping;
use crate::profile::spaces::{Segments, Space, process_name};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The known processes.
pub(crate) struct Processes {
    own_pid: u32,
    spaces: HashMap<u32, Space>,
    /// Processes that ended in the last span and in this one, for notes that arrive later.
    ended: [HashMap<u32, Space>; 2],
    /// This process's space as its children of this span inherit it. They share it, because copies would take too much memory.
    own_space: Option<Space>,
    /// Processes whose mappings changed in this round, and in the round before.
    changed: [HashSet<u32>; 2],
    /// Processes that /proc did not have when they were looked for in this round. A busy host's page faults name processes of
    /// other containers, or ended ones, many thousand times a second: each is looked for once a round.
    missing: HashSet<u32>,
    /// Reads a living process.
    read: fn(u32, &mut Segments) -> Option<Space>,
    layouts: Layouts,
    names: Names,
}

/// The names of processes, each kept once.
#[derive(Default)]
struct Names(HashSet<Arc<str>>);

impl Names {
    fn get(&mut self, name: &str) -> Arc<str> {
        let name = process_name(name);
        match self.0.get(&name) {
            Some(known) => Arc::clone(known),
            None => {
                self.0.insert(Arc::clone(&name));
                name
            }
        }
    }

    fn forget_unused(&mut self) {
        self.0.retain(|name| Arc::strong_count(name) > 1);
    }
}

impl Processes {
    /// The existing processes, read from /proc.
    pub fn existing(segments: &mut Segments) -> Processes {
        let mut processes = Processes::none(Space::read_living);
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            if let Some(mut space) = Space::read_living(pid, segments) {
                space.name = processes.names.get(&space.name);
                space.share_layouts(&mut processes.layouts);
                processes.spaces.insert(pid, space);
            }
        }
        processes
    }

    /// No processes yet; `read` reads a living one.
    fn none(read: fn(u32, &mut Segments) -> Option<Space>) -> Processes {
        Processes {
            own_pid: std::process::id(),
            spaces: HashMap::new(),
            ended: [HashMap::new(), HashMap::new()],
            own_space: None,
            changed: [HashSet::new(), HashSet::new()],
            missing: HashSet::new(),
            read,
            layouts: Layouts::default(),
            names: Names::default(),
        }
    }

    /// Adds a mapping of a process.
    pub fn map(&mut self, pid: u32, mapping: &NewMapping, segments: &mut Segments) {
        self.changed[1].insert(pid);
        let names = &mut self.names;
        self.spaces.entry(pid).or_insert_with(|| Space::named(names.get("?"))).map(mapping, segments);
    }

    /// Notes that the process has loaded a program of this name.
    pub fn load_program(&mut self, pid: u32, name: &str) {
        let name = self.names.get(name);
        self.spaces.entry(pid).or_insert_with(|| Space::named(Arc::clone(&name))).load_program(name);
    }

    /// Gives the process another name.
    pub fn rename(&mut self, pid: u32, name: &str) {
        let name = self.names.get(name);
        match self.spaces.entry(pid) {
            Entry::Occupied(mut space) => space.get_mut().name = name,
            Entry::Vacant(entry) => {
                entry.insert(Space::named(name));
            }
        }
    }

    /// Adds a process that `parent` has forked, which inherits its mappings.
    pub fn fork(&mut self, pid: u32, parent: u32) {
        let names = &mut self.names;
        let mut inherit = || self.spaces.get(&parent).cloned().unwrap_or_else(|| Space::named(names.get("?")));
        let space = if parent == self.own_pid {
            let own_space = self.own_space.get_or_insert_with(inherit);
            own_space.leader = pid;
            own_space.clone()
        } else {
            inherit()
        };
        self.spaces.insert(pid, space);
    }

    /// Notes that the process leads a session. This process need not have forked it: sshd may have. Children of later belong to it too.
    pub fn lead(&mut self, pid: u32, segments: &mut Segments) {
        if self.space(pid, segments).is_some()
            && let Some(space) = self.spaces.get_mut(&pid)
        {
            space.leader = pid;
        }
    }

    /// Removes a process that has ended; notes about it are still expected until the end of the next span.
    pub fn end(&mut self, pid: u32) {
        if let Some(space) = self.spaces.remove(&pid) {
            self.ended[1].insert(pid, space);
        }
    }

    /// The space of a process that is known, has ended lately, or is in /proc.
    pub fn space(&mut self, pid: u32, segments: &mut Segments) -> Option<&Space> {
        match self.spaces.entry(pid) {
            Entry::Occupied(space) => Some(space.into_mut()),
            Entry::Vacant(entry) => match self.ended[1].get(&pid).or_else(|| self.ended[0].get(&pid)) {
                Some(space) => Some(space),
                None if self.missing.contains(&pid) => None,
                None => {
                    let Some(space) = (self.read)(pid, segments) else {
                        self.missing.insert(pid);
                        return None;
                    };
                    self.changed[1].insert(pid);
                    Some(entry.insert(space))
                }
            },
        }
    }

    /// Reads the mappings of a living process again, because the kernel does not report memory that was moved (mremap).
    pub fn reload_mappings(&mut self, pid: u32, segments: &mut Segments) -> Option<&Space> {
        let now = Space::read_living(pid, segments)?;
        let space = self.spaces.get_mut(&pid)?;
        space.replace_mappings(now);
        self.changed[1].insert(pid);
        Some(space)
    }

    /// Ends a round: processes whose mappings changed in the last round, and not in this one, share their layouts.
    pub fn end_round(&mut self) {
        let [last, this] = &mut self.changed;
        for pid in last.difference(this) {
            if let Some(space) = self.spaces.get_mut(pid) {
                space.share_layouts(&mut self.layouts);
            }
        }
        *last = std::mem::take(this);
        self.missing.clear();
    }

    /// Ends a span: forgets processes that ended before it, earlier programs, and layouts and names that are no longer in use.
    pub fn end_span(&mut self) {
        self.ended[0] = std::mem::take(&mut self.ended[1]);
        self.own_space = None;
        self.spaces.values_mut().for_each(Space::end_span);
        self.layouts.forget_unused();
        self.names.forget_unused();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        static READINGS: Cell<u32> = const { Cell::new(0) };
    }

    fn read_nothing(_: u32, _: &mut Segments) -> Option<Space> {
        READINGS.set(READINGS.get() + 1);
        None
    }

    #[test]
    fn children_of_a_leader_that_another_program_has_forked_belong_to_its_session() {
        let (mut processes, mut segments) = (Processes::none(read_nothing), Segments::new());
        processes.fork(41, 40);
        processes.fork(42, 41);
        processes.lead(42, &mut segments);
        processes.fork(43, 42);
        processes.fork(44, 43);
        let leaders = [41, 42, 43, 44].map(|pid| processes.space(pid, &mut segments).map(|space| space.leader));
        assert_eq!(leaders, [Some(0), Some(42), Some(42), Some(42)]);
        processes.lead(99, &mut segments);
        assert!(processes.space(99, &mut segments).is_none(), "it has ended, and leads nothing");
    }

    #[test]
    fn a_process_that_proc_does_not_have_is_looked_for_once_a_round() {
        let (mut processes, mut segments) = (Processes::none(read_nothing), Segments::new());
        for round in 1..=3 {
            for _ in 0..1000 {
                assert!(processes.space(42, &mut segments).is_none());
            }
            assert_eq!(READINGS.get(), round);
            processes.end_round();
        }
    }

    #[test]
    fn a_process_that_begins_after_it_was_looked_for_is_known() {
        let (mut processes, mut segments) = (Processes::none(read_nothing), Segments::new());
        assert!(processes.space(42, &mut segments).is_none());
        processes.fork(42, 1);
        assert!(processes.space(42, &mut segments).is_some());
    }
}
