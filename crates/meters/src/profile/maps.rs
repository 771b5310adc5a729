//! The mappings of one program: ranges of addresses (stretches) in order, without overlap.
//!
//! Thousands of users may have a process each, of the same few programs. The kernel places the parts of a program (its file, heap,
//! libraries, stack) at random, but the stretches of a part keep their distances. So processes of one program share each part's
//! layout once it no longer changes, and a process only keeps where each part begins.

use std::collections::HashSet;
use std::sync::Arc;

/// The number of a segment in the list of all segments.
pub(crate) type SegmentId = u32;

/// A range of addresses in one mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Stretch {
    pub start: u64,
    pub end: u64,
    /// The offset of `start` in the segment's file.
    pub offset: u64,
    pub segment: SegmentId,
    /// Whether it is executable.
    pub is_executable: bool,
}

impl Stretch {
    /// This stretch, moved up by `distance`, which may wrap around.
    fn moved(self, distance: u64) -> Stretch {
        Stretch { start: self.start.wrapping_add(distance), end: self.end.wrapping_add(distance), ..self }
    }
}

/// The stretches of a program.
#[derive(Clone, Debug)]
pub(crate) enum Maps {
    /// As the kernel reported them, of a process that may still map more.
    Own(Vec<Stretch>),
    /// By parts, in order, each with a layout that processes share.
    Shared(Box<[Part]>),
}

/// A part of a program whose stretches keep their distances.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    start: u64,
    layout: Arc<Layout>,
}

/// Stretches with addresses relative to the start of the first.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Layout(Box<[Stretch]>);

/// Largest gap between two stretches of a part. Chosen by hand: larger than gaps between libraries, and smaller than most of the random
/// distances between parts.
const MOST_GAP_BYTES: u64 = 1 << 20;

/// All layouts in use.
#[derive(Debug, Default)]
pub(crate) struct Layouts(HashSet<Arc<Layout>>);

impl Layouts {
    /// The layout of these stretches, which are one part.
    fn part(&mut self, stretches: &[Stretch]) -> Part {
        let start = stretches[0].start;
        let layout = Layout(stretches.iter().map(|stretch| stretch.moved(start.wrapping_neg())).collect());
        if let Some(known) = self.0.get(&layout) {
            return Part { start, layout: Arc::clone(known) };
        }
        let layout = Arc::new(layout);
        self.0.insert(Arc::clone(&layout));
        Part { start, layout }
    }

    /// Forgets layouts that no process has any more.
    pub(crate) fn forget_unused(&mut self) {
        self.0.retain(|layout| Arc::strong_count(layout) > 1);
    }
}

impl Part {
    /// The last stretch that begins at an address or below.
    fn stretch_from(&self, address: u64) -> Option<Stretch> {
        let offset = address.checked_sub(self.start)?;
        let after = self.layout.0.partition_point(|stretch| stretch.start <= offset);
        Some(self.layout.0[after.checked_sub(1)?].moved(self.start))
    }

    fn stretches(&self) -> impl Iterator<Item = Stretch> {
        self.layout.0.iter().map(|stretch| stretch.moved(self.start))
    }
}

impl Default for Maps {
    fn default() -> Maps {
        Maps::Own(Vec::new())
    }
}

impl Maps {
    /// Adds a stretch, which replaces what it covers.
    pub fn cover(&mut self, new: Stretch) {
        let all = self.own();
        let inside = all.partition_point(|old| old.start < new.start);
        let after = all.partition_point(|old| old.start < new.end).max(inside);
        let cut = inside.checked_sub(1).map(|before| all[before]).filter(|old| old.end > new.start);
        let first = if cut.is_some() { inside - 1 } else { inside };
        let left = cut.map(|old| Stretch { end: new.start, ..old });
        let last = all[first..after].last().filter(|old| old.end > new.end);
        let right = last.map(|old| Stretch { start: new.end, offset: old.offset + (new.end - old.start), ..*old });
        all.splice(first..after, left.into_iter().chain([new]).chain(right));
    }

    /// The list of all stretches, which may be changed.
    fn own(&mut self) -> &mut Vec<Stretch> {
        if let Maps::Shared(parts) = self {
            *self = Maps::Own(parts.iter().flat_map(Part::stretches).collect());
        }
        match self {
            Maps::Own(all) => all,
            Maps::Shared(_) => unreachable!("the parts were just made a list"),
        }
    }

    /// The same mappings with shared layouts; None if they have them already.
    pub(crate) fn shared(&self, layouts: &mut Layouts) -> Option<Maps> {
        let Maps::Own(all) = self else { return None };
        let parts = all.chunk_by(|left, right| right.start - left.end <= MOST_GAP_BYTES);
        Some(Maps::Shared(parts.map(|part| layouts.part(part)).collect()))
    }

    /// The stretch that contains an address.
    pub fn at(&self, address: u64) -> Option<Stretch> {
        let last = match self {
            Maps::Own(all) => all[..all.partition_point(|stretch| stretch.start <= address)].last().copied(),
            Maps::Shared(parts) => {
                parts[..parts.partition_point(|part| part.start <= address)].last().and_then(|part| part.stretch_from(address))
            }
        };
        last.filter(|stretch| address < stretch.end)
    }

    /// Number of stretches that begin at an address or above.
    pub fn count_from(&self, address: u64) -> usize {
        match self {
            Maps::Own(all) => all.len() - all.partition_point(|stretch| stretch.start < address),
            Maps::Shared(parts) => parts.iter().flat_map(Part::stretches).filter(|stretch| stretch.start >= address).count(),
        }
    }

    /// Whether nothing is mapped.
    pub fn is_empty(&self) -> bool {
        match self {
            Maps::Own(all) => all.is_empty(),
            Maps::Shared(parts) => parts.is_empty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadgo_core::random::{RandomStream, StreamPurpose};
    use std::collections::BTreeMap;

    #[test]
    fn each_address_is_in_the_mapping_that_covered_it_last() {
        let mut random = RandomStream::new(1, 1, StreamPurpose::Work);
        let mut layouts = Layouts::default();
        for _ in 0..200 {
            let (mut maps, mut truth) = (Maps::default(), BTreeMap::new());
            for segment in 0..30 {
                let start = random.index(100) as u64;
                let end = start + 1 + random.index(30) as u64;
                maps.cover(Stretch { start, end, offset: 1000 * u64::from(segment), segment, is_executable: true });
                truth.extend((start..end).map(|address| (address, (segment, 1000 * u64::from(segment) + address - start))));
                if random.index(5) == 0 {
                    maps = maps.shared(&mut layouts).expect("it was just changed");
                }
            }
            for address in 0..140 {
                let found = maps.at(address).map(|stretch| (stretch.segment, stretch.offset + address - stretch.start));
                assert_eq!(found, truth.get(&address).copied(), "{address} in {maps:?}");
            }
            assert!(maps.own().is_sorted_by(|left, right| left.end <= right.start), "{maps:?}");
        }
    }

    /// A program of four stretches with a stack, loaded at these addresses.
    fn program(file: u64, stack: u64) -> Maps {
        let mut maps = Maps::default();
        for number in 0..4u64 {
            let start = file + 0x1000 * number;
            maps.cover(Stretch { start, end: start + 0x1000, offset: 0x1000 * number, segment: 7, is_executable: number == 1 });
        }
        maps.cover(Stretch { start: stack, end: stack + 0x2000, offset: 0, segment: 1, is_executable: false });
        maps
    }

    #[test]
    fn processes_of_a_program_share_its_layouts_wherever_it_is_loaded() {
        let mut layouts = Layouts::default();
        let places = [(0x5500_0000_0000, 0x7fff_0000_0000), (0x5611_2340_0000, 0x7ffe_1234_5000)];
        let shared = places.map(|(file, stack)| program(file, stack).shared(&mut layouts).expect("nothing is shared yet"));
        assert_eq!(layouts.0.len(), 2, "the file's and the stack's");
        for (maps, (file, stack)) in shared.iter().zip(places) {
            let own = program(file, stack);
            for address in [file - 1, file, file + 0x1800, file + 0x3fff, file + 0x4000, stack, stack + 0x1fff, stack + 0x2000] {
                assert_eq!(maps.at(address), own.at(address));
                assert_eq!(maps.count_from(address), own.count_from(address));
            }
        }
        drop(shared);
        layouts.forget_unused();
        assert!(layouts.0.is_empty());
    }
}
