//! Interrupts that the kernel counted and no program of ours saw: how many, by source and processor.
//!
//! A kernel may run no program while certain tasks have a processor, or skip one that interrupts itself. The kernel's own counts
//! have these interrupts. The two counts cannot be read at the same instant, so a reading of ours stands between two of the
//! kernel's. Where those two agree and no interrupt is under way, the difference is exact; otherwise it has a lower and an upper
//! bound, and only the lower one is believed. So nothing is called unclocked that was only read a little too late.

use crate::tables::kernel_interrupts::{Counts, Source};
use std::collections::BTreeMap;

/// What the programs had counted at one moment.
#[derive(Debug, Default)]
pub(crate) struct Clocked {
    /// By the kernel's sources; wraps as the kernel's counts do.
    pub counts: Counts,
    /// Whether each processor had begun an interrupt that was not counted yet, read before the counts.
    pub under_way: Vec<bool>,
}

/// The interrupts of a source on a processor.
type Place = (Source, usize);

/// How far the programs' counts are behind the kernel's.
#[derive(Clone, Copy, Debug)]
struct Behind {
    /// When the meters began.
    at_first: u32,
    /// Since then, at least.
    since: u32,
}

/// Interrupts that were not clocked since the meters began.
#[derive(Debug, Default)]
pub(crate) struct Unclocked(BTreeMap<Place, Behind>);

impl Unclocked {
    /// Counts from here on. Returns whether the beginning is known exactly.
    pub fn begin(&mut self, before: &Counts, clocked: &Clocked, after: &Counts) -> bool {
        let mut exact = true;
        for (place, low, high) in bounds(before, clocked, after) {
            exact &= low == high;
            let behind = self.0.entry(place).or_insert(Behind { at_first: high, since: 0 });
            if (high.wrapping_sub(behind.at_first) as i32) < 0 {
                behind.at_first = high;
            }
        }
        exact
    }

    /// Learns from a reading between two of the kernel's. Returns whether it has learnt all that there is.
    pub fn learn(&mut self, before: &Counts, clocked: &Clocked, after: &Counts) -> bool {
        let mut exact = true;
        for (place, low, high) in bounds(before, clocked, after) {
            exact &= low == high;
            let behind = self.0.entry(place).or_insert(Behind { at_first: high, since: 0 });
            let since = low.wrapping_sub(behind.at_first) as i32;
            behind.since = behind.since.max(u32::try_from(since).unwrap_or(0));
        }
        exact
    }

    /// By source, on all processors.
    pub fn by_source(&self) -> BTreeMap<Source, u64> {
        let mut sums = BTreeMap::new();
        for ((source, _), behind) in &self.0 {
            *sums.entry(source.clone()).or_default() += u64::from(behind.since);
        }
        sums
    }
}

/// How far behind the programs' counts were when they were read: at least and at most, of each source on each processor.
fn bounds(before: &Counts, clocked: &Clocked, after: &Counts) -> impl Iterator<Item = (Place, u32, u32)> {
    let of =
        |counts: &Counts, source: &Source, processor: usize| counts.get(source).and_then(|counts| counts.get(processor)).copied();
    after.iter().flat_map(move |(source, counts)| {
        (0..).zip(counts).filter_map(move |(processor, after)| {
            let ours = of(&clocked.counts, source, processor).unwrap_or(0);
            let under_way = u32::from(clocked.under_way.get(processor).copied().unwrap_or(false));
            let low = of(before, source, processor)?.wrapping_sub(ours).wrapping_sub(under_way);
            Some(((source.clone(), processor), low, after.wrapping_sub(ours)))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> Source {
        Source { kind: "interrupt", name: "local timer".into() }
    }

    fn counts(of_processors: [u32; 2]) -> Counts {
        Counts::from([(source(), of_processors.to_vec())])
    }

    fn clocked(of_processors: [u32; 2], under_way: bool) -> Clocked {
        Clocked { counts: counts(of_processors), under_way: vec![under_way; 2] }
    }

    fn begun() -> Unclocked {
        let mut unclocked = Unclocked::default();
        assert!(unclocked.begin(&counts([100, 200]), &clocked([0, 0], false), &counts([100, 200])));
        unclocked
    }

    #[test]
    fn what_the_kernel_counted_beyond_the_programs_is_unclocked() {
        let mut unclocked = begun();
        assert!(unclocked.learn(&counts([110, 203]), &clocked([7, 3], false), &counts([110, 203])));
        assert_eq!(unclocked.by_source()[&source()], 3);
    }

    #[test]
    fn an_interrupt_between_the_readings_is_not_unclocked() {
        let mut unclocked = begun();
        assert!(!unclocked.learn(&counts([110, 200]), &clocked([10, 0], false), &counts([111, 200])));
        assert_eq!(unclocked.by_source()[&source()], 0);
    }

    #[test]
    fn one_that_is_under_way_is_not_unclocked() {
        let mut unclocked = begun();
        assert!(!unclocked.learn(&counts([110, 200]), &clocked([9, 0], true), &counts([110, 200])));
        assert_eq!(unclocked.by_source()[&source()], 0);
    }

    #[test]
    fn what_is_known_to_be_unclocked_stays() {
        let mut unclocked = begun();
        assert!(unclocked.learn(&counts([110, 200]), &clocked([8, 0], false), &counts([110, 200])));
        assert!(!unclocked.learn(&counts([120, 200]), &clocked([19, 0], false), &counts([122, 200])));
        assert_eq!(unclocked.by_source()[&source()], 2);
    }

    #[test]
    fn the_beginning_is_the_latest_that_may_be() {
        let mut unclocked = Unclocked::default();
        assert!(!unclocked.begin(&counts([100, 200]), &clocked([0, 0], false), &counts([105, 200])));
        assert!(unclocked.begin(&counts([105, 200]), &clocked([5, 0], false), &counts([105, 200])));
        assert!(unclocked.learn(&counts([106, 200]), &clocked([5, 0], false), &counts([106, 200])));
        assert_eq!(unclocked.by_source()[&source()], 1);
    }

    #[test]
    fn counts_wrap() {
        let mut unclocked = Unclocked::default();
        unclocked.begin(&counts([u32::MAX, 0]), &clocked([u32::MAX - 1, 0], false), &counts([u32::MAX, 0]));
        assert!(unclocked.learn(&counts([4, 0]), &clocked([1, 0], false), &counts([4, 0])));
        assert_eq!(unclocked.by_source()[&source()], 2);
    }

    #[test]
    fn a_device_that_comes_later_begins_then() {
        let mut unclocked = Unclocked::default();
        assert!(unclocked.learn(&counts([1000, 0]), &clocked([0, 0], false), &counts([1000, 0])));
        assert_eq!(unclocked.by_source()[&source()], 0);
    }
}
