//! The client of a transfer: `loadgo transfer --to`.

use std::io::{self, ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use loadgo_sys::shared_ring::SharedRing;

use crate::bounds::{Bounds, TO_SAY_SOMETHING};
use crate::end;
use crate::measuring::interrupts::{Account, Meter};
use crate::measuring::row::End;
use crate::mover::{Arriving, Goods, Mover};
use crate::moving::method::{Method, Way};
use crate::moving::place::Place;
use crate::moving::socket::{Socket, in_words};
use crate::moving::source::Source;
use crate::moving::tls;
use crate::protocol::control::Control;
use crate::protocol::meeting::{self, CONTROL};
use crate::protocol::wire::{Answer, Direction, Go, Greeting, Job, NAME, Request, Told, VERSION};

/// What is to be moved, and how.
#[derive(Debug, Clone)]
pub struct Ask {
    /// Where the server waits: the addresses that its name has, of which the first that answers is taken.
    pub to: Vec<SocketAddr>,
    /// The server's token, if it has one.
    pub token: Option<String>,
    /// Which way.
    pub direction: Direction,
    /// How.
    pub method: Method,
    /// How many bytes; None for the whole of the file.
    pub size: Option<u64>,
    /// The most bytes a call.
    pub message: u32,
    /// What is sent; a pattern in memory where there is none.
    pub from: Option<PathBuf>,
    /// Where what is received is put, a new file, or a print file in place of an older one; nowhere where there is none.
    pub into: Option<PathBuf>,
    /// The batch job that this transfer belongs to, if any.
    pub job: Option<Job>,
    /// Patience, and the longest print file; the other bounds are the server's matter.
    pub bounds: Bounds,
    /// Who tells the interrupt work of this end.
    pub interrupts: Meter,
}

impl Ask {
    fn prints(&self) -> bool {
        matches!(self.job, Some(Job::Print(_)))
    }
}

/// Both ends of a transfer.
#[derive(Debug, Clone)]
pub struct Transfer {
    /// This end.
    pub here: End,
    /// The server's; what it said when it could not tell.
    pub there: Result<End, String>,
    /// The name of the job that was submitted.
    pub job: Option<String>,
}

/// Why it does not come to a transfer, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhyNot {
    /// Nobody is there, it is refused, the file cannot be read.
    Refused(String),
    /// One of the two hosts cannot do it by this method, or the two of them together; by another they may.
    Cannot(String),
}

impl WhyNot {
    /// The words.
    pub fn words(self) -> String {
        match self {
            WhyNot::Refused(words) | WhyNot::Cannot(words) => words,
        }
    }
}

impl From<String> for WhyNot {
    fn from(words: String) -> WhyNot {
        WhyNot::Refused(words)
    }
}

/// Makes one transfer; `stop` ends it early.
///
/// # Errors
/// When it does not come to one.
pub fn transfer(ask: &Ask, stop: &Arc<AtomicBool>) -> Result<Transfer, WhyNot> {
    if let Some(why) = ask.method.why_not() {
        return Err(WhyNot::Cannot(format!("{} is not possible here: {why}", ask.method.name())));
    }
    let (source, size) = source(ask)?;
    let place = place(ask)?;
    let (mut control, to) = connect(ask, stop)?;
    let there = |error: io::Error| format!("{to}: {}", in_words(error));
    control.say(&request(ask, size)).map_err(there)?;
    let patience = if ask.prints() { ask.bounds.time } else { TO_SAY_SOMETHING };
    let (ticket, unix, authority, size, go) = match control.hear(patience, stop).map_err(there)? {
        Answer::Ticket { ticket, unix, authority, size: told, go } => {
            (ticket, unix, authority, told.filter(|_| ask.prints()).unwrap_or(size), go)
        }
        Answer::Refused(why) => return Err(format!("{to} refused: {why}").into()),
        Answer::Cannot(why) => return Err(WhyNot::Cannot(format!("{} is not possible at {to}: {why}", ask.method.name()))),
    };
    has_room(ask, &place, size).map_err(|why| format!("{to}: {why}"))?;
    let (data, account) = match unix.filter(|_| ask.method.is_of_one_host()) {
        Some(name) => (on_this_host(ask, &name, &ticket, to)?, Account::of(&ask.interrupts, None)),
        None => {
            let data = meeting::over_network(to, TO_SAY_SOMETHING).map_err(there)?;
            let account = Account::of(&ask.interrupts, Some(data.as_fd())); // before anything can come
            (meeting::present(data, &ticket).map_err(there)?, account)
        }
    };
    let ring = (ask.method == Method::Shm).then(|| meeting::handed(&data, TO_SAY_SOMETHING).and_then(SharedRing::open));
    let ring = ring.transpose().map_err(there)?;
    let socket = Socket::new(data, stop.clone(), ask.bounds.stalled).map_err(there)?;
    let tls = authority.map(|authority| tls::client(ask.method, authority)).transpose().map_err(there)?;
    let way = Way { method: ask.method, message: ask.message, tls, ring };
    if go {
        let Go::Go = control.hear(TO_SAY_SOMETHING, stop).map_err(there)?;
    }
    let goods = source.map_or(Goods::Into(place, Arriving { size, before: 0 }), Goods::From);
    let here = moved(ask, goods, way, account, socket, stop)?;
    Ok(told(ask, &mut control, here))
}

fn request(ask: &Ask, size: u64) -> Request {
    Request {
        name: NAME.into(),
        version: VERSION,
        token: ask.token.clone(),
        direction: ask.direction,
        method: ask.method,
        size,
        message: ask.message,
        job: ask.job.clone(),
        waits: true,
    }
}

/// What the server tells of its end; of a job it hears of this one, and has drawn its conclusion when it hangs up.
fn told(ask: &Ask, control: &mut Control, here: End) -> Transfer {
    // Who broke off waits for the other's row no longer than for its data.
    let patience = if here.broke_off.is_some() { end::TO_TELL.min(ask.bounds.stalled) } else { end::TO_TELL };
    match control.hear::<Told>(patience, &AtomicBool::new(false)) {
        Ok(Told { end, job }) => {
            if ask.job.is_some() && control.say(&Told { end: here.clone(), job: None }).is_ok() {
                control.until_it_hangs_up(TO_SAY_SOMETHING);
            }
            Transfer { here, there: Ok(end), job }
        }
        Err(error) => {
            Transfer { here, there: Err(format!("the other end did not tell its row: {}", in_words(error))), job: None }
        }
    }
}

/// How long a print file is, its host says: it must be within the bounds, and have room here.
fn has_room(ask: &Ask, place: &Place, size: u64) -> Result<(), String> {
    let most = ask.bounds.bytes;
    if ask.prints() && size > most {
        return Err(format!("its print file has {size} bytes, and here they are at most {most}"));
    }
    match place.room().filter(|room| ask.prints() && size > *room) {
        Some(room) => Err(format!("its print file has {size} bytes, and the disk has room for {room}: name another with --into")),
        None => Ok(()),
    }
}

/// What is sent, and how many bytes of it.
fn source(ask: &Ask) -> Result<(Option<Source>, u64), String> {
    if ask.prints() {
        return Ok((None, 0)); // as many as there are
    }
    if ask.direction == Direction::Receive {
        return ask.size.map(|size| (None, size)).ok_or_else(|| "how much is to be received? say --size".to_owned());
    }
    let source = match (&ask.from, ask.size) {
        (Some(path), size) => Source::file(path, size).map_err(|error| format!("{}: {error}", path.display()))?,
        (None, Some(size)) => Source::pattern(size).map_err(|error| format!("there is no memory for a pattern: {error}"))?,
        (None, None) => return Err("how much is to be sent? say --size, or a file with --from".into()),
    };
    let size = source.size();
    Ok((Some(source), size))
}

/// Where what is received is put; a print file in place of an older one.
fn place(ask: &Ask) -> Result<Place, String> {
    match &ask.into {
        Some(path) if ask.prints() => Place::over(path).map_err(|error| error.to_string()),
        Some(path) => Place::at(path).map_err(|error| error.to_string()),
        None => Place::nowhere().map_err(|error| format!("/dev/null: {error}")),
    }
}

/// The first of the addresses that somebody listens at.
fn answering(ask: &Ask) -> Result<(TcpStream, SocketAddr), String> {
    let mut said = Vec::new();
    for to in &ask.to {
        match TcpStream::connect_timeout(to, TO_SAY_SOMETHING) {
            Ok(stream) => return Ok((stream, *to)),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => said.push(format!("nobody listens at {to}")),
            Err(error) => said.push(format!("{to}: {}", in_words(error))),
        }
    }
    Err(format!("{}: start `loadgo transfer serve` there", said.join(", and ")))
}

fn connect(ask: &Ask, stop: &AtomicBool) -> Result<(Control, SocketAddr), String> {
    let (mut stream, to) = answering(ask)?;
    let there = |error: io::Error| format!("{to}: {}", in_words(error));
    stream.write_all(&[CONTROL]).map_err(there)?;
    let mut control = Control::new(stream).map_err(there)?;
    let greeting: Greeting = control.hear(TO_SAY_SOMETHING, stop).map_err(there)?;
    if greeting.name != NAME || greeting.version != VERSION {
        let told = format!("speaks version {} of {}, and this is version {VERSION}", greeting.version, greeting.name);
        return Err(format!("{to} {told}: have the same loadgo at both ends"));
    }
    if greeting.token && ask.token.is_none() {
        return Err(format!("{to} wants a token: give the one that it was started with, with --token-file"));
    }
    Ok((control, to))
}

fn on_this_host(ask: &Ask, name: &str, ticket: &str, to: SocketAddr) -> Result<OwnedFd, WhyNot> {
    meeting::on_this_host(name, ticket).map_err(|error| {
        let words = format!("works within one host, and the Unix socket of {to} cannot be reached from here ({error})");
        WhyNot::Cannot(format!("{} {words}", ask.method.name()))
    })
}

/// This end, moved by a thread of its own.
fn moved(ask: &Ask, goods: Goods, way: Way, account: Account, socket: Socket, stop: &AtomicBool) -> Result<End, String> {
    let until = Instant::now() + ask.bounds.time;
    let mover = Mover::start(goods, way, account, socket);
    let mover = mover.map_err(|error| format!("there is no thread to move the data: {error}"))?;
    let mut late = false;
    let end = mover.wait(|| {
        late |= Instant::now() > until;
        stop.fetch_or(late, Ordering::Relaxed);
    });
    end.map(|end| end::stopped(end, late.then_some(end::LATE))).ok_or_else(|| "the transfer failed".into())
}
