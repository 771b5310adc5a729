//! Counts interrupts that the kernel counted and no program of loadgo saw, by source and processor.
//!
//! A kernel may run no program while certain tasks have a processor, and skips a program that would interrupt itself. The kernel's own
//! counts include these interrupts. The two counts cannot be read at the same instant, so the programs' counts are read between two
//! readings of the kernel's. If those two agree and no interrupt is under way, the difference is exact. Otherwise it has bounds, and
//! only the lower one counts. So an interrupt that comes between the readings is not counted as unclocked.

use crate::tables::kernel_interrupts::{CountsBySource, InterruptSource};
use std::collections::BTreeMap;

/// The programs' counts at one moment.
#[derive(Debug, Default)]
pub(crate) struct Clocked {
    /// Counts by the kernel's sources, which wrap like the kernel's.
    pub counts: CountsBySource,
    /// Whether each processor was in an interrupt that was not counted yet, read before the counts.
    pub under_way: Vec<bool>,
}

/// A source of interrupts, and the number of a processor.
type SourceOnProcessor = (InterruptSource, usize);

/// Number of interrupts by which the programs' counts are behind the kernel's.
#[derive(Clone, Copy, Debug)]
struct Behind {
    /// The number when the meters began.
    at_first: u32,
    /// Lower bound of the increase since then.
    since: u32,
}

/// Numbers of interrupts that were not clocked since the meters began.
#[derive(Debug, Default)]
pub(crate) struct Unclocked(BTreeMap<SourceOnProcessor, Behind>);

impl Unclocked {
    /// Notes by how much the programs' counts are behind at the beginning. Returns whether that is exact.
    pub fn begin(&mut self, before: &CountsBySource, clocked: &Clocked, after: &CountsBySource) -> bool {
        let mut exact = true;
        for (source, low, high) in bounds(before, clocked, after) {
            exact &= low == high;
            let behind = self.0.entry(source).or_insert(Behind { at_first: high, since: 0 });
            if (high.wrapping_sub(behind.at_first) as i32) < 0 {
                behind.at_first = high;
            }
        }
        exact
    }

    /// Updates the numbers of unclocked interrupts by a reading between two of the kernel's. Returns whether they are exact.
    pub fn learn(&mut self, before: &CountsBySource, clocked: &Clocked, after: &CountsBySource) -> bool {
        let mut exact = true;
        for (source, low, high) in bounds(before, clocked, after) {
            exact &= low == high;
            let behind = self.0.entry(source).or_insert(Behind { at_first: high, since: 0 });
            let since = low.wrapping_sub(behind.at_first) as i32;
            behind.since = behind.since.max(u32::try_from(since).unwrap_or(0));
        }
        exact
    }

    /// Numbers by source, on all processors.
    pub fn by_source(&self) -> BTreeMap<InterruptSource, u64> {
        let mut sums = BTreeMap::new();
        for ((source, _), behind) in &self.0 {
            *sums.entry(source.clone()).or_default() += u64::from(behind.since);
        }
        sums
    }
}

/// Lower and upper bound of the number by which the programs' counts were behind, for each source on each processor.
fn bounds(
    before: &CountsBySource,
    clocked: &Clocked,
    after: &CountsBySource,
) -> impl Iterator<Item = (SourceOnProcessor, u32, u32)> {
    let count_of = |counts: &CountsBySource, source: &InterruptSource, processor: usize| {
        counts.get(source).and_then(|counts| counts.get(processor)).copied()
    };
    after.iter().flat_map(move |(source, counts)| {
        (0..).zip(counts).filter_map(move |(processor, after)| {
            let own = count_of(&clocked.counts, source, processor).unwrap_or(0);
            let under_way = u32::from(clocked.under_way.get(processor).copied().unwrap_or(false));
            let low = count_of(before, source, processor)?.wrapping_sub(own).wrapping_sub(under_way);
            Some(((source.clone(), processor), low, after.wrapping_sub(own)))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> InterruptSource {
        InterruptSource { kind: "interrupt", name: "local timer".into() }
    }

    fn counts(of_processors: [u32; 2]) -> CountsBySource {
        CountsBySource::from([(source(), of_processors.to_vec())])
    }

    fn clocked(of_processors: [u32; 2], under_way: bool) -> Clocked {
        Clocked { counts: counts(of_processors), under_way: vec![under_way; 2] }
    }

    fn begun_at_100_and_200() -> Unclocked {
        let mut unclocked = Unclocked::default();
        assert!(unclocked.begin(&counts([100, 200]), &clocked([0, 0], false), &counts([100, 200])));
        unclocked
    }

    #[test]
    fn interrupts_that_only_the_kernel_counted_are_unclocked() {
        let mut unclocked = begun_at_100_and_200();
        assert!(unclocked.learn(&counts([110, 203]), &clocked([7, 3], false), &counts([110, 203])));
        assert_eq!(unclocked.by_source()[&source()], 3);
    }

    #[test]
    fn an_interrupt_between_the_readings_is_not_unclocked() {
        let mut unclocked = begun_at_100_and_200();
        assert!(!unclocked.learn(&counts([110, 200]), &clocked([10, 0], false), &counts([111, 200])));
        assert_eq!(unclocked.by_source()[&source()], 0);
    }

    #[test]
    fn an_interrupt_under_way_is_not_unclocked() {
        let mut unclocked = begun_at_100_and_200();
        assert!(!unclocked.learn(&counts([110, 200]), &clocked([9, 0], true), &counts([110, 200])));
        assert_eq!(unclocked.by_source()[&source()], 0);
    }

    #[test]
    fn known_unclocked_interrupts_stay() {
        let mut unclocked = begun_at_100_and_200();
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
