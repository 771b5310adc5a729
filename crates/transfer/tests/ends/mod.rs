//! A server of one's own, a client's question, and a far end that misbehaves as a test says.

#![allow(dead_code, reason = "each test program uses its part")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use loadgo_transfer::batch_host::NoJobs;
use loadgo_transfer::bounds::Bounds;
use loadgo_transfer::client::{Ask, Transfer, transfer};
use loadgo_transfer::moving::method::Method;
use loadgo_transfer::news::{self, News};
use loadgo_transfer::protocol::wire::Direction;
use loadgo_transfer::server::{Serving, serve};

/// For what comes at last, however busy the host is.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// With these bounds alone: open to all, keeping nothing, with no meter of interrupts.
pub fn serving(bounds: Bounds) -> Serving {
    Serving { bounds, token: None, keep_in: None, interrupts: Err("not in this test".into()), jobs: Arc::new(NoJobs) }
}

/// A server on a port of the kernel's choice, until dropped.
pub struct Server {
    /// Where it waits.
    pub at: SocketAddr,
    /// What it tells.
    pub news: Receiver<News>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// One that serves so.
    pub fn start(serving: Serving) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let at = listener.local_addr().expect("its address");
        let stop = Arc::new(AtomicBool::new(false));
        let (tells, news) = news::channel(news::AT_ONCE);
        let stopped = stop.clone();
        let thread = thread::spawn(move || serve(&listener, serving, stopped, &tells).expect("it serves"));
        Server { at, stop, news, thread: Some(thread) }
    }

    /// One with the usual bounds.
    pub fn plain() -> Server {
        Server::within(Bounds::default())
    }

    /// One with these bounds alone.
    pub fn within(bounds: Bounds) -> Server {
        Server::start(serving(bounds))
    }

    /// One with the usual bounds that keeps what comes in this folder.
    pub fn keeping(folder: impl Into<PathBuf>) -> Server {
        Server::start(Serving { keep_in: Some(folder.into()), ..serving(Bounds::default()) })
    }
}

impl Server {
    /// Stops it; what it has told and nobody heard.
    pub fn stopped(mut self) -> Vec<News> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
        self.news.try_iter().collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

/// A question for `size` bytes of the pattern.
pub fn ask(to: SocketAddr, direction: Direction, method: Method, size: u64) -> Ask {
    let (to, message, bounds) = (vec![to], method.usual_message(), Bounds::default());
    let interrupts = Err("not in this test".into());
    Ask { to, token: None, direction, method, size: Some(size), message, from: None, into: None, job: None, bounds, interrupts }
}

/// The transfer that it comes to.
pub fn done(ask: &Ask) -> Transfer {
    transfer(ask, &Arc::default()).expect("it comes to a transfer")
}

/// The methods that this host can do, of these; the others are named, with the reason, past the capture of a test that passes.
pub fn possible(methods: &[Method]) -> Vec<Method> {
    let (here, not_here) = methods.iter().partition::<Vec<Method>, _>(|method| method.why_not().is_none());
    for method in not_here {
        let why = method.why_not().expect("why not");
        writeln!(std::io::stderr(), "not tried, {}: {why}", method.name()).expect("said");
    }
    here
}

/// A stranger's control connection, line by line.
pub struct Line {
    stream: BufReader<TcpStream>,
}

impl Line {
    /// To the server at `to`, which has greeted.
    pub fn to(to: SocketAddr) -> Line {
        let mut stream = TcpStream::connect(to).expect("it listens");
        stream.write_all(b"C").expect("it hears");
        let mut line = Line { stream: BufReader::new(stream) };
        assert!(line.hears().contains("loadgo transfer"));
        line
    }

    /// Asks to send `size` bytes by a method.
    pub fn asks_to_send(&mut self, size: u64, method: Method) {
        let request = r#"{"name":"loadgo transfer","version":1,"token":null,"direction":"send","message":9"#;
        self.says(&format!("{request},\"size\":{size},\"method\":\"{}\"}}", method.name()));
    }

    /// Says a line.
    pub fn says(&mut self, line: &str) {
        self.stream.get_mut().write_all(format!("{line}\n").as_bytes()).expect("it hears");
    }

    /// Hears one; empty at the end.
    pub fn hears(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("it says something");
        line
    }

    /// The ticket that it hears.
    pub fn hears_a_ticket(&mut self) -> String {
        let answer = self.hears();
        answer.split('"').find(|word| word.len() == 32).unwrap_or_else(|| panic!("no ticket: {answer}")).to_owned()
    }
}

/// A data connection with `ticket` to the server at `to`.
pub fn data(to: SocketAddr, ticket: &str) -> TcpStream {
    let mut stream = TcpStream::connect(to).expect("it listens");
    stream.write_all(format!("D{ticket}").as_bytes()).expect("it hears");
    stream
}

/// A far end that greets with `greeting`, gives a ticket to whatever is asked, does with the data connection what `does`
/// says, and hangs up. It ends with its thread.
pub fn far_end<T: Send + 'static>(
    greeting: &'static str,
    does: impl FnOnce(TcpStream) -> T + Send + 'static,
) -> (SocketAddr, JoinHandle<Option<T>>) {
    far_ends(greeting, |_, data| does(data))
}

/// As [`far_end`], and `does` has the control connection too.
pub fn far_ends<T: Send + 'static>(
    greeting: &'static str,
    does: impl FnOnce(TcpStream, TcpStream) -> T + Send + 'static,
) -> (SocketAddr, JoinHandle<Option<T>>) {
    far_control(greeting, move |mut control, listener| {
        let ticket = "0".repeat(32);
        let answer = format!("{{\"ticket\":{{\"ticket\":\"{ticket}\",\"unix\":null,\"authority\":null,\"size\":0}}}}\n");
        control.write_all(answer.as_bytes()).ok()?;
        let (mut data, _) = listener.accept().ok()?;
        data.read_exact(&mut [0; 33]).ok()?;
        Some(does(control, data))
    })
}

/// A far end that greets with `greeting`, and does with the control connection, on which it was asked something, what `does` says.
pub fn far_control<T: Send + 'static>(
    greeting: &'static str,
    does: impl FnOnce(TcpStream, TcpListener) -> Option<T> + Send + 'static,
) -> (SocketAddr, JoinHandle<Option<T>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = listener.local_addr().expect("its address");
    let thread = thread::spawn(move || {
        let (mut control, _) = listener.accept().ok()?;
        control.write_all(greeting.as_bytes()).ok()?;
        let mut lines = BufReader::new(control.try_clone().ok()?);
        let heard = lines.read_line(&mut String::new()).ok()?;
        if heard < 2 {
            return None; // it went away on the greeting
        }
        does(control, listener)
    });
    (at, thread)
}

/// What a server of this version says first.
pub const GREETING: &str = "{\"name\":\"loadgo transfer\",\"version\":1,\"token\":false}\n";
