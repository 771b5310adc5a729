//! Total time: 100 % of every processor's time, by category.

use crate::part::Span;
use crate::part::{Context, Part};
use crate::programs::layout::{CATEGORIES, category};
use crate::shares::Shares;
use crate::tables::idle::Waiting;
use crate::tables::processors::{Processors, State, Times, read_waiting};
use crate::tables::shown::grown;
use crate::wanted::{Tier, Wanted};
use loadgo_core::record::{Sample, TimeRow};

/// The account as it was last shown.
pub(crate) struct TotalTime {
    processors: Processors,
    read: Vec<State>,
    waiting: Result<Waiting, String>,
    shown: Vec<Option<Times>>,
    sampled: bool,
    online: Vec<u32>,
}

impl TotalTime {
    pub fn begin(context: &mut Context, wanted: &Wanted) -> Result<Option<Box<dyn Part>>, String> {
        let loaded = &context.loaded;
        let processors = Processors::open(loaded)?;
        let (read, waiting, shown) = (processors.read().collect(), read_waiting(loaded), vec![None; loaded.processors as usize]);
        Ok(Some(Box::new(TotalTime { processors, read, waiting, shown, sampled: wanted.tier == Tier::Cheap, online: online() })))
    }
}

impl Part for TotalTime {
    fn read(&mut self, context: &Context) {
        self.read = self.processors.read().collect();
        self.waiting = read_waiting(&context.loaded);
    }

    fn rows(&mut self, context: &mut Context, span: Span, sample: &mut Sample) -> Result<(), String> {
        let waiting = self.waiting.as_ref().map_err(Clone::clone)?;
        let online = online();
        for ((number, state), shown) in (0..).zip(&self.read).zip(&mut self.shown) {
            let now = state.times_at(span.monotonic_ns, waiting);
            let Some(shown) = shown else {
                let seen_ns = span.monotonic_ns.saturating_sub(state.began().unwrap_or(u64::MAX));
                grown(&now, shown.insert([0; CATEGORIES.len()]), seen_ns, category::UNCHARGED); // before the first span
                continue;
            };
            let mut times = grown(&now, shown, span.span_ns, category::UNCHARGED);
            if !online.contains(&number) && !self.online.contains(&number) {
                continue; // its idle task's clock goes on, but there is no processor
            }
            if self.sampled {
                divide_busy(&mut times, context.shares.get(&number).copied().unwrap_or_default());
            }
            sample.time.extend(rows(span, number as u16, &times));
        }
        self.online = online;
        Ok(())
    }
}

/// Divides what tasks of users had by what the clock found them doing; no sample, and it stays user time.
fn divide_busy(times: &mut Times, shares: Shares) {
    let found = [
        (category::PRIMITIVE, shares.primitive),
        (category::PAGE_FAULT, shares.page_fault),
        (category::INTERRUPT, shares.interrupt),
        (category::SOFT_INTERRUPT, shares.soft_interrupt),
        (category::GETWORK, shares.getwork),
    ];
    let all = found.iter().map(|(_, count)| count).sum::<u64>() + shares.user;
    let busy = times[category::USER];
    for (category, count) in found {
        let part = (u128::from(busy) * u128::from(count)).checked_div(u128::from(all)).unwrap_or(0) as u64;
        times[category] += part;
        times[category::USER] -= part;
    }
}

fn rows(span: Span, processor: u16, times: &Times) -> impl Iterator<Item = TimeRow> {
    let had = CATEGORIES.into_iter().zip(*times).filter(|(_, time_ns)| *time_ns > 0);
    had.map(move |(category, time_ns)| TimeRow {
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

    fn times(of: &[(usize, u64)]) -> Times {
        let mut times = [0; CATEGORIES.len()];
        for (category, time_ns) in of {
            times[*category] = *time_ns;
        }
        times
    }

    #[test]
    fn busy_time_is_divided_as_the_clock_found_it() {
        let mut divided = times(&[(category::USER, 1000), (category::IDLE_ZERO, 500)]);
        divide_busy(&mut divided, Shares { user: 1, primitive: 2, getwork: 1, kernel_thread: 7, ..Shares::default() });
        assert_eq!(
            divided,
            times(&[(category::USER, 250), (category::PRIMITIVE, 500), (category::GETWORK, 250), (category::IDLE_ZERO, 500)])
        );
    }
}
