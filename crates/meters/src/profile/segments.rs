//! Faults and samples by segment: counts of a span, and their rows.

use crate::part::Span;
use crate::profile::spaces::{SegmentId, Segments};
use loadgo_core::record::SegmentRow;
use loadgo_core::system::UserId;
use std::collections::HashMap;
use std::sync::Arc;

/// The counts of one segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    /// Page faults, of which some waited.
    faults: u64,
    majors: u64,
    samples: u64,
}

/// The counts of a span by segment and user.
#[derive(Debug, Default)]
pub(crate) struct BySegment(HashMap<(SegmentId, Option<UserId>), Counts>);

impl BySegment {
    /// So many page faults, those that waited among them.
    pub fn faults(&mut self, segment: SegmentId, user: Option<UserId>, count: u64) {
        self.each(segment, user, |counts| counts.faults += count);
    }

    /// One that waited.
    pub fn major(&mut self, segment: SegmentId, user: Option<UserId>) {
        self.each(segment, user, |counts| counts.majors += 1);
    }

    /// A sample of the clock.
    pub fn sample(&mut self, segment: SegmentId, user: Option<UserId>) {
        self.each(segment, user, |counts| counts.samples += 1);
    }

    /// Counts for all users together, and for the user.
    fn each(&mut self, segment: SegmentId, user: Option<UserId>, mut count: impl FnMut(&mut Counts)) {
        count(self.0.entry((segment, None)).or_default());
        if user.is_some() {
            count(self.0.entry((segment, user)).or_default());
        }
    }

    /// The rows of the span, and a new beginning. A fault that waited may be told before it is counted: the count is then
    /// made good in the next span.
    pub fn rows(&mut self, span: Span, segments: &Segments, have: Have) -> Vec<SegmentRow> {
        let mut by_name: HashMap<(Arc<str>, Option<UserId>), Counts> = HashMap::new();
        for ((segment, user), counts) in std::mem::take(&mut self.0) {
            let minors = counts.faults.saturating_sub(counts.majors);
            let owed = counts.majors.saturating_sub(counts.faults);
            if owed > 0 && have.faults {
                self.0.entry((segment, user)).or_default().majors = owed;
            }
            let sum = by_name.entry((Arc::clone(&segments.get(segment).name), user)).or_default();
            sum.faults += minors;
            sum.majors += counts.majors.min(counts.faults);
            sum.samples += counts.samples;
        }
        let row = |((segment, user), counts): ((Arc<str>, Option<UserId>), Counts)| SegmentRow {
            at: span.at,
            span_ns: span.span_ns,
            segment,
            user,
            faults_minor: have.faults.then_some(counts.faults),
            faults_major: have.faults.then_some(counts.majors),
            samples: have.samples.then_some(counts.samples),
        };
        let seen = |(_, counts): &(_, Counts)| *counts != Counts::default();
        let mut rows: Vec<SegmentRow> = by_name.into_iter().filter(seen).map(row).collect();
        rows.sort_by(|one, other| (&one.segment, one.user).cmp(&(&other.segment, other.user)));
        rows
    }
}

/// What is counted at all; the rest is not measured, which is not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Have {
    pub faults: bool,
    pub samples: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadgo_core::time::Instant;

    const SPAN: Span = Span { at: Instant(1_000), span_ns: 1_000, monotonic_ns: 1_000 };

    #[test]
    fn a_wait_that_is_told_before_its_fault_is_counted_once() {
        let mut segments = Segments::new();
        let file = segments.id("/a", None);
        let mut counts = BySegment::default();
        let have = Have { faults: true, samples: false };
        counts.major(file, None);
        assert_eq!(counts.rows(SPAN, &segments, have), []);
        counts.faults(file, None, 3);
        let rows = counts.rows(SPAN, &segments, have);
        assert_eq!((rows[0].faults_minor, rows[0].faults_major, rows[0].samples), (Some(2), Some(1), None));
        assert_eq!(counts.rows(SPAN, &segments, have), []);
    }

    #[test]
    fn a_users_row_is_part_of_the_row_of_all() {
        let mut segments = Segments::new();
        let file = segments.id("/a", None);
        let mut counts = BySegment::default();
        counts.sample(file, Some(2));
        counts.sample(file, None);
        let rows = counts.rows(SPAN, &segments, Have { faults: false, samples: true });
        let found: Vec<_> = rows.iter().map(|row| (row.user, row.samples, row.faults_minor)).collect();
        assert_eq!(found, [(None, Some(2), None), (Some(2), Some(1), None)]);
    }
}
