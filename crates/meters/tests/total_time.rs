//! Total time on this host: it adds up, and who waits is known by what was arranged. For root.

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

const BOTH: [Tier; 2] = [Tier::Cheap, Tier::Exact];
const FIRST_USER: u32 = 7;

/// One at a time: who waits in one test is nobody's idle in another.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn begin(tier: Tier) -> Meters {
    let wanted = MeterRequest { tier, accounts: 8, commands: Vec::new(), profile_hz: None, segments: false };
    Meters::begin(&wanted, now()).unwrap_or_else(|why| panic!("these tests need root: {why}"))
}

fn now() -> Instant {
    Instant(monotonic_ns())
}

fn processors() -> usize {
    aya::util::online_cpus().expect("the kernel tells").len()
}

fn by_category(sample: &MeterRows) -> BTreeMap<&'static str, u64> {
    let mut sums = BTreeMap::new();
    for row in &sample.time {
        *sums.entry(row.category).or_default() += row.time_ns;
    }
    sums
}

/// A program under the meters: its own truth, what its account says, and what the system's says.
#[derive(Debug)]
struct Worked {
    truth: Truth,
    waited: Waited,
    other_ns: u64,
    cpu_ns: u64,
    /// How long its account was watched, which is a little longer than it worked.
    watched_ns: u64,
}

/// Programs that worked at the same time, and the processors' time while all of them did.
#[derive(Debug)]
struct Found {
    programs: Vec<Worked>,
    time: BTreeMap<&'static str, u64>,
}

/// Has so many programs of this kind work under the meters.
fn metered(tier: Tier, count: usize, what: &str, arrange: impl Fn(u32)) -> Found {
    let mut meters = begin(tier);
    let mut waits = meters.waits(vec![0, 1]).expect("sessions are told apart");
    let mut programs: Vec<Program> = (0..count).map(|_| start(what)).collect();
    let users = FIRST_USER..FIRST_USER + count as u32;
    let began = monotonic_ns();
    for (user, program) in users.clone().zip(&mut programs) {
        waits.began(user, program.pid());
        program.ready();
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
    let of_one = |((user, truth), before)| Worked {
        truth,
        waited: waits.interaction(user).unwrap(),
        other_ns: waits.other_ns(user).unwrap() - before,
        cpu_ns: cpu_ns(user),
        watched_ns: monotonic_ns() - began,
    };
    let found = Found { programs: users.zip(truths).zip(before).map(of_one).collect(), time: by_category(&samples[0]) };
    eprintln!("{tier:?} {found:?}");
    found
}

impl Worked {
    /// Neither on a processor nor ready for one, by its own measure.
    fn blocked_ns(&self) -> u64 {
        self.truth.wall_ns - self.truth.cpu_ns - self.truth.ready_ns
    }

    fn all_waits(&self) -> u64 {
        self.waited.paging_ns + self.waited.io_ns + self.other_ns
    }
}

impl Found {
    fn of(&self, categories: &[&str]) -> u64 {
        categories.iter().filter_map(|category| self.time.get(category)).sum()
    }

    /// Asserts the cause of idle time. As many tasks wait as there are processors, so each idle processor is idle for them. Its cause is
    /// `category`, one that is asked first, or a wake-up under way.
    fn assert_idle_for(&self, category: &str) {
        const CAUSES: [&str; 5] = ["idle loading", "idle not eligible", "idle governed", "idle page wait", "idle disk wait"];
        let asked = CAUSES.iter().position(|cause| *cause == category).expect("it is a cause");
        let all: u64 = self.time.values().sum();
        let idle: u64 = self.time.iter().filter(|(name, _)| name.starts_with("idle ")).map(|(_, time_ns)| time_ns).sum();
        let told = self.of(&CAUSES[..=asked]) + self.of(&["idle dispatch"]);
        assert!((idle - told) * 100 <= all * 3, "{category}: {self:?}");
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
    let _alone = alone();
    for tier in BOTH {
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

/// Has programs wait for slow reads, as many as there are processors; each waits as `waited` says, and for nothing else.
fn waits_for_reads(what: &str, category: &str, waited: impl Fn(&Worked) -> u64) {
    let _alone = alone();
    for tier in BOTH {
        let slow = Group::of_slow_reads(folder(), READS_PER_SECOND);
        let found = metered(tier, processors(), what, |pid| slow.holds(pid));
        for program in &found.programs {
            assert_within(waited(program), program.blocked_ns(), 3, "blocked");
            assert_within(waited(program), program.all_waits(), 3, "among all waits");
        }
        found.assert_idle_for(category);
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
    for tier in BOTH {
        let quota = Group::of_a_fifth();
        let found = metered(tier, processors(), "spin", |pid| quota.holds(pid));
        for program in &found.programs {
            // The kernel's own count of its being ready has its being held back in it; and that it is after its work, too.
            let off_ns = program.other_ns + program.waited.ready_ns;
            assert!(off_ns * 100 >= program.truth.ready_ns * 97, "{program:?}");
            assert!(off_ns + program.cpu_ns <= program.watched_ns, "{program:?}");
        }
        found.assert_idle_for("idle governed");
    }
}

#[test]
fn what_holds_back_a_program_alone_is_as_long_as_the_kernel_says() {
    let _alone = alone();
    for tier in BOTH {
        let quota = Group::of_a_fifth();
        let found = metered(tier, 1, "spin", |pid| quota.holds(pid));
        let other_ns = found.programs[0].other_ns;
        assert!(other_ns * 103 >= quota.held_back_ns() * 100, "{found:?} held back {}", quota.held_back_ns());
    }
}

/// The program never sleeps: unless it is ready, it is on a processor, including stolen time. Stolen time during a switch is charged to
/// one task by the kernel and to the other by the meters; the program may be either.
#[test]
fn a_programs_processor_time_is_its_own_measure() {
    let _alone = alone();
    for tier in BOTH {
        let stolen = stolen_ns();
        let found = metered(tier, 1, "spin-long", |_| ());
        let stolen_ns = stolen_since(stolen);
        let Worked { truth, cpu_ns, .. } = found.programs[0];
        let on_ns = truth.wall_ns - truth.ready_ns;
        assert!((cpu_ns + stolen_ns) * 100 >= on_ns * 99, "stolen {stolen_ns}: {found:?}");
        assert!(cpu_ns * 100 <= on_ns * 101 + stolen_ns * 100, "stolen {stolen_ns}: {found:?}");
    }
}
