//! Activity of the processors, their users, and the owners of memory, span by span; called about once a second by the metering
//! thread.
//!
//! `/proc/stat` counts clock ticks, so the categories of a span add up to the span only to a tick or two. A span is at least one
//! tick. The ticks are scaled so that each processor's categories add up to the span exactly. Time as a guest is part of user
//! time there and is not counted twice.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use loadgo_core::record::{self, ProcessRow, TimeRow};
use loadgo_core::time::Instant;

use crate::groups::Groups;
use crate::small_files::{number, open_at, open_directory, read_at_start};
use crate::usage::memory::Memory;

/// Categories of processor time, in the order of the columns of `/proc/stat`.
pub const TIME_CATEGORIES: [&str; 8] = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];

type Ticks = [u64; TIME_CATEGORIES.len()];

/// The threads of loadgo itself whose time is shown apart.
#[derive(Clone, Debug, Default)]
pub struct OurThreads {
    /// The thread that drives the users.
    pub driver: Vec<i32>,
    /// The threads that sample and write.
    pub meters: Vec<i32>,
}

/// Samples this host; each call gives the rows of the span since the last.
#[derive(Debug)]
pub struct Sampler {
    proc: OwnedFd,
    groups: Option<Arc<Groups>>,
    threads: OurThreads,
    processors: Processors,
    memory: Memory,
    last: SampledTotals,
}

/// Whether the sampler also reads the processors' account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Processors {
    /// The account is read from `/proc/stat`.
    Read,
    /// The account is left out: another meter keeps a better one.
    Left,
}

#[derive(Debug)]
struct SampledTotals {
    at: Instant,
    processors: Vec<(u16, Ticks)>,
    cpu_ns: [u64; 3],
}

impl Sampler {
    /// Begins to sample at `now`.
    pub fn begin(groups: Option<Arc<Groups>>, threads: OurThreads, processors: Processors, now: Instant) -> io::Result<Sampler> {
        let proc = open_directory(Path::new("/proc"))?;
        let nothing = SampledTotals { at: now, processors: Vec::new(), cpu_ns: [0; 3] };
        let memory = Memory::begin(groups.clone(), now)?;
        let mut sampler = Sampler { proc, groups, threads, processors, memory, last: nothing };
        sampler.last = sampler.sample(now)?;
        Ok(sampler)
    }

    /// Adds the rows of the span that ends `now`; nothing when no time has passed.
    pub fn sample_into(&mut self, now: Instant, rows: &mut record::MeterRows) -> io::Result<()> {
        let span_ns = now.since(self.last.at).0;
        if span_ns == 0 {
            return Ok(());
        }
        self.memory.sample_into(now, span_ns, &mut rows.memory);
        let sample = self.sample(now)?;
        for (processor, ticks) in &sample.processors {
            if let Some((_, before)) = self.last.processors.iter().find(|(number, _)| number == processor) {
                time_rows(now, span_ns, *processor, &since(ticks, before), &mut rows.time);
            }
        }
        let memory = [self.groups.as_ref().and_then(|groups| groups.memory_bytes()), own_memory(), None];
        for (index, who) in ["users", "driver", "meters"].into_iter().enumerate() {
            let cpu_ns = sample.cpu_ns[index].saturating_sub(self.last.cpu_ns[index]);
            if index > 0 || self.groups.is_some() {
                let (who, memory_bytes) = (who.into(), memory[index]);
                rows.processes.push(ProcessRow { at: now, span_ns, who, cpu_ns, memory_bytes, user: None, ready_wait_ns: None });
            }
        }
        self.last = sample;
        Ok(())
    }

    fn sample(&self, at: Instant) -> io::Result<SampledTotals> {
        let processors = match self.processors {
            Processors::Read => parse_processors(&fs::read_to_string("/proc/stat")?),
            Processors::Left => Vec::new(),
        };
        let users = self.groups.as_ref().and_then(|groups| groups.users_cpu_ns().ok()).unwrap_or(0);
        let of_threads = |ids: &[i32]| ids.iter().filter_map(|id| self.thread_cpu_ns(*id)).sum();
        Ok(SampledTotals { at, processors, cpu_ns: [users, of_threads(&self.threads.driver), of_threads(&self.threads.meters)] })
    }

    /// The processor time of a thread of this process, from its `schedstat`, which is exact.
    fn thread_cpu_ns(&self, id: i32) -> Option<u64> {
        let path = format!("self/task/{id}/schedstat\0");
        let file = open_at(&self.proc, path.as_bytes()).ok()?;
        let mut text = [0u8; 64];
        let length = read_at_start(file, &mut text).ok()?;
        number(&text[..length])
    }
}

/// The resident memory of this process, driver and meters together, in bytes.
pub(crate) fn own_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

fn time_rows(at: Instant, span_ns: u64, processor: u16, ticks: &Ticks, rows: &mut Vec<TimeRow>) {
    let parts = parts_of(span_ns, ticks);
    rows.extend(TIME_CATEGORIES.iter().zip(parts).map(|(category, time_ns)| TimeRow {
        at,
        span_ns,
        processor: Some(processor),
        category,
        time_ns,
    }));
}

/// Divides `span_ns` in the ratio of `ticks`, exactly; without any tick all of it counts as idle.
fn parts_of(span_ns: u64, ticks: &Ticks) -> Ticks {
    const IDLE: usize = 3;
    let total: u64 = ticks.iter().sum();
    let mut parts = [0; TIME_CATEGORIES.len()];
    if total > 0 {
        parts = ticks.map(|ticks| (u128::from(span_ns) * u128::from(ticks) / u128::from(total)) as u64);
    }
    let largest = (0..parts.len()).max_by_key(|index| ticks[*index]).filter(|_| total > 0).unwrap_or(IDLE);
    parts[largest] += span_ns - parts.iter().sum::<u64>();
    parts
}

/// The ticks since `before`; iowait and idle may go back by a little on some kernels.
fn since(now: &Ticks, before: &Ticks) -> Ticks {
    std::array::from_fn(|index| now[index].saturating_sub(before[index]))
}

fn parse_processors(text: &str) -> Vec<(u16, Ticks)> {
    text.lines().filter_map(parse_processor).collect()
}

fn parse_processor(line: &str) -> Option<(u16, Ticks)> {
    let mut words = line.strip_prefix("cpu")?.split(' ');
    let processor = words.next()?.parse().ok()?;
    let mut ticks = [0; TIME_CATEGORIES.len()];
    for slot in &mut ticks {
        *slot = words.next()?.parse().ok()?;
    }
    Some((processor, ticks))
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadgo_sys::scheduling::thread_id;

    #[test]
    fn the_parts_add_up_to_the_span() {
        for ticks in [[1, 2, 3, 4, 5, 6, 7, 8], [0; 8], [0, 0, 7, 0, 0, 0, 0, 0], [333, 0, 333, 334, 1, 0, 0, 0]] {
            assert_eq!(parts_of(1_000_000_007, &ticks).iter().sum::<u64>(), 1_000_000_007);
        }
        assert_eq!(parts_of(100, &[3, 0, 0, 1, 0, 0, 0, 0])[0], 75);
    }

    #[test]
    fn only_the_lines_of_single_processors_are_read() {
        let text = "cpu  1 2 3 4 5 6 7 8 9 10\ncpu3 1 2 3 4 5 6 7 8 9 10\nintr 5\n";
        assert_eq!(parse_processors(text), [(3, [1, 2, 3, 4, 5, 6, 7, 8])]);
    }

    #[test]
    fn a_busy_thread_of_ours_is_seen() {
        let threads = OurThreads { driver: vec![thread_id()], meters: Vec::new() };
        let mut sampler = Sampler::begin(None, threads, Processors::Read, Instant(0)).unwrap();
        let busy = std::time::Instant::now();
        while busy.elapsed().as_millis() < 30 {}
        let mut rows = record::MeterRows::default();
        sampler.sample_into(Instant(30_000_000), &mut rows).unwrap();
        assert!(rows.time.len() >= TIME_CATEGORIES.len());
        let driver = rows.processes.iter().find(|row| &*row.who == "driver").unwrap();
        assert!(driver.cpu_ns > 0);
        assert!(rows.processes.iter().all(|row| &*row.who != "users"));
    }
}
