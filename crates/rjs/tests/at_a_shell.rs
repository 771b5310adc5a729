//! `loadgo-rjs` as a user types it, with its own batch host.

use loadgo_core::stop::StopRequest;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use loadgo_transfer::measuring::row::EndRow;
use loadgo_transfer::moving::records::pack;
use loadgo_transfer::protocol::control::Control;
use loadgo_transfer::protocol::wire::{
    FinalReply, Greeting, PROTOCOL_NAME, PROTOCOL_VERSION, ServerReply, TransferRequest, TransferTicket,
};

/// A wait of this length counts as a hang.
const PATIENCE: Duration = Duration::from_secs(300);

fn rjs(folder: &Path, words: &[&str], host: &str) -> Output {
    let mut order = Command::new(env!("CARGO_BIN_EXE_loadgo-rjs"));
    order.args(words).current_dir(folder).env("BATCH_HOST", host).output().expect("the program runs")
}

/// Starts `loadgo-rjs` with its output piped.
fn start_rjs(folder: &Path, words: &[&str], host: &str) -> Child {
    let mut order = Command::new(env!("CARGO_BIN_EXE_loadgo-rjs"));
    order.args(words).current_dir(folder).env("BATCH_HOST", host);
    order.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs")
}

/// Waits until `is_seen` returns true, while a program runs.
fn until(running: &mut Child, is_seen: impl Fn() -> bool) {
    let give_up = Instant::now() + PATIENCE;
    while !is_seen() {
        let ended = running.try_wait().expect("its state");
        assert!(ended.is_none() && Instant::now() < give_up, "the program ended, or the wait was too long: {ended:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn printed_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A batch host, until dropped, with its address.
struct Batch(Child, String);

impl Batch {
    fn start(folder: &Path, words: &[&str]) -> Batch {
        let mut order = Command::new(env!("CARGO_BIN_EXE_loadgo-rjs"));
        order.args(["serve", "--listen", "127.0.0.1:0"]).args(words).current_dir(folder);
        let mut child = order.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program runs");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("its address");
        Batch(child, line.trim().to_owned())
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_deck_is_submitted_and_printed_and_a_file_is_stored() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let batch = Batch::start(at, &["--rows", "rows.csv"]);
    fs::write(at.join("pde.deck"), "//PRINT 700\nX\n").expect("written");
    for (words, expected) in [
        (&["submit", "pde.deck"][..], "pde.deck submitted: 14 bytes in "),
        (&["print", "pde.job"], "pde.print printed: 92400 bytes in "),
        (&["store", "pde.print"], "pde.print stored: 92400 bytes in "),
    ] {
        let output = rjs(at, words, &batch.1);
        assert!(output.status.success() && printed_text(&output).starts_with(expected), "{}", printed_text(&output));
    }
    assert_eq!(fs::read_to_string(at.join("pde.print")).expect("it is there").lines().count(), 700);
    let again = rjs(at, &["print", "pde.job"], &batch.1);
    assert_eq!(again.status.code(), Some(2), "{}", printed_text(&again));
    assert_eq!(fs::metadata(at.join("pde.print")).expect("the old one is left alone").len(), 92_400);
    let mut names: Vec<_> = fs::read_dir(at).expect("a folder").map(|entry| entry.expect("an entry").file_name()).collect();
    names.sort();
    assert_eq!(names, ["pde.deck", "pde.job", "pde.print", "rows.csv"]);
}

#[test]
fn without_a_batch_host_a_job_is_refused_and_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.job"), "0123456789abcdef\n").expect("written");
    let output = rjs(folder.path(), &["print", "a.job"], "127.0.0.1:1");
    assert_eq!(output.status.code(), Some(2));
    assert!(printed_text(&output).contains("nobody listens"), "{}", printed_text(&output));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn a_batch_host_that_dies_in_the_middle_breaks_the_job_off_with_status_1() {
    let folder = tempfile::tempdir().expect("a folder");
    let batch = Batch::start(folder.path(), &[]);
    fs::write(folder.path().join("a.deck"), "//PRINT 30000000\n").expect("written");
    assert!(rjs(folder.path(), &["submit", "a.deck"], &batch.1).status.success());
    let mut order = Command::new(env!("CARGO_BIN_EXE_loadgo-rjs"));
    order.args(["print", "a.job", "--into", "/dev/shm/none/a"]).current_dir(folder.path()).env("BATCH_HOST", &batch.1);
    assert_eq!(order.output().expect("the program runs").status.code(), Some(2), "there is no such place");
    let mut printing = start_rjs(folder.path(), &["print", "a.job"], &batch.1);
    let part = folder.path().join("a.print.incomplete");
    until(&mut printing, || fs::metadata(&part).is_ok_and(|part| part.len() > 0));
    drop(batch);
    let output = printing.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(1), "{}", printed_text(&output));
    assert!(printed_text(&output).contains("a.job: ") && printed_text(&output).contains(" bytes"), "{}", printed_text(&output));
    assert!(!part.exists() && !folder.path().join("a.print").exists());
}

/// A batch host for one client, and its address. It promises `size` bytes, hands the data connection to `moves`, and sends a row with
/// `job`. Its thread returns the row that the client sends then.
fn host(
    size: Option<u64>,
    job: Option<&'static str>,
    moves: impl FnOnce(TcpStream) + Send + 'static,
) -> (String, JoinHandle<Option<EndRow>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = listener.local_addr().expect("its address").to_string();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        stream.read_exact(&mut [0; 1]).expect("the kind of connection");
        let mut control = Control::new(stream).expect("a connection");
        control.send(&Greeting { name: PROTOCOL_NAME.into(), version: PROTOCOL_VERSION, token: false }).expect("sent");
        control.receive::<TransferRequest>(PATIENCE, &StopRequest::default()).expect("a request");
        control
            .send(&ServerReply::Ticket(TransferTicket { ticket: "0".repeat(32), unix: None, authority: None, size, go: false }))
            .expect("sent");
        let (mut data, _) = listener.accept().expect("a connection");
        data.read_exact(&mut [0; 33]).expect("its ticket");
        moves(data);
        control.send(&FinalReply { end: EndRow::default(), job: job.map(Into::into) }).expect("sent");
        control.receive::<FinalReply>(PATIENCE, &StopRequest::default()).ok().map(|reply| reply.end)
    });
    (at, thread)
}

#[test]
fn of_two_prints_into_one_file_the_second_is_refused_and_the_first_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let part = folder.path().join("a.print.incomplete");
    fs::write(folder.path().join("a.job"), "0123456789abcdef\n").expect("written");
    fs::write(&part, "what a job that was killed has left").expect("written");
    let (goes_on, waits) = channel::<()>();
    let (at, host) = host(Some(10), None, move |mut data| {
        let mut block = Vec::new();
        pack(b"0123456789", &mut block);
        waits.recv().expect("the test says when");
        data.write_all(&block).expect("sent");
    });
    let mut first = start_rjs(folder.path(), &["print", "a.job"], &at);
    until(&mut first, || fs::metadata(&part).is_ok_and(|part| part.len() == 0));
    let second = rjs(folder.path(), &["print", "a.job"], &at);
    assert_eq!(second.status.code(), Some(2), "{}", printed_text(&second));
    assert!(printed_text(&second).contains("a.print.incomplete: another process writes it now"), "{}", printed_text(&second));
    goes_on.send(()).expect("the host waits");
    let first = first.wait_with_output().expect("the program ends");
    assert!(first.status.success(), "{}", printed_text(&first));
    assert_eq!(host.join().expect("the thread ends").expect("the other end's row").moved.payload, 10);
    assert_eq!(fs::read(folder.path().join("a.print")).expect("it is there"), b"0123456789");
    assert!(!part.exists());
}

#[test]
fn a_job_name_that_is_no_name_is_not_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.deck"), "X\n").expect("written");
    let (at, host) = host(None, Some("../\x1b[2J"), |mut data| assert!(data.read_to_end(&mut Vec::new()).is_ok()));
    let output = rjs(folder.path(), &["submit", "a.deck"], &at);
    host.join().expect("the thread ends");
    assert_eq!(output.status.code(), Some(1), "{}", printed_text(&output));
    assert!(printed_text(&output).contains("gave it no name"), "{}", printed_text(&output));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

/// The output of `words` in a shell where `$0` is `loadgo-rjs`. A disk of 64 KiB is mounted at `small`, in a namespace of its own.
/// Without root it is None, which a line on standard error says.
fn on_a_small_disk(folder: &Path, host: &str, words: &str) -> Option<String> {
    let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    if !root {
        writeln!(std::io::stderr(), "not tried: it takes root to mount a small disk").expect("said");
        return None;
    }
    fs::create_dir(folder.join("small")).expect("made");
    let mounted = format!("mount -t tmpfs -o size=64k none small || exit; {{ {words}; }} 2>&1; echo \"status $?\"; ls -A small");
    let mut order = Command::new("unshare");
    order.args(["--mount", "sh", "-c", &mounted, env!("CARGO_BIN_EXE_loadgo-rjs")]);
    Some(printed_text(&order.current_dir(folder).env("BATCH_HOST", host).output().expect("the program runs")))
}

#[test]
fn a_print_file_without_room_on_the_disk_is_refused_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let batch = Batch::start(folder.path(), &[]);
    fs::write(folder.path().join("a.deck"), "//PRINT 10000\n").expect("written");
    assert!(rjs(folder.path(), &["submit", "a.deck"], &batch.1).status.success());
    let Some(printed) = on_a_small_disk(folder.path(), &batch.1, r#""$0" print a.job --into small/a"#) else { return };
    assert!(printed.contains("its print file has 1320000 bytes, and the disk has room for 6"), "{printed}");
    assert!(printed.ends_with("\nstatus 2\n"), "nothing is left there: {printed}");
    assert!(rjs(folder.path(), &["print", "a.job"], &batch.1).status.success(), "it can be fetched to another place");
}

#[test]
fn a_job_name_without_room_on_the_disk_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let batch = Batch::start(folder.path(), &[]);
    let fills = "echo X > small/a.deck; head -c 99999 /dev/zero > small/rest 2> /dev/null";
    let words = format!("{fills}; \"$0\" submit small/a.deck");
    let Some(printed) = on_a_small_disk(folder.path(), &batch.1, &words) else { return };
    assert!(printed.contains("small/a.deck: No space left on device"), "{printed}");
    assert!(printed.ends_with("\nstatus 1\na.deck\nrest\n"), "{printed}");
}

#[test]
fn a_server_of_another_protocol_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.deck"), "X\n").expect("written");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = listener.local_addr().expect("its address").to_string();
    let stranger = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        stream.write_all(b"220 smtp.example ready\r\n").expect("sent");
        let _ = stream.read(&mut [0; 64]);
    });
    let output = rjs(folder.path(), &["submit", "a.deck"], &at);
    stranger.join().expect("the thread ends");
    assert_eq!(output.status.code(), Some(2), "{}", printed_text(&output));
    assert!(printed_text(&output).contains("does not speak the protocol of loadgo transfer"), "{}", printed_text(&output));
}

#[test]
fn files_without_a_job_name_and_special_files_are_refused_with_their_names() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.job"), "../../etc/passwd\n").expect("written");
    fs::write(folder.path().join("b.job"), "").expect("written");
    let made = Command::new("mkfifo").arg(folder.path().join("pipe")).status().expect("the program runs");
    assert!(made.success());
    for (words, expected) in [
        (&["print", "a.job"][..], "names no job"),
        (&["print", "b.job"], "empty"),
        (&["submit", "none.deck"], "none.deck"),
        (&["submit", "."], "no plain file"),
        (&["store", "pipe"], "no plain file"),
        (&["serve", "--listen", "0.0.0.0:0"], "other hosts"),
        (&["wait"], "usage"),
    ] {
        let output = rjs(folder.path(), words, "127.0.0.1:1");
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(printed_text(&output).contains(expected), "{words:?}: {}", printed_text(&output));
    }
}
