//! Records from another host: complete folders are read as those of this host, and damaged ones are refused with words.

use loadgo_agent::received::{Allowance, NotKept, ReceivedRecords};
use loadgo_core::record::{MeterRows, Phase, Recorder as _, TimeRow};
use loadgo_core::time::Instant;
use loadgo_store::{Folder, MOST_MESSAGE_BYTES, Recording, Table, WhenFull};
use std::fs;
use std::path::Path;
use std::time::Duration;

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
    append_all(&mut records, streams).expect("the streams are whole");
    records
}

/// Appends the streams in pieces, up to the first refusal.
fn append_all(records: &mut ReceivedRecords, streams: &[Vec<u8>]) -> Result<(), NotKept> {
    let mut pieces = streams.iter().zip(0_u8..).flat_map(|(stream, number)| stream.chunks(100).map(move |piece| (number, piece)));
    pieces.try_for_each(|(number, piece)| records.append(&[&[number], piece].concat()))
}

/// The number of `table` in frames.
fn number_of(table: Table) -> u8 {
    Table::ALL.into_iter().position(|of| of == table).expect("there is one") as u8
}

/// The beginning of the time table's stream up to the rows of its only batch, whose body is said to have `said_bytes`.
fn time_stream_with_a_body_of(said_bytes: u64) -> Vec<u8> {
    let stream = &streams()[usize::from(number_of(Table::Time))];
    let description_bytes = |at: usize| u32::from_le_bytes(stream[at + 4..at + 8].try_into().expect("four bytes")) as usize;
    let batch_at = 8 + description_bytes(0);
    let body_at = batch_at + 8 + description_bytes(batch_at);
    // A batch without rows and the end mark follow. Each message begins with a continuation mark.
    let end_mark_at = stream.len() - 8;
    let end_batch_at = stream[..end_mark_at].windows(4).rposition(|bytes| bytes == [0xFF; 4]).expect("there is a message");
    let body_bytes = (end_batch_at - body_at) as u64;
    let said_at = stream[batch_at..body_at].windows(8).position(|bytes| bytes == body_bytes.to_le_bytes());
    let said_at = batch_at + said_at.expect("the description has the length of the body");
    let mut beginning = stream[..body_at].to_vec();
    beginning[said_at..said_at + 8].copy_from_slice(&said_bytes.to_le_bytes());
    beginning
}

fn append_time(records: &mut ReceivedRecords, bytes: &[u8]) -> Result<(), NotKept> {
    records.append(&[&[number_of(Table::Time)], bytes].concat())
}

#[test]
fn records_that_have_come_whole_become_parquet() {
    let place = tempfile::tempdir().expect("there is room");
    let folder = place.path().join("here");
    let there = b"format = 1\nfinished = true\n\n[tables.time]\nrows = 7\nbytes = 7\ncrc32 = 7\n";
    received(&folder, &streams()).finish(there).expect("they are whole");
    let kept = Folder::open(&folder).expect("it is a run");
    assert!(Table::ALL.into_iter().all(|table| kept.parquet(table).exists() && !kept.stream(table).exists()));
    let run_toml = fs::read_to_string(kept.run_toml()).expect("it is there");
    assert!(run_toml.starts_with("format = 1\nfinished = true\n"), "{run_toml}");
    let run: toml::Table = run_toml.parse().expect("no table is in it twice");
    assert_eq!(run["tables"]["time"]["rows"].as_integer(), Some(1), "the manifest is that of the tables here");
    for table in Table::ALL {
        assert!(run_toml.contains(&format!("\n[tables.{}]\n", table.name())), "{}", table.name());
    }
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
        let mut records = received(&place.path().join(name), &[]);
        let refused = append_all(&mut records, &streams).expect_err(name);
        assert!(refused.to_string().starts_with("the records from the other host are damaged"), "{name}: {refused}");
    }
    let mut records = received(&place.path().join("wrong"), &[]);
    for body in [&[][..], &[200, 1, 2]] {
        assert!(records.append(body).expect_err("no table").to_string().contains("damaged"));
    }
    assert!(ReceivedRecords::begin(&place.path().join("no-toml"), b"= \xFF").is_err());
    assert!(!place.path().join("no-toml").exists(), "nothing is made for a run.toml that is none");
}

#[test]
fn a_message_that_lies_about_its_length_is_refused_at_its_head() {
    let place = tempfile::tempdir().expect("there is room");
    let most = MOST_MESSAGE_BYTES as u64;
    let lying_description = [[0xFF; 4], [0xFF; 4]].concat();
    for (name, beginning) in [
        ("description", lying_description),
        ("body", time_stream_with_a_body_of(most)),
        ("endless", time_stream_with_a_body_of(i64::MAX as u64)),
    ] {
        let folder = place.path().join(name);
        let refused = append_time(&mut received(&folder, &[]), &beginning).expect_err(name);
        assert!(refused.to_string().contains(&format!("bytes, of which {most} are allowed")), "{name}: {refused}");
    }
    let mut allowed = received(&place.path().join("allowed"), &[]);
    append_time(&mut allowed, &time_stream_with_a_body_of(most / 2)).expect("it may come");
}

#[test]
fn messages_that_never_end_are_refused_before_they_fill_the_memory() {
    let place = tempfile::tempdir().expect("there is room");
    let mut records = received(&place.path().join("one"), &[]);
    append_time(&mut records, &time_stream_with_a_body_of(MOST_MESSAGE_BYTES as u64 / 2)).expect("it may come");
    let piece = vec![0; 1 << 16];
    let refused = (0..MOST_MESSAGE_BYTES / piece.len()).find_map(|_| append_time(&mut records, &piece).err());
    assert!(refused.is_some(), "its rows are zeros, so it is no batch");
    let mut records = received(&place.path().join("all"), &[]);
    let description_bytes = (MOST_MESSAGE_BYTES as u32 - 8).to_le_bytes();
    let head = [&[0xFF; 4], description_bytes.as_slice()].concat();
    let number_of_tables = Table::ALL.into_iter().count() as u8;
    let mut append = |number: u8| {
        records.append(&[&[number], head.as_slice()].concat())?;
        (0..300).try_for_each(|_| records.append(&[&[number], piece.as_slice()].concat()))
    };
    let refused = (0..number_of_tables).find_map(|number| append(number).err()).expect("they are too many");
    assert!(refused.to_string().contains("several messages have begun"), "{refused}");
}

#[test]
fn a_stream_without_end_is_refused_before_it_fills_the_disk() {
    let place = tempfile::tempdir().expect("there is room");
    let folder = place.path().join("endless");
    let stream = &streams()[usize::from(number_of(Table::Time))];
    let body = &stream[..stream.len() - 8];
    let batch_at = 8 + u32::from_le_bytes(body[4..8].try_into().expect("four bytes")) as usize;
    let mut records = received(&folder, &[]);
    append_time(&mut records, body).expect("it is whole");
    records.allowance = Allowance { first_bytes: 9 << 19, bytes_per_s: 0, ..records.allowance };
    let batches = body[batch_at..].repeat((1 << 20) / (body.len() - batch_at));
    let sent = (0..10).take_while(|_| append_time(&mut records, &batches).is_ok()).count();
    assert_eq!(sent, 4);
    let refused = append_time(&mut records, &batches).expect_err("there are too many");
    assert!(refused.to_string().contains("more bytes have come than a metering of this length makes"), "{refused}");
    records.break_off("too many".into()).expect("what came before is whole");
    assert!(folder.join("time.parquet").exists());
}

#[test]
fn a_metering_may_send_more_the_longer_it_lasts_and_not_without_end() {
    let place = tempfile::tempdir().expect("there is room");
    let allowance = received(&place.path().join("any"), &[]).allowance;
    assert_eq!(allowance, Allowance::OF_A_METERING);
    let (first, minute) = (allowance.bytes_after(Duration::ZERO), allowance.bytes_after(Duration::from_secs(60)));
    assert_eq!(minute - first, 60 * allowance.bytes_per_s);
    assert_eq!(allowance.bytes_after(Duration::MAX), allowance.all_bytes);
}
