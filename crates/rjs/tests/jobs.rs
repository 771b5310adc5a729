//! The batch host: decks in, print files out, files stored; what it refuses, and what it does not keep.

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
use ends::{Line, PATIENCE, ask, data, done, serving};

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

    fn start(bounds: TransferLimits, of_jobs: JobLimits) -> Batch {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let at = listener.local_addr().expect("its address");
        let stop = StopRequest::default();
        let (tells, news) = news::channel(news::MOST_WAITING_REPORTS);
        let serving = ServerOptions { jobs: Arc::new(Jobs::new(of_jobs)), ..serving(bounds) };
        let stopped = stop.clone();
        let thread = thread::spawn(move || serve(&listener, serving, stopped, &tells).expect("it serves"));
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
        let ask = TransferOrder {
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
        transfer(&ask, &Arc::default())
    }

    fn submitted(&self, deck: &[u8]) -> String {
        let done = self.asked(JobKind::Submit, Some(self.file(deck)), None).expect("it comes to a transfer");
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
    let batch = Batch::with_jobs(|usual| usual);
    let into = batch.folder.path().join("print");
    let name = batch.submitted(b"//PRINT 5000\nX\n");
    let done = batch.printed(&name, &into).expect("it is printed");
    assert_eq!(done.here.broke_off, None);
    assert_eq!(done.here.moved.payload, 5000 * 132);
    let text = fs::read_to_string(&into).expect("it is there");
    assert_eq!(text.lines().count(), 5000);
    assert!(text.lines().all(|line| line.len() == 131));
    assert!(text.starts_with("     1  //PRINT 5000 "));
    assert!(batch.printed(&name, &into.with_extension("again")).expect_err("it is over").to_string().contains("no job"));
}

#[test]
fn the_jobs_time_passes_before_its_print_file_is_there() {
    let job_time = Duration::from_millis(700);
    let batch = Batch::with_jobs(|usual| JobLimits { job_time, ..usual });
    let begun = Instant::now();
    let name = batch.submitted(b"X\n");
    let done = batch.printed(&name, &batch.folder.path().join("print")).expect("it is printed");
    assert!(begun.elapsed() >= job_time);
    assert_eq!(done.here.moved.payload, 132);
}

#[test]
fn what_is_no_deck_is_told_at_its_card_and_leaves_no_job() {
    let batch = Batch::with_jobs(|usual| JobLimits { jobs: 1, ..usual });
    for (deck, why) in [(&b""[..], "no cards"), (b"A\n//PRINT many\n", "card 2")] {
        let done = batch.asked(JobKind::Submit, Some(batch.file(deck)), None).expect("it comes to a transfer");
        assert_eq!(done.job, None);
        let told = done.there.expect("it tells its row").broke_off.expect("it is no deck");
        assert!(told.contains(why), "{told}");
    }
    batch.submitted(b"X\n");
}

#[test]
fn more_than_the_bounds_say_is_refused_in_words() {
    let bounds = TransferLimits { bytes: 600_000, ..TransferLimits::default() };
    let batch = Batch::start(bounds, JobLimits { jobs: 2, ..JobLimits::for_server(&bounds) });
    let refused = |deck: &[u8]| match batch.asked(JobKind::Submit, Some(batch.file(deck)), None) {
        Err(refusal) => refusal.to_string(),
        Ok(done) => done.there.expect("it tells its row").broke_off.expect("it is refused"),
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
fn jobs_that_nobody_fetches_are_forgotten_when_a_transfer_could_last_no_longer() {
    for (time, kept) in [(Duration::from_secs(3600), true), (Duration::ZERO, false)] {
        let jobs =
            Jobs::new(JobLimits { jobs: 1, ..JobLimits::for_server(&TransferLimits { time, ..TransferLimits::default() }) });
        let mut request: TransferRequest = serde_json::from_str(&submits(2)).expect("a request");
        let work = jobs.begin(&mut request, &mut || true).expect("there is room");
        work.file().expect("a deck").and_then(|mut deck| deck.write_all(b"X\n")).expect("written");
        work.end(true).expect("a deck").expect("its name");
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
fn a_client_that_dies_before_it_says_that_it_has_all_can_fetch_it_again() {
    let batch = Batch::with_jobs(|usual| JobLimits { jobs: 1, ..usual });
    let name = batch.submitted(b"//PRINT 50\n");
    let broke_off = EndRow { broke_off: Some("No space left on device".into()), ..EndRow::default() };
    for says in [None, Some(FinalReply { end: broke_off, job: None })] {
        let mut line = Line::to(batch.at);
        line.says(&prints(&name));
        let mut came = Vec::new();
        data(batch.at, &line.hears_a_ticket()).read_to_end(&mut came).expect("all of it");
        assert!(came.len() > 50 * 132 && line.hears().contains("\"broke_off\":null"));
        if let Some(says) = says {
            line.says(&serde_json::to_string(&says).expect("a line"));
            assert_eq!(line.hears(), "", "it hangs up when it has heard that");
        }
    }
    let told = batch.asked(JobKind::Submit, Some(batch.file(b"X\n")), None).expect_err("the job is kept").to_string();
    assert!(told.contains("1 jobs wait"), "{told}");
    let into = batch.folder.path().join("print");
    assert_eq!(batch.printed(&name, &into).expect("it is printed").here.moved.payload, 50 * 132);
    assert!(batch.printed(&name, &into).expect_err("it is over").to_string().contains("no job"));
    batch.submitted(b"X\n");
}

#[test]
fn a_print_file_beyond_the_clients_bounds_is_refused_and_can_be_fetched_by_another() {
    let batch = Batch::with_jobs(|usual| usual);
    let into = batch.folder.path().join("print");
    let name = batch.submitted(b"//PRINT 5000\n");
    let ask = |bytes: u64| TransferOrder {
        bounds: TransferLimits { bytes, ..TransferLimits::default() },
        into: Some(into.clone()),
        size: None,
        job: Some(JobKind::Print(name.clone())),
        ..ask(batch.at, Direction::Receive, Method::Records, 0)
    };
    let told = transfer(&ask(659_999), &Arc::default()).expect_err("it is too long").to_string();
    assert!(told.contains("its print file has 660000 bytes, more than the 659999 that are allowed here"), "{told}");
    assert_eq!(fs::read_dir(batch.folder.path()).expect("a folder").count(), 1, "the deck alone");
    assert_eq!(done(&ask(660_000)).here.moved.payload, 660_000);
}

#[test]
fn a_host_without_jobs_takes_none_and_a_name_from_nowhere_is_no_job() {
    let batch = Batch::with_jobs(|usual| JobLimits { jobs: 0, ..usual });
    let told = batch.asked(JobKind::Submit, Some(batch.file(b"X\n")), None).expect_err("it is refused").to_string();
    assert!(told.contains("no jobs are taken"), "{told}");
    let printed = batch.printed("../../etc/\u{1b}passwd", &batch.folder.path().join("print"));
    let told = printed.expect_err("there is none").to_string();
    assert!(told.contains("no job") && !told.contains('\u{1b}'), "{told}");
}

#[test]
fn a_job_that_goes_the_other_way_is_refused() {
    let batch = Batch::with_jobs(|usual| usual);
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
        let told = transfer(&TransferOrder { job: Some(job), ..plain }, &Arc::default()).expect_err("it is refused");
        let told = told.to_string();
        assert!(told.contains("moves data in the other direction"), "{told}");
    }
}

#[test]
fn a_file_that_is_stored_is_counted_and_a_row_of_the_clients_end_is_told() {
    let batch = Batch::with_jobs(|usual| usual);
    let wave = vec![b'w'; 200_001];
    let done = batch.asked(JobKind::Store, Some(batch.file(&wave)), None).expect("it is stored");
    assert_eq!(done.there.expect("it tells its row").moved.payload, 200_001);
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
fn another_table_is_not_written_into() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("other.csv");
    fs::write(&path, "a,b\n1,2\n").expect("written");
    assert!(TransferCsv::open(&path).expect_err("it is another").to_string().contains("another table"));
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "a,b\n1,2\n");
}
