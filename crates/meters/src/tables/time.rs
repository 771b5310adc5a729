//! Makes rows of the total time: all of every processor's time, by category.

use crate::part::{Context, MeterPart, RecordSpan};
use crate::programs::layout::{CATEGORY_NAMES, category};
use crate::refusal::MeterRefusal;
use crate::shares::ActivityCounts;
use crate::tables::idle::WaitIntegrals;
use crate::tables::processors::{CategoryTimes, ProcessorMap, ProcessorWords, read_waiting};
use crate::tables::shown::increases_of_span;
use crate::wanted::{MeterRequest, Tier};
use loadgo_core::record::{MeterRows, TimeRow};

/// The processors' times at the last reading.
pub(crate) struct TotalTime {
    processors: ProcessorMap,
    read: Vec<ProcessorWords>,
    waiting: Result<WaitIntegrals, MeterRefusal>,
    shown: Vec<Option<CategoryTimes>>,
    /// All samples of each processor, where clock samples divide the busy time.
    sampled: Option<Vec<ActivityCounts>>,
    /// The processors that were online at the last reading.
    online: Vec<u32>,
}

impl TotalTime {
    pub fn begin(context: &mut Context, wanted: &MeterRequest) -> Result<Option<Box<dyn MeterPart>>, MeterRefusal> {
        let loaded = &context.loaded;
        let processors = ProcessorMap::open(loaded)?;
        let (read, waiting, shown) = (processors.read().collect(), read_waiting(loaded), vec![None; loaded.processors as usize]);
        let sampled = (wanted.tier != Tier::Exact).then(|| vec![ActivityCounts::default(); loaded.processors as usize]);
        Ok(Some(Box::new(TotalTime { processors, read, waiting, shown, sampled, online: online() })))
    }
}

impl MeterPart for TotalTime {
    fn read(&mut self, context: &Context) {
        self.read = self.processors.read().collect();
        self.waiting = read_waiting(&context.loaded);
    }

    fn rows(&mut self, context: &mut Context, span: RecordSpan, sample: &mut MeterRows) -> Result<(), MeterRefusal> {
        let waiting = self.waiting.as_ref().map_err(Clone::clone)?;
        let online = online();
        for ((number, state), shown) in (0..).zip(&self.read).zip(&mut self.shown) {
            let now = state.times_at(span.monotonic_ns, waiting);
            let Some(shown) = shown else {
                let seen_ns = span.monotonic_ns.saturating_sub(state.began().unwrap_or(u64::MAX));
                increases_of_span(&now, shown.insert([0; CATEGORY_NAMES.len()]), seen_ns, category::UNCHARGED); // before the first span
                continue;
            };
            let mut times = increases_of_span(&now, shown, span.span_ns, category::UNCHARGED);
            if !online.contains(&number) && !self.online.contains(&number) {
                continue; // an offline processor's idle time still grows
            }
            if let Some(all) = self.sampled.as_mut().and_then(|sampled| sampled.get_mut(number as usize)) {
                divide_busy(&mut times, context.shares.get(&number).copied().unwrap_or_default(), all);
            }
            sample.time.extend(rows(span, number as u16, &times));
        }
        self.online = online;
        Ok(())
    }
}

/// Divides the time of users' tasks by the activities of the span's clock samples, and counts these in `all`. A short time without samples
/// is divided as `all` samples before it. Without any, it stays user time.
fn divide_busy(times: &mut CategoryTimes, in_span: ActivityCounts, all: &mut ActivityCounts) {
    all.extend(in_span);
    let shares = if in_span.of_tasks() > 0 { in_span } else { *all };
    let samples = [
        (category::PRIMITIVE, shares.primitive),
        (category::PAGE_FAULT, shares.page_fault),
        (category::INTERRUPT, shares.interrupt),
        (category::SOFT_INTERRUPT, shares.soft_interrupt),
        (category::GETWORK, shares.getwork),
    ];
    let count_of_all = shares.of_tasks();
    let busy = times[category::USER];
    for (category, count) in samples {
        let part = (u128::from(busy) * u128::from(count)).checked_div(u128::from(count_of_all)).unwrap_or(0) as u64;
        times[category] += part;
        times[category::USER] -= part;
    }
}

fn rows(span: RecordSpan, processor: u16, times: &CategoryTimes) -> impl Iterator<Item = TimeRow> {
    let present = CATEGORY_NAMES.into_iter().zip(*times).filter(|(_, time_ns)| *time_ns > 0);
    present.map(move |(category, time_ns)| TimeRow {
        at: span.at,
        span_ns: span.span_ns,
        processor: Some(processor),
        category,
        time_ns,
    })
}

fn online() -> Vec<u32> {
    aya::util::online_cpus().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(of: &[(usize, u64)]) -> CategoryTimes {
        let mut times = [0; CATEGORY_NAMES.len()];
        for (category, time_ns) in of {
            times[*category] = *time_ns;
        }
        times
    }

    #[test]
    fn busy_time_is_divided_as_the_clock_found_it() {
        let mut divided = times(&[(category::USER, 1000), (category::IDLE_ZERO, 500)]);
        let found = ActivityCounts { user: 1, primitive: 2, getwork: 1, kernel_thread: 7, ..ActivityCounts::default() };
        divide_busy(&mut divided, found, &mut ActivityCounts::default());
        assert_eq!(
            divided,
            times(&[(category::USER, 250), (category::PRIMITIVE, 500), (category::GETWORK, 250), (category::IDLE_ZERO, 500)])
        );
    }

    #[test]
    fn busy_time_without_a_sample_is_divided_as_all_samples_before() {
        let mut all = ActivityCounts::default();
        let mut divided = times(&[(category::USER, 1000)]);
        divide_busy(&mut divided, ActivityCounts::default(), &mut all);
        assert_eq!(divided, times(&[(category::USER, 1000)]), "nothing was sampled yet");
        divide_busy(&mut divided, ActivityCounts { user: 3, page_fault: 1, ..ActivityCounts::default() }, &mut all);
        let mut later = times(&[(category::USER, 200)]);
        divide_busy(&mut later, ActivityCounts { kernel_thread: 2, ..ActivityCounts::default() }, &mut all);
        assert_eq!(later, times(&[(category::USER, 150), (category::PAGE_FAULT, 50)]));
    }
}
