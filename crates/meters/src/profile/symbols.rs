//! Finds names of functions: the kernel's in its own list, programs' in their files, by the offset in the file.
//!
//! Files are read when rows are made, not when samples are taken. The process may have ended by then, but its file still exists.
//! A file of another build than the one that ran is not used. A function without a name shows its segment and offset.

use crate::kallsyms::Kallsyms;
use crate::profile::jit::Jits;
use crate::profile::spaces::{KERNEL_SEGMENT, Segment, SegmentId, Segments};
use crate::profile::stacks::{FramePosition, StackFrame};
use blazesym::helper::read_elf_build_id;
use blazesym::symbolize::source::{Elf, Source};
use blazesym::symbolize::{Input, Symbolized, Symbolizer};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Sign between a segment and a function: ``/usr/bin/cc1`main``.
const FRAME_SEPARATOR: char = '`';

/// Known names of functions, and the symbolizer.
pub(crate) struct Symbols {
    symbolizer: Symbolizer,
    names: HashMap<(SegmentId, u64), Arc<str>>,
    /// Whether a segment's file exists and is of the build that ran.
    usable: HashMap<SegmentId, bool>,
}

impl Symbols {
    pub fn new() -> Symbols {
        let symbolizer = Symbolizer::builder().enable_code_info(false).enable_inlined_fns(false).build();
        Symbols { symbolizer, names: HashMap::new(), usable: HashMap::new() }
    }

    /// Finds the names of frames that have none yet, file by file.
    pub fn find<'a>(&mut self, frames: impl Iterator<Item = &'a StackFrame>, segments: &Segments) {
        let mut wanted: HashMap<SegmentId, HashSet<u64>> = HashMap::new();
        for frame in frames {
            if let FramePosition::Offset(offset) = frame.position
                && segments.get(frame.segment).is_file()
                && !self.names.contains_key(&(frame.segment, offset))
            {
                wanted.entry(frame.segment).or_default().insert(offset);
            }
        }
        for (id, offsets) in wanted {
            let offsets: Vec<u64> = offsets.into_iter().collect();
            let segment = segments.get(id);
            let names = if self.is_usable(id, segment) { self.file_names(segment, &offsets) } else { Vec::new() };
            for (index, offset) in offsets.iter().enumerate() {
                let name = names.get(index).cloned().flatten();
                self.names.insert((id, *offset), name.unwrap_or_else(|| format!("0x{offset:x}").into()));
            }
        }
    }

    /// The text of a frame: `SEGMENT`FUNCTION`, or an offset instead of the function.
    pub fn text(&self, frame: StackFrame, segments: &Segments, kallsyms: Option<&Kallsyms>, jits: &Jits) -> String {
        let segment = &segments.get(frame.segment).name;
        let function: Arc<str> = match frame.position {
            FramePosition::Jit(number) => jits.name(number),
            FramePosition::Nameless => return segment.to_string(),
            FramePosition::Offset(address) if frame.segment == KERNEL_SEGMENT => {
                match kallsyms.and_then(|kallsyms| kallsyms.name(address)) {
                    Some(name) => name.into(),
                    None => return segment.to_string(),
                }
            }
            FramePosition::Offset(offset) => match self.names.get(&(frame.segment, offset)) {
                Some(name) => Arc::clone(name),
                None => format!("0x{offset:x}").into(),
            },
        };
        format!("{segment}{FRAME_SEPARATOR}{}", function.replace(';', ":"))
    }

    fn is_usable(&mut self, id: SegmentId, segment: &Segment) -> bool {
        *self.usable.entry(id).or_insert_with(|| match (&segment.build_id, read_elf_build_id(&*segment.name)) {
            (_, Err(_)) => false,
            (None, Ok(_)) => true,
            (Some(ran), Ok(build_id)) => build_id.is_some_and(|build_id| **ran == *build_id),
        })
    }

    /// The function of each offset, from the file's own symbols, or else from its debug information.
    fn file_names(&self, segment: &Segment, offsets: &[u64]) -> Vec<Option<Arc<str>>> {
        let mut names = self.symbolize(segment, offsets, false);
        let missing: Vec<usize> = (0..offsets.len()).filter(|index| names.get(*index).is_none_or(Option::is_none)).collect();
        if !missing.is_empty() {
            names.resize(offsets.len(), None);
            let nameless: Vec<u64> = missing.iter().map(|index| offsets[*index]).collect();
            for (index, name) in missing.into_iter().zip(self.symbolize(segment, &nameless, true)) {
                names[index] = name;
            }
        }
        names
    }

    fn symbolize(&self, segment: &Segment, offsets: &[u64], debug_syms: bool) -> Vec<Option<Arc<str>>> {
        let mut elf = Elf::new(&*segment.name);
        elf.debug_syms = debug_syms;
        let Ok(symbols) = self.symbolizer.symbolize(&Source::Elf(elf), Input::FileOffset(offsets)) else { return Vec::new() };
        let name = |symbol: &Symbolized<'_>| match symbol {
            Symbolized::Sym(symbol) => Some(symbol.name.chars().filter(|letter| !letter.is_control()).collect::<String>().into()),
            Symbolized::Unknown(_) => None,
        };
        symbols.iter().map(name).collect()
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

    fn own_frame(segments: &mut Segments) -> StackFrame {
        let space = Space::read_living(std::process::id(), segments).unwrap();
        let (segment, offset) = space.find(a_function_to_be_found as fn() -> u32 as usize as u64);
        StackFrame { segment, position: FramePosition::Offset(offset) }
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
    fn a_file_of_another_build_is_not_used() {
        let (mut segments, mut symbols) = (Segments::new(), Symbols::new());
        let frame = own_frame(&mut segments);
        let path = segments.get(frame.segment).name.to_string();
        let other: Arc<[u8]> = Arc::from([1, 2, 3]);
        segments.id(&path, Some(&other));
        symbols.find([frame].iter(), &segments);
        let FramePosition::Offset(offset) = frame.position else { panic!("a file's frame has an offset") };
        assert_eq!(symbols.text(frame, &segments, None, &Jits::default()), format!("{path}`0x{offset:x}"));
    }
}
