//! The end that asks: `loadgo transfer --to`.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Instant;

use crate::bounds::{Bounds, TO_LOOK_UP, TO_SAY_SOMETHING};
use crate::control::Control;
use crate::end;
use crate::jobs::Job;
use crate::meeting::{self, CONTROL};
use crate::method::{Method, Way};
use crate::row::End;
use crate::socket::{Socket, in_words};
use crate::source::Source;
use crate::tls;
use crate::wire::{Answer, Direction, Greeting, NAME, Request, Told, VERSION};

/// What is to be moved, and how.
#[derive(Debug, Clone)]
pub struct Ask {
    /// Where the server waits.
    pub to: SocketAddr,
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
    /// Where what is received is put; nowhere where there is none.
    pub into: Option<PathBuf>,
    /// What it is to a batch host, if it is something to one.
    pub job: Option<Job>,
    /// Patience; its number and bytes are the server's matter.
    pub bounds: Bounds,
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

/// Makes one transfer; `stop` ends it early.
///
/// # Errors
/// In words, when it does not come to one: nobody is there, it is refused, the file cannot be read.
pub fn transfer(ask: &Ask, stop: &Arc<AtomicBool>) -> Result<Transfer, String> {
    let (source, size) = source(ask)?;
    let place = place(ask)?;
    let mut control = connect(ask, stop)?;
    let request = Request {
        name: NAME.into(),
        version: VERSION,
        token: ask.token.clone(),
        direction: ask.direction,
        method: ask.method,
        size,
        message: ask.message,
        job: ask.job.clone(),
    };
    let there = |error: io::Error| format!("{}: {}", ask.to, in_words(error));
    control.say(&request).map_err(there)?;
    let patience = if matches!(ask.job, Some(Job::Print(_))) { ask.bounds.time } else { TO_SAY_SOMETHING };
    let (ticket, unix, authority, size) = match control.hear(patience, stop).map_err(there)? {
        Answer::Ticket { ticket, unix, authority, size: told } => (ticket, unix, authority, told.unwrap_or(size)),
        Answer::Refused(why) => return Err(format!("{} refused: {why}", ask.to)),
    };
    let data = match unix {
        Some(name) => meeting::on_this_host(&name)
            .map_err(|error| format!("the Unix socket of {} cannot be reached: is it on this host? {error}", ask.to))?,
        None => meeting::over_network(ask.to, &ticket, TO_SAY_SOMETHING).map_err(there)?,
    };
    let socket = Socket::new(data, stop.clone(), ask.bounds.stalled).map_err(there)?;
    let tls = authority.map(tls::client).transpose().map_err(there)?;
    let way = Way { method: ask.method, message: ask.message, tls };
    let here = moved(ask, way, size, source, place, socket, stop)?;
    let told = control.hear::<Told>(end::TO_TELL, &AtomicBool::new(false));
    if ask.job.is_some() && told.is_ok() {
        let _ = control.say(&Told { end: here.clone(), job: None }); // who does not hear it misses a row, no byte
    }
    Ok(match told {
        Ok(Told { end, job }) => Transfer { here, there: Ok(end), job },
        Err(error) => {
            Transfer { here, there: Err(format!("the other end did not tell its row: {}", in_words(error))), job: None }
        }
    })
}

/// What is sent, and how many bytes of it.
fn source(ask: &Ask) -> Result<(Option<Source>, u64), String> {
    if matches!(ask.job, Some(Job::Print(_))) {
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

/// Where what is received is put.
fn place(ask: &Ask) -> Result<File, String> {
    match &ask.into {
        Some(path) => {
            File::options().write(true).create_new(true).open(path).map_err(|error| format!("{}: {error}", path.display()))
        }
        None => File::options().write(true).open("/dev/null").map_err(|error| format!("/dev/null: {error}")),
    }
}

fn connect(ask: &Ask, stop: &AtomicBool) -> Result<Control, String> {
    let there = |error: io::Error| match error.kind() {
        ErrorKind::ConnectionRefused => format!("nobody listens at {}: start `loadgo transfer serve` there", ask.to),
        _ => format!("{}: {}", ask.to, in_words(error)),
    };
    let mut stream = TcpStream::connect_timeout(&ask.to, TO_SAY_SOMETHING).map_err(there)?;
    stream.write_all(&[CONTROL]).map_err(there)?;
    let mut control = Control::new(stream).map_err(there)?;
    let greeting: Greeting = control.hear(TO_SAY_SOMETHING, stop).map_err(there)?;
    if greeting.name != NAME || greeting.version != VERSION {
        let told = format!("speaks version {} of {}, and this is version {VERSION}", greeting.version, greeting.name);
        return Err(format!("{} {told}: have the same loadgo at both ends", ask.to));
    }
    if greeting.token && ask.token.is_none() {
        return Err(format!("{} wants a token: give the one that it was started with, with --token-file", ask.to));
    }
    Ok(control)
}

/// This end, moved by a thread of its own.
fn moved(
    ask: &Ask,
    way: Way,
    size: u64,
    source: Option<Source>,
    place: File,
    socket: Socket,
    stop: &Arc<AtomicBool>,
) -> Result<End, String> {
    let (tells, told) = channel();
    let until = Instant::now() + ask.bounds.time;
    thread::spawn(move || {
        let end = match source {
            Some(source) => end::sender(way, &source, &socket),
            None => end::receiver(way, size, &socket, place, 0),
        };
        let _ = tells.send(end);
    });
    let mut late = false;
    loop {
        match told.recv_timeout(TO_LOOK_UP) {
            Ok(end) => return Ok(end::in_time(end, late)),
            Err(RecvTimeoutError::Disconnected) => return Err("the transfer failed".into()),
            Err(RecvTimeoutError::Timeout) => {
                late |= Instant::now() > until;
                stop.fetch_or(late, Ordering::Relaxed);
            }
        }
    }
}
