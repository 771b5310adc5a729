//! Good inputs that the corpora need not hold: the bundled files, and what loadgo itself writes.

use loadgo_agent::frame::{Frame, GREETING_BYTES, Kind};
use loadgo_core::record::{LostRow, MeterRows, Phase, Recorder as _, TimeRow};
use loadgo_core::time::Instant;
use loadgo_store::{Folder, Recording, Table, WhenFull};
use loadgo_transfer::moving::records::pack;
use std::fs;
use std::path::{Path, PathBuf};

/// The length of pieces that leaves an input whole.
const WHOLE: [u8; 2] = [0xFF; 2];

/// A cast with a mark, a resize and an end.
const CAST: &str = r#"{"version": 3, "term": {"cols": 80, "rows": 24}, "command": "sh", "title": "t", "env": {"SHELL": "/bin/sh"}}
[0.5, "o", "$ \u001b]133;D;0;aid=7\u0007"]
[1.0, "i", "ls\r"]
[0.1, "o", "ls\r\nname\r\n$ \u001b]133;D;0;aid=7\u0007"]
[0.2, "r", "100x30"]
# a comment
[1.5, "i", "vi\r"]
[0.1, "o", "vi\r\n\u001b[?1049h\u001b[H\u001b[2J"]
[0.4, "i", ":q\r"]
[0.1, "o", "\u001b[?1049l$ "]
[0.3, "x", "0"]
"#;

/// The control lines of a transfer.
const CONTROL_LINES: &str = r#"{"name":"loadgo transfer","version":1,"token":false}
{"name":"loadgo transfer","version":1,"token":"0f","direction":"send","method":"io-uring","size":7,"message":4096,"job":{"print":"0f"},"waits":true}
{"ticket":{"ticket":"0f","unix":null,"authority":[48],"size":7,"go":true}}
{"refused":"full"}
{"cannot":"no ring"}
{"end":{"moved":{"payload":7,"wire":9,"calls":1,"messages":1},"real_ns":5,"cpu_ns":4,"user_ns":2,"system_ns":2,"soft_interrupt_ns":0,"interrupt_ns":0,"interrupts_by":{"windows":{"clocked":0.5,"error_ns":null,"doubt":null}},"faults_minor":1,"faults_major":0,"switches_voluntary":0,"switches_involuntary":0,"load_5min":0.5,"counted":null,"broke_off":"why"},"job":"7"}
"#;

/// The JSON messages of a controller and of an agent.
const MESSAGES: [(Kind, &str); 10] = [
    (Kind::Hello, r#"{"hash":"0f","pid":7,"hostname":"h","kernel":"6.1","is_root":true}"#),
    (Kind::Request, r#"{"do":"doctor"}"#),
    (
        Kind::Request,
        r#"{"do":"meter","id":"r","address":"ssh://h","meters":"cheap","every_s":1.0,"duration_s":null,"command_line":["a"],"users":7}"#,
    ),
    (Kind::Request, r#"{"do":"ready","command":["true"],"cold":[true,false],"output":true}"#),
    (
        Kind::Request,
        r#"{"do":"drive","id":"r","address":"ssh://h","load":{"script_text":"name = 'x'\nlines = ['ls']","script_name":"x","command":[],"fail_if":[],"first_user":1,"users":7,"passes":2,"duration_s":1.5,"warm_up_s":null,"until":"p90 ± 5%","arrivals_per_second":0.1,"seed":1968,"login":null,"think":"uniform(1s, 2s)","typing":0.5,"log_ins_at_once":3},"destinations":[{"last_user":7,"login":"sh","sessions":null}],"fifo":true,"processor":0,"usage_every":1}"#,
    ),
    (Kind::Order, r#"{"do":"give-up","first_user":1,"last_user":7,"reason":"lost"}"#),
    (Kind::Order, r#"{"do":"begin","at_ns":7}"#),
    (Kind::Progress, r#"{"phase":"steady","reached":"lines","users_logged_in":7,"interactions":9}"#),
    (
        Kind::Answer,
        r#"{"outcome":"done","interactions":1,"logged_in":1,"done":1,"died":0,"refused":0,"notes":[],"left_behind":[]}"#,
    ),
    (Kind::Refusal, r#"{"reason":"why","left_behind":["x"]}"#),
];

/// Good inputs for the target of this name.
///
/// # Panics
/// There is no such target, or a bundled file cannot be read.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    match target {
        "script" => bundled("scripts"),
        "machine" => bundled("machines"),
        "cast" => {
            vec![[&[1], CAST.as_bytes()].concat(), [&[0], CAST.replace("version\": 3", "version\": 2").as_bytes()].concat()]
        }
        "stream" => streams(),
        "ready" => vec![outputs(WHOLE), outputs([7, 0])],
        "transfer" => vec![[&[0], CONTROL_LINES.as_bytes()].concat(), blocks()],
        "agent" => conversations(),
        other => panic!("there is no target {other}"),
    }
}

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn bundled(kind: &str) -> Vec<Vec<u8>> {
    let files = fs::read_dir(project().join("python/loadgo/data").join(kind)).expect("the bundled files");
    let mut paths: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    paths.sort();
    let texts = paths.iter().filter(|path| path.extension().is_some_and(|end| end == "toml"));
    texts.map(|path| fs::read(path).expect("a bundled file")).collect()
}

/// Output with a mark of the session, one of another, and one that breaks off at a mark's head.
fn outputs(cut: [u8; 2]) -> Vec<u8> {
    let text = "x\x1b[1m$ \x1b]133;D;17;aid=7777777777777777\x07y\x1b]133;D;0;aid=0000000000000000\x1b\\\x1b]133;D;\
                \x1b]133;D;5;t=-44;aid=7777777777777777\x1b\\z\x1b]133;A;k=s;aid=7777777777777777\x07";
    [cut.as_slice(), text.as_bytes()].concat()
}

fn blocks() -> Vec<u8> {
    let (mut all, mut block) = (vec![1], Vec::new());
    for payload in [&b"a line\n"[..], &[b'x'; 300]] {
        pack(payload, &mut block);
        all.extend_from_slice(&block);
    }
    all
}

/// The stream of a controller, and that of an agent.
fn conversations() -> Vec<Vec<u8>> {
    let frames = |wanted: fn(Kind) -> bool| -> Vec<u8> {
        let messages = MESSAGES.iter().filter(|(kind, _)| wanted(*kind));
        messages.flat_map(|(kind, text)| Frame::encoded(*kind, text.as_bytes())).collect()
    };
    let orders = frames(|kind| matches!(kind, Kind::Request | Kind::Order));
    let answers = frames(|kind| !matches!(kind, Kind::Request | Kind::Order));
    let beat = Frame::encoded(Kind::Beat, b"");
    vec![
        [&[0], WHOLE.as_slice(), &beat, &orders].concat(),
        [&[1], WHOLE.as_slice(), b"Welcome!\n", GREETING_BYTES, &answers, &beat].concat(),
    ]
}

/// Streams of a run's tables: as they are written, and without checksums, as those of earlier versions.
fn streams() -> Vec<Vec<u8>> {
    let place = tempfile::tempdir().expect("there is room");
    let folder = Folder::create(place.path().join("run"), "format = 1\n").expect("there is room");
    let (mut recorder, recording) = Recording::start(folder.clone(), WhenFull::Wait).expect("there is room");
    recorder.phase(Phase::Steady, Instant(0));
    recorder.lost(&LostRow { at: Instant(9), user: Some(1), what: "log-in", count: 1, reason: "no terminal".into() });
    drop(recorder);
    let time = TimeRow { at: Instant(5), span_ns: 5, processor: Some(0), category: "user", time_ns: 5 };
    recording.row_sender().sample(MeterRows { time: vec![time; 3], ..MeterRows::default() });
    assert_eq!(recording.stop().unwritten, []);
    let has_rows = [Table::Phases, Table::Time, Table::Lost, Table::Sessions];
    let wanted = Table::ALL.into_iter().enumerate().filter(|(_, table)| has_rows.contains(table));
    wanted.flat_map(|(number, table)| of_stream(number as u8, &fs::read(folder.stream(table)).expect("it is there"))).collect()
}

fn of_stream(number: u8, stream: &[u8]) -> [Vec<u8>; 2] {
    let mut plain = stream.to_vec();
    // Without the mark of a checksum, its place is padding.
    while let Some(at) = plain.windows(4).position(|bytes| bytes == b"lgc1") {
        plain[at..at + 8].fill(0);
    }
    [[&[number], WHOLE.as_slice(), stream].concat(), [&[number, 100, 0], plain.as_slice()].concat()]
}
