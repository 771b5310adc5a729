//! Demand paging, compared with a model of each single page and with the headway law; and that no frame is lost or made.

use crate::page_by_page::{Direct, Law};
use loadgo_core::random::{RandomStream, StreamPurpose};
use loadgo_machine::frames::Frames;
use loadgo_machine::spec::{BackingStore, HeadwaySpec, Paging, Replacement};
use proptest::prelude::*;

const MS: f64 = 1e6;

fn linear(pages: f64) -> f64 {
    MS * pages
}

fn chamberlin(pages: f64) -> f64 {
    2.0 * 100.0 * MS / (1.0 + (40.0 / pages) * (40.0 / pages))
}

fn stream(user: u32) -> RandomStream {
    RandomStream::new(11, user, StreamPurpose::Work)
}

fn paging(frames: u32, replacement: Replacement, headway: HeadwaySpec) -> Paging {
    Paging { frames, wired: 0, frame_words: 1024, replacement, headway, dirty: 0.3, store: 0, behind: None }
}

fn in_ms(law: Law) -> HeadwaySpec {
    if law(1.0) == linear(1.0) {
        HeadwaySpec::Linear { ns_per_page: MS }
    } else {
        HeadwaySpec::Chamberlin { b_ns: 100.0 * MS, c_pages: 40.0 }
    }
}

/// Random turns of processes: the process, its work, and the pause before. `means` has each process's mean work (ms) and weight.
fn schedule(means: &[(f64, f64)], turns: usize) -> Vec<(usize, u64, u64)> {
    let stream = &mut stream(99);
    let all: f64 = means.iter().map(|(_, weight)| weight).sum();
    let turn = |_| {
        let mut luck = stream.unit() * all;
        let who = means.iter().position(|(_, weight)| {
            luck -= weight;
            luck < 0.0
        });
        let who = who.unwrap_or(0);
        (who, (means[who].0 * MS * stream.exponential()) as u64, (5.0 * MS * stream.exponential()) as u64)
    };
    (0..turns).map(turn).collect()
}

/// Faults of each process, and the mean number of pages that it held at the ends of turns.
type FaultsAndPages = (Vec<f64>, Vec<f64>);

fn followed(law: Law, frames: u32, pages: &[u32], turns: &[(usize, u64, u64)]) -> FaultsAndPages {
    let mut direct = Direct::new(law, frames as usize, pages);
    let (mut now, stream, mut held) = (0, &mut stream(1), vec![0.0; pages.len()]);
    for (who, work, pause) in turns {
        now += pause;
        direct.work(*who, now, *work, stream);
        now += work;
        (0..pages.len()).for_each(|pid| held[pid] += f64::from(direct.held(pid)) / turns.len() as f64);
    }
    (direct.faults(), held)
}

/// Lets `pid` work for `left` ns. Returns the number of its faults.
fn work(model: &mut Frames, pid: u32, mut left: u64, now: &mut u64, stream: &mut RandomStream) -> f64 {
    let mut faults = 0.0;
    loop {
        let fault = model.work_to_fault(pid, stream).filter(|work| *work <= left);
        let work = fault.unwrap_or(left);
        *now += work;
        left -= work;
        model.ran(pid, work, *now);
        if fault.is_none() {
            return faults;
        }
        model.fault(pid, *now, stream);
        faults += 1.0;
    }
}

fn modelled(model: &mut Frames, pages: &[u32], turns: &[(usize, u64, u64)]) -> FaultsAndPages {
    let (mut now, stream) = (0, &mut stream(2));
    let (mut faults, mut held) = (vec![0.0; pages.len()], vec![0.0; pages.len()]);
    (0..pages.len()).for_each(|pid| model.begin(pid as u32, pages[pid], 1.0, true, 0));
    for (who, span, pause) in turns {
        now += pause;
        faults[*who] += work(model, *who as u32, *span, &mut now, stream);
        (0..pages.len()).for_each(|pid| held[pid] += f64::from(model.held(pid as u32)) / turns.len() as f64);
    }
    (faults, held)
}

/// The pages of each process, and the mean work (ms) and weight of its turns.
type Processes = (Vec<u32>, Vec<(f64, f64)>);

/// Four memories: frames, processes, and the relative error that the model may have.
///
/// The processes are alike, or differ so that one seldom works; the last memory has only six pages for each process.
fn memories() -> [(u32, Processes, f64); 4] {
    [
        (120, (vec![100; 4], vec![(100.0, 1.0); 4]), 0.05),
        (120, (vec![30, 60, 100, 100], vec![(100.0, 1.0), (30.0, 0.2), (300.0, 1.0), (100.0, 3.0)]), 0.05),
        (300, (vec![100; 10], vec![(50.0, 1.0); 10]), 0.05),
        (60, (vec![40; 10], vec![(50.0, 1.0); 10]), 0.09),
    ]
}

/// Asserts that the model agrees with the memory followed page by page: its faults within the relative error, its pages within 2.
fn assert_agrees_with_page_by_page(replacement: Replacement) {
    for law in [linear as Law, chamberlin as Law] {
        for (frames, (pages, means), part) in memories() {
            let turns = schedule(&means, 20_000);
            let (faults, held) = followed(law, frames, &pages, &turns);
            let mut model = Frames::new(&paging(frames, replacement, in_ms(law)), None, 1.0);
            let (modelled, model_held) = modelled(&mut model, &pages, &turns);
            let ratio = modelled.iter().sum::<f64>() / faults.iter().sum::<f64>();
            assert!((ratio - 1.0).abs() < part, "{frames} frames: {modelled:?} for {faults:?}");
            let close = held.iter().zip(&model_held).all(|(direct, model)| (direct - model).abs() < 2.0);
            assert!(close, "{frames} frames: {model_held:?} held for {held:?}");
        }
    }
}

#[test]
fn least_recent_use_agrees_with_the_model_of_each_page() {
    assert_agrees_with_page_by_page(Replacement::Lru);
}

#[test]
fn the_clock_stays_close_to_least_recent_use() {
    assert_agrees_with_page_by_page(Replacement::Clock);
}

#[test]
fn a_page_that_is_no_longer_on_the_paging_device_comes_from_the_backing_store() {
    for replacement in [Replacement::Lru, Replacement::Clock] {
        let (pages, turns) = (vec![100; 8], schedule(&[(100.0, 1.0); 8], 20_000));
        let behind = Some(BackingStore { store: 1, pages: 400 });
        let mut model = Frames::new(&Paging { behind, ..paging(120, replacement, in_ms(linear)) }, None, 1.0);
        (0..8).for_each(|pid| model.begin(pid, 100, 1.0, true, 0));
        let (mut now, stream, mut from_disk) = (0, &mut stream(3), 0.0);
        for (who, work, pause) in &turns {
            now += pause;
            let mut left = *work;
            while let Some(work) = model.work_to_fault(*who as u32, stream).filter(|work| *work <= left) {
                now += work;
                left -= work;
                model.ran(*who as u32, work, now);
                from_disk += f64::from(u8::from(model.fault(*who as u32, now, stream).behind));
            }
            now += left;
            model.ran(*who as u32, left, now);
        }
        let direct: f64 = followed(linear, 400, &pages, &turns).0.iter().sum();
        assert!((from_disk / direct - 1.0).abs() < 0.05, "{from_disk} pages came from behind, for {direct} misses");
    }
}

#[test]
fn the_headway_is_exponential_with_the_law_s_mean() {
    let curve = vec![(10.0, 1e6), (40.0, 20e6)];
    for (headway, mean) in [
        (HeadwaySpec::Linear { ns_per_page: 0.15 * MS }, 0.15 * MS * 30.0),
        (HeadwaySpec::Chamberlin { b_ns: 100.0 * MS, c_pages: 40.0 }, chamberlin(30.0)),
        (HeadwaySpec::Curve(curve), 1e6 + 19e6 * 2.0 / 3.0),
    ] {
        let mut frames = Frames::new(&paging(150, Replacement::Equal, headway), Some(5), 2.0);
        frames.begin(0, 0, 0.0, false, 0);
        let stream = &mut stream(4);
        let draws: Vec<f64> = (0..40_000)
            .map(|now| {
                let work = frames.work_to_fault(0, stream).unwrap();
                frames.fault(0, now, stream);
                work as f64 * 2.0 / mean
            })
            .collect();
        let first = draws.iter().sum::<f64>() / 40_000.0;
        let second = draws.iter().map(|draw| draw * draw).sum::<f64>() / 40_000.0;
        assert!((first - 1.0).abs() < 4.0 / 200.0, "{first} at speed 2");
        assert!((second - 2.0).abs() < 4.0 * 20f64.sqrt() / 200.0, "{second}");
    }
}

#[test]
fn the_next_fault_is_drawn_once_and_is_rescaled_when_the_pages_held_change() {
    let mut frames = Frames::new(&paging(10, Replacement::Lru, in_ms(linear)), None, 1.0);
    let stream = &mut stream(5);
    frames.begin(0, 100, 0.0, false, 0);
    (0..8).for_each(|now| {
        frames.fault(0, now, stream);
    });
    let far = frames.work_to_fault(0, stream).unwrap();
    frames.ran(0, far / 2, far);
    let near = frames.work_to_fault(0, stream).unwrap();
    assert!(near.abs_diff(far - far / 2) <= 1, "half of {far} is left, not {near}");
    frames.begin(1, 100, 0.0, false, far);
    (0..6).for_each(|_| {
        frames.fault(1, far, stream);
    });
    assert_eq!((frames.held(0), frames.held(1)), (4, 6), "pages that were not used lately were taken");
    assert!(frames.work_to_fault(0, stream).unwrap().abs_diff(near / 2) <= 1, "with half the pages it comes twice as soon");
}

#[test]
fn a_command_with_a_factor_works_so_many_times_as_long_between_faults_and_keeps_its_pages_as_long() {
    let faults = |factor: f64, work_ns: u64| {
        let mut frames = Frames::new(&paging(10, Replacement::Lru, in_ms(linear)), None, 1.0);
        let stream = &mut stream(5);
        frames.begin(0, 100, 0.0, false, 0);
        frames.begin(1, 100, 0.0, false, 0);
        frames.set_headway_factor(0, factor);
        let _: Vec<_> = (0..8).map(|_| frames.fault(0, 0, stream)).collect();
        let to_fault = frames.work_to_fault(0, stream).unwrap();
        frames.ran(0, work_ns, work_ns);
        let _: Vec<_> = (0..6).map(|_| frames.fault(1, work_ns, stream)).collect();
        (to_fault, frames.held(0))
    };
    let (plain, slow) = (faults(1.0, 1_000_000), faults(3.0, 3_000_000));
    assert_eq!(
        slow,
        (3 * plain.0, plain.1),
        "the same draw, three times as long; after three times the work its pages are as old"
    );
}

#[test]
fn the_next_command_of_a_process_has_its_own_factor() {
    let mut frames = Frames::new(&paging(10, Replacement::Equal, in_ms(linear)), Some(1), 1.0);
    let mut to_fault = |factor: f64| {
        frames.begin(0, 100, 0.0, false, 0);
        frames.set_headway_factor(0, factor);
        frames.work_to_fault(0, &mut stream(7)).unwrap()
    };
    assert!(to_fault(2.0).abs_diff(2 * to_fault(1.0)) <= 1, "the same draw, twice as long");
}

#[test]
fn a_process_with_all_its_pages_has_no_fault() {
    let mut frames = Frames::new(&paging(50, Replacement::Clock, in_ms(linear)), None, 1.0);
    let stream = &mut stream(6);
    frames.begin(0, 3, 0.0, false, 0);
    for now in 0..3 {
        assert!(frames.work_to_fault(0, stream).is_some());
        let fault = frames.fault(0, now, stream);
        assert_eq!((fault.victim, fault.write), (None, false), "a free frame costs nobody anything");
    }
    assert_eq!((frames.work_to_fault(0, stream), frames.held(0), frames.free()), (None, 3, 47));
}

#[test]
fn a_page_used_once_does_not_stay_when_another_is_needed() {
    for replacement in [Replacement::Lru, Replacement::Clock] {
        let mut frames = Frames::new(&paging(50, replacement, in_ms(linear)), None, 1.0);
        let (stream, mut now) = (&mut stream(12), 0);
        frames.begin(0, 30, 0.0, false, 0);
        work(&mut frames, 0, 20_000_000_000, &mut now, stream);
        (0..500).for_each(|_| {
            work(&mut frames, 0, 1_000_000_000, &mut now, stream);
            frames.fault(0, now, stream);
        });
        assert_eq!((frames.held(0), frames.work_to_fault(0, stream)), (50, None), "its own pages are all there");
    }
}

#[test]
fn a_thinking_process_loses_pages_only_when_others_take_them() {
    for replacement in [Replacement::Lru, Replacement::Clock] {
        let mut frames = Frames::new(&paging(100, replacement, in_ms(linear)), None, 1.0);
        let (stream, mut now) = (&mut stream(7), 0);
        frames.begin(0, 40, 0.0, false, 0);
        frames.begin(1, 60, 0.0, false, 0);
        frames.begin(2, 90, 0.0, false, 0);
        work(&mut frames, 0, 20_000_000_000, &mut now, stream);
        work(&mut frames, 1, 20_000_000_000, &mut now, stream);
        assert_eq!([0, 1].map(|pid| frames.held(pid)), [40, 60]);
        now += 3_600_000_000_000;
        work(&mut frames, 1, 20_000_000_000, &mut now, stream);
        assert_eq!(frames.held(0), 40, "an hour later all are there still");
        work(&mut frames, 2, 60_000_000_000, &mut now, stream);
        assert_eq!(frames.held(2), 90, "the process that works gets all pages that it needs");
        assert_eq!([0, 1].map(|pid| frames.held(pid)).iter().sum::<u32>(), 10);
    }
}

/// 60 frames, and a process with a second command that uses 12 of the 40 pages of its first.
fn with_a_second_command(replacement: Replacement, now: &mut u64, stream: &mut RandomStream) -> Frames {
    let mut frames = Frames::new(&paging(60, replacement, in_ms(linear)), None, 1.0);
    frames.begin(0, 40, 0.0, false, 0);
    work(&mut frames, 0, 20_000_000_000, now, stream);
    frames.begin(0, 40, 0.3, true, *now);
    assert_eq!(frames.work_to_fault(0, stream), None, "the same command: all are of use");
    frames.begin(0, 40, 0.3, false, *now);
    assert_eq!(frames.held(0), 40, "nothing is given back");
    frames
}

#[test]
fn a_part_of_the_former_commands_pages_is_reused_and_the_others_are_taken_first() {
    let (stream, mut now) = (&mut stream(8), 0);
    let mut frames = with_a_second_command(Replacement::Lru, &mut now, stream);
    assert_eq!(work(&mut frames, 0, 60_000_000_000, &mut now, stream), 28.0, "12 of the 40 are of use");
    assert_eq!(frames.held(0), 60, "20 came into free frames, and 8 for others of its own, which are of no use");
    frames.begin(1, 20, 0.0, false, now);
    work(&mut frames, 1, 60_000_000_000, &mut now, stream);
    assert_eq!((frames.held(0), frames.work_to_fault(0, stream)), (40, None), "it has lost the useless ones alone");
}

#[test]
fn the_clock_finds_the_useless_pages_in_its_second_round() {
    let (stream, mut now) = (&mut stream(8), 0);
    let mut frames = with_a_second_command(Replacement::Clock, &mut now, stream);
    let faults = work(&mut frames, 0, 60_000_000_000, &mut now, stream);
    assert!((28.0..60.0).contains(&faults), "{faults}: the first time around it cannot tell them from the others");
    frames.begin(1, 20, 0.0, false, now);
    for _ in 0..20 {
        work(&mut frames, 1, 2_000_000_000, &mut now, stream);
        work(&mut frames, 0, 2_000_000_000, &mut now, stream);
    }
    assert_eq!([0, 1].map(|pid| frames.held(pid)), [40, 20], "when both work, only what neither uses is lost");
}

#[test]
fn the_share_of_victims_that_are_written_is_the_dirty_share() {
    let mut frames = Frames::new(&paging(10, Replacement::Lru, in_ms(linear)), None, 1.0);
    let stream = &mut stream(9);
    frames.begin(0, 0, 0.0, false, 0);
    let writes = (0..10_010).filter(|now| frames.fault(0, *now, stream).write).count();
    assert!(writes.abs_diff(3000) < 4 * 46, "{writes} of 10000");
}

#[test]
fn a_working_set_has_the_pages_that_were_used_lately() {
    let mut frames = Frames::new(&paging(200, Replacement::Lru, in_ms(linear)), None, 1.0);
    frames.begin(0, 100, 0.0, false, 0);
    assert_eq!(frames.working_set(0), 1);
    frames.ran(0, 450_000_000, 450_000_000);
    assert_eq!(frames.working_set(0), 30, "450 ms = 1 ms × 30² / 2");
    frames.begin(0, 100, 0.0, false, 500_000_000);
    assert_eq!(frames.working_set(0), 30, "the interaction before is remembered");
    frames.ran(0, 50_000_000_000, 51_000_000_000);
    assert_eq!(frames.working_set(0), 100, "no more than there are");
}

#[derive(Clone, Debug)]
enum Act {
    Begin(u32, u32, f64),
    Work(u32, u64),
    Leave(u32),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        2 => (0..12u32, 0..80u32, 0.0..1.0f64).prop_map(|(pid, pages, common)| Act::Begin(pid, pages, common)),
        6 => (0..12u32, 0..2_000_000_000u64).prop_map(|(pid, work)| Act::Work(pid, work)),
        1 => (0..12u32).prop_map(Act::Leave),
    ];
    prop::collection::vec(act, 1..150)
}

/// Plays the acts. Returns the frames of each process and the free frames after each act.
fn states_after(paging: &Paging, acts: &[Act]) -> Vec<Vec<u32>> {
    let (mut frames, stream, mut now) = (Frames::new(paging, None, 1.5), &mut stream(10), 0);
    let mut here = [false; 12];
    let mut states = Vec::new();
    for act in acts {
        match *act {
            Act::Begin(pid, pages, common) => {
                frames.begin(pid, pages, common, pages % 3 == 0, now);
                here[pid as usize] = true;
            }
            Act::Work(pid, span) if here[pid as usize] => {
                work(&mut frames, pid, span, &mut now, stream);
            }
            Act::Leave(pid) => {
                frames.leave(pid);
                here[pid as usize] = false;
                assert_eq!(frames.held(pid), 0);
            }
            Act::Work(..) => {}
        }
        let mut held: Vec<u32> = (0..12).map(|pid| frames.held(pid)).collect();
        assert_eq!(held.iter().sum::<u32>() + frames.free(), paging.frames - paging.wired, "after {act:?}");
        held.push(frames.free());
        states.push(held);
    }
    states
}

proptest! {
    #[test]
    fn frames_are_neither_lost_nor_made(acts in acts(), clock in any::<bool>(), wired in 0..40u32, on_device in 0..300u32) {
        let replacement = if clock { Replacement::Clock } else { Replacement::Lru };
        let behind = (on_device > 0).then_some(BackingStore { store: 1, pages: on_device });
        let paging = Paging { wired, behind, ..paging(41 + 2 * wired, replacement, in_ms(chamberlin)) };
        let once = states_after(&paging, &acts);
        prop_assert_eq!(states_after(&paging, &acts), once, "the same seed, the same pages");
    }
}
