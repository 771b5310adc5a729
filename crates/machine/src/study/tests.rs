//! Studies of a machine repairman: the same figures on any number of threads, laws kept, and an end in every case.

use super::*;
use crate::draw::AmountLaw;
use crate::spec::*;
use loadgo_core::stop::StopRequest;

/// Users who think for 10 s and then ask a processor for 0.3 s.
fn repairman(users: u32) -> Arc<Machine> {
    let seconds = 1e9;
    let command = Command { cpu: AmountLaw::Exponential(0.3 * seconds), ..Command::without_work("work") };
    let class = UserClass {
        name: "terminals".into(),
        population: Population::Closed(users),
        think: AmountLaw::Exponential(10.0 * seconds),
        commands: vec![0],
    };
    Arc::new(Machine {
        title: "a machine repairman".into(),
        source: "a textbook".into(),
        processors: ProcessorSpec {
            count: 1,
            speed: 1.0,
            instructions_per_second: None,
            discipline: Discipline::FirstCome,
            cpu_when_busy: None,
        },
        residence: Residence::Everything,
        limit: EligibilityLimit::None,
        stores: Vec::new(),
        supervisor: Supervisor::default(),
        tariff: Vec::new(),
        paging_wait_hour: 0.0,
        commands: vec![command],
        any_command: None,
        load: vec![class],
        fit: None,
    })
}

fn subject(seed: u64) -> StudySubject {
    StudySubject { machine: repairman(34), seed }
}

fn studied(seed: u64, streams: usize, until: &str) -> Report {
    study(&subject(seed), streams, &StopRule::parse(until).unwrap(), &StopRequest::default()).unwrap()
}

#[test]
fn a_study_ends_when_every_figure_is_precise_enough_and_holds_the_exact_answer() {
    let report = studied(1, 1, "precision(mean)=2%");
    let mean = report.all.mean.unwrap();
    assert_eq!(report.end, StopReason::Precision);
    assert!(mean.relative() <= 0.02 && (mean.value / 1.522_190_564e9 - 1.0).abs() < 0.03, "{mean:?}");
    assert!((report.stations[0].utilisation.unwrap().unwrap().value - 0.885_248).abs() < 0.02);
    let (active, little) = (report.active.unwrap().value, report.little.unwrap().value);
    let rate = report.all.throughput.unwrap().value;
    assert!((active / (rate * mean.value) - 1.0).abs() < 0.01 && (little / mean.value - 1.0).abs() < 0.01, "Little's law");
    assert!((report.time.iter().map(|(_, share)| share.unwrap().value).sum::<f64>() - 1.0).abs() < 1e-12, "100 %");
}

#[test]
fn several_streams_are_narrower_and_the_same_each_time() {
    let (one, four) = (studied(1, 1, "interactions=30000"), studied(1, 4, "interactions=120000"));
    assert_eq!(four, studied(1, 4, "interactions=120000"));
    assert_eq!(four.interactions, 120_000);
    assert!(four.all.mean.unwrap().half_width < one.all.mean.unwrap().half_width);
}

#[test]
fn a_sweep_is_its_studies_on_any_number_of_threads() {
    let subjects: Vec<StudySubject> = (0..9).map(subject).collect();
    let until = StopRule::parse("interactions=5000").unwrap();
    let run = |threads| sweep(&subjects, threads, &until, &StopRequest::default());
    let (one, three) = (run(1), run(3));
    assert_eq!(one, three);
    assert_eq!(one[4], Ok(studied(4, 1, "interactions=5000")));
    assert_ne!(one[4], one[5]);
}

#[test]
fn a_length_in_time_and_a_most_of_interactions_end_a_study() {
    let report = studied(3, 1, "time=1h");
    assert_eq!((report.end, report.simulated_ns), (StopReason::Length, 3_600_000_000_000));
    assert_eq!(studied(3, 1, "interactions=25000, precision(mean)=0.01%").end, StopReason::LimitReached);
    assert_eq!(studied(3, 1, "interactions=7").interactions, 7);
}

#[test]
fn a_study_of_a_given_time_ends_then_though_nothing_is_finished() {
    let mut slow = (*repairman(3)).clone();
    slow.processors.speed = 1e-9;
    let subject = StudySubject { machine: Arc::new(slow), seed: 1 };
    let report = study(&subject, 2, &StopRule::parse("time=10h").unwrap(), &StopRequest::default()).unwrap();
    assert_eq!((report.end, report.interactions), (StopReason::Length, 0));
    assert_eq!(report.simulated_ns, 2 * 36_000_000_000_000, "of both streams");
}

#[test]
fn a_study_that_is_stopped_tells_what_there_was() {
    let until = StopRule::parse("interactions=1e12").unwrap();
    let stop = StopRequest::default();
    stop.set();
    let report = study(&subject(1), 2, &until, &stop).unwrap();
    assert_eq!(report.end, StopReason::Stopped);
    assert!(report.interactions > 0);
}

#[test]
fn a_machine_without_a_load_says_so() {
    let mut machine = (*repairman(1)).clone();
    machine.load.clear();
    let until = StopRule::parse("time=1s").unwrap();
    let told = study(&StudySubject { machine: Arc::new(machine), seed: 1 }, 1, &until, &StopRequest::default());
    assert!(told.unwrap_err().to_string().contains("load"), "it names what is missing");
}
