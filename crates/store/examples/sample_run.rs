//! Writes a small run in the current format, for the tests of its readers:
//! `cargo run -p loadgo-store --example sample_run FOLDER ended|cut|killed`.

use std::fs::{self, OpenOptions};
use std::path::Path;

use loadgo_core::record::{InteractionRow, LostRow, Outcome, Phase, ProcessRow, Recorder, SessionRow, TimeRow};
use loadgo_core::system::Usage;
use loadgo_core::time::Instant;
use loadgo_store::{Folder, Recording, Table, WhenFull, complete, finish};

const SECOND: u64 = 1_000_000_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dir, how] = arguments.as_slice() else { panic!("sample_run FOLDER ended|cut|killed") };
    let dir = Path::new(dir);
    let stopped = record(dir);
    match how.as_str() {
        "ended" => finish(&stopped, &run_toml(dir, "true"), &[]).expect("the run is finished"),
        "cut" => cut(&stopped),
        "killed" => {
            cut(&stopped);
            drop(stopped);
            complete(&Folder::open(dir).expect("the run is there")).expect("the run is completed");
        }
        other => panic!("ended, cut or killed, not {other}"),
    }
}

fn run_toml(dir: &Path, finished: &str) -> String {
    let id = dir.file_name().expect("a name").to_string_lossy();
    format!(
        "format = 1\nloadgo = \"0.1.0\"\nid = \"{id}\"\nname = \"typical user\"\nscript = \"typical-user\"\n\
         started = 2026-11-21T01:37:05.123456Z\nfinished = {finished}\noutcome = \"done\"\n\n\
         [load]\nmodel = \"closed\"\nusers = 2\npasses = 1\n\n[system]\nkind = \"host\"\nname = \"here\"\n"
    )
}

/// Two users, three lines each, one of which never came back.
fn record(dir: &Path) -> Folder {
    let folder = Folder::create(dir, &run_toml(dir, "false")).expect("the folder is made");
    let (mut recorder, recording) = Recording::start(folder, WhenFull::Lose).expect("the recording begins");
    recorder.phase(Phase::WarmUp, Instant(SECOND));
    recorder.phase(Phase::Steady, Instant(2 * SECOND));
    for number in 0..6 {
        recorder.interaction(&interaction(number));
    }
    for user in 1..=2 {
        let (at, ended) = (Instant(u64::from(user)), Instant(20 * SECOND));
        recorder.session(&SessionRow { user, planned: at, started: at, ready: Some(Instant(SECOND)), ended, outcome: "done" });
    }
    let at = Instant(19 * SECOND);
    recorder.lost(&LostRow { at, user: Some(2), what: "session", count: 1, reason: "the shell ended".into() });
    let row_sender = recording.row_sender();
    row_sender.time(&[TimeRow { at, span_ns: SECOND, processor: Some(0), category: "idle", time_ns: SECOND }]);
    row_sender.processes(&[ProcessRow {
        at,
        span_ns: SECOND,
        who: "driver".into(),
        cpu_ns: 1000,
        memory_bytes: Some(4096),
        user: None,
        ready_wait_ns: None,
    }]);
    drop(recorder);
    recording.stop().folder
}

fn interaction(number: u32) -> InteractionRow<'static> {
    let (line, sent) = (number / 2 + 1, u64::from(number + 2) * SECOND);
    let died = number == 5;
    InteractionRow {
        user: number % 2 + 1,
        pass: 1,
        line,
        command: ["edit", "compile", "run"][line as usize - 1],
        planned: Instant(sent),
        sent: Instant(sent + 40_000),
        first_output: (!died).then_some(Instant(sent + 1_000_000)),
        ready: (!died).then_some(Instant(sent + 250_000_000)),
        response_there_ns: None,
        typing_ns: 500_000_000,
        think_ns: SECOND,
        usage: Usage { cpu_user_ns: Some(0), cpu_system_ns: Some(7_000), ..Usage::default() },
        typing_usage: Usage::default(),
        cpu_excess_ns: Some(0),
        bytes_out: 12,
        exit_status: (!died).then_some(0),
        outcome: if died { Outcome::Died } else { Outcome::Ok },
        phase: if number < 2 { Phase::WarmUp } else { Phase::Steady },
    }
}

/// Leaves the streams as a kill in the middle of a batch does.
fn cut(folder: &Folder) {
    for table in Table::ALL {
        let path = folder.stream(table);
        let length = fs::metadata(&path).expect("the stream is there").len();
        let stream = OpenOptions::new().write(true).open(&path).expect("the stream opens");
        // Without its end mark, and for `lost` without the end of its only batch too.
        stream.set_len(length - if table == Table::Lost { 100 } else { 8 }).expect("the stream is cut");
    }
}
