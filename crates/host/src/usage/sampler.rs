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
use rustix::io::Errno;

use crate::groups::Groups;
use crate::small_files::{number, open_at, open_directory, read_at_start};
use crate::usage::limit_costs::LimitCosts;
use crate::usage::memory::{Memory, UserProcesses};
use crate::usage::working_sets::WorkingSets;

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

/// The users whose processor time and memory are sampled.
#[derive(Clone, Debug, Default)]
pub struct SampledUsers {
    /// The groups that keep the users' processor time, if this process has made them.
    groups: Option<Arc<Groups>>,
    /// The processes whose memory is the users'.
    processes: Option<Arc<dyn UserProcesses>>,
    /// Whether the working sets of these processes are measured.
    working_sets: bool,
}

impl SampledUsers {
    /// The users of these groups; `None`: nobody.
    pub fn of_groups(groups: Option<Arc<Groups>>) -> SampledUsers {
        let processes = groups.clone().map(|groups| groups as Arc<dyn UserProcesses>);
        SampledUsers { groups, processes, working_sets: false }
    }

    /// These users, whose processor time somebody else reads.
    pub fn of_processes(processes: Option<Arc<dyn UserProcesses>>) -> SampledUsers {
        SampledUsers { groups: None, processes, working_sets: false }
    }

    /// The same users, whose working sets are measured too if `wanted`.
    pub fn with_working_sets(self, wanted: bool) -> SampledUsers {
        SampledUsers { working_sets: wanted, ..self }
    }
}

/// Samples this host; each call gives the rows of the span since the last.
#[derive(Debug)]
pub struct Sampler {
    proc: OwnedFd,
    groups: Option<Arc<Groups>>,
    threads: OurThreads,
    processors: Processors,
    memory: Memory,
    working_sets: Option<WorkingSets>,
    limit_costs: Option<LimitCosts>,
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

/// Owners of processor time, in the order of their totals.
const OWNERS: [&str; 3] = ["users", "driver", "meters"];

#[derive(Debug)]
struct SampledTotals {
    at: Instant,
    processors: Vec<(u16, Ticks)>,
    /// The last total of each owner that could be read.
    cpu: [CpuTotal; OWNERS.len()],
}

/// The processor time of an owner until an instant.
#[derive(Clone, Copy, Debug, Default)]
struct CpuTotal {
    at: Instant,
    cpu_ns: u64,
}

impl Sampler {
    /// Begins to sample at `now`.
    pub fn begin(users: SampledUsers, threads: OurThreads, processors: Processors, now: Instant) -> io::Result<Sampler> {
        let proc = open_directory(Path::new("/proc"))?;
        let nothing = SampledTotals { at: now, processors: Vec::new(), cpu: Default::default() };
        let referring = users.processes.clone().filter(|_| users.working_sets);
        let working_sets = referring.map(WorkingSets::begin).transpose()?;
        let memory = Memory::begin(users.processes, now)?;
        let limit_costs = LimitCosts::begin(users.groups.clone(), now);
        let mut sampler =
            Sampler { proc, groups: users.groups, threads, processors, memory, working_sets, limit_costs, last: nothing };
        sampler.last.processors = sampler.processor_ticks()?;
        for (index, cpu_ns) in sampler.cpu_totals().into_iter().enumerate() {
            sampler.last.cpu[index] = CpuTotal { at: now, cpu_ns: cpu_ns? };
        }
        Ok(sampler)
    }

    /// Adds the rows of the span that ends `now`; nothing when no time has passed.
    ///
    /// # Errors
    /// A processor time could not be read. Its row is left out, and the next row has the time since the last good reading.
    pub fn sample_into(&mut self, now: Instant, rows: &mut record::MeterRows) -> io::Result<()> {
        let span_ns = now.since(self.last.at).0;
        if span_ns == 0 {
            return Ok(());
        }
        self.memory.sample_into(now, span_ns, &mut rows.memory);
        if let Some(sets) = &mut self.working_sets {
            sets.sample_into(now, span_ns, &mut rows.working_sets);
        }
        if let Some(costs) = &mut self.limit_costs {
            costs.sample_into(now, &mut rows.user_limits);
        }
        let ticks_of_all = self.processor_ticks()?;
        for (processor, ticks) in &ticks_of_all {
            if let Some((_, before)) = self.last.processors.iter().find(|(number, _)| number == processor) {
                time_rows(now, span_ns, *processor, &since(ticks, before), &mut rows.time);
            }
        }
        (self.last.at, self.last.processors) = (now, ticks_of_all);
        self.process_rows(now, &mut rows.processes)
    }

    /// Adds a row for each owner whose processor time can be read.
    fn process_rows(&mut self, now: Instant, rows: &mut Vec<ProcessRow>) -> io::Result<()> {
        let memory = [self.groups.as_ref().and_then(|groups| groups.memory_bytes()), own_memory(), None];
        let first = usize::from(self.groups.is_none()); // without groups, the users' time is not known
        let mut read_all = Ok(());
        for (index, cpu_ns) in self.cpu_totals().into_iter().enumerate().skip(first) {
            match cpu_ns {
                Ok(cpu_ns) => {
                    let last = std::mem::replace(&mut self.last.cpu[index], CpuTotal { at: now, cpu_ns });
                    let (span_ns, cpu_ns) = (now.since(last.at).0, cpu_ns.saturating_sub(last.cpu_ns));
                    let (who, memory_bytes) = (OWNERS[index].into(), memory[index]);
                    rows.push(ProcessRow { at: now, span_ns, who, cpu_ns, memory_bytes, user: None, ready_wait_ns: None });
                }
                Err(error) => read_all = Err(error),
            }
        }
        read_all
    }

    /// The ticks of each processor, if they are read.
    fn processor_ticks(&self) -> io::Result<Vec<(u16, Ticks)>> {
        match self.processors {
            Processors::Read => Ok(parse_processors(&fs::read_to_string("/proc/stat")?)),
            Processors::Left => Ok(Vec::new()),
        }
    }

    /// The processor time of each owner so far; 0 for users without groups.
    fn cpu_totals(&self) -> [io::Result<u64>; OWNERS.len()] {
        let of_threads = |ids: &[i32]| ids.iter().map(|id| self.thread_cpu_ns(*id)).sum();
        let users = self.groups.as_ref().map_or(Ok(0), |groups| groups.users_cpu_ns());
        [users, of_threads(&self.threads.driver), of_threads(&self.threads.meters)]
    }

    /// The processor time of a thread of this process, from its `schedstat`, which is exact; 0 after its end.
    fn thread_cpu_ns(&self, id: i32) -> io::Result<u64> {
        let path = format!("self/task/{id}/schedstat\0");
        let mut text = [0u8; 64];
        match open_at(&self.proc, path.as_bytes()).and_then(|file| read_at_start(file, &mut text)) {
            Ok(length) => Ok(number(&text[..length]).unwrap_or(0)),
            Err(error) if has_ended(&error) => Ok(0),
            Err(error) => Err(error),
        }
    }
}

/// The resident memory of this process, driver and meters together, in bytes.
pub(crate) fn own_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Whether `error` says that there is no such thread.
fn has_ended(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(Errno::SRCH.raw_os_error())
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
    use crate::leftovers::Leftovers;
    use loadgo_sys::scheduling::thread_id;
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use std::process::Command;

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
        let mut sampler = Sampler::begin(SampledUsers::default(), threads, Processors::Read, Instant(0)).unwrap();
        let busy = std::time::Instant::now();
        while busy.elapsed().as_millis() < 30 {}
        let mut rows = record::MeterRows::default();
        sampler.sample_into(Instant(30_000_000), &mut rows).unwrap();
        assert!(rows.time.len() >= TIME_CATEGORIES.len());
        let driver = rows.processes.iter().find(|row| &*row.who == "driver").unwrap();
        assert!(driver.cpu_ns > 0);
        assert!(rows.processes.iter().all(|row| &*row.who != "users"));
    }

    /// Set in the process that runs the test below alone: it lets all readings of a process fail.
    const ALONE: &str = "LOADGO_TEST_SAMPLER_ALONE";

    #[test]
    fn a_reading_that_fails_makes_no_peak_of_all_earlier_time() {
        if std::env::var_os(ALONE).is_some() {
            return fail_a_reading();
        }
        let name = "usage::sampler::tests::a_reading_that_fails_makes_no_peak_of_all_earlier_time";
        let mut alone = Command::new(std::env::current_exe().unwrap());
        let output = alone.args(["--exact", name, "--nocapture"]).env(ALONE, "1").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Samples users and a driver that were busy before; the second of three readings finds no descriptor.
    fn fail_a_reading() {
        let dir = tempfile::tempdir().unwrap();
        let mut leftovers = Leftovers::begin_in(&dir.path().join("state"), "sampled").unwrap();
        let groups = Groups::create("sampled", &mut leftovers).expect("these tests run as root");
        groups.add_user(1).unwrap();
        let join = groups.join_paths(1)[0].to_str().unwrap().to_owned();
        let spin = format!("echo 0 >{join}; n=0; while [ $n -lt 100000 ]; do n=$((n+1)); done");
        assert!(Command::new("sh").args(["-c", &spin]).status().unwrap().success());
        let earlier_ns = groups.users_cpu_ns().unwrap();
        // Work of this thread, the driver here: much more than the readings below take.
        (0..100_000_000_u64).for_each(|number| _ = std::hint::black_box(number));
        let threads = OurThreads { driver: vec![thread_id()], meters: Vec::new() };
        let users = SampledUsers::of_groups(Some(Arc::new(groups)));
        let mut sampler = Sampler::begin(users, threads, Processors::Left, Instant(0)).unwrap();
        let driver_earlier_ns = sampler.thread_cpu_ns(thread_id()).unwrap();
        let all = getrlimit(Resource::Nofile);
        let mut rows = record::MeterRows::default();
        setrlimit(Resource::Nofile, Rlimit { current: Some(0), ..all }).unwrap();
        let failed = sampler.sample_into(Instant(1_000_000_000), &mut rows);
        setrlimit(Resource::Nofile, all).unwrap();
        sampler.sample_into(Instant(2_000_000_000), &mut rows).unwrap();
        for (who, earlier_ns) in [("users", earlier_ns), ("driver", driver_earlier_ns)] {
            let of: Vec<_> = rows.processes.iter().filter(|row| &*row.who == who).collect();
            assert!(of.iter().all(|row| row.cpu_ns < earlier_ns), "{who} used {earlier_ns} ns before: {of:?}");
            assert_eq!(of.iter().map(|row| row.span_ns).collect::<Vec<_>>(), [2_000_000_000], "{who}");
        }
        failed.expect_err("the loss is reported");
    }
}
