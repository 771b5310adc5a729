//! Counts faults and samples by segment, and makes their rows. A segment is a mapping's file or name.

use crate::part::RecordSpan;
use crate::profile::spaces::{SegmentId, Segments};
use loadgo_core::record::SegmentRow;
use loadgo_core::system::UserId;
use std::collections::HashMap;
use std::sync::Arc;

/// The counts of one segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct SegmentCounts {
    /// Page faults, including `majors`.
    faults: u64,
    majors: u64,
    samples: u64,
}

/// The counts of a span by segment and user.
#[derive(Debug, Default)]
pub(crate) struct SegmentTable(HashMap<(SegmentId, Option<UserId>), SegmentCounts>);

impl SegmentTable {
    /// Counts page faults, with and without a device.
    pub fn add_faults(&mut self, segment: SegmentId, user: Option<UserId>, count: u64) {
        self.each(segment, user, |counts| counts.faults += count);
    }

    /// Marks one of the counted faults as one that waited for a device.
    pub fn mark_major(&mut self, segment: SegmentId, user: Option<UserId>) {
        self.each(segment, user, |counts| counts.majors += 1);
    }

    /// Counts a clock sample.
    pub fn add_sample(&mut self, segment: SegmentId, user: Option<UserId>) {
        self.each(segment, user, |counts| counts.samples += 1);
    }

    /// Counts for all users together, and for the user if there is one.
    fn each(&mut self, segment: SegmentId, user: Option<UserId>, mut count: impl FnMut(&mut SegmentCounts)) {
        count(self.0.entry((segment, None)).or_default());
        if user.is_some() {
            count(self.0.entry((segment, user)).or_default());
        }
    }

    /// The rows of the span; counting begins again. A fault that waited may be marked before it is counted. It then counts in the next
    /// span.
    pub fn rows(&mut self, span: RecordSpan, segments: &Segments, counted: CountedKinds) -> Vec<SegmentRow> {
        let mut by_name: HashMap<(Arc<str>, Option<UserId>), SegmentCounts> = HashMap::new();
        for ((segment, user), counts) in std::mem::take(&mut self.0) {
            let minors = counts.faults.saturating_sub(counts.majors);
            let uncounted = counts.majors.saturating_sub(counts.faults);
            if uncounted > 0 && counted.faults {
                self.0.entry((segment, user)).or_default().majors = uncounted;
            }
            let sum = by_name.entry((Arc::clone(&segments.get(segment).name), user)).or_default();
            sum.faults += minors;
            sum.majors += counts.majors.min(counts.faults);
            sum.samples += counts.samples;
        }
        let row = |((segment, user), counts): ((Arc<str>, Option<UserId>), SegmentCounts)| SegmentRow {
            at: span.at,
            span_ns: span.span_ns,
            segment,
            user,
            faults_minor: counted.faults.then_some(counts.faults),
            faults_major: counted.faults.then_some(counts.majors),
            samples: counted.samples.then_some(counts.samples),
        };
        let is_counted = |(_, counts): &(_, SegmentCounts)| *counts != SegmentCounts::default();
        let mut rows: Vec<SegmentRow> = by_name.into_iter().filter(is_counted).map(row).collect();
        rows.sort_by(|left, right| (&left.segment, left.user).cmp(&(&right.segment, right.user)));
        rows
    }
}

/// Kinds of counts that are measured. The others are null in rows, not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CountedKinds {
    pub faults: bool,
    pub samples: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadgo_core::time::Instant;

    const SPAN: RecordSpan = RecordSpan { at: Instant(1_000), span_ns: 1_000, monotonic_ns: 1_000 };

    #[test]
    fn a_wait_that_is_marked_before_its_fault_is_counted_once() {
        let mut segments = Segments::new();
        let file = segments.id("/a", None);
        let mut counts = SegmentTable::default();
        let counted = CountedKinds { faults: true, samples: false };
        counts.mark_major(file, None);
        assert_eq!(counts.rows(SPAN, &segments, counted), []);
        counts.add_faults(file, None, 3);
        let rows = counts.rows(SPAN, &segments, counted);
        assert_eq!((rows[0].faults_minor, rows[0].faults_major, rows[0].samples), (Some(2), Some(1), None));
        assert_eq!(counts.rows(SPAN, &segments, counted), []);
    }

    #[test]
    fn a_users_row_is_part_of_the_row_of_all() {
        let mut segments = Segments::new();
        let file = segments.id("/a", None);
        let mut counts = SegmentTable::default();
        counts.add_sample(file, Some(2));
        counts.add_sample(file, None);
        let rows = counts.rows(SPAN, &segments, CountedKinds { faults: false, samples: true });
        let users_counts: Vec<_> = rows.iter().map(|row| (row.user, row.samples, row.faults_minor)).collect();
        assert_eq!(users_counts, [(None, Some(2), None), (Some(2), Some(1), None)]);
    }
}
