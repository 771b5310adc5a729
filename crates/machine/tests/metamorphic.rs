//! Relations between a machine and a changed one, such as the same responses; and machines that cannot work.

use std::sync::Arc;

use crate::models::{self, at_processors, at_store, machine, server};
use loadgo_machine::devices::{BulkSpec, ServerSpec, StoreKind};
use loadgo_machine::draw::AmountLaw;
use loadgo_machine::engine::Engine;
use loadgo_machine::meters::{Category, MachineMeters};
use loadgo_machine::simulate::{self, InteractionSink};
use loadgo_machine::spec::{
    Command, Discipline, EligibilityLimit, HeadwaySpec, Machine, Paging, Population, Replacement, Residence, Store, Swapping,
    SystemTable, WhenTableFull,
};

const MS: u64 = 1_000_000;

/// A machine with demand paging, with this number of frames and users.
fn paged(frames: u32, limit: EligibilityLimit, users: u32) -> Machine {
    let edit = Command { cpu: AmountLaw::Exponential(1e9), pages: AmountLaw::Fixed(60.0), ..Command::without_work("edit") };
    let mut paged = machine(1, Discipline::FirstCome, edit, Population::Closed(users), AmountLaw::Exponential(5e9));
    paged.stores = vec![Store {
        name: "drum".into(),
        kind: StoreKind::Server(ServerSpec { service: AmountLaw::Exponential(1e7), servers: 1 }),
        interrupts: true,
    }];
    paged.supervisor.page_fault = vec![("all".into(), 2 * MS)];
    paged.residence = Residence::Paging(Paging {
        frames,
        wired: 10,
        frame_words: 1024,
        replacement: Replacement::Lru,
        headway: HeadwaySpec::Linear { ns_per_page: 1e6 },
        dirty: 0.3,
        store: 0,
        behind: None,
    });
    Machine { limit, ..paged }
}

/// The responses of `count` interactions of the machine's own load, and the meters.
fn responses(machine: Machine, seed: u64, count: usize) -> (Vec<u64>, MachineMeters) {
    struct Kept(Vec<u64>, usize);
    impl InteractionSink for Kept {
        fn finished(&mut self, _class: usize, _at: u64, response_ns: u64) -> bool {
            self.0.push(response_ns);
            self.0.len() < self.1
        }
    }
    let mut kept = Kept(Vec::new(), count);
    let meters = simulate::run(&Arc::new(machine), seed, &mut kept).unwrap();
    (kept.0, meters)
}

fn paging_of(machine: &mut Machine) -> &mut Paging {
    let Residence::Paging(paging) = &mut machine.residence else { panic!("a machine with demand paging") };
    paging
}

fn mean(values: &[u64]) -> f64 {
    values.iter().map(|value| *value as f64).sum::<f64>() / values.len() as f64
}

#[test]
fn scaling_all_times_scales_every_response() {
    let scaled = |factor: f64| {
        let law = |mean: f64| AmountLaw::Exponential(mean * factor);
        let mut made = models::central_server(20);
        made.load[0].think = law(10e9);
        let stages = &mut made.commands[0].route.as_mut().unwrap().stages;
        stages[0].service = law(0.3e9);
        stages[1].service = law(0.2e9);
        made.processors.discipline = Discipline::RoundRobin { quantum_ns: (1e8 * factor) as u64, switch_ns: 0, dispatch_ns: 0 };
        responses(made, 5, 3_000).0
    };
    for (once, eightfold) in scaled(1.0).iter().zip(scaled(8.0)) {
        assert!((*once as f64 * 8.0 - eightfold as f64).abs() < 2_000.0, "{once} and eight times as long {eightfold}");
    }
}

#[test]
fn a_short_quantum_is_nearly_sharing() {
    let under = |discipline| {
        let work = models::work("job", AmountLaw::Hyperexponential(3e8, 4.0));
        mean(&responses(machine(2, discipline, work, Population::Closed(60), AmountLaw::Exponential(1e10)), 6, 20_000).0)
    };
    let shared = under(Discipline::Sharing);
    let short = under(Discipline::RoundRobin { quantum_ns: MS, switch_ns: 0, dispatch_ns: 0 });
    assert!((short / shared - 1.0).abs() < 0.03, "{short} by turns of a millisecond, {shared} shared");
}

#[test]
fn a_store_with_service_times_of_zero_changes_nothing() {
    let routed = |stages| {
        let edit = models::routed("edit", stages);
        let mut made = machine(2, Discipline::FirstCome, edit, Population::Closed(60), AmountLaw::Exponential(1e10));
        made.stores = vec![server("nothing", 1)];
        responses(made, 7, 20_000).0
    };
    let service = AmountLaw::Exponential(3e8);
    let without = routed(vec![at_processors(service.clone(), &[(1.0, None)])]);
    let within = routed(vec![
        at_store(0, AmountLaw::ZERO, &[(1.0, Some(1))]),
        at_processors(service, &[(1.0, Some(2))]),
        at_store(0, AmountLaw::ZERO, &[(1.0, None)]),
    ]);
    assert_eq!(without, within);
}

#[test]
fn a_limit_of_all_users_is_no_limit() {
    let (free, _) = responses(paged(200, EligibilityLimit::None, 8), 8, 3_000);
    let (limited, meters) = responses(paged(200, EligibilityLimit::Fixed(8), 8), 8, 3_000);
    assert_eq!(free, limited);
    assert_eq!(meters.total_ns(Category::IdleNotEligible), 0);
}

#[test]
fn with_less_memory_there_are_more_faults_and_idle_time_is_page_wait() {
    let (_, roomy) = responses(paged(1_000, EligibilityLimit::None, 8), 9, 2_000);
    let (_, tight) = responses(paged(120, EligibilityLimit::None, 8), 9, 2_000);
    let per = |meters: &MachineMeters| meters.faults[0].count as f64 / meters.interactions as f64;
    assert!(per(&tight) > 2.0 * per(&roomy), "{} with little memory, {} with much", per(&tight), per(&roomy));
    assert_eq!(tight.faults[0].count, tight.command_faults[0]);
    assert!(tight.total_ns(Category::IdlePageWait) > 0 && tight.total_ns(Category::IdleDiskWait) == 0);
    assert!(tight.faults[0].cpu_ns <= tight.total_ns(Category::PageFault));
    assert!(tight.stores[0].requests > tight.faults[0].count, "dirty pages are written");
}

#[test]
fn little_holds_for_the_users_and_for_every_store() {
    let (responses, meters) = responses(models::central_server(40), 10, 200_000);
    let in_hand: f64 = responses.iter().map(|response| *response as f64).sum();
    let active = meters.active.integral_ns as f64;
    assert!(active >= in_hand && active < in_hand * 1.001, "{active} with a command in hand, {in_hand} by their responses");
    let at_processors = meters.ready.integral_ns as f64 + meters.total_ns(Category::User) as f64;
    let at_disk = meters.stores[0].length_ns as f64;
    assert_eq!(at_processors + at_disk, active, "who has a command in hand is at the processors or at the disk");
}

#[test]
fn a_machine_that_cannot_work_is_refused_with_the_reason() {
    let refused = |change: &dyn Fn(&mut Machine), words: &str| {
        let mut made = paged(200, EligibilityLimit::None, 8);
        change(&mut made);
        let reason = Engine::new(&Arc::new(made), 1).expect_err(words).to_string();
        assert!(reason.contains(words), "{reason:?} does not say {words:?}");
    };
    refused(&|made| made.stores.clear(), "no storage that pages come from");
    refused(&|made| made.processors.speed = 0.0, "speed");
    refused(
        &|made| made.processors.discipline = Discipline::RoundRobin { quantum_ns: 0, switch_ns: 0, dispatch_ns: 0 },
        "sharing",
    );
    refused(&|made| made.limit = EligibilityLimit::Fixed(0), "limit of 0");
    refused(&|made| paging_of(made).replacement = Replacement::Equal, "give multiprogramming a `limit`");
    refused(&|made| paging_of(made).wired = 200, "lower `wired`");
    refused(&|made| paging_of(made).headway = HeadwaySpec::Linear { ns_per_page: 0.0 }, "raise the headway");
    refused(&|made| paging_of(made).headway = HeadwaySpec::Chamberlin { b_ns: 1e6, c_pages: 1e5 }, "raise the headway");
    refused(&|made| paging_of(made).headway = HeadwaySpec::Linear { ns_per_page: f64::NAN }, "raise the headway");
    refused(&|made| paging_of(made).headway = HeadwaySpec::Curve(vec![(9.0, 1e6), (9.0, 2e6)]), "rise in pages");
    refused(
        &|made| {
            made.supervisor.table = Some(SystemTable { entries: 19, per_user: 20, full: WhenTableFull::Take });
        },
        "raise `entries`",
    );
    refused(&|made| made.load[0].population = Population::Open(f64::NAN), "`arrivals` is above 0");
    refused(&|made| made.load[0].think = AmountLaw::Exponential(f64::INFINITY), "think time");
    refused(&|made| made.commands[0].cpu = AmountLaw::Fixed(f64::NAN), "`cpu` of command \"edit\"");
    refused(
        &|made| {
            let stages = vec![at_processors(AmountLaw::Fixed(1e6), &[(f64::NAN, Some(0)), (1.0, None)])];
            made.commands[0] = models::routed("nowhere", stages);
        },
        "weight below 0",
    );
    refused(
        &|made| made.stores[0].kind = StoreKind::Bulk(BulkSpec { access_ns: 1, words_per_second: Some(f64::NAN), channels: 1 }),
        "`words_per_second` is above 0",
    );
    refused(
        &|made| {
            made.residence =
                Residence::Swapping(Swapping { words: 1_000, store: 0, first: None, conditions_words: 0, onion_skin: true });
            made.commands[0].image_words = AmountLaw::Fixed(2_000.0);
        },
        "can never run",
    );
    refused(
        &|made| {
            let stages = vec![at_processors(AmountLaw::Fixed(1e6), &[(1.0, Some(0))])];
            made.commands[0] = models::routed("for ever", stages);
        },
        "never ends",
    );
}

#[test]
fn a_load_beyond_the_machines_capacity_ends_the_run_with_the_reason() {
    struct Endless;
    impl InteractionSink for Endless {
        fn finished(&mut self, _class: usize, _at: u64, _response_ns: u64) -> bool {
            true
        }
    }
    let work = models::work("job", AmountLaw::Exponential(1e9));
    let open = machine(1, Discipline::FirstCome, work, Population::Open(50.0), AmountLaw::ZERO);
    let reason = simulate::run(&Arc::new(open), 1, &mut Endless).unwrap_err().to_string();
    assert!(reason.contains("faster than it can answer"), "{reason}");
    let nothing = machine(1, Discipline::FirstCome, Command::without_work("nothing"), Population::Closed(3), AmountLaw::ZERO);
    let reason = simulate::run(&Arc::new(nothing), 1, &mut Endless).unwrap_err().to_string();
    assert!(reason.contains("no time passes"), "{reason}");
}
