//! Names of functions: the kernel's from its own list, programs' from their files, by the offset in the file.
//!
//! Files are looked at when rows are made, not when samples are taken: a process may be over by then, its file is still
//! there. A file that is not of the build that ran is not believed. What has no name keeps its segment and the offset.

use crate::profile::jit::Jits;
use crate::profile::kallsyms::Kallsyms;
use crate::profile::spaces::{Segment, SegmentId, Segments};
use crate::profile::stacks::{Frame, Place};
use blazesym::helper::read_elf_build_id;
use blazesym::symbolize::source::{Elf, Source};
use blazesym::symbolize::{Input, Symbolized, Symbolizer};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Between a segment and a function, as in `/usr/bin/cc1`main`.
pub(crate) const OF: char = '`';

/// Names that were found, and what finds them.
pub(crate) struct Symbols {
    symbolizer: Symbolizer,
    names: HashMap<(SegmentId, u64), Arc<str>>,
    /// Whether a segment's file is there and of the build that ran.
    believed: HashMap<SegmentId, bool>,
}

impl Symbols {
    pub fn new() -> Symbols {
        let symbolizer = Symbolizer::builder().enable_code_info(false).enable_inlined_fns(false).build();
        Symbols { symbolizer, names: HashMap::new(), believed: HashMap::new() }
    }

    /// Finds the names of all frames of files that have none yet, file by file.
    pub fn find<'a>(&mut self, frames: impl Iterator<Item = &'a Frame>, segments: &Segments) {
        let mut wanted: HashMap<SegmentId, HashSet<u64>> = HashMap::new();
        for frame in frames {
            if let Place::Offset(offset) = frame.at
                && segments.get(frame.segment).is_file()
                && !self.names.contains_key(&(frame.segment, offset))
            {
                wanted.entry(frame.segment).or_default().insert(offset);
            }
        }
        for (id, offsets) in wanted {
            let offsets: Vec<u64> = offsets.into_iter().collect();
            let names = if self.believe(id, segments.get(id)) { self.of_file(segments.get(id), &offsets) } else { Vec::new() };
            for (place, offset) in offsets.iter().enumerate() {
                let name = names.get(place).cloned().flatten();
                self.names.insert((id, *offset), name.unwrap_or_else(|| format!("0x{offset:x}").into()));
            }
        }
    }

    /// `SEGMENT`FUNCTION`, or the offset for the function.
    pub fn text(&self, frame: Frame, segments: &Segments, kallsyms: Option<&Kallsyms>, jits: &Jits) -> String {
        let segment = &segments.get(frame.segment).name;
        let function: Arc<str> = match frame.at {
            Place::Made(number) => jits.name(number),
            Place::Nowhere => return segment.to_string(),
            Place::Offset(at) if &**segment == "[kernel]" => match kallsyms.and_then(|kallsyms| kallsyms.name(at)) {
                Some(name) => name.into(),
                None => return segment.to_string(),
            },
            Place::Offset(at) => match self.names.get(&(frame.segment, at)) {
                Some(name) => Arc::clone(name),
                None => format!("0x{at:x}").into(),
            },
        };
        format!("{segment}{OF}{}", function.replace(';', ":"))
    }

    fn believe(&mut self, id: SegmentId, segment: &Segment) -> bool {
        *self.believed.entry(id).or_insert_with(|| match (&segment.build_id, read_elf_build_id(&*segment.name)) {
            (_, Err(_)) => false,
            (None, Ok(_)) => true,
            (Some(ran), Ok(found)) => found.is_some_and(|found| **ran == *found),
        })
    }

    /// The function of each offset: from the file's own symbols, else from what is known of it for debuggers.
    fn of_file(&self, segment: &Segment, offsets: &[u64]) -> Vec<Option<Arc<str>>> {
        let mut names = self.ask(segment, offsets, false);
        let missing: Vec<usize> = (0..offsets.len()).filter(|place| names.get(*place).is_none_or(Option::is_none)).collect();
        if !missing.is_empty() {
            names.resize(offsets.len(), None);
            let asked: Vec<u64> = missing.iter().map(|place| offsets[*place]).collect();
            for (place, name) in missing.into_iter().zip(self.ask(segment, &asked, true)) {
                names[place] = name;
            }
        }
        names
    }

    fn ask(&self, segment: &Segment, offsets: &[u64], debug_syms: bool) -> Vec<Option<Arc<str>>> {
        let mut elf = Elf::new(&*segment.name);
        elf.debug_syms = debug_syms;
        let Ok(found) = self.symbolizer.symbolize(&Source::Elf(elf), Input::FileOffset(offsets)) else { return Vec::new() };
        let name = |symbol: &Symbolized<'_>| match symbol {
            Symbolized::Sym(symbol) => Some(symbol.name.chars().filter(|letter| !letter.is_control()).collect::<String>().into()),
            Symbolized::Unknown(_) => None,
        };
        found.iter().map(name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::spaces::Space;

    #[inline(never)]
    pub(crate) fn a_function_to_be_found() -> u32 {
        std::hint::black_box(7)
    }

    fn own_frame(segments: &mut Segments) -> Frame {
        let space = Space::of_living(std::process::id(), segments).unwrap();
        let (segment, offset) = space.find(a_function_to_be_found as fn() -> u32 as usize as u64);
        Frame { segment, at: Place::Offset(offset) }
    }

    #[test]
    fn a_function_of_this_program_is_found_by_its_offset_in_the_file() {
        let (mut segments, mut symbols) = (Segments::new(), Symbols::new());
        let frame = own_frame(&mut segments);
        symbols.find([frame].iter(), &segments);
        let text = symbols.text(frame, &segments, None, &Jits::default());
        assert!(text.ends_with("`loadgo_meters::profile::symbols::tests::a_function_to_be_found"), "{text}");
    }

    #[test]
    fn a_file_of_another_build_is_not_believed() {
        let (mut segments, mut symbols) = (Segments::new(), Symbols::new());
        let frame = own_frame(&mut segments);
        let path = segments.get(frame.segment).name.to_string();
        let other: Arc<[u8]> = Arc::from([1, 2, 3]);
        segments.id(&path, Some(&other));
        symbols.find([frame].iter(), &segments);
        let Place::Offset(offset) = frame.at else { panic!("a file's frame has an offset") };
        assert_eq!(symbols.text(frame, &segments, None, &Jits::default()), format!("{path}`0x{offset:x}"));
    }
}
