//! Makes rows of the processors' ready queue: its length, and its dispatches.

use crate::part::{Context, MeterPart, RecordSpan};
use crate::programs::layout::{QUEUE_LENGTHS, processor};
use crate::programs::load::map_array;
use crate::refusal::MeterRefusal;
use crate::tables::processors::{ProcessorMap, ProcessorWords};
use crate::tables::shown::increases_of_span;
use crate::wanted::MeterRequest;
use loadgo_core::record::{MeterRows, QueueRow};
use loadgo_sys::mapped::MappedWords;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Names of the measures for the time at each class of lengths, which are by powers of 2.
const LENGTH_MEASURES: [&str; QUEUE_LENGTHS] = [
    "ready 0",
    "ready 1",
    "ready 2-3",
    "ready 4-7",
    "ready 8-15",
    "ready 16-31",
    "ready 32-63",
    "ready 64-127",
    "ready 128-255",
    "ready 256-511",
    "ready 512-1023",
    "ready 1024-2047",
    "ready 2048-4095",
    "ready 4096-8191",
    "ready 8192-16383",
    "ready 16384-",
];

/// The queue at the last reading.
pub(crate) struct QueueTable {
    processors: ProcessorMap,
    read: Vec<ProcessorWords>,
    present: MappedWords,
    present_read: Option<(u64, u64)>,
    name: Arc<str>,
    shown: [u64; QUEUE_LENGTHS],
    last: QueueTotals,
}

#[derive(Clone, Copy, Default)]
struct QueueTotals {
    area: u64,
    switches: u64,
    preemptions: u64,
}

impl QueueTable {
    pub fn begin(context: &mut Context, _: &MeterRequest) -> Result<Option<Box<dyn MeterPart>>, MeterRefusal> {
        let (processors, present) = (ProcessorMap::open(&context.loaded)?, map_array(&context.loaded, "ready_queue", 16)?);
        let read = processors.read().collect();
        Ok(Some(Box::new(QueueTable {
            processors,
            read,
            present,
            present_read: None,
            name: "processors".into(),
            shown: [0; QUEUE_LENGTHS],
            last: QueueTotals::default(),
        })))
    }

    /// The present length, and when the queue got it; None if it has never changed.
    fn present(&self) -> Option<(u64, u64)> {
        let [length, since] = [0, 1].map(|word| self.present.words()[word].load(Relaxed));
        (since != 0 && (length as i64) >= 0).then_some((length, since))
    }
}

impl MeterPart for QueueTable {
    fn read(&mut self, _: &Context) {
        self.read = self.processors.read().collect();
        self.present_read = self.present();
    }

    fn rows(&mut self, _: &mut Context, span: RecordSpan, sample: &mut MeterRows) -> Result<(), MeterRefusal> {
        let (mut sums, mut lengths) = (QueueTotals::default(), [0; QUEUE_LENGTHS]);
        for state in &self.read {
            sums.area += state.at(processor::QUEUE_AREA);
            sums.switches += state.at(processor::SWITCHES);
            sums.preemptions += state.at(processor::PREEMPTIONS);
            for (index, time_ns) in lengths.iter_mut().enumerate() {
                *time_ns += state.at(processor::QUEUE + index);
            }
        }
        if let Some((length, since)) = self.present_read {
            let lasted = span.monotonic_ns.saturating_sub(since);
            lengths[class_of(length)] += lasted;
            sums.area += lasted * length;
        }
        let last = std::mem::replace(&mut self.last, sums);
        let mut push = |measure, value| {
            sample.queue.push(QueueRow { at: span.at, span_ns: span.span_ns, queue: self.name.clone(), measure, value })
        };
        push("ready", sums.area.saturating_sub(last.area) as f64 / span.span_ns.max(1) as f64);
        push("switches", sums.switches.wrapping_sub(last.switches) as f64);
        push("pre-emptions", sums.preemptions.wrapping_sub(last.preemptions) as f64);
        for (measure, time_ns) in LENGTH_MEASURES
            .into_iter()
            .zip(increases_of_span(&lengths, &mut self.shown, span.span_ns, 0))
            .filter(|(_, time_ns)| *time_ns > 0)
        {
            push(measure, time_ns as f64);
        }
        Ok(())
    }
}

/// The class of a length: its number of bits.
fn class_of(length: u64) -> usize {
    ((u64::BITS - length.leading_zeros()) as usize).min(QUEUE_LENGTHS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_named_by_the_powers_of_2_that_it_lies_between() {
        let named = [0, 1, 2, 3, 4, 1000, 16383, 16384, 1 << 40].map(|length| LENGTH_MEASURES[class_of(length)]);
        let expected = [
            "ready 0",
            "ready 1",
            "ready 2-3",
            "ready 2-3",
            "ready 4-7",
            "ready 512-1023",
            "ready 8192-16383",
            "ready 16384-",
            "ready 16384-",
        ];
        assert_eq!(named, expected);
    }
}
