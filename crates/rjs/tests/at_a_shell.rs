//! `loadgo-rjs` as a user types it, with its own batch host.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

fn rjs(folder: &Path, words: &[&str], host: &str) -> Output {
    let mut order = Command::new(env!("CARGO_BIN_EXE_loadgo-rjs"));
    order.args(words).current_dir(folder).env("BATCH_HOST", host).output().expect("it runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A batch host, until dropped; where it is.
struct Batch(Child, String);

impl Batch {
    fn start(folder: &Path, words: &[&str]) -> Batch {
        let mut order = Command::new(env!("CARGO_BIN_EXE_loadgo-rjs"));
        order.args(["serve", "--listen", "127.0.0.1:0"]).args(words).current_dir(folder);
        let mut child = order.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it runs");
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
fn a_deck_is_submitted_printed_and_told_and_a_file_stored() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let batch = Batch::start(at, &["--rows", "rows.csv"]);
    fs::write(at.join("pde.deck"), "//PRINT 700\nX\n").expect("written");
    for (words, told) in [
        (&["submit", "pde.deck"][..], "pde.deck submitted: 14 bytes in "),
        (&["print", "pde.job"], "pde.print printed: 92400 bytes in "),
        (&["store", "pde.print"], "pde.print stored: 92400 bytes in "),
    ] {
        let output = rjs(at, words, &batch.1);
        assert!(output.status.success() && said(&output).starts_with(told), "{}", said(&output));
    }
    assert_eq!(fs::read_to_string(at.join("pde.print")).expect("it is there").lines().count(), 700);
    let again = rjs(at, &["print", "pde.job"], &batch.1);
    assert_eq!(again.status.code(), Some(2), "{}", said(&again));
    assert_eq!(fs::metadata(at.join("pde.print")).expect("the old one is left alone").len(), 92_400);
    assert!(!at.join("pde.print.part").exists());
}

#[test]
fn where_nobody_listens_it_says_so_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its address").to_string();
    fs::write(folder.path().join("a.job"), "0123456789abcdef\n").expect("written");
    let output = rjs(folder.path(), &["print", "a.job"], &port);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("nobody listens"), "{}", said(&output));
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
    assert_eq!(order.output().expect("it runs").status.code(), Some(2), "there is no such place");
    let printing = Command::new(env!("CARGO_BIN_EXE_loadgo-rjs"))
        .args(["print", "a.job"])
        .current_dir(folder.path())
        .env("BATCH_HOST", &batch.1)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let part = folder.path().join("a.print.part.incomplete");
    while !fs::metadata(&part).is_ok_and(|part| part.len() > 0) {
        std::thread::yield_now();
    }
    drop(batch);
    let output = printing.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("a.job: ") && said(&output).contains(" bytes"), "{}", said(&output));
    assert!(!part.exists() && !folder.path().join("a.print").exists());
}

#[test]
fn a_far_end_that_speaks_something_else_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.deck"), "X\n").expect("written");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = listener.local_addr().expect("its address").to_string();
    let stranger = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("it comes");
        stream.write_all(b"220 smtp.example ready\r\n").expect("it hears");
        let _ = stream.read(&mut [0; 64]);
    });
    let output = rjs(folder.path(), &["submit", "a.deck"], &at);
    stranger.join().expect("it ends");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("does not speak as loadgo transfer does"), "{}", said(&output));
}

#[test]
fn what_names_no_job_and_what_is_no_file_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.job"), "../../etc/passwd\n").expect("written");
    fs::write(folder.path().join("b.job"), "").expect("written");
    for (words, told) in [
        (&["print", "a.job"][..], "names no job"),
        (&["print", "b.job"], "empty"),
        (&["submit", "none.deck"], "none.deck"),
        (&["submit", "."], "no plain file"),
        (&["serve", "--listen", "0.0.0.0:0"], "other hosts"),
        (&["wait"], "usage"),
    ] {
        let output = rjs(folder.path(), words, "127.0.0.1:1");
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(said(&output).contains(told), "{words:?}: {}", said(&output));
    }
}
