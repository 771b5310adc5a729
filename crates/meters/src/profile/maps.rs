//! The mappings of one program: stretches of addresses in order, without overlap.
//!
//! They are a sorted list. A process has a dozen of them, and thousands of users have a process each. A tree would take four times
//! the memory.

/// The number of a segment in the list of all segments.
pub(crate) type SegmentId = u32;

/// A piece of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub start: u64,
    pub end: u64,
    /// The offset of `start` in the segment's file.
    pub offset: u64,
    pub segment: SegmentId,
    /// Whether it is executable.
    pub is_executable: bool,
}

/// The stretches of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Maps(Vec<Stretch>);

impl Maps {
    /// Adds a stretch, which replaces what it covers.
    pub fn cover(&mut self, new: Stretch) {
        let Maps(all) = self;
        let inside = all.partition_point(|old| old.start < new.start);
        let after = all.partition_point(|old| old.start < new.end).max(inside);
        let cut = inside.checked_sub(1).map(|before| all[before]).filter(|old| old.end > new.start);
        let first = if cut.is_some() { inside - 1 } else { inside };
        let left = cut.map(|old| Stretch { end: new.start, ..old });
        let last = all[first..after].last().filter(|old| old.end > new.end);
        let right = last.map(|old| Stretch { start: new.end, offset: old.offset + (new.end - old.start), ..*old });
        if all.len() == all.capacity() {
            all.reserve_exact(2 + all.len() / 8);
        }
        all.splice(first..after, left.into_iter().chain([new]).chain(right));
    }

    /// The stretch that contains an address.
    pub fn at(&self, address: u64) -> Option<&Stretch> {
        let after = self.0.partition_point(|stretch| stretch.start <= address);
        self.0[..after].last().filter(|stretch| address < stretch.end)
    }

    /// Number of stretches that begin at an address or above.
    pub fn count_from(&self, address: u64) -> usize {
        self.0.len() - self.0.partition_point(|stretch| stretch.start < address)
    }

    /// Whether nothing is mapped.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
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
        for _ in 0..200 {
            let (mut maps, mut truth) = (Maps::default(), BTreeMap::new());
            for segment in 0..30 {
                let start = random.index(100) as u64;
                let end = start + 1 + random.index(30) as u64;
                maps.cover(Stretch { start, end, offset: 1000 * u64::from(segment), segment, is_executable: true });
                truth.extend((start..end).map(|address| (address, (segment, 1000 * u64::from(segment) + address - start))));
            }
            for address in 0..140 {
                let found = maps.at(address).map(|stretch| (stretch.segment, stretch.offset + address - stretch.start));
                assert_eq!(found, truth.get(&address).copied(), "{address} in {maps:?}");
            }
            assert!(maps.0.is_sorted_by(|one, next| one.end <= next.start), "{maps:?}");
        }
    }
}
