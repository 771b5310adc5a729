//! A server for tests, a client's orders, and other ends that misbehave as a test needs it.

#![allow(dead_code, reason = "each test program uses its part")]

use loadgo_core::stop::StopRequest;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use loadgo_transfer::batch_host::NoJobs;
use loadgo_transfer::bounds::TransferLimits;
use loadgo_transfer::client::{TransferEnds, TransferOrder, transfer};
use loadgo_transfer::moving::method::Method;
use loadgo_transfer::news::{self, ServerNews};
use loadgo_transfer::protocol::wire::Direction;
use loadgo_transfer::server::{ServerOptions, serve};

/// A wait of this length counts as a hang, however busy the host is.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// Options with these limits: no token, no kept files, and no meter of interrupts.
pub fn server_options(bounds: TransferLimits) -> ServerOptions {
    ServerOptions { bounds, token: None, keep_in: None, interrupts: Err("not in this test".into()), jobs: Arc::new(NoJobs) }
}

/// A server on a port of the kernel's choice, until dropped.
pub struct Server {
    /// The server's address.
    pub at: SocketAddr,
    /// News of the server.
    pub news: Receiver<ServerNews>,
    stop: StopRequest,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a server with these options.
    pub fn start(serving: ServerOptions) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let at = listener.local_addr().expect("its address");
        let stop = StopRequest::default();
        let (news_sender, news) = news::channel(news::MOST_WAITING_REPORTS);
        let stopped = stop.clone();
        let thread = thread::spawn(move || serve(&listener, serving, stopped, &news_sender).expect("the listener works"));
        Server { at, stop, news, thread: Some(thread) }
    }

    /// Starts a server with the default limits.
    pub fn plain() -> Server {
        Server::within(TransferLimits::default())
    }

    /// Starts a server with these limits.
    pub fn within(bounds: TransferLimits) -> Server {
        Server::start(server_options(bounds))
    }

    /// Starts a server with the default limits that keeps received files in `folder`.
    pub fn keeping(folder: impl Into<PathBuf>) -> Server {
        Server::start(ServerOptions { keep_in: Some(folder.into()), ..server_options(TransferLimits::default()) })
    }
}

impl Server {
    /// Stops the server and returns the news that were not received.
    pub fn stopped(mut self) -> Vec<ServerNews> {
        self.stop.set();
        self.thread.take().map(JoinHandle::join);
        self.news.try_iter().collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.set();
        self.thread.take().map(JoinHandle::join);
    }
}

/// An order for `size` bytes of the pattern.
pub fn order(to: SocketAddr, direction: Direction, method: Method, size: u64) -> TransferOrder {
    let (to, message, bounds) = (vec![to], method.default_message_bytes(), TransferLimits::default());
    let interrupts = Err("not in this test".into());
    TransferOrder {
        to,
        token: None,
        direction,
        method,
        size: Some(size),
        message,
        from: None,
        into: None,
        job: None,
        bounds,
        interrupts,
    }
}

/// Makes the transfer of an order.
pub fn transferred(order: &TransferOrder) -> TransferEnds {
    transfer(order, &Arc::default()).expect("a transfer")
}

/// The methods among `methods` that this host can use. The others are printed with the reason, even if the test passes.
pub fn available(methods: &[Method]) -> Vec<Method> {
    let (here, not_here) = methods.iter().partition::<Vec<Method>, _>(|method| method.unavailable_reason().is_none());
    for method in not_here {
        let reason = method.unavailable_reason().expect("a reason");
        writeln!(std::io::stderr(), "not tried, {}: {reason}", method.name()).expect("printed");
    }
    here
}

/// A control connection that a test writes and reads line by line.
pub struct ControlLine {
    stream: BufReader<TcpStream>,
}

impl ControlLine {
    /// Connects to the server at `to` and reads its greeting.
    pub fn connect(to: SocketAddr) -> ControlLine {
        let mut stream = TcpStream::connect(to).expect("the server listens");
        stream.write_all(b"C").expect("sent");
        let mut line = ControlLine { stream: BufReader::new(stream) };
        assert!(line.receive().contains("loadgo transfer"));
        line
    }

    /// Requests to send `size` bytes by a method.
    pub fn request_to_send(&mut self, size: u64, method: Method) {
        let request = r#"{"name":"loadgo transfer","version":1,"token":null,"direction":"send","message":9"#;
        self.send(&format!("{request},\"size\":{size},\"method\":\"{}\"}}", method.name()));
    }

    /// Sends a line.
    pub fn send(&mut self, line: &str) {
        self.stream.get_mut().write_all(format!("{line}\n").as_bytes()).expect("sent");
    }

    /// Receives a line; empty at the end.
    pub fn receive(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("a line");
        line
    }

    /// Receives a ticket.
    pub fn receive_ticket(&mut self) -> String {
        let answer = self.receive();
        answer.split('"').find(|word| word.len() == 32).unwrap_or_else(|| panic!("no ticket: {answer}")).to_owned()
    }
}

/// Opens a data connection with `ticket` to the server at `to`.
pub fn data_connection(to: SocketAddr, ticket: &str) -> TcpStream {
    let mut stream = TcpStream::connect(to).expect("the server listens");
    stream.write_all(format!("D{ticket}").as_bytes()).expect("sent");
    stream
}

/// Another end that sends `greeting`, answers any request with a ticket, passes the data connection to `act`, and hangs up. Its
/// thread returns the result.
pub fn far_end<T: Send + 'static>(
    greeting: &'static str,
    act: impl FnOnce(TcpStream) -> T + Send + 'static,
) -> (SocketAddr, JoinHandle<Option<T>>) {
    far_ends(greeting, |_, data| act(data))
}

/// As [`far_end`], with the control connection for `act` too.
pub fn far_ends<T: Send + 'static>(
    greeting: &'static str,
    act: impl FnOnce(TcpStream, TcpStream) -> T + Send + 'static,
) -> (SocketAddr, JoinHandle<Option<T>>) {
    far_control(greeting, move |mut control, listener| {
        let ticket = "0".repeat(32);
        let answer = format!("{{\"ticket\":{{\"ticket\":\"{ticket}\",\"unix\":null,\"authority\":null,\"size\":0}}}}\n");
        control.write_all(answer.as_bytes()).ok()?;
        let (mut data, _) = listener.accept().ok()?;
        data.read_exact(&mut [0; 33]).ok()?;
        Some(act(control, data))
    })
}

/// Another end that sends `greeting`, receives a request, and passes the control connection to `act`.
pub fn far_control<T: Send + 'static>(
    greeting: &'static str,
    act: impl FnOnce(TcpStream, TcpListener) -> Option<T> + Send + 'static,
) -> (SocketAddr, JoinHandle<Option<T>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = listener.local_addr().expect("its address");
    let thread = thread::spawn(move || {
        let (mut control, _) = listener.accept().ok()?;
        control.write_all(greeting.as_bytes()).ok()?;
        let mut lines = BufReader::new(control.try_clone().ok()?);
        let length = lines.read_line(&mut String::new()).ok()?;
        if length < 2 {
            return None; // the client hung up at the greeting
        }
        act(control, listener)
    });
    (at, thread)
}

/// First line of a server of this version.
pub const GREETING: &str = "{\"name\":\"loadgo transfer\",\"version\":1,\"token\":false}\n";
