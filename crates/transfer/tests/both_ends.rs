//! A server and a client on this host, by every method and both ways.

use std::fs;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use loadgo_transfer::bounds::Bounds;
use loadgo_transfer::client::{Ask, Transfer, transfer};
use loadgo_transfer::method::Method;
use loadgo_transfer::server::{News, Serving, serve};
use loadgo_transfer::wire::Direction;

/// A server on a port of the kernel's choice, until dropped.
struct Server {
    at: SocketAddr,
    stop: Arc<AtomicBool>,
    news: Receiver<News>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    fn start(serving: Serving) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let at = listener.local_addr().expect("its address");
        let stop = Arc::new(AtomicBool::new(false));
        let (tells, news) = channel();
        let stopped = stop.clone();
        let thread = thread::spawn(move || serve(&listener, serving, stopped, &tells).expect("it serves"));
        Server { at, stop, news, thread: Some(thread) }
    }

    fn plain() -> Server {
        Server::start(Serving { bounds: Bounds::default(), token: None, keep_in: None })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

fn ask(to: SocketAddr, direction: Direction, method: Method, size: u64) -> Ask {
    let (size, message, bounds) = (Some(size), method.usual_message(), Bounds::default());
    Ask { to, token: None, direction, method, size, message, from: None, into: None, job: None, bounds }
}

fn done(ask: &Ask) -> Transfer {
    transfer(ask, &Arc::default()).expect("it comes to a transfer")
}

fn all_methods(size: u64) {
    let server = Server::plain();
    for direction in [Direction::Send, Direction::Receive] {
        for method in Method::ALL {
            let both = done(&ask(server.at, direction, method, size));
            let there = both.there.expect("it tells its row");
            let told = format!("{direction:?} {method:?}: {:?} {there:?}", both.here);
            assert_eq!(both.here.broke_off, None, "{told}");
            assert_eq!(there.broke_off, None, "{told}");
            assert_eq!((both.here.moved.payload, there.moved.payload), (size, size), "{told}");
            assert_eq!(both.here.moved.wire, there.moved.wire, "{told}");
            if method != Method::Unix {
                assert_eq!(both.here.counted, Some(both.here.moved.wire), "{told}");
                assert_eq!(there.counted, Some(there.moved.wire), "{told}");
            }
        }
    }
}

#[test]
fn every_method_moves_every_byte_and_the_sockets_count_the_same() {
    [1, 1000, 300_001].into_iter().for_each(all_methods);
}

#[test]
fn a_transfer_of_nothing_is_one() {
    all_methods(0);
}

#[test]
fn a_file_comes_over_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let (from, kept) = (folder.path().join("from"), folder.path().join("kept"));
    let text: Vec<u8> = (0..5_000_000u32).map(|at| (at.wrapping_mul(7919) >> 3) as u8).collect();
    fs::write(&from, &text).expect("written");
    fs::create_dir(&kept).expect("a folder");
    let server = Server::start(Serving { bounds: Bounds::default(), token: None, keep_in: Some(kept.clone()) });
    for method in Method::ALL.into_iter().filter(|method| *method != Method::Bytes) {
        let both = done(&Ask { size: None, from: Some(from.clone()), ..ask(server.at, Direction::Send, method, 0) });
        assert_eq!(both.here.broke_off, None, "{method:?}");
        both.there.expect("it tells its row");
        let (name,) = only(&kept);
        assert!(fs::read(&name).expect("it is there") == text, "{method:?} changed it");
        fs::remove_file(name).expect("it is ours");
    }
}

fn only(folder: &Path) -> (std::path::PathBuf,) {
    let mut names: Vec<_> = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    assert_eq!(names.len(), 1);
    (names.remove(0),)
}

#[test]
fn who_has_not_the_token_is_refused_in_words() {
    let server = Server::start(Serving { bounds: Bounds::default(), token: Some("sesame".into()), keep_in: None });
    let plain = ask(server.at, Direction::Send, Method::Blocks, 10);
    let asked = |token: Option<&str>| transfer(&Ask { token: token.map(Into::into), ..plain.clone() }, &Arc::default());
    assert!(asked(None).expect_err("it is refused").contains("wants a token"));
    assert!(asked(Some("sesam")).expect_err("it is refused").contains("wrong"));
    assert_eq!(asked(Some("sesame")).expect("it is let in").here.moved.payload, 10);
}

#[test]
fn more_than_is_allowed_is_refused_in_words() {
    let bounds = Bounds { bytes: 99, ..Bounds::default() };
    let server = Server::start(Serving { bounds, token: None, keep_in: None });
    let told = transfer(&ask(server.at, Direction::Receive, Method::Blocks, 100), &Arc::default());
    assert!(told.expect_err("it is refused").contains("more than the 99"));
}

#[test]
fn garbage_and_silence_leave_the_server_standing() {
    let server = Server::plain();
    for said in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"C\n", b"C{\"name\":1}\n", b"D0123", b"Dffffffffffffffffffffffffffffffff"] {
        let mut stream = TcpStream::connect(server.at).expect("it listens");
        stream.write_all(said).expect("it hears");
        drop(stream);
        let told = server.news.recv_timeout(Duration::from_secs(60)).expect("it tells");
        assert!(matches!(told, News::Refused(..)), "{told:?}");
    }
    assert_eq!(done(&ask(server.at, Direction::Send, Method::Blocks, 10)).here.broke_off, None);
}

#[test]
fn a_file_that_shrinks_breaks_off_in_words_at_both_ends() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    for method in [Method::Blocks, Method::Mmap, Method::Sendfile, Method::Splice, Method::Records, Method::Zerocopy] {
        file.as_file().set_len(64 << 20).expect("long");
        let server = Server::plain();
        let path = file.path().to_owned();
        // A server that is stopped reads no more, so the file can be cut while it is under way.
        let asked = Ask { size: None, from: Some(path), message: 4096, ..ask(server.at, Direction::Send, method, 0) };
        let cut = thread::spawn({
            let file = file.reopen().expect("again");
            move || {
                thread::yield_now();
                file.set_len(4096).expect("cut");
            }
        });
        let told = transfer(&asked, &Arc::default());
        cut.join().expect("it has cut");
        let Ok(both) = told else { continue }; // it was cut before it was opened: refused, or short and whole
        if let Some(why) = both.here.broke_off {
            assert!(why.contains("became shorter"), "{method:?}: {why}");
            let there = both.there.expect("it tells its row").broke_off.expect("it broke off");
            assert!(there.contains("ended after"), "{method:?}: {there}");
        }
    }
}

#[test]
fn a_far_end_that_stalls_is_left() {
    let bounds = Bounds { stalled: Duration::from_millis(300), ..Bounds::default() };
    let server = Server::start(Serving { bounds, token: None, keep_in: None });
    // A client that asks to send, connects, and sends nothing.
    let mut control = TcpStream::connect(server.at).expect("it listens");
    let said = r#"{"name":"loadgo transfer","version":1,"token":null,"direction":"send","method":"blocks","size":9,"message":9}"#;
    control.write_all(format!("C{said}\n").as_bytes()).expect("it hears");
    let lines = std::io::BufRead::lines(std::io::BufReader::new(control.try_clone().expect("again")));
    let mut lines = lines.map(|line| line.expect("it says something"));
    assert!(lines.next().expect("a greeting").contains("loadgo transfer"));
    let answer = lines.next().expect("an answer");
    let ticket = answer.split('"').find(|word| word.len() == 32).expect("a ticket");
    let mut data = TcpStream::connect(server.at).expect("it listens");
    data.write_all(format!("D{ticket}").as_bytes()).expect("it hears");
    assert!(lines.next().expect("a row").contains("nothing moved"));
}
