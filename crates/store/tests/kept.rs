//! Rows that a run folder keeps through finishing, killing, and a full disk.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use arrow_array::cast::AsArray as _;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array as _, RecordBatch};
use loadgo_core::record::{
    FaultRow, InteractionRow, LimitCounts, LockWaitRow, LostRow, MemoryRow, MeterPriceRow, MeterRows, MeterWindowRow, Outcome,
    Phase, PrimitiveRow, ProcessRow, ProcessorSpeedRow, QueueRow, Recorder, ScreenRow, SegmentRow, SessionRow, SessionUsageRow,
    StackRow, TimeRow, UserLimitRow, WindowEventRow, WorkingSetRow,
};
use loadgo_core::system::Usage;
use loadgo_core::time::Instant;
use loadgo_store::{Error, Folder, Follower, Recording, Table, WhenFull, complete, file_checksum, finish, whole_part};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

const RUN: &str = "format = 1\nname = \"typical user\"\nfinished = false\noutcome = \"done\"\n\n[load]\nusers = 2\n";

fn interaction(number: u32, command: &str) -> InteractionRow<'_> {
    let sent = u64::from(number) * 1000;
    InteractionRow {
        user: number,
        pass: 1,
        line: number % 3 + 1,
        command,
        planned: Instant(sent),
        sent: Instant(sent + 7),
        first_output: None,
        ready: Some(Instant(sent + 500)),
        response_there_ns: None,
        typing_ns: 3,
        think_ns: 4,
        usage: Usage { cpu_user_ns: Some(0), ..Usage::default() },
        typing_usage: Usage { cpu_user_ns: Some(20), cpu_system_ns: Some(1), faults_minor: Some(5), ..Usage::default() },
        cpu_excess_ns: Some(0),
        bytes_out: 12,
        exit_status: Some(3),
        outcome: Outcome::Failed,
        phase: Phase::RampDown,
    }
}

fn record_all_tables(dir: &Path) -> Folder {
    let folder = Folder::create(dir, RUN).unwrap();
    let (mut recorder, recording) = Recording::start(folder, WhenFull::Lose).unwrap();
    let at = Instant(9);
    for number in 1..=10 {
        recorder.interaction(&interaction(number, if number % 2 == 0 { "edit" } else { "compile" }));
    }
    recorder.session(&SessionRow { user: 1, planned: at, started: at, ready: None, ended: at, outcome: "refused" });
    recorder.lost(&LostRow { at, user: Some(1), what: "log-in", count: 1, reason: "no terminal \"left\"".into() });
    recorder.phase(Phase::WarmUp, at);
    let row_sender = recording.row_sender();
    row_sender.time(&[TimeRow { at, span_ns: 9, processor: None, category: "idle", time_ns: 8 }]);
    row_sender.processes(&[ProcessRow {
        at,
        span_ns: 9,
        who: "driver".into(),
        cpu_ns: 1,
        memory_bytes: None,
        user: None,
        ready_wait_ns: None,
    }]);
    row_sender.sample(meters_of(at, 1));
    recorder.screen(&ScreenRow { at, user: 1, sent: Instant(7), until: "until = 'ready> '".into(), screen: "a\u{1b}[2J".into() });
    drop(recorder);
    let stopped = recording.stop();
    assert_eq!((stopped.interactions, stopped.unwritten), (10, vec![]));
    stopped.folder
}

/// A row or two of each meter.
fn meters_of(at: Instant, count: u64) -> MeterRows {
    let fault = FaultRow {
        at,
        span_ns: 9,
        kind: "major",
        device: None,
        user: None,
        command: None,
        bucket_ns: None,
        count,
        cpu_ns: Some(3),
        wait_ns: Some(4),
    };
    let (user, command, bucket_ns) = (Some(1), Some("edit".into()), Some(7));
    let slow = FaultRow { user, command, bucket_ns, cpu_ns: None, wait_ns: None, ..fault.clone() };
    let line = PrimitiveRow {
        at,
        span_ns: 9,
        name: "line out".into(),
        user: None,
        command: None,
        bucket_ns: None,
        count,
        errors: None,
        time_ns: Some(2),
        wait_ns: Some(1),
        faults: None,
    };
    let segment = SegmentRow {
        at,
        span_ns: 9,
        segment: "edit".into(),
        user: None,
        faults_minor: None,
        faults_major: Some(count),
        samples: None,
    };
    let memory =
        MemoryRow { user: Some(1), resident_bytes: Some(4096), taken_pages: Some(count), ..MemoryRow::of(at, 9, "users".into()) };
    let counts = LimitCounts { throttled_ns: Some(count), ..LimitCounts::default() };
    let of_line = |user, usage| SessionUsageRow { at, span_ns: 9, user, line: user, usage, user_ticks_us: 9, system_ticks_us: 0 };
    MeterRows {
        memory: vec![memory],
        faults: vec![fault, slow],
        primitives: vec![line],
        segments: vec![segment],
        queue: vec![QueueRow { at, span_ns: 9, queue: "processors".into(), measure: "ready", value: 0.25 }],
        stacks: vec![stack_of(at, count)],
        session_usage: vec![of_line(Some(1), Usage::default())],
        user_limits: vec![UserLimitRow { at, span_ns: 9, user: 1, counts }],
        meter_price: vec![MeterPriceRow { at, meter: "queue", runs: count, ..MeterPriceRow::default() }],
        meter_windows: vec![MeterWindowRow { at, span_ns: 9, stretch_ns: count, ..MeterWindowRow::default() }],
        lock_waits: vec![LockWaitRow { at, kind: "flock".into(), count, ..LockWaitRow::default() }],
        window_events: vec![WindowEventRow { at, process: "ed".into(), count, ..WindowEventRow::default() }],
        working_sets: vec![WorkingSetRow { at, span_ns: 9, user: 1, resident_bytes: count, ..WorkingSetRow::default() }],
        processor_speed: vec![ProcessorSpeedRow { at, span_ns: 9, processor: 1, cpu_ns: count }],
        ..MeterRows::default()
    }
}

fn stack_of(at: Instant, count: u64) -> StackRow {
    StackRow {
        at,
        span_ns: 9,
        user: Some(1),
        command: None,
        process: "ed".into(),
        stack: "main;write;vfs_write_[k]".into(),
        samples: count,
    }
}

fn followed(path: &Path) -> Vec<RecordBatch> {
    let mut follower = Follower::open(path).unwrap();
    std::iter::from_fn(|| follower.next_batch().unwrap()).collect()
}

fn parquet(path: &Path) -> Vec<RecordBatch> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(fs::File::open(path).unwrap()).unwrap().build().unwrap();
    reader.map(|batch| batch.unwrap()).collect()
}

fn rows(batches: &[RecordBatch]) -> usize {
    batches.iter().map(RecordBatch::num_rows).sum()
}

#[test]
fn parquet_holds_what_the_streams_held() {
    let dir = tempfile::tempdir().unwrap();
    let folder = record_all_tables(dir.path());
    let streamed = Table::ALL.map(|table| followed(&folder.stream(table)));
    finish(&folder, "format = 1\nfinished = true\n", &[]).unwrap();
    for (table, streamed) in Table::ALL.into_iter().zip(streamed) {
        assert_eq!(parquet(&folder.parquet(table)), streamed, "{}", table.name());
        let written = match table {
            Table::Interactions => 10,
            Table::Faults => 2,
            _ => 1,
        };
        assert_eq!(rows(&streamed), written, "{}", table.name());
        assert!(!folder.stream(table).exists());
    }
    let text = fs::read_to_string(folder.run_toml()).unwrap();
    assert!(text.starts_with("format = 1\nfinished = true\n"), "{text}");
    let run: toml::Table = text.parse().unwrap();
    for table in Table::ALL {
        let (entry, (bytes, checksum)) = (&run["tables"][table.name()], file_checksum(&folder.parquet(table)).unwrap());
        assert_eq!(entry["rows"].as_integer().unwrap() as usize, rows(&parquet(&folder.parquet(table))), "{}", table.name());
        assert_eq!(entry["bytes"].as_integer().unwrap() as u64, bytes, "{}", table.name());
        assert_eq!(entry["crc32"].as_integer().unwrap() as u64, u64::from(checksum), "{}", table.name());
    }
}

#[test]
fn a_row_comes_back_as_it_was_given() {
    let dir = tempfile::tempdir().unwrap();
    let folder = record_all_tables(dir.path());
    let batch = &followed(&folder.stream(Table::Interactions))[0];
    let words = |name: &str| batch.column_by_name(name).unwrap().as_string::<i32>().value(1).to_owned();
    assert_eq!([words("command"), words("outcome"), words("phase")], ["edit", "failed", "ramp-down"]);
    let number = |name: &str| batch.column_by_name(name).unwrap().as_primitive::<UInt64Type>().value(1);
    assert_eq!([number("planned_ns"), number("sent_ns"), number("ready_ns"), number("think_ns")], [2000, 2007, 2500, 4]);
    assert_eq!(batch.column_by_name("user").unwrap().as_primitive::<UInt32Type>().value(1), 2);
    assert!(batch.column_by_name("first_output_ns").unwrap().is_null(1), "not measured is null");
    assert!(batch.column_by_name("cpu_user_ns").unwrap().is_valid(1), "measured as 0 is 0");
    assert!(batch.column_by_name("io_wait_ns").unwrap().is_null(1));
    assert_eq!([number("typing_cpu_ns"), number("typing_faults_minor"), number("cpu_excess_ns")], [21, 5, 0]);
    assert!(batch.column_by_name("typing_ready_wait_ns").unwrap().is_null(1));
}

#[test]
fn a_command_keeps_its_name_whichever_line_it_came_from() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::create(dir.path(), RUN).unwrap();
    let (mut recorder, recording) = Recording::start(folder, WhenFull::Wait).unwrap();
    let name = |number: u32| format!("command {}", number % 1000 * (number % 1000) % 17);
    for number in 0..600_000 {
        recorder.interaction(&interaction(number, &name(number)));
    }
    drop(recorder);
    let stopped = recording.stop();
    assert_eq!(stopped.interactions, 600_000, "a driver that may wait loses nothing");
    let mut expected = 0;
    for batch in followed(&stopped.folder.stream(Table::Interactions)) {
        let commands = batch.column_by_name("command").unwrap().as_string::<i32>();
        for command in commands.iter() {
            assert_eq!(command, Some(name(expected).as_str()));
            expected += 1;
        }
    }
    assert_eq!(expected, 600_000);
}

#[test]
fn every_row_is_written_or_counted_as_lost() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::create(dir.path(), RUN).unwrap();
    let (mut recorder, recording) = Recording::start(folder, WhenFull::Lose).unwrap();
    for number in 0..2_000_000 {
        recorder.interaction(&interaction(number, "edit"));
    }
    drop(recorder);
    let stopped = recording.stop();
    let written = rows(&followed(&stopped.folder.stream(Table::Interactions)));
    assert_eq!(written as u64 + lost(&stopped.folder.stream(Table::Lost)), 2_000_000);
}

fn lost(path: &Path) -> u64 {
    let counts =
        |batch: &RecordBatch| batch.column_by_name("count").unwrap().as_primitive::<UInt64Type>().values().iter().sum::<u64>();
    followed(path).iter().map(counts).sum()
}

#[test]
fn a_folder_with_a_run_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    drop(Folder::create(dir.path(), RUN).unwrap());
    let error = Folder::create(dir.path(), "format = 1\n").unwrap_err();
    assert!(matches!(error, Error::Exists(_)), "{error}");
    assert!(error.to_string().contains("name another folder"));
    assert!(fs::read_to_string(dir.path().join("run.toml")).unwrap().starts_with(RUN));
}

#[test]
fn a_folder_that_cannot_be_written_is_refused_with_the_remedy() {
    for (dir, remedy) in [("/proc/loadgo-run", "check the path"), ("/etc/hostname/run", "a part of this path is a file")] {
        let error = Folder::create(dir, RUN).unwrap_err().to_string();
        assert!(error.starts_with("cannot create the folder") && error.contains(remedy), "{error}");
    }
}

#[test]
fn a_stream_cut_anywhere_gives_its_whole_batches() {
    let dir = tempfile::tempdir().unwrap();
    let folder = record_all_tables(dir.path());
    let path = folder.stream(Table::Interactions);
    let bytes = fs::read(&path).unwrap();
    let all = whole_part(&path).unwrap();
    assert_eq!((all.rows, all.bytes), (10, bytes.len() as u64 - 8), "all but the end mark");
    let head = bytes.windows(4).rposition(|window| window == [0xFF; 4]).expect("the end mark");
    let end_batch_bytes = (head - bytes[..head].windows(4).rposition(|window| window == [0xFF; 4]).unwrap()) as u64;
    for length in 0..bytes.len() as u64 {
        fs::write(&path, &bytes[..length as usize]).unwrap();
        let whole_here = whole_part(&path).unwrap();
        let rows_end = all.bytes - end_batch_bytes;
        assert_eq!(whole_here.rows, if length >= rows_end { 10 } else { 0 });
        assert!(whole_here.bytes <= length);
        assert_eq!(rows(&followed(&path)) as u64, whole_here.rows);
    }
}

#[test]
fn following_a_stream_byte_by_byte_is_reading_it_afterwards() {
    let dir = tempfile::tempdir().unwrap();
    let folder = record_all_tables(dir.path());
    let path = folder.stream(Table::Interactions);
    let (afterwards, bytes) = (followed(&path), fs::read(&path).unwrap());
    let growing = dir.path().join("growing.arrows");
    fs::write(&growing, []).unwrap();
    let mut follower = Follower::open(&growing).unwrap();
    let mut seen = Vec::new();
    for length in 1..=bytes.len() {
        fs::write(&growing, &bytes[..length]).unwrap();
        seen.extend(follower.next_batch().unwrap());
    }
    assert_eq!(seen, afterwards);
    assert!(follower.ended());
}

#[test]
fn bytes_that_are_no_batch_end_the_stream_and_are_a_loss() {
    let dir = tempfile::tempdir().unwrap();
    let folder = record_all_tables(dir.path());
    let path = folder.stream(Table::Interactions);
    let end = whole_part(&path).unwrap().bytes as usize;
    let mut bytes = fs::read(&path).unwrap();
    bytes.truncate(end);
    bytes.extend([0; 4096]);
    fs::write(&path, bytes).unwrap();
    drop(folder);
    complete(&Folder::open(dir.path()).unwrap()).unwrap();
    let run: toml::Table = fs::read_to_string(dir.path().join("run.toml")).unwrap().parse().unwrap();
    assert_eq!(rows(&parquet(&dir.path().join("interactions.parquet"))), 10);
    assert!(run["lost"][0]["reason"].as_str().unwrap().contains("does not begin where it should"), "{run}");
}

/// Not a test of its own: the process that [`a_killed_run_keeps_all_but_its_last_second`] kills.
#[test]
fn writes_until_it_is_killed() {
    let Ok(dir) = std::env::var("LOADGO_STORE_KILLED_RUN") else { return };
    let (mut recorder, _recording) = Recording::start(Folder::create(dir, RUN).unwrap(), WhenFull::Wait).unwrap();
    for number in 0.. {
        recorder.interaction(&interaction(number, "edit"));
    }
}

#[test]
fn a_killed_run_keeps_all_but_its_last_second() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "writes_until_it_is_killed"])
        .env("LOADGO_STORE_KILLED_RUN", &run)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let stream = run.join("interactions.arrows");
    while !whole_part(&stream).is_ok_and(|whole| whole.rows > 300_000) {
        assert!(child.try_wait().unwrap().is_none(), "the writing process lives until it is killed");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let folder = Folder::open(&run).unwrap();
    assert!(matches!(complete(&folder), Err(Error::Running(_))), "a run that is being written is left alone");
    let before = whole_part(&stream).unwrap();
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));

    let after = whole_part(&stream).unwrap();
    assert!(after.rows >= before.rows && before.rows > 300_000);
    complete(&folder).unwrap();
    let kept = parquet(&run.join("interactions.parquet"));
    assert_eq!(rows(&kept) as u64, after.rows);
    let users = kept.iter().flat_map(|batch| batch.column(0).as_primitive::<UInt32Type>().values().to_vec());
    assert!(users.eq(0..after.rows as u32), "the rows are the first ones, in order, without a gap");
    let run_toml = fs::read_to_string(run.join("run.toml")).unwrap();
    assert!(run_toml.contains("outcome = \"killed\"") && run_toml.contains("finished = false"), "{run_toml}");
    assert!(run_toml.contains("[load]\nusers = 2"));
}

/// A run in which the meters' rows come one by one, or all at once.
fn sampled(dir: &Path, pause: bool) -> Folder {
    let (recorder, recording) = Recording::start(Folder::create(dir, RUN).unwrap(), WhenFull::Wait).unwrap();
    let row_sender = recording.row_sender();
    for count in 0..4 {
        row_sender.sample(meters_of(Instant(count), count));
        let mut follower = pause.then(|| Follower::open(&dir.join("queue.arrows")).unwrap());
        while follower.as_mut().is_some_and(|follower| rows_of(follower) <= count as usize) {
            std::thread::sleep(std::time::Duration::from_millis(2));
            follower = Some(Follower::open(&dir.join("queue.arrows")).unwrap());
        }
    }
    drop(recorder);
    recording.stop().folder
}

fn rows_of(follower: &mut Follower) -> usize {
    std::iter::from_fn(|| follower.next_batch().unwrap()).map(|batch| batch.num_rows()).sum()
}

#[test]
fn the_same_rows_become_the_same_bytes_however_the_streams_were_cut() {
    let (slowly, at_once) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (first, second) = (sampled(slowly.path(), true), sampled(at_once.path(), false));
    assert_ne!(fs::read(first.stream(Table::Queue)).unwrap(), fs::read(second.stream(Table::Queue)).unwrap());
    for folder in [&first, &second] {
        finish(folder, "format = 1\nfinished = true\n", &[]).unwrap();
    }
    for table in Table::ALL {
        let bytes = [&first, &second].map(|folder| fs::read(folder.parquet(table)).unwrap());
        assert_eq!(bytes[0], bytes[1], "{}", table.name());
    }
}
