//! Records from another host: complete folders are read as those of this host, and damaged ones are refused with words.

use loadgo_agent::received::ReceivedRecords;
use loadgo_core::record::{MeterRows, Phase, Recorder as _, TimeRow};
use loadgo_core::time::Instant;
use loadgo_store::{Folder, Recording, Table, WhenFull};
use std::fs;
use std::path::Path;

const RUN_TOML: &[u8] = b"format = 1\nid = \"far\"\nnotes = []\n";

/// The bytes of each table's stream, as an agent's run folder has them.
fn streams() -> Vec<Vec<u8>> {
    let place = tempfile::tempdir().expect("there is room");
    let folder = Folder::create(place.path().join("far"), "format = 1\n").expect("there is room");
    let (mut recorder, recording) = Recording::start(folder.clone(), WhenFull::Wait).expect("there is room");
    recorder.phase(Phase::Steady, Instant(0));
    drop(recorder);
    let time = TimeRow { at: Instant(5), span_ns: 5, processor: Some(0), category: "user", time_ns: 5 };
    recording.row_sender().sample(MeterRows { time: vec![time], ..MeterRows::default() });
    assert_eq!(recording.stop().unwritten, []);
    Table::ALL.into_iter().map(|table| fs::read(folder.stream(table)).expect("it is there")).collect()
}

fn received(folder: &Path, streams: &[Vec<u8>]) -> ReceivedRecords {
    let mut records = ReceivedRecords::begin(folder, RUN_TOML).expect("there is room");
    for (number, stream) in streams.iter().enumerate() {
        for piece in stream.chunks(100) {
            records.append(&[&[number as u8], piece].concat()).expect("there is room");
        }
    }
    records
}

#[test]
fn records_that_have_come_whole_become_parquet() {
    let place = tempfile::tempdir().expect("there is room");
    let folder = place.path().join("here");
    received(&folder, &streams()).finish(b"format = 1\nfinished = true\n").expect("they are whole");
    let kept = Folder::open(&folder).expect("it is a run");
    assert!(Table::ALL.into_iter().all(|table| kept.parquet(table).exists() && !kept.stream(table).exists()));
    assert_eq!(fs::read_to_string(kept.run_toml()).expect("it is there"), "format = 1\nfinished = true\n");
}

#[test]
fn records_that_break_off_within_a_batch_are_those_of_a_killed_run() {
    let place = tempfile::tempdir().expect("there is room");
    let folder = place.path().join("here");
    let mut cut = streams();
    cut[Table::ALL.into_iter().position(|table| table == Table::Time).expect("there is one")].truncate(700);
    received(&folder, &cut).break_off("the connection was cut".into()).expect("the rest is whole");
    let run_toml = fs::read_to_string(folder.join("run.toml")).expect("it is there");
    assert!(run_toml.contains("outcome = \"killed\"") && run_toml.contains("the connection was cut"), "{run_toml}");
    assert!(folder.join("phases.parquet").exists());
}

#[test]
fn hostile_records_are_refused_with_words() {
    let place = tempfile::tempdir().expect("there is room");
    let (mut swapped, mut garbage) = (streams(), streams());
    swapped.reverse();
    for stream in &mut garbage {
        stream.iter_mut().skip(8).step_by(3).for_each(|byte| *byte = byte.wrapping_mul(31) ^ 0x5A);
    }
    for (name, streams) in [("swapped", swapped), ("garbage", garbage)] {
        let refused = received(&place.path().join(name), &streams).finish(RUN_TOML).expect_err(name);
        assert!(refused.to_string().starts_with("the records from the other host are damaged"), "{name}: {refused}");
    }
    let mut records = received(&place.path().join("wrong"), &[]);
    for body in [&[][..], &[200, 1, 2]] {
        assert!(records.append(body).expect_err("no table").to_string().contains("damaged"));
    }
    assert!(ReceivedRecords::begin(&place.path().join("no-toml"), b"= \xFF").is_err());
    assert!(!place.path().join("no-toml").exists(), "nothing is made for a run.toml that is none");
}
