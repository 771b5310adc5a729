//! Total time on this host: the categories add up, and programs with a known cause of waiting have that cause. Needs root.

mod arranged;
mod stolen;

use arranged::group::Group;
use arranged::{Program, READS_PER_SECOND, Truth, folder, start};
use loadgo_core::record::MeterRows;
use loadgo_core::time::Instant;
use loadgo_host::usage::waits::{Waited, Waits};
use loadgo_meters::{MeterRequest, Meters, Tier};
use loadgo_sys::clock::monotonic_ns;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use stolen::{stolen_ns, stolen_since};

const BOTH_TIERS: [Tier; 2] = [Tier::Cheap, Tier::Exact];
const FIRST_USER: u32 = 7;

/// Lets the tests run one at a time: a wait in one test would be a cause of idle time in another.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn begin(tier: Tier) -> Meters {
    let wanted = MeterRequest { tier, accounts: 8, commands: Vec::new(), locks: false, profile_hz: None };
    Meters::begin(&wanted, now()).unwrap_or_else(|refusal| panic!("these tests need root: {refusal}"))
}

fn now() -> Instant {
    Instant(monotonic_ns())
}

fn processors() -> usize {
    aya::util::online_cpus().expect("the kernel lists them").len()
}

fn by_category(sample: &MeterRows) -> BTreeMap<&'static str, u64> {
    let mut sums = BTreeMap::new();
    for row in &sample.time {
        *sums.entry(row.category).or_default() += row.time_ns;
    }
    sums
}

/// A program that worked under the meters: its own measurements and the meters'.
#[derive(Debug)]
struct MeteredProgram {
    truth: Truth,
    waited: Waited,
    other_ns: u64,
    cpu_ns: u64,
    /// Time between the readings of its account, a little longer than its work.
    watched_ns: u64,
}

/// Programs that worked at the same time, and the processors' time while all of them worked.
#[derive(Debug)]
struct MeteredWork {
    programs: Vec<MeteredProgram>,
    time: BTreeMap<&'static str, u64>,
}

/// Lets `count` programs called `name` work under the meters. `arrange` gets the id of each process before it works.
fn metered(tier: Tier, count: usize, name: &str, arrange: impl Fn(u32)) -> MeteredWork {
    let mut meters = begin(tier);
    let mut waits = meters.waits(vec![0, 1]).expect("sessions are distinguished");
    let mut programs: Vec<Program> = (0..count).map(|_| start(name)).collect();
    let users = FIRST_USER..FIRST_USER + count as u32;
    let began = monotonic_ns();
    for (user, program) in users.clone().zip(&mut programs) {
        waits.began(user, program.pid());
        program.await_ready();
        arrange(program.pid());
        waits.interaction(user).expect("the program has an account");
    }
    let before: Vec<u64> = users.clone().map(|user| waits.other_ns(user).unwrap()).collect();
    meters.sample(now()).unwrap();
    let mut samples = Vec::new();
    let truths = arranged::go(&mut programs, || samples.push(meters.sample(now()).unwrap()));
    samples.push(meters.sample(now()).unwrap());
    let cpu_ns = |user| {
        let rows = samples.iter().flat_map(|sample| &sample.processes).filter(|row| row.user == Some(user));
        rows.map(|row| row.cpu_ns).sum()
    };
    let metered_program = |((user, truth), before)| MeteredProgram {
        truth,
        waited: waits.interaction(user).unwrap(),
        other_ns: waits.other_ns(user).unwrap() - before,
        cpu_ns: cpu_ns(user),
        watched_ns: monotonic_ns() - began,
    };
    let programs = users.zip(truths).zip(before).map(metered_program).collect();
    let work = MeteredWork { programs, time: by_category(&samples[0]) };
    eprintln!("{tier:?} {work:?}");
    work
}

impl MeteredProgram {
    /// Time neither on a processor nor ready for one, by its own measurement.
    fn blocked_ns(&self) -> u64 {
        self.truth.wall_ns - self.truth.cpu_ns - self.truth.ready_ns
    }

    fn all_waits(&self) -> u64 {
        self.waited.paging_ns + self.waited.io_ns + self.other_ns
    }
}

impl MeteredWork {
    fn time_in(&self, categories: &[&str]) -> u64 {
        categories.iter().filter_map(|category| self.time.get(category)).sum()
    }

    /// Asserts the cause of idle time. As many tasks wait as there are processors, so each idle processor is idle for one of them. Its cause
    /// is `category`, a cause that comes before it, or a wake-up under way.
    fn assert_idle_for(&self, category: &str) {
        const CAUSES: [&str; 5] = ["idle loading", "idle not eligible", "idle governed", "idle page wait", "idle disk wait"];
        let index = CAUSES.iter().position(|cause| *cause == category).expect("it is a cause");
        let all: u64 = self.time.values().sum();
        let idle: u64 = self.time.iter().filter(|(name, _)| name.starts_with("idle ")).map(|(_, time_ns)| time_ns).sum();
        let explained = self.time_in(&CAUSES[..=index]) + self.time_in(&["idle dispatch"]);
        assert!((idle - explained) * 100 <= all * 3, "{category}: {self:?}");
    }
}

fn assert_within(measured: u64, truth: u64, percent: u64, reference: &str) {
    assert!(measured.abs_diff(truth) * 100 <= truth * percent, "{reference}: {measured} measured, {truth} in truth");
}

#[test]
fn arranged_program() {
    arranged::run_program();
}

#[test]
fn every_processors_categories_add_up_to_the_span_at_every_reading() {
    let _alone = alone();
    for tier in BOTH_TIERS {
        let mut meters = begin(tier);
        for _ in 0..300 {
            let sample = meters.sample(now()).unwrap();
            let mut sums = BTreeMap::<_, u64>::new();
            for row in &sample.time {
                *sums.entry(row.processor).or_default() += row.time_ns;
            }
            let span_ns = sample.time[0].span_ns;
            assert_eq!(sums.into_values().collect::<Vec<_>>(), vec![span_ns; processors()]);
        }
    }
}

/// Lets a program wait for slow reads on each processor. Asserts that `waited` is the time blocked and nearly all waits of each program.
fn waits_for_reads(name: &str, category: &str, waited: impl Fn(&MeteredProgram) -> u64) {
    let _alone = alone();
    for tier in BOTH_TIERS {
        let slow = Group::with_slow_reads(folder(), READS_PER_SECOND);
        let work = metered(tier, processors(), name, |pid| slow.add(pid));
        for program in &work.programs {
            assert_within(waited(program), program.blocked_ns(), 3, "blocked");
            assert_within(waited(program), program.all_waits(), 3, "among all waits");
        }
        work.assert_idle_for(category);
    }
}

#[test]
fn programs_that_touch_cold_pages_wait_for_pages() {
    waits_for_reads("pages", "idle page wait", |program| program.waited.paging_ns);
}

#[test]
fn programs_that_read_past_the_cache_wait_for_the_disk() {
    waits_for_reads("reads", "idle disk wait", |program| program.waited.io_ns);
}

#[test]
fn programs_beyond_their_quota_are_governed() {
    let _alone = alone();
    for tier in BOTH_TIERS {
        let quota = Group::with_a_fifth();
        let work = metered(tier, processors(), "spin", |pid| quota.add(pid));
        for program in &work.programs {
            // The kernel counts throttled time as ready. The account also has the time throttled after the work.
            let off_ns = program.other_ns + program.waited.ready_ns;
            assert!(off_ns * 100 >= program.truth.ready_ns * 97, "{program:?}");
            assert!(off_ns + program.cpu_ns <= program.watched_ns, "{program:?}");
        }
        work.assert_idle_for("idle governed");
    }
}

/// The kernel counts a group as throttled from the moment at which its quota is used up. A program that then waits for its processor
/// is ready to the meters until the scheduler takes it off. On a quiet host that is next to nothing.
#[test]
fn a_program_alone_is_governed_at_least_as_long_as_the_kernel_says() {
    let _alone = alone();
    for tier in BOTH_TIERS {
        let quota = Group::with_a_fifth();
        let work = metered(tier, 1, "spin", |pid| quota.add(pid));
        let MeteredProgram { other_ns, waited, .. } = work.programs[0];
        let held_ns = other_ns + waited.ready_ns;
        assert!(held_ns * 103 >= quota.throttled_ns() * 100, "{work:?} throttled {}", quota.throttled_ns());
    }
}

/// The program never sleeps: unless it is ready, it is on a processor, or its processor is stolen. The kernel and the meters charge time
/// that is stolen during a switch to different tasks. Either task may be the program.
#[test]
fn a_programs_processor_time_is_as_it_measures() {
    let _alone = alone();
    for tier in BOTH_TIERS {
        let stolen = stolen_ns();
        let work = metered(tier, 1, "spin-long", |_| ());
        let stolen_ns = stolen_since(stolen);
        let MeteredProgram { truth, cpu_ns, .. } = work.programs[0];
        let on_ns = truth.wall_ns - truth.ready_ns;
        assert!((cpu_ns + stolen_ns) * 100 >= on_ns * 99, "stolen {stolen_ns}: {work:?}");
        assert!(cpu_ns * 100 <= on_ns * 101 + stolen_ns * 100, "stolen {stolen_ns}: {work:?}");
    }
}
