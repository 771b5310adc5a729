//! The server of transfers: `loadgo transfer serve`.
//!
//! The server handles every connection in a thread of its own and keeps to its limits. It writes files only into a folder that was
//! named, and trusts no client.

use loadgo_core::stop::StopRequest;
use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use loadgo_sys::shared_ring::SharedRing;
use serde::Deserialize;

use crate::accept::{Accepted, accept_next};
use crate::batch_host::{BatchHost, JobData, JobRefusal};
use crate::bounds::{CONTROL_TIMEOUT, MOST_MESSAGE_BYTES, STOP_POLL_PERIOD, TransferLimits};
use crate::end::{self, EndStopReason};
use crate::measuring::interrupts::{InterruptAccount, MeterOrReason};
use crate::measuring::row::EndRow;
use crate::mover::{Arriving, Mover, Payload};
use crate::moving::destination::Destination;
use crate::moving::method::{Method, MethodInUse};
use crate::moving::socket::{DataSocket, error_words};
use crate::moving::source::DataSource;
use crate::moving::tls;
use crate::news::{NewsSender, ServerNews};
use crate::protocol::control::{Control, other_protocol_error, read_within};
use crate::protocol::meeting::{self, CONTROL_BYTE, DATA_BYTE};
use crate::protocol::wire::{
    Direction, FinalReply, GoSignal, Greeting, Introduction, MOST_CONTROL_LINE_BYTES, PROTOCOL_NAME, PROTOCOL_VERSION,
    ServerReply, TransferRequest, TransferTicket,
};
use crate::refusal::RequestRefusal;
use crate::shares::{ConnectionSlot, DiskBudget, DiskShare};
use crate::strangers::{MOST_STRANGERS, Stranger, Strangers};
use crate::tickets::{self, SECRET_BYTES, equal_in_constant_time};

/// Options of a server.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// Limits of connections, bytes and times.
    pub bounds: TransferLimits,
    /// Token that clients must send; None admits all clients.
    pub token: Option<String>,
    /// Folder for files with received data; None discards the data.
    pub keep_in: Option<PathBuf>,
    /// Meter of its ends' interrupt work, or why there is none.
    pub interrupts: MeterOrReason,
    /// Batch host that handles the jobs of transfers.
    pub jobs: Arc<dyn BatchHost>,
}

/// A transfer that has ended.
struct EndedTransfer {
    request: TransferRequest,
    end: EndRow,
    theirs: Option<EndRow>,
    kept: Option<PathBuf>,
}

impl EndedTransfer {
    fn news(self, peer: SocketAddr) -> ServerNews {
        ServerNews::Ended {
            peer,
            request: self.request,
            end: Box::new(self.end),
            theirs: self.theirs.map(Box::new),
            kept: self.kept,
        }
    }
}

/// The receivers of expected data connections, by ticket.
type ExpectedConnections = Mutex<HashMap<String, Sender<OwnedFd>>>;

/// The state that all connections of a server share.
#[derive(Debug)]
struct ServerState {
    options: ServerOptions,
    stop: StopRequest,
    expected: ExpectedConnections,
    disk: Arc<DiskBudget>,
    connections: Arc<AtomicUsize>,
    strangers: Arc<Strangers>,
    transfers: Arc<AtomicUsize>,
}

/// Serves until `stop` is set, and reports to `news`. If the system has no room for a connection, the server waits until there is.
///
/// # Errors
/// The listener fails.
pub fn serve(listener: &TcpListener, options: ServerOptions, stop: StopRequest, news: &NewsSender) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let disk = DiskBudget::new(options.bounds.kept);
    let (expected, connections, transfers) = (ExpectedConnections::default(), Arc::default(), Arc::default());
    let server = Arc::new(ServerState { options, stop, expected, disk, connections, transfers, strangers: Arc::default() });
    let mut is_full = false;
    while !server.stop.is_set() {
        news.report_left_out();
        match accept_next(listener)? {
            Accepted::Nobody => {}
            Accepted::Guest(stream, peer) => {
                is_full = false;
                server.handle(stream, peer, news);
            }
            Accepted::Full(error) => {
                if !is_full {
                    news.send(ServerNews::Full(error.to_string()));
                }
                is_full = true;
                thread::sleep(STOP_POLL_PERIOD);
            }
        }
    }
    server.wait_for_connections();
    news.report_left_out();
    Ok(())
}

/// Time that a stopped server waits for connections while no transfer moves data.
const IDLE_STOP_TIMEOUT: Duration = Duration::from_secs(1);
/// Longest time that a stopped server waits for transfers to end. On a busy host one may take longer; then its incomplete file stays.
const TRANSFER_STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// Largest number of excess connections that get an answer at once; further ones are dropped without one.
const MOST_ANSWERED_REFUSALS: usize = 16;
/// The answer to an excess connection.
const TOO_MANY_MESSAGE: &str = "too many connections at once: try again later";

/// Refuses an excess connection, and waits for a while until the client has read the refusal.
fn refuse_excess(mut stream: TcpStream) -> io::Error {
    let answer = || -> io::Result<()> {
        let mut control = Control::new(stream.try_clone()?)?;
        control.send(&Greeting { name: PROTOCOL_NAME.into(), version: PROTOCOL_VERSION, token: false })?;
        control.send(&ServerReply::Refused(TOO_MANY_MESSAGE.into()))?;
        stream.shutdown(Shutdown::Write)
    };
    if answer().is_ok() {
        let _ = read_within(&mut stream, &mut vec![0; MOST_CONTROL_LINE_BYTES as usize], CONTROL_TIMEOUT);
    }
    error(ErrorKind::ConnectionRefused, TOO_MANY_MESSAGE)
}

impl ServerState {
    /// Handles a connection in a thread of its own. An excess connection is refused or dropped.
    fn handle(self: &Arc<ServerState>, stream: TcpStream, peer: SocketAddr, news: &NewsSender) {
        // A transfer has two connections, and clients need some more to be refused on.
        let most_connections = 2 * self.options.bounds.connections + 8 + 2 * MOST_STRANGERS;
        let slot = ConnectionSlot::take(&self.connections);
        let stranger = self.strangers.take_in(&stream, MOST_STRANGERS);
        if slot.before() >= most_connections + MOST_ANSWERED_REFUSALS {
            return news.send(ServerNews::Refused(peer, TOO_MANY_MESSAGE.into()));
        }
        let (server, news_sender) = (self.clone(), news.clone());
        let started = thread::Builder::new().spawn(move || {
            let outcome = match slot.before() < most_connections {
                true => server.handle_connection(stream, stranger),
                false => Err(refuse_excess(stream)),
            };
            match outcome {
                Ok(Some(ended)) => news_sender.send(ended.news(peer)),
                Ok(None) => {}
                Err(error) => news_sender.send(ServerNews::Refused(peer, error_words(&error))),
            }
            drop(slot);
        });
        if let Err(error) = started {
            news.send(ServerNews::Refused(peer, format!("there is no thread for it: {error}")));
        }
    }

    /// Waits until all connections have noticed the stop, reported their transfers, and removed incomplete files.
    fn wait_for_connections(&self) {
        let begun = Instant::now();
        let mut until = begun + IDLE_STOP_TIMEOUT;
        while self.connections.load(Ordering::Relaxed) > 0 && Instant::now() < until {
            if self.transfers.load(Ordering::Relaxed) > 0 {
                until = (Instant::now() + IDLE_STOP_TIMEOUT).min(begun + TRANSFER_STOP_TIMEOUT);
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Passes a data connection to the transfer that expects it, or makes the transfer of a control connection.
    fn handle_connection(&self, mut stream: TcpStream, stranger: Option<Stranger>) -> io::Result<Option<EndedTransfer>> {
        let mut first = [0; 1];
        read_within(&mut stream, &mut first, CONTROL_TIMEOUT).map_err(|_| error(ErrorKind::TimedOut, "it said nothing"))?;
        match first[0] {
            CONTROL_BYTE => self.handle_control(stream, stranger).map(Some),
            DATA_BYTE => self.handle_data(stream, stranger).map(|()| None),
            _ => Err(other_protocol_error()),
        }
    }

    fn handle_data(&self, mut stream: TcpStream, stranger: Option<Stranger>) -> io::Result<()> {
        let mut ticket = [0; SECRET_BYTES * 2];
        read_within(&mut stream, &mut ticket, CONTROL_TIMEOUT)?;
        stream.set_nodelay(true)?;
        let ticket = String::from_utf8_lossy(&ticket).into_owned();
        let transfer = self.expected().remove(&ticket);
        let transfer = transfer.ok_or_else(|| error(ErrorKind::PermissionDenied, "it has no such ticket"))?;
        drop(stranger);
        transfer.send(stream.into()).map_err(|_| error(ErrorKind::TimedOut, "it came too late"))
    }

    fn expected(&self) -> MutexGuard<'_, HashMap<String, Sender<OwnedFd>>> {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handle_control(&self, stream: TcpStream, stranger: Option<Stranger>) -> io::Result<EndedTransfer> {
        let mut control = Control::new(stream)?;
        control.send(&Greeting { name: PROTOCOL_NAME.into(), version: PROTOCOL_VERSION, token: self.options.token.is_some() })?;
        let received: serde_json::Value = control.receive(CONTROL_TIMEOUT, &self.stop)?;
        let checked = parse_request(received)?.and_then(|request| self.check_request(&request).map(|()| request));
        let mut request = checked.map_err(|refusal| refuse(&mut control, refusal))?;
        drop(stranger);
        if let Some(reason) = request.method.unavailable_reason() {
            let reason = reason.to_string();
            return Err(control
                .send(&ServerReply::Cannot(reason.clone()))
                .err()
                .unwrap_or(error(ErrorKind::Unsupported, &reason)));
        }
        let begun = self.options.jobs.begin(&mut request, &mut || !self.is_over(&control));
        let job_data = begun.map_err(|refusal| refuse(&mut control, refusal))?;
        let slot = ConnectionSlot::take(&self.transfers);
        if slot.before() >= self.options.bounds.connections {
            return Err(refuse(&mut control, RequestRefusal::TooManyTransfers(slot.before())));
        }
        let (mut end, kept) = self.transfer(&mut control, &request, &*job_data)?;
        drop(slot);
        let job = job_data.end(end.broke_off.is_none()).unwrap_or_else(|refusal| {
            end.broke_off = Some(refusal.to_string());
            None
        });
        let sent = control.send(&FinalReply { end: end.clone(), job });
        let expects_row = request.job.is_some() && sent.is_ok();
        let reply = expects_row.then(|| control.receive::<FinalReply>(CONTROL_TIMEOUT, &self.stop).ok()).flatten();
        let theirs = reply.map(|reply| reply.end);
        if theirs.as_ref().is_some_and(|theirs| theirs.broke_off.is_none()) {
            job_data.acknowledge();
        }
        Ok(EndedTransfer { request, end, theirs, kept })
    }

    fn check_request(&self, request: &TransferRequest) -> Result<(), RequestRefusal> {
        let most_bytes = self.options.bounds.bytes;
        if let Some(token) = &self.options.token
            && !equal_in_constant_time(token, request.token.as_deref().unwrap_or(""))
        {
            return Err(RequestRefusal::WrongToken);
        }
        if request.size > most_bytes {
            return Err(RequestRefusal::TooLong(request.size, most_bytes));
        }
        if request.message == 0 || request.message > MOST_MESSAGE_BYTES {
            return Err(RequestRefusal::MessageOutOfRange(request.message));
        }
        Ok(())
    }

    /// Sends a ticket, waits for the data connection, and moves the data in a thread of their own. Returns this end's row, and the path
    /// of the file that keeps the data.
    fn transfer(
        &self,
        control: &mut Control,
        request: &TransferRequest,
        job_data: &dyn JobData,
    ) -> io::Result<(EndRow, Option<PathBuf>)> {
        let deadline = Instant::now() + self.options.bounds.time;
        let (payload, share) = self.payload(request, job_data).map_err(|error| refuse(control, error_words(&error)))?;
        let ring = (request.method == Method::Shm).then(SharedRing::create).transpose()?;
        let keys = request.method.is_encrypted().then(|| tls::make_keys(request.method)).transpose()?;
        let authority = keys.as_ref().map(|keys| keys.authority.clone());
        let data = self.await_data_connection(control, request, authority)?;
        let account =
            InterruptAccount::begin(&self.options.interrupts, (!request.method.is_of_one_host()).then_some(data.as_fd()));
        if self.sends_go(request) {
            control.send(&GoSignal::Go)?;
        }
        let stop = StopRequest::default();
        ring.as_ref().map(|ring| meeting::send_descriptor(data.as_fd(), ring.memory())).transpose()?;
        let socket = DataSocket::new(data, stop.clone(), self.options.bounds.stalled)?;
        let way = MethodInUse { method: request.method, message: request.message, tls: keys.map(tls::server).transpose()?, ring };
        let name = payload.name();
        let mover = Mover::start(payload, way, account, socket)?;
        let mut reason = None;
        let end = mover.wait(|| {
            let time_over = (Instant::now() > deadline).then_some(EndStopReason::TimeOver);
            reason = reason.or(time_over).or_else(|| control.is_over().then_some(EndStopReason::PeerGone));
            if reason.is_some() || self.stop.is_set() {
                stop.set();
            }
        });
        let end = end.ok_or_else(|| io::Error::other("the transfer failed"))?.row(reason);
        let is_complete = end.broke_off.is_none();
        if let Some(share) = share.filter(|_| is_complete) {
            share.keep();
        }
        Ok((end, name.filter(|_| is_complete)))
    }

    /// Whether the client must wait for [`GoSignal`], so that no data arrive before this end's meter follows the connection.
    fn sends_go(&self, request: &TransferRequest) -> bool {
        let over_network = !request.method.is_of_one_host();
        request.waits && request.direction == Direction::Send && over_network && self.options.interrupts.is_ok()
    }

    fn await_data_connection(
        &self,
        control: &mut Control,
        request: &TransferRequest,
        authority: Option<Vec<u8>>,
    ) -> io::Result<OwnedFd> {
        let ticket = tickets::random_ticket()?;
        if request.method.is_of_one_host() {
            // All users of the host can see names of sockets, so the ticket differs from the name.
            let name = format!("{}{}", meeting::SOCKET_NAME_PREFIX, tickets::random_ticket()?);
            let listener = meeting::listen_locally(&name)?;
            let (unix, size) = (Some(name), Some(request.size));
            control.send(&ServerReply::Ticket(TransferTicket { ticket: ticket.clone(), unix, authority, size, go: false }))?;
            return meeting::accept_with_ticket(&listener, &ticket, CONTROL_TIMEOUT, || self.is_over(control));
        }
        let (sender, receiver) = channel();
        self.expected().insert(ticket.clone(), sender);
        let (go, size) = (self.sends_go(request), Some(request.size));
        let sent = control.send(&ServerReply::Ticket(TransferTicket { ticket: ticket.clone(), unix: None, authority, size, go }));
        let data = sent.and_then(|()| self.receive_connection(&receiver, control));
        self.expected().remove(&ticket);
        data
    }

    /// Waits for the data connection, until the client is gone or the time is over.
    fn receive_connection(&self, receiver: &Receiver<OwnedFd>, control: &Control) -> io::Result<OwnedFd> {
        let until = Instant::now() + CONTROL_TIMEOUT;
        loop {
            match receiver.recv_timeout(STOP_POLL_PERIOD) {
                Ok(data) => return Ok(data),
                Err(RecvTimeoutError::Timeout) if Instant::now() < until && !self.is_over(control) => {}
                Err(_) => return Err(error(ErrorKind::TimedOut, "no data connection came")),
            }
        }
    }

    /// Whether the server is stopped or the client is gone.
    fn is_over(&self, control: &Control) -> bool {
        self.stop.is_set() || control.is_over()
    }

    /// The data to send, or the destination of received data. That is the job's file, a new file in [`ServerOptions::keep_in`] with its
    /// share of the disk, or nowhere.
    fn payload(&self, request: &TransferRequest, job_data: &dyn JobData) -> io::Result<(Payload, Option<DiskShare>)> {
        if request.direction == Direction::Receive {
            let source = job_data.source().unwrap_or_else(|| DataSource::pattern(request.size))?;
            return Ok((Payload::From(source), None));
        }
        let arriving = Arriving { size: request.size, before: end::TICKET_BYTES };
        let (destination, share) = match (job_data.file(), &self.options.keep_in) {
            (Some(file), _) => (Destination::from_file(file?), None),
            (None, Some(folder)) => {
                let share =
                    self.disk.take_share(request.size).map_err(|exceeded| io::Error::new(ErrorKind::StorageFull, exceeded))?;
                (Destination::create(&folder.join(tickets::random_ticket()?))?, Some(share))
            }
            (None, None) => (Destination::discard()?, None),
        };
        Ok((Payload::Into(destination, arriving), share))
    }
}

/// Largest number of characters of an unknown protocol's name that a refusal repeats.
const MOST_NAME_CHARS: usize = 40;

/// Parses a request of this version. The client is sent the inner error, not the outer one.
fn parse_request(received: serde_json::Value) -> io::Result<Result<TransferRequest, RequestRefusal>> {
    let introduction = Introduction::deserialize(&received).map_err(|_| other_protocol_error())?;
    if introduction.name != PROTOCOL_NAME || introduction.version != PROTOCOL_VERSION {
        let name: String = introduction.name.chars().take(MOST_NAME_CHARS).collect();
        return Ok(Err(RequestRefusal::OtherVersion(introduction.version, name)));
    }
    TransferRequest::deserialize(&received).map(Ok).map_err(|_| other_protocol_error())
}

/// Sends a refusal, and returns it as an error.
fn refuse(control: &mut Control, refusal: impl Into<JobRefusal>) -> io::Error {
    let refusal = refusal.into();
    let sent = control.send(&ServerReply::Refused(refusal.to_string()));
    sent.err().unwrap_or_else(|| io::Error::new(ErrorKind::PermissionDenied, refusal))
}

fn error(kind: ErrorKind, reason: &str) -> io::Error {
    io::Error::new(kind, reason)
}
