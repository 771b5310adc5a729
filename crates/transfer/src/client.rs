//! The client of a transfer: `loadgo transfer --to`.

use loadgo_core::stop::StopRequest;
use std::error::Error;
use std::fmt;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::Instant;

use loadgo_sys::shared_ring::SharedRing;

use crate::bounds::{CONTROL_TIMEOUT, TransferLimits};
use crate::end::{self, EndStopReason};
use crate::measuring::interrupts::{InterruptAccount, MeterOrReason};
use crate::measuring::row::EndRow;
use crate::mover::{Arriving, Mover, Payload};
use crate::moving::destination::Destination;
use crate::moving::method::{Method, MethodInUse};
use crate::moving::socket::{DataSocket, error_words};
use crate::moving::source::DataSource;
use crate::moving::tls;
use crate::protocol::control::Control;
use crate::protocol::meeting::{self, CONTROL_BYTE};
use crate::protocol::wire::{
    Direction, FinalReply, GoSignal, Greeting, JobKind, PROTOCOL_NAME, PROTOCOL_VERSION, ServerReply, TransferRequest,
    TransferTicket,
};
use crate::refusal::{MethodObstacle, TransferRefusal};

/// A client's order for one transfer.
#[derive(Debug, Clone)]
pub struct TransferOrder {
    /// Addresses of the server; the first that answers is used.
    pub to: Vec<SocketAddr>,
    /// The server's token, if it has one.
    pub token: Option<String>,
    /// Direction of the data, as the client sees it.
    pub direction: Direction,
    /// Method of both ends.
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
#[derive(Debug)]
pub struct TransferEnds {
    /// This end's row.
    pub here: EndRow,
    /// The server's row, or why it is missing.
    pub there: Result<EndRow, MissingRow>,
    /// The name of the job that was submitted.
    pub job: Option<String>,
}

/// The other end's row could not be received.
#[derive(Debug)]
pub struct MissingRow(io::Error);

impl fmt::Display for MissingRow {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the other end did not send its row: {}", error_words(&self.0))
    }
}

impl Error for MissingRow {}

/// All addresses of HOST:PORT in `text`.
///
/// # Errors
/// There is none.
pub fn parse_addresses(text: &str) -> Result<Vec<SocketAddr>, TransferRefusal> {
    match text.to_socket_addrs().map(Vec::from_iter) {
        Ok(addresses) if addresses.is_empty() => Err(io::Error::other("it has no address")),
        parsed => parsed,
    }
    .map_err(|error| TransferRefusal::Address(text.to_owned(), error))
}

/// Makes one transfer; setting `stop` ends it early.
///
/// # Errors
/// The transfer cannot begin.
pub fn transfer(order: &TransferOrder, stop: &StopRequest) -> Result<TransferEnds, TransferRefusal> {
    if let Some(reason) = order.method.unavailable_reason() {
        return Err(TransferRefusal::Method(order.method, MethodObstacle::Here(reason)));
    }
    let (source, size) = open_source(order)?;
    let destination = open_destination(order)?;
    let (mut control, to) = connect(order, stop)?;
    let failed = |error: io::Error| TransferRefusal::Connection(to, error);
    let TransferTicket { ticket, unix, authority, size: print_size, go } = request_ticket(order, size, &mut control, to, stop)?;
    let size = print_size.filter(|_| order.is_print()).unwrap_or(size);
    check_print_size(order, &destination, size, to)?;
    let (data, account) = match unix.filter(|_| order.method.is_of_one_host()) {
        Some(name) => (connect_locally(order, &name, &ticket, to)?, InterruptAccount::begin(&order.interrupts, None)),
        None => {
            let data = meeting::connect_by_network(to, CONTROL_TIMEOUT).map_err(failed)?;
            let account = InterruptAccount::begin(&order.interrupts, Some(data.as_fd())); // before any data can arrive
            (meeting::show_ticket(data, &ticket).map_err(failed)?, account)
        }
    };
    let ring =
        (order.method == Method::Shm).then(|| meeting::receive_descriptor(&data, CONTROL_TIMEOUT).and_then(SharedRing::open));
    let ring = ring.transpose().map_err(failed)?;
    let socket = DataSocket::new(data, stop.clone(), order.bounds.stalled).map_err(failed)?;
    let tls = authority.map(|authority| tls::client(order.method, authority)).transpose().map_err(failed)?;
    let way = MethodInUse { method: order.method, message: order.message, tls, ring };
    if go {
        let GoSignal::Go = control.receive(CONTROL_TIMEOUT, stop).map_err(failed)?;
    }
    let payload = source.map_or(Payload::Into(destination, Arriving { size, before: 0 }), Payload::From);
    let here = move_data(order, payload, way, account, socket, stop)?;
    Ok(exchange_rows(order, &mut control, here))
}

/// Sends the request, and receives the server's ticket.
fn request_ticket(
    order: &TransferOrder,
    size: u64,
    control: &mut Control,
    to: SocketAddr,
    stop: &StopRequest,
) -> Result<TransferTicket, TransferRefusal> {
    let timeout = if order.is_print() { order.bounds.time } else { CONTROL_TIMEOUT };
    let reply = control.send(&request(order, size)).and_then(|()| control.receive(timeout, stop));
    match reply.map_err(|error| TransferRefusal::Connection(to, error))? {
        ServerReply::Ticket(ticket) => Ok(ticket),
        ServerReply::Refused(reason) => Err(TransferRefusal::ByServer(to, reason)),
        ServerReply::Cannot(reason) => Err(TransferRefusal::Method(order.method, MethodObstacle::There(to, reason))),
    }
}

fn request(order: &TransferOrder, size: u64) -> TransferRequest {
    TransferRequest {
        name: PROTOCOL_NAME.into(),
        version: PROTOCOL_VERSION,
        token: order.token.clone(),
        direction: order.direction,
        method: order.method,
        size,
        message: order.message,
        job: order.job.clone(),
        waits: true,
    }
}

/// Receives the server's row. For a job it also sends this end's row, and waits until the server hangs up after handling it.
fn exchange_rows(order: &TransferOrder, control: &mut Control, here: EndRow) -> TransferEnds {
    // An end that broke off waits for the other's row no longer than it would wait for data.
    let timeout = if here.broke_off.is_some() { end::ROW_TIMEOUT.min(order.bounds.stalled) } else { end::ROW_TIMEOUT };
    match control.receive::<FinalReply>(timeout, &StopRequest::default()) {
        Ok(FinalReply { end, job }) => {
            if order.job.is_some() && control.send(&FinalReply { end: here.clone(), job: None }).is_ok() {
                control.wait_for_hang_up(CONTROL_TIMEOUT);
            }
            TransferEnds { here, there: Ok(end), job }
        }
        Err(error) => TransferEnds { here, there: Err(MissingRow(error)), job: None },
    }
}

/// Checks that a print file, whose size the batch host has sent, is within the limits and fits on the disk.
fn check_print_size(order: &TransferOrder, destination: &Destination, size: u64, to: SocketAddr) -> Result<(), TransferRefusal> {
    if order.is_print() && size > order.bounds.bytes {
        return Err(TransferRefusal::LongPrintFile(to, size, order.bounds.bytes));
    }
    match destination.free_bytes().filter(|room| order.is_print() && size > *room) {
        Some(room) => Err(TransferRefusal::FullDisk(to, size, room)),
        None => Ok(()),
    }
}

/// Opens the data to send, if any, and returns the number of bytes.
fn open_source(order: &TransferOrder) -> Result<(Option<DataSource>, u64), TransferRefusal> {
    if order.is_print() {
        return Ok((None, 0)); // the batch host knows the size
    }
    if order.direction == Direction::Receive {
        return order.size.map(|size| (None, size)).ok_or(TransferRefusal::NoSize(Direction::Receive));
    }
    let source = match (&order.from, order.size) {
        (Some(path), size) => DataSource::file(path, size).map_err(|error| TransferRefusal::Source(path.clone(), error))?,
        (None, Some(size)) => DataSource::pattern(size).map_err(TransferRefusal::Pattern)?,
        (None, None) => return Err(TransferRefusal::NoSize(Direction::Send)),
    };
    let size = source.size();
    Ok((Some(source), size))
}

/// Opens the destination of received data. A print file replaces an older one.
fn open_destination(order: &TransferOrder) -> Result<Destination, TransferRefusal> {
    let opened = match &order.into {
        Some(path) if order.is_print() => Destination::replacing(path),
        Some(path) => Destination::create(path),
        None => Destination::discard(),
    };
    opened.map_err(TransferRefusal::Destination)
}

/// Connects to the first of the addresses that answers.
fn connect_first(order: &TransferOrder) -> Result<(TcpStream, SocketAddr), TransferRefusal> {
    let mut failures = Vec::new();
    for to in &order.to {
        match TcpStream::connect_timeout(to, CONTROL_TIMEOUT) {
            Ok(stream) => return Ok((stream, *to)),
            Err(error) => failures.push((*to, error)),
        }
    }
    Err(TransferRefusal::NoAnswer(failures))
}

fn connect(order: &TransferOrder, stop: &StopRequest) -> Result<(Control, SocketAddr), TransferRefusal> {
    let (mut stream, to) = connect_first(order)?;
    let failed = |error: io::Error| TransferRefusal::Connection(to, error);
    stream.write_all(&[CONTROL_BYTE]).map_err(failed)?;
    let mut control = Control::new(stream).map_err(failed)?;
    let greeting: Greeting = control.receive(CONTROL_TIMEOUT, stop).map_err(failed)?;
    if greeting.name != PROTOCOL_NAME || greeting.version != PROTOCOL_VERSION {
        return Err(TransferRefusal::OtherVersion(to, greeting.version, greeting.name));
    }
    if greeting.token && order.token.is_none() {
        return Err(TransferRefusal::NoToken(to));
    }
    Ok((control, to))
}

fn connect_locally(order: &TransferOrder, name: &str, ticket: &str, to: SocketAddr) -> Result<OwnedFd, TransferRefusal> {
    let opened = meeting::connect_locally(name, ticket);
    opened.map_err(|error| TransferRefusal::Method(order.method, MethodObstacle::OtherHost(to, error)))
}

/// Moves this end's data in a thread of its own, and returns the end's row.
fn move_data(
    order: &TransferOrder,
    payload: Payload,
    way: MethodInUse,
    account: InterruptAccount,
    socket: DataSocket,
    stop: &StopRequest,
) -> Result<EndRow, TransferRefusal> {
    let until = Instant::now() + order.bounds.time;
    let mover = Mover::start(payload, way, account, socket).map_err(TransferRefusal::NoThread)?;
    let mut is_late = false;
    let end = mover.wait(|| {
        is_late |= Instant::now() > until;
        if is_late {
            stop.set();
        }
    });
    end.map(|end| end.row(is_late.then_some(EndStopReason::TimeOver))).ok_or(TransferRefusal::Panicked)
}
