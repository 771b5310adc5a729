//! Total time on this host: it adds up, and who waits is known by what was arranged. For root.

mod arranged;

use arranged::group::Group;
use arranged::{READS_PER_SECOND, Truth, folder, start};
use loadgo_core::record::Sample;
use loadgo_core::time::Instant;
use loadgo_host::kernel::monotonic_ns;
use loadgo_host::waits::{Waited, Waits};
use loadgo_meters::{Meters, Tier, Wanted};
use std::collections::BTreeMap;

const BOTH: [Tier; 2] = [Tier::Cheap, Tier::Exact];
const USER: u32 = 7;

fn begin(tier: Tier) -> Meters {
    let wanted = Wanted { tier, accounts: 8, commands: Vec::new(), profile_hz: None, segments: false };
    Meters::begin(&wanted, now()).unwrap_or_else(|why| panic!("these tests need root: {why}"))
}

fn now() -> Instant {
    Instant(monotonic_ns())
}

fn by_category(sample: &Sample) -> BTreeMap<&'static str, u64> {
    let mut sums = BTreeMap::new();
    for row in &sample.time {
        *sums.entry(row.category).or_default() += row.time_ns;
    }
    sums
}

/// A program under the meters: its own truth, what its account says, and what the system's says.
#[derive(Debug)]
struct Found {
    truth: Truth,
    waited: Waited,
    other_ns: u64,
    cpu_ns: u64,
    time: BTreeMap<&'static str, u64>,
}

fn metered(tier: Tier, what: &str, arrange: impl Fn(u32)) -> Found {
    let mut meters = begin(tier);
    let mut waits = meters.waits(vec![0, 1]).expect("sessions are told apart");
    let mut program = start(what);
    waits.began(USER, program.pid());
    program.ready();
    arrange(program.pid());
    waits.interaction(USER).expect("the program has an account");
    let other_ns = waits.other_ns(USER).unwrap();
    meters.sample(now()).unwrap();
    let truth = program.go();
    let waited = waits.interaction(USER).unwrap();
    let sample = meters.sample(now()).unwrap();
    let rows = sample.processes.iter().filter(|row| row.user == Some(USER));
    let cpu_ns = rows.map(|row| row.cpu_ns).sum();
    let found = Found { truth, waited, other_ns: waits.other_ns(USER).unwrap() - other_ns, cpu_ns, time: by_category(&sample) };
    eprintln!("{tier:?} {found:?}");
    found
}

impl Found {
    fn off_ns(&self) -> u64 {
        self.truth.wall_ns - self.truth.cpu_ns
    }

    fn all_waits(&self) -> u64 {
        self.waited.paging_ns + self.waited.io_ns + self.other_ns
    }

    fn idle(&self) -> u64 {
        self.time.iter().filter(|(name, _)| name.starts_with("idle ")).map(|(_, time_ns)| time_ns).sum()
    }

    /// One who waits makes one processor idle for its cause as long as it waits, less what others have of the processors
    /// meanwhile: who is busy with them cannot be known to have let the first or the last of them be idle.
    fn assert_idle(&self, category: &str, arranged_ns: u64) {
        let found = self.time.get(category).copied().unwrap_or(0);
        let all: u64 = self.time.values().sum();
        let busy = all - self.idle();
        assert!(found <= arranged_ns * 103 / 100, "{category}: {self:?}");
        assert!(found + busy >= arranged_ns * 97 / 100, "{category}: {self:?}");
    }
}

fn assert_within(found: u64, truth: u64, percent: u64, what: &str) {
    assert!(found.abs_diff(truth) * 100 <= truth * percent, "{what}: found {found}, in truth {truth}");
}

#[test]
fn arranged_program() {
    arranged::program();
}

#[test]
fn every_processors_categories_add_up_to_the_span_at_every_reading() {
    for tier in BOTH {
        let mut meters = begin(tier);
        for _ in 0..300 {
            let sample = meters.sample(now()).unwrap();
            let mut sums = BTreeMap::<_, u64>::new();
            for row in &sample.time {
                *sums.entry(row.processor).or_default() += row.time_ns;
            }
            let span_ns = sample.time[0].span_ns;
            assert_eq!(sums.into_values().collect::<Vec<_>>(), vec![span_ns; aya::util::online_cpus().unwrap().len()]);
        }
    }
}

#[test]
fn a_program_that_touches_cold_pages_waits_for_pages() {
    for tier in BOTH {
        let slow = Group::of_slow_reads(folder(), READS_PER_SECOND);
        let found = metered(tier, "pages", |pid| slow.holds(pid));
        assert_within(found.waited.paging_ns + found.waited.ready_ns, found.off_ns(), 3, "off the processor");
        assert_within(found.waited.paging_ns, found.all_waits(), 3, "waits for pages among all waits");
        found.assert_idle("idle page wait", found.waited.paging_ns);
    }
}

#[test]
fn a_program_that_reads_past_the_cache_waits_for_the_disk() {
    for tier in BOTH {
        let slow = Group::of_slow_reads(folder(), READS_PER_SECOND);
        let found = metered(tier, "reads", |pid| slow.holds(pid));
        assert_within(found.waited.io_ns + found.waited.ready_ns, found.off_ns(), 3, "off the processor");
        assert_within(found.waited.io_ns, found.all_waits(), 3, "waits for the disk among all waits");
        found.assert_idle("idle disk wait", found.waited.io_ns);
    }
}

#[test]
fn a_program_beyond_its_quota_is_governed() {
    for tier in BOTH {
        let quota = Group::of_a_fifth();
        let found = metered(tier, "spin", |pid| quota.holds(pid));
        assert_within(found.other_ns + found.waited.ready_ns, found.off_ns(), 3, "off the processor");
        assert!(found.other_ns * 103 >= quota.held_back_ns() * 100, "{found:?} held back {}", quota.held_back_ns());
        found.assert_idle("idle governed", found.other_ns);
    }
}

#[test]
fn a_programs_processor_time_is_its_own_measure() {
    for tier in BOTH {
        let found = metered(tier, "spin", |_| ());
        assert_within(found.cpu_ns, found.truth.cpu_ns, 1, "processor time");
    }
}
