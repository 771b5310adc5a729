//! The address spaces of processes as they were: which segment an address is of, also for a process that is over.
//!
//! The kernel tells of mappings, not of their ends: a later mapping covers an earlier one, and what a program had mapped before
//! it loaded another is looked at where the new one has nothing. Stacks grow without a word; an address above all mappings
//! is the stack's.

pub(crate) use crate::profile::maps::SegmentId;
use crate::profile::maps::{Maps, Stretch};
use crate::profile::records::Mapped;
use std::collections::HashMap;
use std::sync::Arc;

/// Segments that have no file.
pub(crate) const KERNEL: SegmentId = 0;
pub(crate) const STACK: SegmentId = 1;
pub(crate) const ANON: SegmentId = 2;
pub(crate) const UNKNOWN: SegmentId = 3;
const WITHOUT_FILE: [&str; 4] = ["[kernel]", "[stack]", "[anon]", "[unknown]"];

/// What is mapped: a file of one build, or `[heap]`, `[stack]`, `[anon]`, `[vdso]`, `[kernel]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub name: Arc<str>,
    pub build_id: Option<Arc<[u8]>>,
}

impl Segment {
    /// Whether it is a file, by its path.
    pub fn is_file(&self) -> bool {
        self.name.starts_with('/')
    }
}

/// All segments that were seen.
pub(crate) struct Segments {
    all: Vec<Segment>,
    by_name: HashMap<Arc<str>, Vec<SegmentId>>,
}

impl Segments {
    pub fn new() -> Segments {
        let mut segments = Segments { all: Vec::new(), by_name: HashMap::new() };
        for name in WITHOUT_FILE {
            segments.id(name, None);
        }
        segments
    }

    pub fn get(&self, id: SegmentId) -> &Segment {
        &self.all[id as usize]
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Segment> {
        self.all.iter()
    }

    /// The segment of a file or another name, as the kernel writes it. A build that is not told is the one that is known.
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

/// As the table `segments` calls it: a path, or a name in brackets; never with a control character.
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

/// A process.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    /// Its name.
    pub name: Arc<str>,
    /// The process that began its session; 0: of no session.
    pub leader: u32,
    maps: Arc<Maps>,
    /// Of the programs before, the latest last.
    before: Vec<Arc<Maps>>,
}

impl Space {
    pub fn named(name: Arc<str>) -> Space {
        Space { name, leader: 0, maps: Arc::default(), before: Vec::new() }
    }

    /// Of a process that lives: its name and its mappings as /proc tells; `None` when it is over.
    pub(crate) fn of_living(pid: u32, segments: &mut Segments) -> Option<Space> {
        let name = std::fs::read(format!("/proc/{pid}/comm")).ok()?;
        let mut space = Space::named(process_name(String::from_utf8_lossy(&name).trim_end_matches('\n')));
        let maps = std::fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
        for line in String::from_utf8_lossy(&maps).lines() {
            if let Some(mapped) = mapped_line(line) {
                space.map(&mapped, segments);
            }
        }
        Some(space)
    }

    /// A mapping covers what was there.
    pub fn map(&mut self, mapped: &Mapped, segments: &mut Segments) {
        let segment = segments.id(&mapped.path, mapped.build_id.as_ref());
        let (start, end) = (mapped.start, mapped.start.saturating_add(mapped.length));
        Arc::make_mut(&mut self.maps).cover(Stretch { start, end, offset: mapped.offset, segment, runs: mapped.runs });
    }

    /// A program was loaded: it begins with nothing mapped.
    pub(crate) fn load_program(&mut self, name: Arc<str>) {
        if self.before.len() == MOST_BEFORE {
            self.before.remove(0);
        }
        self.before.reserve_exact(1); // few programs load another: room for four would be the most of it
        self.before.push(std::mem::take(&mut self.maps));
        self.name = name;
    }

    /// What it has mapped now; what it had before is found where that has nothing.
    pub(crate) fn renew(&mut self, now: Space) {
        self.load_program(Arc::clone(&self.name));
        self.maps = now.maps;
    }

    /// The segment of an address, and the place in its file.
    pub fn find(&self, address: u64) -> (SegmentId, u64) {
        match self.stretch(address) {
            Some(stretch) => (stretch.segment, address - stretch.start + stretch.offset),
            None => (if self.above_all(address) { STACK } else { UNKNOWN }, address),
        }
    }

    /// Whether there is something at the address that can run.
    pub fn runs(&self, address: u64) -> bool {
        self.stretch(address).is_some_and(|stretch| stretch.runs)
    }

    fn stretch(&self, address: u64) -> Option<&Stretch> {
        std::iter::once(&self.maps).chain(self.before.iter().rev()).find_map(|maps| maps.at(address))
    }

    fn above_all(&self, address: u64) -> bool {
        !self.maps.is_empty() && self.maps.count_from(address) <= VDSO_MAPPINGS
    }
}

/// How many programs before its last one a process is remembered to have run: `env`, a shell and wrappers, one by one.
const MOST_BEFORE: usize = 8;

/// What the kernel itself maps above a stack: `[vvar]`, `[vvar_vclock]`, `[vdso]`.
const VDSO_MAPPINGS: usize = 3;

/// A name that a terminal and a folded stack can bear: no control character, no `;`.
pub(crate) fn process_name(name: &str) -> Arc<str> {
    name.chars().map(|letter| if letter.is_control() || letter == ';' { '?' } else { letter }).collect::<String>().into()
}

/// `START-END rwxp OFFSET DEV INODE   PATH`
fn mapped_line(line: &str) -> Option<Mapped> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let start = u64::from_str_radix(start, 16).ok()?;
    let end = u64::from_str_radix(end, 16).ok()?;
    let mut words = rest.splitn(5, ' ');
    let runs = words.next()?.contains('x');
    let offset = u64::from_str_radix(words.next()?, 16).ok()?;
    let path = words.nth(2)?.trim_start();
    let build_id = path.ends_with(" (deleted)").then(|| Arc::from([])); // a build that no file is of any more
    Some(Mapped { start, length: end.checked_sub(start)?, offset, path: path.into(), runs, build_id })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped(start: u64, length: u64, path: &str) -> Mapped {
        Mapped { start, length, offset: 0, path: path.into(), runs: true, build_id: None }
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
        let space = Space::of_living(std::process::id(), &mut segments).unwrap();
        let here = this_process_has_this_function_in_its_own_program as fn() as usize as u64;
        let program = std::env::current_exe().unwrap();
        assert_eq!(name_at(&space, &segments, here).0, program.to_string_lossy());
        let on_stack = 0u8;
        assert!(["[stack]", "[anon]"].contains(&&*name_at(&space, &segments, (&raw const on_stack) as u64).0));
    }
}
