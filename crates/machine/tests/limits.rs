//! Users with limits on a whole machine: what each gets, waits for and is told, to the nanosecond.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::discipline::MS;
use crate::discipline::bare::{attach_users, machine};
use crate::discipline::interaction;
use loadgo_core::record::LimitCounts;
use loadgo_core::system::{Usage, UserId};
use loadgo_machine::devices::{ServerSpec, StoreKind};
use loadgo_machine::disciplines::CandidateFacts;
use loadgo_machine::draw::AmountLaw;
use loadgo_machine::engine::{Engine, EngineEvent};
use loadgo_machine::limits::{UserLimit, UserLimits};
use loadgo_machine::meters::Category;
use loadgo_machine::spec::{Command, Discipline, Machine, Store, TenexQueue};

const SECOND: u64 = 1_000 * MS;
const LINUX: Discipline = Discipline::Linux { slice_ns: 3 * MS, tick_ns: 0, switch_ns: 0, packs: false };

fn quota(cpus: f64) -> UserLimits {
    UserLimits { everybody: UserLimit { cpus: Some(cpus), nice: None }, single: BTreeMap::new() }
}

/// A machine with one command, of so much work.
fn working(discipline: Discipline, count: u32, work_ns: u64) -> Machine {
    let mut made = machine(discipline, &[interaction(0, work_ns, CandidateFacts::default())]);
    made.processors.count = count;
    made
}

/// The machine with users who have logged in.
fn limited(made: Machine, limits: UserLimits, users: u32) -> Engine {
    let mut engine = Engine::limited(&Arc::new(made), 1, limits).expect("the machine works");
    attach_users(&mut engine, users);
    engine
}

/// An answered command: when it began and ended, and what it used.
#[derive(Clone, Copy, Debug)]
struct Answered {
    began: u64,
    at: u64,
    usage: Usage,
}

/// Lets all users give command 0 without a pause until `until`. Returns the answers by user.
fn busy_until(engine: &mut Engine, users: u32, until: u64) -> Vec<Vec<Answered>> {
    let mut answers = vec![Vec::new(); users as usize];
    let mut began = vec![engine.now(); users as usize];
    (1..=users).for_each(|user| engine.begin(user, 0, &[]));
    while let Some(EngineEvent::Ready { user, at, answer }) = engine.advance(Some(until)) {
        let index = user as usize - 1;
        answers[index].push(Answered { began: std::mem::replace(&mut began[index], at), at, usage: answer.usage });
        engine.begin(user, 0, &[]);
    }
    answers
}

fn of(engine: &Engine, user: UserId) -> LimitCounts {
    engine.limit_costs()[user as usize - 1].1
}

fn cpu_ns(engine: &Engine, user: UserId) -> u64 {
    of(engine, user).cpu_ns.expect("processor time is always counted")
}

/// Asserts that work, waits and steps are all of each response.
fn assert_whole(answers: &[Vec<Answered>]) {
    for Answered { began, at, usage } in answers.iter().flatten() {
        let parts = [usage.cpu_user_ns, usage.cpu_system_ns, usage.ready_wait_ns, usage.paging_wait_ns, usage.io_wait_ns];
        assert_eq!(parts.into_iter().flatten().sum::<u64>(), at - began);
    }
}

#[test]
fn one_process_with_three_tenths_runs_for_30_ms_and_waits_for_70() {
    let mut engine = limited(working(LINUX, 1, 30 * MS), quota(0.3), 1);
    let answers = busy_until(&mut engine, 1, 10 * SECOND);
    assert_whole(&answers);
    // The first period begins before the first command, at an instant that is drawn.
    for Answered { began, at, usage } in &answers[0][2..] {
        assert_eq!((at - began, usage.cpu_user_ns, usage.ready_wait_ns), (100 * MS, Some(30 * MS), Some(70 * MS)));
    }
    let (costs, meters) = (of(&engine, 1), engine.meters());
    assert_eq!(costs.cpu_ns, Some(meters.total_ns(Category::User)));
    assert_eq!(costs.throttled_ns, Some(meters.total_ns(Category::IdleGoverned)));
    assert_eq!(costs.cpu_ns.unwrap() + costs.throttled_ns.unwrap(), meters.at);
    assert!((100..=101).contains(&costs.periods.unwrap()), "{costs:?}");
    assert!((99..=101).contains(&costs.throttled_periods.unwrap()), "{costs:?}");
}

#[test]
fn under_each_discipline_users_get_their_quota_and_the_rest_idles() {
    let queues = || {
        vec![
            TenexQueue { quantum_ns: 100 * MS, base: 1000.0, shift: 0 },
            TenexQueue { quantum_ns: 400 * MS, base: 3000.0, shift: 1 },
        ]
    };
    let disciplines = [
        Discipline::FirstCome,
        Discipline::RoundRobin { quantum_ns: 10 * MS, switch_ns: 0, dispatch_ns: 0 },
        Discipline::Priority { preemptive: true },
        Discipline::Ctss { quantum_ns: 16 * MS, words_per_quantum: 120, levels: 9, rise_ns: 0 },
        Discipline::Multics { first_ns: 2 * SECOND, last_ns: 2 * SECOND, most_ns: 8 * SECOND },
        Discipline::Tenex { queues: queues(), credit_ns: 100 * MS },
        LINUX,
    ];
    for discipline in disciplines {
        // Commands of 700 ms: each takes parts of many periods, and of several turns.
        let mut engine = limited(working(discipline.clone(), 1, 700 * MS), quota(0.2), 3);
        assert_whole(&busy_until(&mut engine, 3, 20 * SECOND));
        let meters = engine.meters();
        for user in 1..=3 {
            let cpu_ms = cpu_ns(&engine, user) / MS;
            assert!((3_980..=4_020).contains(&cpu_ms), "{discipline:?}: {cpu_ms} ms of 4 s");
        }
        assert_eq!(meters.total_ns(Category::IdleZero), 0, "{discipline:?}");
        assert_eq!(meters.total_ns(Category::User) + meters.total_ns(Category::IdleGoverned), meters.at, "{discipline:?}");
    }
}

#[test]
fn on_several_processors_each_user_has_the_quota_alone() {
    let mut engine = limited(working(LINUX, 2, 100 * MS), quota(0.5), 3);
    assert_whole(&busy_until(&mut engine, 3, 10 * SECOND));
    let meters = engine.meters();
    for user in 1..=3 {
        let cpu_ms = cpu_ns(&engine, user) / MS;
        assert!((4_950..=5_050).contains(&cpu_ms), "{cpu_ms} ms of 5 s");
    }
    // Two processors idle while three processes are throttled; one of them idles while two are.
    assert_eq!(meters.total_ns(Category::IdleGoverned), 2 * meters.at - meters.total_ns(Category::User));
}

#[test]
fn users_share_by_the_weight_of_their_group_whatever_the_nice_value_of_the_command() {
    let mut made = working(LINUX, 1, 50 * MS);
    made.commands[0].nice = 19;
    let nice = |nice| UserLimit { cpus: None, nice: Some(nice) };
    let limits = UserLimits { everybody: nice(0), single: BTreeMap::from([(2, nice(5))]) };
    let mut engine = limited(made, limits, 2);
    assert_whole(&busy_until(&mut engine, 2, 13_590 * MS));
    // Weights 1024 and 335.
    let (all, low) = (cpu_ns(&engine, 1) as f64 / 1e9, cpu_ns(&engine, 2) as f64 / 1e9);
    assert!((all - 10.24).abs() < 0.02 && (low - 3.35).abs() < 0.02, "{all} s and {low} s");
    assert_eq!((of(&engine, 1).periods, of(&engine, 1).throttled_ns), (None, None), "nobody has a quota");
}

#[test]
fn a_switch_that_takes_longer_than_the_quota_still_lets_its_user_work() {
    let discipline = Discipline::RoundRobin { quantum_ns: 20 * MS, switch_ns: 0, dispatch_ns: 3 * MS };
    let mut engine = limited(working(discipline, 1, 10 * MS), quota(0.02), 1);
    let answers = busy_until(&mut engine, 1, 10 * SECOND);
    assert_whole(&answers);
    // Five periods of 2 ms for each command.
    assert!((19..=20).contains(&answers[0].len()), "{} commands", answers[0].len());
    let meters = engine.meters();
    assert_eq!(cpu_ns(&engine, 1), meters.total_ns(Category::User) + meters.total_ns(Category::Getwork));
}

#[test]
fn a_step_over_the_quota_is_a_debt() {
    // Each command crosses a wall for 25 ms after half of its 10 ms of work: 35 ms of processor time.
    let mut made = working(LINUX, 1, 10 * MS);
    made.commands[0].wall_crossings = AmountLaw::Fixed(1.0);
    made.supervisor.wall_crossing_ns = 25 * MS;
    let mut engine = limited(made, quota(0.1), 1);
    let answers = busy_until(&mut engine, 1, 70 * SECOND);
    assert_whole(&answers);
    // 200 commands take 7 s of processor time, and so 70 s.
    assert!((198..=202).contains(&answers[0].len()), "{} commands", answers[0].len());
    let longest = answers[0].iter().map(|answered| answered.at - answered.began).max();
    assert!(longest <= Some(500 * MS), "{longest:?}: the debt of a step is at most three periods");
    assert_eq!(cpu_ns(&engine, 1), engine.meters().total_ns(Category::User) + engine.meters().total_ns(Category::WallCrossing));
}

#[test]
fn a_wait_for_a_device_is_no_throttling_and_a_process_that_comes_back_without_quota_waits_for_it() {
    // 5 ms of work, 40 ms of the disk, 5 ms of work. A quota of 5 ms a period: one part of the work in each period.
    let mut made = working(LINUX, 1, 10 * MS);
    made.commands = vec![Command { requests: vec![(0, AmountLaw::Fixed(1.0))], ..made.commands[0].clone() }];
    let disk = StoreKind::Server(ServerSpec { service: AmountLaw::Fixed(40.0 * MS as f64), servers: 1 });
    made.stores = vec![Store { name: "disk".into(), kind: disk, interrupts: false }];
    let mut engine = limited(made, quota(0.05), 1);
    let answers = busy_until(&mut engine, 1, 10 * SECOND);
    assert_whole(&answers);
    for Answered { began, at, usage } in &answers[0][2..] {
        assert_eq!(at - began, 200 * MS);
        assert_eq!((usage.cpu_user_ns, usage.io_wait_ns, usage.ready_wait_ns), (Some(10 * MS), Some(40 * MS), Some(150 * MS)));
    }
    let (meters, costs) = (engine.meters(), of(&engine, 1));
    assert_eq!(costs.throttled_ns, Some(meters.total_ns(Category::IdleGoverned)));
    let idle_ns = meters.total_ns(Category::IdleGoverned) + meters.total_ns(Category::IdleDiskWait);
    assert_eq!(meters.total_ns(Category::User) + idle_ns, meters.at);
}

#[test]
fn only_users_with_a_limit_are_held() {
    let hog = UserLimit { cpus: Some(0.25), nice: None };
    let limits = UserLimits { everybody: UserLimit::default(), single: BTreeMap::from([(1, hog)]) };
    let mut engine = limited(working(LINUX, 1, 50 * MS), limits, 2);
    busy_until(&mut engine, 2, 20 * SECOND);
    let (held, free) = (cpu_ns(&engine, 1) as f64 / 1e9, cpu_ns(&engine, 2) as f64 / 1e9);
    assert!((held - 5.0).abs() < 0.05 && (held + free - 20.0).abs() < 1e-9, "{held} s and {free} s");
    assert!(of(&engine, 1).throttled_ns > Some(0));
    assert_eq!(of(&engine, 2).periods, None);
}

#[test]
fn a_quota_of_a_processor_holds_nobody_back_and_is_counted() {
    let mut engine = limited(working(LINUX, 1, 50 * MS), quota(1.0), 2);
    busy_until(&mut engine, 2, SECOND);
    let costs = of(&engine, 1);
    assert_eq!((costs.throttled_periods, costs.throttled_ns), (Some(0), Some(0)));
    assert!((10..=11).contains(&costs.periods.unwrap()), "{costs:?}");
}

#[test]
fn a_command_that_is_given_up_while_its_user_is_throttled_leaves_the_debt_and_the_refill() {
    let mut engine = limited(working(LINUX, 1, 500 * MS), quota(0.1), 1);
    engine.begin(1, 0, &[]);
    assert_eq!(engine.advance(Some(50 * MS)), None);
    // The quota of 10 ms, or of two periods, is used up.
    let used = cpu_ns(&engine, 1);
    assert!(used == 10 * MS || (used > 10 * MS && used <= 20 * MS), "{used}");
    engine.abandon(1);
    assert!(matches!(engine.advance(Some(50 * MS)), Some(EngineEvent::Ready { at, .. }) if at == 50 * MS));
    engine.begin(1, 0, &[]);
    assert_eq!(engine.advance(Some(51 * MS)), None);
    assert!(cpu_ns(&engine, 1) <= used + MS, "a new command has no new quota");
    assert_eq!(engine.advance(Some(SECOND)), None);
    let per_period = cpu_ns(&engine, 1) / MS;
    assert!((95..=110).contains(&per_period), "{per_period} ms in a second");
    engine.detach(1);
    assert_eq!(engine.advance(None), None);
    let costs = of(&engine, 1);
    assert_eq!(costs.throttled_ns.unwrap() + costs.cpu_ns.unwrap(), SECOND);
}

#[test]
fn limits_that_a_discipline_does_not_know_are_refused_with_what_would_help() {
    let refused = |discipline, limit| {
        let limits = UserLimits { everybody: UserLimit::default(), single: BTreeMap::from([(3, limit)]) };
        let reason = Engine::limited(&Arc::new(working(discipline, 1, MS)), 1, limits).map(|_| ()).expect_err("it is refused");
        reason.to_string()
    };
    let round_robin = Discipline::RoundRobin { quantum_ns: MS, switch_ns: 0, dispatch_ns: 0 };
    let nice = UserLimit { cpus: None, nice: Some(5) };
    assert!(refused(round_robin, nice).contains("processors.discipline=linux"));
    let cpus = |cpus| UserLimit { cpus: Some(cpus), nice: None };
    assert!(refused(Discipline::Sharing, cpus(0.5)).contains("round-robin"));
    assert!(refused(LINUX, cpus(0.0)).contains("lets nobody run"));
    assert!(refused(LINUX, cpus(f64::NAN)).contains("lets nobody run"));
}
