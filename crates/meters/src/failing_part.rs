//! Test of a part that fails: the rows of the other parts come all the same. For root.

use crate::part::{Context, MeterPart, RecordSpan};
use crate::{MeterRefusal, MeterRequest, Meters, Tier};
use loadgo_core::record::MeterRows;
use loadgo_core::time::Instant;
use loadgo_sys::clock::monotonic_ns;
use std::sync::{Arc, Mutex};

/// A part that fails the first time, and then notes the length of each span.
struct FailingPart {
    has_failed: bool,
    spans: Arc<Mutex<Vec<u64>>>,
}

impl MeterPart for FailingPart {
    fn rows(&mut self, _: &mut Context, span: RecordSpan, _: &mut MeterRows) -> Result<(), MeterRefusal> {
        if !std::mem::replace(&mut self.has_failed, true) {
            return Err("this part fails".into());
        }
        self.spans.lock().unwrap().push(span.span_ns);
        Ok(())
    }
}

#[test]
fn a_part_that_fails_costs_no_other_part_its_rows() {
    let now = || Instant(monotonic_ns());
    let wanted = MeterRequest { tier: Tier::Cheap, accounts: 4, commands: Vec::new(), locks: false, profile_hz: None };
    let mut meters = Meters::begin(&wanted, now()).unwrap_or_else(|why| panic!("these tests need root: {why}"));
    let began = now();
    meters.sample(began).unwrap();
    let spans = Arc::new(Mutex::new(Vec::new()));
    meters.add_first(FailingPart { has_failed: false, spans: Arc::clone(&spans) }, began);
    let ends = [now(), now()];
    for (end, from) in ends.into_iter().zip([began, ends[0]]) {
        let sample = meters.sample(end).expect("only one part fails");
        let of_first: Vec<_> = sample.time.iter().filter(|row| row.processor == Some(0)).collect();
        assert_eq!(of_first.iter().map(|row| row.time_ns).sum::<u64>(), end.since(from).0, "each span is there: {of_first:?}");
    }
    assert_eq!(*spans.lock().unwrap(), [ends[1].since(began).0], "the part's next rows have the span that it missed");
    let reasons: Vec<_> = meters.take_lost().into_iter().filter(|lost| lost.what == "meters").map(|lost| lost.reason).collect();
    assert_eq!(reasons, ["this part fails"]);
}
