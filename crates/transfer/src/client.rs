//! The client of a transfer: `loadgo transfer --to`.

use loadgo_core::stop::StopRequest;
use std::io::{self, ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::Instant;

use loadgo_sys::shared_ring::SharedRing;

use crate::bounds::{CONTROL_TIMEOUT, TransferLimits};
use crate::end::{self, EndStopReason};
use crate::measuring::interrupts::{InterruptAccount, MeterOrReason};
use crate::measuring::row::EndRow;
use crate::mover::{Arriving, Mover, Payload};
use crate::moving::method::{Method, MethodInUse};
use crate::moving::place::Destination;
use crate::moving::socket::{DataSocket, error_words};
use crate::moving::source::DataSource;
use crate::moving::tls;
use crate::protocol::control::Control;
use crate::protocol::meeting::{self, CONTROL_BYTE};
use crate::protocol::wire::{
    Direction, FinalReply, GoSignal, Greeting, JobKind, PROTOCOL_NAME, PROTOCOL_VERSION, ServerReply, TransferRequest,
};

/// One transfer as the client wants it.
#[derive(Debug, Clone)]
pub struct TransferOrder {
    /// Addresses of the server; the first that answers is used.
    pub to: Vec<SocketAddr>,
    /// The server's token, if it has one.
    pub token: Option<String>,
    /// Direction of the data, as the client sees it.
    pub direction: Direction,
    /// Method of this end and the other.
    pub method: Method,
    /// Number of bytes; None for the whole file.
    pub size: Option<u64>,
    /// Largest number of bytes that one call moves.
    pub message: u32,
    /// File to send; None for a pattern in memory.
    pub from: Option<PathBuf>,
    /// File for received data, which must be new unless it is a print file. None discards the data.
    pub into: Option<PathBuf>,
    /// The batch job that this transfer belongs to, if any.
    pub job: Option<JobKind>,
    /// Times, and the largest size of a print file. The server has the other limits.
    pub bounds: TransferLimits,
    /// Meter of this end's interrupt work, or why there is none.
    pub interrupts: MeterOrReason,
}

impl TransferOrder {
    fn is_print(&self) -> bool {
        matches!(self.job, Some(JobKind::Print(_)))
    }
}

/// Both ends of a transfer.
#[derive(Debug, Clone)]
pub struct TransferEnds {
    /// This end's row.
    pub here: EndRow,
    /// The server's row, or why it is missing.
    pub there: Result<EndRow, String>,
    /// The name of the job that was submitted.
    pub job: Option<String>,
}

/// Why a transfer cannot begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransferRefusal {
    /// No server answers, the server refuses, or the file cannot be read.
    Refused(String),
    /// The two hosts cannot use this method; another method may work.
    Cannot(String),
}

impl TransferRefusal {
    /// The reason as a sentence.
    pub fn words(self) -> String {
        match self {
            TransferRefusal::Refused(words) | TransferRefusal::Cannot(words) => words,
        }
    }
}

impl From<String> for TransferRefusal {
    fn from(words: String) -> TransferRefusal {
        TransferRefusal::Refused(words)
    }
}

/// Makes one transfer; setting `stop` ends it early.
///
/// # Errors
/// The transfer cannot begin.
pub fn transfer(ask: &TransferOrder, stop: &StopRequest) -> Result<TransferEnds, TransferRefusal> {
    if let Some(reason) = ask.method.unavailable_reason() {
        return Err(TransferRefusal::Cannot(format!("{} is not possible here: {reason}", ask.method.name())));
    }
    let (source, size) = open_source(ask)?;
    let place = open_destination(ask)?;
    let (mut control, to) = connect(ask, stop)?;
    let failed = |error: io::Error| format!("{to}: {}", error_words(error));
    control.send(&request(ask, size)).map_err(failed)?;
    let timeout = if ask.is_print() { ask.bounds.time } else { CONTROL_TIMEOUT };
    let (ticket, unix, authority, size, go) = match control.receive(timeout, stop).map_err(failed)? {
        ServerReply::Ticket { ticket, unix, authority, size: print_size, go } => {
            (ticket, unix, authority, print_size.filter(|_| ask.is_print()).unwrap_or(size), go)
        }
        ServerReply::Refused(reason) => return Err(format!("{to} refused: {reason}").into()),
        ServerReply::Cannot(reason) => {
            return Err(TransferRefusal::Cannot(format!("{} is not possible at {to}: {reason}", ask.method.name())));
        }
    };
    check_print_size(ask, &place, size).map_err(|reason| format!("{to}: {reason}"))?;
    let (data, account) = match unix.filter(|_| ask.method.is_of_one_host()) {
        Some(name) => (connect_locally(ask, &name, &ticket, to)?, InterruptAccount::begin(&ask.interrupts, None)),
        None => {
            let data = meeting::connect_by_network(to, CONTROL_TIMEOUT).map_err(failed)?;
            let account = InterruptAccount::begin(&ask.interrupts, Some(data.as_fd())); // before any data can arrive
            (meeting::show_ticket(data, &ticket).map_err(failed)?, account)
        }
    };
    let ring =
        (ask.method == Method::Shm).then(|| meeting::receive_descriptor(&data, CONTROL_TIMEOUT).and_then(SharedRing::open));
    let ring = ring.transpose().map_err(failed)?;
    let socket = DataSocket::new(data, stop.clone(), ask.bounds.stalled).map_err(failed)?;
    let tls = authority.map(|authority| tls::client(ask.method, authority)).transpose().map_err(failed)?;
    let way = MethodInUse { method: ask.method, message: ask.message, tls, ring };
    if go {
        let GoSignal::GoSignal = control.receive(CONTROL_TIMEOUT, stop).map_err(failed)?;
    }
    let payload = source.map_or(Payload::Into(place, Arriving { size, before: 0 }), Payload::From);
    let here = move_data(ask, payload, way, account, socket, stop)?;
    Ok(exchange_rows(ask, &mut control, here))
}

fn request(ask: &TransferOrder, size: u64) -> TransferRequest {
    TransferRequest {
        name: PROTOCOL_NAME.into(),
        version: PROTOCOL_VERSION,
        token: ask.token.clone(),
        direction: ask.direction,
        method: ask.method,
        size,
        message: ask.message,
        job: ask.job.clone(),
        waits: true,
    }
}

/// Receives the server's row. For a job it also sends this end's row, and waits until the server hangs up after handling it.
fn exchange_rows(ask: &TransferOrder, control: &mut Control, here: EndRow) -> TransferEnds {
    // After breaking off, this end waits for the other's row no longer than for its data.
    let timeout = if here.broke_off.is_some() { end::ROW_TIMEOUT.min(ask.bounds.stalled) } else { end::ROW_TIMEOUT };
    match control.receive::<FinalReply>(timeout, &StopRequest::default()) {
        Ok(FinalReply { end, job }) => {
            if ask.job.is_some() && control.send(&FinalReply { end: here.clone(), job: None }).is_ok() {
                control.wait_for_hang_up(CONTROL_TIMEOUT);
            }
            TransferEnds { here, there: Ok(end), job }
        }
        Err(error) => {
            TransferEnds { here, there: Err(format!("the other end did not tell its row: {}", error_words(error))), job: None }
        }
    }
}

/// Checks that a print file, whose size the batch host has sent, is within the limits and fits on the disk.
fn check_print_size(ask: &TransferOrder, place: &Destination, size: u64) -> Result<(), String> {
    let most = ask.bounds.bytes;
    if ask.is_print() && size > most {
        return Err(format!("its print file has {size} bytes, and here they are at most {most}"));
    }
    match place.free_bytes().filter(|room| ask.is_print() && size > *room) {
        Some(room) => Err(format!("its print file has {size} bytes, and the disk has room for {room}: name another with --into")),
        None => Ok(()),
    }
}

/// Opens the data to send, if any, and returns the number of bytes.
fn open_source(ask: &TransferOrder) -> Result<(Option<DataSource>, u64), String> {
    if ask.is_print() {
        return Ok((None, 0)); // the batch host knows the size
    }
    if ask.direction == Direction::Receive {
        return ask.size.map(|size| (None, size)).ok_or_else(|| "how much is to be received? say --size".to_owned());
    }
    let source = match (&ask.from, ask.size) {
        (Some(path), size) => DataSource::file(path, size).map_err(|error| format!("{}: {error}", path.display()))?,
        (None, Some(size)) => DataSource::pattern(size).map_err(|error| format!("there is no memory for a pattern: {error}"))?,
        (None, None) => return Err("how much is to be sent? say --size, or a file with --from".into()),
    };
    let size = source.size();
    Ok((Some(source), size))
}

/// Opens the destination of received data. A print file replaces an older one.
fn open_destination(ask: &TransferOrder) -> Result<Destination, String> {
    match &ask.into {
        Some(path) if ask.is_print() => Destination::replacing(path).map_err(|error| error.to_string()),
        Some(path) => Destination::create(path).map_err(|error| error.to_string()),
        None => Destination::discard().map_err(|error| format!("/dev/null: {error}")),
    }
}

/// Connects to the first of the addresses that answers.
fn connect_first(ask: &TransferOrder) -> Result<(TcpStream, SocketAddr), String> {
    let mut failures = Vec::new();
    for to in &ask.to {
        match TcpStream::connect_timeout(to, CONTROL_TIMEOUT) {
            Ok(stream) => return Ok((stream, *to)),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => failures.push(format!("nobody listens at {to}")),
            Err(error) => failures.push(format!("{to}: {}", error_words(error))),
        }
    }
    Err(format!("{}: start `loadgo transfer serve` there", failures.join(", and ")))
}

fn connect(ask: &TransferOrder, stop: &StopRequest) -> Result<(Control, SocketAddr), String> {
    let (mut stream, to) = connect_first(ask)?;
    let failed = |error: io::Error| format!("{to}: {}", error_words(error));
    stream.write_all(&[CONTROL_BYTE]).map_err(failed)?;
    let mut control = Control::new(stream).map_err(failed)?;
    let greeting: Greeting = control.receive(CONTROL_TIMEOUT, stop).map_err(failed)?;
    if greeting.name != PROTOCOL_NAME || greeting.version != PROTOCOL_VERSION {
        let versions =
            format!("speaks version {} of {}, and this is version {PROTOCOL_VERSION}", greeting.version, greeting.name);
        return Err(format!("{to} {versions}: have the same loadgo at both ends"));
    }
    if greeting.token && ask.token.is_none() {
        return Err(format!("{to} wants a token: give the one that it was started with, with --token-file"));
    }
    Ok((control, to))
}

fn connect_locally(ask: &TransferOrder, name: &str, ticket: &str, to: SocketAddr) -> Result<OwnedFd, TransferRefusal> {
    meeting::connect_locally(name, ticket).map_err(|error| {
        let words = format!("works within one host, and the Unix socket of {to} cannot be reached from here ({error})");
        TransferRefusal::Cannot(format!("{} {words}", ask.method.name()))
    })
}

/// Moves this end's data in a thread of its own, and returns the end's row.
fn move_data(
    ask: &TransferOrder,
    payload: Payload,
    way: MethodInUse,
    account: InterruptAccount,
    socket: DataSocket,
    stop: &StopRequest,
) -> Result<EndRow, String> {
    let until = Instant::now() + ask.bounds.time;
    let mover = Mover::start(payload, way, account, socket);
    let mover = mover.map_err(|error| format!("there is no thread to move the data: {error}"))?;
    let mut is_late = false;
    let end = mover.wait(|| {
        is_late |= Instant::now() > until;
        if is_late {
            stop.set();
        }
    });
    end.map(|end| end.row(is_late.then_some(EndStopReason::TimeOver))).ok_or_else(|| "the transfer failed".into())
}
