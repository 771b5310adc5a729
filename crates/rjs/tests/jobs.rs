//! The batch host: decks become print files, files are stored, and mistakes are refused.

use loadgo_core::stop::StopRequest;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use loadgo_rjs::jobs::deck::MOST_DECK_BYTES;
use loadgo_rjs::jobs::{JobLimits, Jobs};
use loadgo_rjs::rows::{TransferCsv, column_names};
use loadgo_transfer::batch_host::BatchHost;
use loadgo_transfer::bounds::TransferLimits;
use loadgo_transfer::client::{TransferEnds, TransferOrder, transfer};
use loadgo_transfer::measuring::row::EndRow;
use loadgo_transfer::moving::method::Method;
use loadgo_transfer::news::{self, ServerNews};
use loadgo_transfer::protocol::wire::{Direction, FinalReply, JobKind, TransferRequest};
use loadgo_transfer::refusal::TransferRefusal;
use loadgo_transfer::server::{ServerOptions, serve};

#[path = "../../transfer/tests/ends/mod.rs"]
mod ends;
use ends::{ControlLine, PATIENCE, data_connection, order, server_options, transferred};

/// A batch host on a port of the kernel's choice, until dropped, and a folder for its users.
struct Batch {
    at: SocketAddr,
    stop: StopRequest,
    news: Receiver<ServerNews>,
    thread: Option<JoinHandle<()>>,
    folder: tempfile::TempDir,
}

impl Batch {
    /// A batch host with the default bounds, and with the limits of jobs that `change` makes of the default.
    fn with_jobs(change: impl FnOnce(JobLimits) -> JobLimits) -> Batch {
        let bounds = TransferLimits::default();
        Batch::start(bounds, change(JobLimits::for_server(&bounds)))
    }

    fn start(bounds: TransferLimits, limits: JobLimits) -> Batch {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let at = listener.local_addr().expect("its address");
        let stop = StopRequest::default();
        let (news_sender, news) = news::channel(news::MOST_WAITING_REPORTS);
        let serving = ServerOptions { jobs: Arc::new(Jobs::new(limits)), ..server_options(bounds) };
        let stopped = stop.clone();
        let thread = thread::spawn(move || serve(&listener, serving, stopped, &news_sender).expect("the listener works"));
        Batch { at, stop, news, thread: Some(thread), folder: tempfile::tempdir().expect("a folder") }
    }

    fn file(&self, text: &[u8]) -> PathBuf {
        let path = self.folder.path().join("file");
        fs::write(&path, text).expect("written");
        path
    }

    fn asked(&self, job: JobKind, from: Option<PathBuf>, into: Option<PathBuf>) -> Result<TransferEnds, TransferRefusal> {
        let direction = if matches!(job, JobKind::Print(_)) { Direction::Receive } else { Direction::Send };
        let (method, bounds) = (Method::Records, TransferLimits::default());
        let message = method.default_message_bytes();
        let (job, interrupts) = (Some(job), Err("not in this test".into()));
        let transfer_order = TransferOrder {
            to: vec![self.at],
            token: None,
            direction,
            method,
            size: None,
            message,
            from,
            into,
            job,
            bounds,
            interrupts,
        };
        transfer(&transfer_order, &Arc::default())
    }

    fn submitted(&self, deck: &[u8]) -> String {
        let done = self.asked(JobKind::Submit, Some(self.file(deck)), None).expect("a transfer");
        done.job.unwrap_or_else(|| panic!("{:?}", done.there))
    }

    fn printed(&self, name: &str, into: &Path) -> Result<TransferEnds, TransferRefusal> {
        self.asked(JobKind::Print(name.into()), None, Some(into.to_owned()))
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.stop.set();
        self.thread.take().map(JoinHandle::join);
    }
}

#[test]
fn a_deck_comes_back_as_a_print_file_of_the_size_that_it_asks_for() {
    let batch = Batch::with_jobs(|default| default);
    let into = batch.folder.path().join("print");
    let name = batch.submitted(b"//PRINT 5000\nX\n");
    let done = batch.printed(&name, &into).expect("it is printed");
    assert_eq!(done.here.broke_off, None);
    assert_eq!(done.here.moved.payload, 5000 * 132);
    let text = fs::read_to_string(&into).expect("it is there");
    assert_eq!(text.lines().count(), 5000);
    assert!(text.lines().all(|line| line.len() == 131));
    assert!(text.starts_with("     1  //PRINT 5000 "));
    assert!(batch.printed(&name, &into.with_extension("again")).expect_err("the job is over").to_string().contains("no job"));
}

#[test]
fn a_print_file_is_there_after_the_time_of_its_job() {
    let job_time = Duration::from_millis(700);
    let batch = Batch::with_jobs(|default| JobLimits { job_time, ..default });
    let begun = Instant::now();
    let name = batch.submitted(b"X\n");
    let done = batch.printed(&name, &batch.folder.path().join("print")).expect("it is printed");
    assert!(begun.elapsed() >= job_time);
    assert_eq!(done.here.moved.payload, 132);
}

#[test]
fn a_deck_with_a_mistake_is_refused_with_its_card_and_leaves_no_job() {
    let batch = Batch::with_jobs(|default| JobLimits { jobs: 1, ..default });
    for (deck, why) in [(&b""[..], "no cards"), (b"A\n//PRINT many\n", "card 2")] {
        let done = batch.asked(JobKind::Submit, Some(batch.file(deck)), None).expect("a transfer");
        assert_eq!(done.job, None);
        let words = done.there.expect("the other end's row").broke_off.expect("it is no deck");
        assert!(words.contains(why), "{words}");
    }
    batch.submitted(b"X\n");
}

#[test]
fn decks_print_files_and_jobs_beyond_the_limits_are_refused() {
    let bounds = TransferLimits { bytes: 600_000, ..TransferLimits::default() };
    let batch = Batch::start(bounds, JobLimits { jobs: 2, ..JobLimits::for_server(&bounds) });
    let refused = |deck: &[u8]| match batch.asked(JobKind::Submit, Some(batch.file(deck)), None) {
        Err(refusal) => refusal.to_string(),
        Ok(done) => done.there.expect("the other end's row").broke_off.expect("it is refused"),
    };
    assert!(refused(&vec![b'\n'; MOST_DECK_BYTES as usize + 1]).contains("too long"));
    assert!(refused(b"//PRINT 4546\n").contains("more than the 600000"));
    let name = batch.submitted(b"//PRINT 4545\n");
    batch.submitted(b"X\n");
    assert!(refused(b"X\n").contains("2 jobs wait"));
    batch.printed(&name, &batch.folder.path().join("print")).expect("it is printed");
    batch.submitted(b"X\n");
}

#[test]
fn jobs_that_no_client_fetches_are_forgotten_after_the_longest_time_of_a_transfer() {
    for (time, kept) in [(Duration::from_secs(3600), true), (Duration::ZERO, false)] {
        let jobs =
            Jobs::new(JobLimits { jobs: 1, ..JobLimits::for_server(&TransferLimits { time, ..TransferLimits::default() }) });
        let mut request: TransferRequest = serde_json::from_str(&submits(2)).expect("a request");
        let job_data = jobs.begin(&mut request, &mut || true).expect("there is room");
        job_data.file().expect("a deck").and_then(|mut deck| deck.write_all(b"X\n")).expect("written");
        job_data.end(true).expect("a deck").expect("its name");
        let next = jobs.begin(&mut request, &mut || true).map(drop);
        assert_eq!(next.is_err_and(|refusal| refusal.to_string().contains("1 jobs wait here")), kept, "{time:?}");
    }
}

/// A request to submit a deck of `size` bytes.
fn submits(size: u64) -> String {
    let first = r#"{"name":"loadgo transfer","version":1,"token":null,"direction":"send","method":"records","message":4096"#;
    format!("{first},\"size\":{size},\"job\":\"submit\"}}")
}

/// A request for the print file of the job of this name.
fn prints(name: &str) -> String {
    let first = r#"{"name":"loadgo transfer","version":1,"token":null,"direction":"receive","method":"records","message":4096"#;
    format!("{first},\"size\":0,\"job\":{{\"print\":\"{name}\"}}}}")
}

#[test]
fn a_client_that_dies_before_it_acknowledges_a_print_file_can_fetch_it_again() {
    let batch = Batch::with_jobs(|default| JobLimits { jobs: 1, ..default });
    let name = batch.submitted(b"//PRINT 50\n");
    let broke_off = EndRow { broke_off: Some("No space left on device".into()), ..EndRow::default() };
    for reply in [None, Some(FinalReply { end: broke_off, job: None })] {
        let mut line = ControlLine::connect(batch.at);
        line.send(&prints(&name));
        let mut received = Vec::new();
        data_connection(batch.at, &line.receive_ticket()).read_to_end(&mut received).expect("all of it");
        assert!(received.len() > 50 * 132 && line.receive().contains("\"broke_off\":null"));
        if let Some(reply) = reply {
            line.send(&serde_json::to_string(&reply).expect("a line"));
            assert_eq!(line.receive(), "", "the server hangs up after the row");
        }
    }
    let words = batch.asked(JobKind::Submit, Some(batch.file(b"X\n")), None).expect_err("the job is kept").to_string();
    assert!(words.contains("1 jobs wait"), "{words}");
    let into = batch.folder.path().join("print");
    assert_eq!(batch.printed(&name, &into).expect("it is printed").here.moved.payload, 50 * 132);
    assert!(batch.printed(&name, &into).expect_err("the job is over").to_string().contains("no job"));
    batch.submitted(b"X\n");
}

#[test]
fn a_print_file_beyond_the_clients_limit_is_refused_and_another_client_can_fetch_it() {
    let batch = Batch::with_jobs(|default| default);
    let into = batch.folder.path().join("print");
    let name = batch.submitted(b"//PRINT 5000\n");
    let order_within = |bytes: u64| TransferOrder {
        bounds: TransferLimits { bytes, ..TransferLimits::default() },
        into: Some(into.clone()),
        size: None,
        job: Some(JobKind::Print(name.clone())),
        ..order(batch.at, Direction::Receive, Method::Records, 0)
    };
    let words = transfer(&order_within(659_999), &Arc::default()).expect_err("it is too long").to_string();
    assert!(words.contains("its print file has 660000 bytes, more than the 659999 that are allowed here"), "{words}");
    assert_eq!(fs::read_dir(batch.folder.path()).expect("a folder").count(), 1, "the deck alone");
    assert_eq!(transferred(&order_within(660_000)).here.moved.payload, 660_000);
}

#[test]
fn a_host_without_jobs_refuses_decks_and_unknown_names() {
    let batch = Batch::with_jobs(|default| JobLimits { jobs: 0, ..default });
    let words = batch.asked(JobKind::Submit, Some(batch.file(b"X\n")), None).expect_err("it is refused").to_string();
    assert!(words.contains("no jobs are taken"), "{words}");
    let printed = batch.printed("../../etc/\u{1b}passwd", &batch.folder.path().join("print"));
    let words = printed.expect_err("there is none").to_string();
    assert!(words.contains("no job") && !words.contains('\u{1b}'), "{words}");
}

#[test]
fn a_job_in_the_wrong_direction_is_refused() {
    let batch = Batch::with_jobs(|default| default);
    let (method, bounds, size) = (Method::Records, TransferLimits::default(), Some(10));
    for (direction, job) in [(Direction::Receive, JobKind::Submit), (Direction::Receive, JobKind::Store)] {
        let plain = TransferOrder {
            to: vec![batch.at],
            token: None,
            direction,
            method,
            size,
            message: 99,
            from: None,
            into: None,
            job: None,
            bounds,
            interrupts: Err("not in this test".into()),
        };
        let words = transfer(&TransferOrder { job: Some(job), ..plain }, &Arc::default()).expect_err("it is refused");
        let words = words.to_string();
        assert!(words.contains("moves data in the other direction"), "{words}");
    }
}

#[test]
fn a_stored_file_is_counted_and_the_clients_row_is_reported() {
    let batch = Batch::with_jobs(|default| default);
    let wave = vec![b'w'; 200_001];
    let done = batch.asked(JobKind::Store, Some(batch.file(&wave)), None).expect("it is stored");
    assert_eq!(done.there.expect("the other end's row").moved.payload, 200_001);
    let ServerNews::Ended { request, theirs: Some(theirs), .. } = batch.news.recv_timeout(PATIENCE).expect("news") else {
        panic!("no row of the client's end");
    };
    let path = batch.folder.path().join("rows.csv");
    for _ in 0..2 {
        TransferCsv::open(&path).expect("a table").add(&request, &theirs).expect("written");
    }
    let text = fs::read_to_string(&path).expect("it is there");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "job,method,direction,bytes,message,messages,faults,real_s,cpu_s,bits_per_s,us_per_bit,load,load_1min");
    assert_eq!(lines[0], column_names().join(","));
    assert!(lines[1].starts_with("store,records,s,200001,4096,"), "{}", lines[1]);
    assert_eq!(lines.len(), 3);
    let cells: Vec<_> = lines[1].split(',').collect();
    let number = |at: usize| cells[at].parse::<f64>().expect("a number");
    assert_eq!(number(7), done.here.real_ns as f64 / 1e9);
    assert!((number(9) * number(7) / (8.0 * 200_001.0) - 1.0).abs() < 1e-9);
}

#[test]
fn no_row_is_added_to_another_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("other.csv");
    fs::write(&path, "a,b\n1,2\n").expect("written");
    assert!(TransferCsv::open(&path).expect_err("it is another").to_string().contains("another table"));
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "a,b\n1,2\n");
}
