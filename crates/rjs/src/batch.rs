//! `loadgo-rjs serve`: the server of `loadgo transfer serve` without Python, as the batch host of a run.

use loadgo_core::stop::StopRequest;
use std::error::Error;
use std::fmt;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread;

use crate::rows::TransferCsv;
use loadgo_transfer::bounds::TransferLimits;
use loadgo_transfer::news::{self, ServerNews};
use loadgo_transfer::server::{self, ServerOptions};

use crate::command_line::BatchHostOptions;
use crate::jobs::{JobLimits, Jobs};

/// Why a batch host cannot serve, or ends.
#[derive(Debug)]
pub enum ServeFailure {
    /// The text is no ADDRESS:PORT of this host.
    NoAddress(String),
    /// Other hosts can reach the address.
    NotLoopback(String),
    /// The port cannot be used.
    Listener(SocketAddr, io::Error),
    /// The address cannot be printed.
    Printing(io::Error),
    /// The table of transfers cannot be opened.
    Table(PathBuf, io::Error),
    /// A row cannot be written.
    Row(io::Error),
    /// The listening socket failed.
    Server(io::Error),
    /// The server's thread has panicked.
    Panicked,
}

impl Error for ServeFailure {}

impl fmt::Display for ServeFailure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeFailure::NoAddress(text) => write!(out, "{text} is no ADDRESS:PORT of this host"),
            ServeFailure::NotLoopback(text) => {
                let remedy = "`loadgo transfer serve --token-file FILE` is a batch host for others";
                write!(out, "{text} can be reached from other hosts: {remedy}")
            }
            ServeFailure::Listener(address, error) => write!(out, "nothing can listen at {address}: {error}"),
            ServeFailure::Printing(error) => write!(out, "its address cannot be printed: {error}"),
            ServeFailure::Table(path, error) => write!(out, "{}: {error}", path.display()),
            ServeFailure::Row(error) => write!(out, "the rows cannot be written: {error}"),
            ServeFailure::Server(error) => error.fmt(out),
            ServeFailure::Panicked => out.write_str("the server failed"),
        }
    }
}

/// Prints the address as the first line, and serves until the process is killed or a row cannot be written.
///
/// # Errors
/// The address, the port or the file cannot be used.
pub fn serve(host: &BatchHostOptions) -> Result<(), ServeFailure> {
    let address = parse_loopback(&host.listen)?;
    let mut rows = None;
    if let Some(path) = &host.rows {
        rows = Some(TransferCsv::open(path).map_err(|error| ServeFailure::Table(path.clone(), error))?);
    }
    let listener = TcpListener::bind(address).map_err(|error| ServeFailure::Listener(address, error))?;
    let address = listener.local_addr().map_err(ServeFailure::Server)?;
    writeln!(io::stdout(), "{address}").map_err(ServeFailure::Printing)?;
    let limits = host.limits;
    let bounds = TransferLimits { connections: limits.connections, ..TransferLimits::default() };
    let jobs = JobLimits { jobs: limits.jobs, job_time: limits.job_time, ..JobLimits::for_server(&bounds) };
    let jobs = Arc::new(Jobs::new(jobs));
    let serving = ServerOptions { bounds, token: None, keep_in: None, interrupts: Err(UNMETERED_REASON.into()), jobs };
    let (news_sender, news) = news::channel(news::MOST_WAITING_REPORTS);
    let stop = StopRequest::default();
    let serve = move || server::serve(&listener, serving, stop, &news_sender);
    let server = thread::Builder::new().spawn(serve).map_err(ServeFailure::Server)?;
    // The news end only with the server.
    write_rows(&news, rows.as_mut())?;
    match server.join() {
        Ok(ended) => ended.map_err(ServeFailure::Server),
        Err(_) => Err(ServeFailure::Panicked),
    }
}

/// Why interrupts are counted by ticks here. A row has no column for interrupts anyway.
pub(crate) const UNMETERED_REASON: &str = "loadgo-rjs loads no kernel programs";

/// Writes a row for each transfer, and other news to standard error, until the news end.
fn write_rows(news: &Receiver<ServerNews>, mut rows: Option<&mut TransferCsv>) -> Result<(), ServeFailure> {
    for event in news {
        if let Some(words) = event.server_note() {
            let _ = writeln!(io::stderr(), "{words}");
        }
        match event {
            ServerNews::Full(_) | ServerNews::LeftOut(_) => {}
            ServerNews::Refused(peer, reason) => {
                let _ = writeln!(io::stderr(), "{peer} refused: {reason}"); // nobody may be there to read it
            }
            ServerNews::Ended { request, theirs: Some(end), .. } => {
                if let Some(rows) = &mut rows {
                    rows.add(&request, &end).map_err(ServeFailure::Row)?;
                }
            }
            ServerNews::Ended { peer, end, .. } => {
                let reason = end.broke_off.as_deref().unwrap_or("the other end did not send its row");
                let _ = writeln!(io::stderr(), "{peer}: {reason}");
            }
        }
    }
    Ok(())
}

/// Parses a loopback address: a batch host without a token is for this host alone.
fn parse_loopback(text: &str) -> Result<SocketAddr, ServeFailure> {
    match text.to_socket_addrs().ok().and_then(|mut addresses| addresses.next()) {
        None => Err(ServeFailure::NoAddress(text.to_owned())),
        Some(address) if address.ip().is_loopback() => Ok(address),
        Some(_) => Err(ServeFailure::NotLoopback(text.to_owned())),
    }
}
