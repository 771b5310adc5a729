//! The address spaces of processes, including ended ones: they find the segment of an address.
//!
//! The kernel reports mappings but not their ends, so a later mapping covers an earlier one. Faults are counted without their times.
//! So for two spans after a process has loaded a program, the mappings of the program before it are kept. They count where the new
//! program has none. The kernel does not report that stacks grow. So an address above all mappings belongs to the stack.

pub(crate) use crate::profile::maps::SegmentId;
use crate::profile::maps::{Layouts, Maps, Stretch};
use crate::profile::records::NewMapping;
use std::collections::HashMap;
use std::sync::Arc;

/// The segment of the kernel; it and the next three have no file.
pub(crate) const KERNEL_SEGMENT: SegmentId = 0;
pub(crate) const STACK_SEGMENT: SegmentId = 1;
pub(crate) const ANON_SEGMENT: SegmentId = 2;
pub(crate) const UNKNOWN_SEGMENT: SegmentId = 3;
const FILELESS_NAMES: [&str; 4] = ["[kernel]", "[stack]", "[anon]", "[unknown]"];

/// A file of one build, or `[heap]`, `[stack]`, `[anon]`, `[vdso]`, `[kernel]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub name: Arc<str>,
    pub build_id: Option<Arc<[u8]>>,
}

impl Segment {
    /// Whether the segment is a file, which its name shows.
    pub fn is_file(&self) -> bool {
        self.name.starts_with('/')
    }
}

/// All known segments.
pub(crate) struct Segments {
    all: Vec<Segment>,
    by_name: HashMap<Arc<str>, Vec<SegmentId>>,
}

impl Segments {
    pub fn new() -> Segments {
        let mut segments = Segments { all: Vec::new(), by_name: HashMap::new() };
        for name in FILELESS_NAMES {
            segments.id(name, None);
        }
        segments
    }

    pub fn get(&self, id: SegmentId) -> &Segment {
        &self.all[id as usize]
    }

    /// All segments, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Segment> {
        self.all.iter()
    }

    /// The segment of a path or another name, as the kernel writes it. Without a build id, the first known build is meant.
    pub fn id(&mut self, path: &str, build_id: Option<&Arc<[u8]>>) -> SegmentId {
        let name = segment_name(path);
        for id in self.by_name.get(name).into_iter().flatten() {
            let segment = &mut self.all[*id as usize];
            if build_id.is_none() || segment.build_id.as_ref() == build_id {
                return *id;
            }
            if segment.build_id.is_none() {
                segment.build_id = build_id.cloned();
                return *id;
            }
        }
        let id = self.all.len() as SegmentId;
        let name: Arc<str> = name.into();
        self.by_name.entry(Arc::clone(&name)).or_default().push(id);
        self.all.push(Segment { name, build_id: build_id.cloned() });
        id
    }
}

/// The segment's name in the table `segments`: a path, or a name in brackets, without control characters.
fn segment_name(path: &str) -> &str {
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    match path {
        "" | "//anon" => "[anon]",
        _ if path.starts_with("[anon") => "[anon]",
        _ if path.starts_with("[stack") => "[stack]",
        _ if path.chars().any(char::is_control) => "[unknown]",
        _ => path,
    }
}

/// A process's mappings.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    /// The process's name.
    pub name: Arc<str>,
    /// The process that leads its session; 0 for none.
    pub leader: u32,
    maps: Arc<Maps>,
    before: Option<Arc<EarlierPrograms>>,
}

/// Mappings of the programs that a process had before its present program.
#[derive(Clone, Debug, Default)]
struct EarlierPrograms {
    /// Oldest first.
    maps: Vec<Arc<Maps>>,
    /// Whether a span has begun since the last of them ended.
    is_old: bool,
}

impl Space {
    pub fn named(name: Arc<str>) -> Space {
        Space { name, leader: 0, maps: Arc::default(), before: None }
    }

    /// Reads the name and the mappings of a living process from /proc; None if it has ended.
    pub(crate) fn read_living(pid: u32, segments: &mut Segments) -> Option<Space> {
        let name = std::fs::read(format!("/proc/{pid}/comm")).ok()?;
        let mut space = Space::named(process_name(String::from_utf8_lossy(&name).trim_end_matches('\n')));
        let maps = std::fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
        for line in String::from_utf8_lossy(&maps).lines() {
            if let Some(mapping) = parse_mapping(line) {
                space.map(&mapping, segments);
            }
        }
        Some(space)
    }

    /// Adds a mapping, which covers earlier ones.
    pub fn map(&mut self, mapping: &NewMapping, segments: &mut Segments) {
        let segment = segments.id(&mapping.path, mapping.build_id.as_ref());
        let (start, end) = (mapping.start, mapping.start.saturating_add(mapping.length));
        let offset = if segments.get(segment).is_file() { mapping.offset } else { 0 }; // otherwise the kernel reports the address
        Arc::make_mut(&mut self.maps).cover(Stretch { start, end, offset, segment, is_executable: mapping.is_executable });
    }

    /// Notes that the process has loaded a program, which begins without mappings.
    pub(crate) fn load_program(&mut self, name: Arc<str>) {
        let before = Arc::make_mut(self.before.get_or_insert_default());
        if before.maps.len() == REMEMBERED_PROGRAMS {
            before.maps.remove(0);
        }
        before.maps.reserve_exact(1); // few processes load a second program, so no spare room
        before.maps.push(std::mem::take(&mut self.maps));
        before.is_old = false;
        self.name = name;
    }

    /// Gives the mappings layouts that processes share.
    pub(crate) fn share_layouts(&mut self, layouts: &mut Layouts) {
        if let Some(shared) = self.maps.shared(layouts) {
            self.maps = Arc::new(shared);
        }
    }

    /// Ends a span: forgets earlier programs that had ended when the span began.
    pub(crate) fn end_span(&mut self) {
        match &mut self.before {
            Some(before) if !before.is_old => Arc::make_mut(before).is_old = true,
            before => *before = None,
        }
    }

    /// Replaces the mappings. Addresses outside of the new ones are looked up in the old ones.
    pub(crate) fn replace_mappings(&mut self, now: Space) {
        self.load_program(Arc::clone(&self.name));
        self.maps = now.maps;
    }

    /// The segment of an address, and the offset in its file.
    pub fn find(&self, address: u64) -> (SegmentId, u64) {
        match self.stretch(address) {
            Some(stretch) => (stretch.segment, address - stretch.start + stretch.offset),
            None => (if self.above_all(address) { STACK_SEGMENT } else { UNKNOWN_SEGMENT }, address),
        }
    }

    /// Whether an executable mapping contains the address.
    pub fn is_executable(&self, address: u64) -> bool {
        self.stretch(address).is_some_and(|stretch| stretch.is_executable)
    }

    fn stretch(&self, address: u64) -> Option<Stretch> {
        let before = self.before.iter().flat_map(|before| before.maps.iter().rev());
        std::iter::once(&self.maps).chain(before).find_map(|maps| maps.at(address))
    }

    fn above_all(&self, address: u64) -> bool {
        !self.maps.is_empty() && self.maps.count_from(address) <= VDSO_MAPPINGS
    }
}

/// Number of a process's earlier programs whose mappings are kept: enough for `env`, a shell and wrappers.
const REMEMBERED_PROGRAMS: usize = 8;

/// Largest number of mappings that the kernel itself makes above a stack: `[vvar]`, `[vvar_vclock]`, `[vdso]`.
const VDSO_MAPPINGS: usize = 3;

/// A name that is safe for a terminal and a folded stack: without control characters and `;`.
pub(crate) fn process_name(name: &str) -> Arc<str> {
    name.chars().map(|letter| if letter.is_control() || letter == ';' { '?' } else { letter }).collect::<String>().into()
}

/// Parses a line `START-END rwxp OFFSET DEV INODE   PATH` of /proc/PID/maps.
fn parse_mapping(line: &str) -> Option<NewMapping> {
    let (range, fields) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let start = u64::from_str_radix(start, 16).ok()?;
    let end = u64::from_str_radix(end, 16).ok()?;
    let mut words = fields.splitn(5, ' ');
    let is_executable = words.next()?.contains('x');
    let offset = u64::from_str_radix(words.next()?, 16).ok()?;
    let path = words.nth(2)?.trim_start();
    let build_id = path.ends_with(" (deleted)").then(|| Arc::from([])); // no file has this build now, so the id is no file's
    Some(NewMapping { start, length: end.checked_sub(start)?, offset, path: path.into(), is_executable, build_id })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped(start: u64, length: u64, path: &str) -> NewMapping {
        NewMapping { start, length, offset: 0, path: path.into(), is_executable: true, build_id: None }
    }

    fn name_at(space: &Space, segments: &Segments, address: u64) -> (String, u64) {
        let (segment, offset) = space.find(address);
        (segments.get(segment).name.to_string(), offset)
    }

    #[test]
    fn a_later_mapping_covers_the_middle_of_an_earlier_one() {
        let mut segments = Segments::new();
        let mut space = Space::named("test".into());
        space.map(&mapped(0x1000, 0x9000, "/a"), &mut segments);
        space.map(&mapped(0x3000, 0x1000, "/b"), &mut segments);
        assert_eq!(name_at(&space, &segments, 0x2fff), ("/a".into(), 0x1fff));
        assert_eq!(name_at(&space, &segments, 0x3000), ("/b".into(), 0));
        assert_eq!(name_at(&space, &segments, 0x4000), ("/a".into(), 0x3000));
        space.map(&mapped(0x0, 0x5000, "//anon"), &mut segments);
        assert_eq!(name_at(&space, &segments, 0x3fff), ("[anon]".into(), 0x3fff));
        assert_eq!(name_at(&space, &segments, 0x5000), ("/a".into(), 0x4000));
    }

    #[test]
    fn a_program_before_the_last_is_still_found_where_the_last_has_nothing() {
        let mut segments = Segments::new();
        let mut space = Space::named("sh".into());
        space.map(&mapped(0x1000, 0x1000, "/bin/sh"), &mut segments);
        space.map(&mapped(0x8000, 0x1000, "/lib"), &mut segments);
        space.load_program("ls".into());
        space.map(&mapped(0x1000, 0x800, "/bin/ls"), &mut segments);
        space.map(&mapped(0xf000, 0x800, "/lib"), &mut segments);
        assert_eq!(name_at(&space, &segments, 0x1100).0, "/bin/ls");
        assert_eq!(name_at(&space, &segments, 0x8100).0, "/lib");
    }

    #[test]
    fn the_stack_is_above_all_mappings_but_those_of_the_kernel() {
        let mut segments = Segments::new();
        let mut space = Space::named("sh".into());
        for (number, path) in ["/bin/sh", "/lib/a", "/lib/b", "/lib/c"].into_iter().enumerate() {
            space.map(&mapped(0x1000 + 0x10000 * number as u64, 0x1000, path), &mut segments);
        }
        space.map(&mapped(0x90000, 0x2000, "[vdso]"), &mut segments);
        assert_eq!(name_at(&space, &segments, 0x80000).0, "[stack]");
        assert_eq!(name_at(&space, &segments, 0x9000).0, "[unknown]");
        assert_eq!(name_at(&space, &segments, 0x91000).0, "[vdso]");
    }

    #[test]
    fn two_builds_of_one_file_are_two_segments() {
        let mut segments = Segments::new();
        let (old, new): (Arc<[u8]>, Arc<[u8]>) = (Arc::from([1]), Arc::from([2]));
        let first = segments.id("/bin/a", None);
        assert_eq!(segments.id("/bin/a", Some(&old)), first);
        assert_ne!(segments.id("/bin/a (deleted)", Some(&new)), first);
        assert_eq!(segments.id("/bin/a", None), first);
    }

    #[test]
    fn this_process_has_this_function_in_its_own_program() {
        let mut segments = Segments::new();
        let space = Space::read_living(std::process::id(), &mut segments).unwrap();
        let here = this_process_has_this_function_in_its_own_program as fn() as usize as u64;
        let program = std::env::current_exe().unwrap();
        assert_eq!(name_at(&space, &segments, here).0, program.to_string_lossy());
        let on_stack = 0u8;
        assert!(["[stack]", "[anon]"].contains(&&*name_at(&space, &segments, (&raw const on_stack) as u64).0));
    }
}
