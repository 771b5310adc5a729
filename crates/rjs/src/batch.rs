//! `loadgo-rjs serve`: the server of `loadgo transfer serve` without Python, as the batch host of a run.

use loadgo_core::stop::StopRequest;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread;

use crate::rows::TransferCsv;
use loadgo_transfer::bounds::TransferLimits;
use loadgo_transfer::news::{self, ServerNews};
use loadgo_transfer::server::{self, ServerOptions};

use crate::command_line::BatchHostOptions;
use crate::jobs::{JobLimits, Jobs};

/// Prints the address as the first line, and serves until the process is killed or a row cannot be written.
///
/// # Errors
/// A sentence for the user: the address, the port or the file cannot be used.
pub fn serve(host: &BatchHostOptions) -> Result<(), String> {
    let address = parse_loopback(&host.listen)?;
    let mut rows = None;
    if let Some(path) = &host.rows {
        rows = Some(TransferCsv::open(path).map_err(|error| format!("{}: {error}", path.display()))?);
    }
    let listener = TcpListener::bind(address).map_err(|error| format!("nothing can listen at {address}: {error}"))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    writeln!(io::stdout(), "{address}").map_err(|error| format!("its address cannot be printed: {error}"))?;
    let limits = host.limits;
    let bounds = TransferLimits { connections: limits.connections, ..TransferLimits::default() };
    let jobs = JobLimits { jobs: limits.jobs, job_time: limits.job_time, ..JobLimits::for_server(&bounds) };
    let jobs = Arc::new(Jobs::new(jobs));
    let serving = ServerOptions { bounds, token: None, keep_in: None, interrupts: Err(UNMETERED_REASON.into()), jobs };
    let (tells, news) = news::channel(news::MOST_WAITING_REPORTS);
    let stop = StopRequest::default();
    let server = thread::spawn(move || server::serve(&listener, serving, stop, &tells));
    // The news end only with the server.
    write_rows(&news, rows.as_mut())?;
    match server.join() {
        Ok(ended) => ended.map_err(|error| error.to_string()),
        Err(_) => Err("the server failed".into()),
    }
}

/// Why interrupts are counted by ticks here. A row has no column for interrupts anyway.
pub(crate) const UNMETERED_REASON: &str = "loadgo-rjs brings no programs into the kernel";

/// Writes a row for each transfer, and other news to standard error, until the news end.
fn write_rows(news: &Receiver<ServerNews>, mut rows: Option<&mut TransferCsv>) -> Result<(), String> {
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
                    rows.add(&request, &end).map_err(|error| format!("the rows cannot be written: {error}"))?;
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
fn parse_loopback(text: &str) -> Result<SocketAddr, String> {
    let address = text.to_socket_addrs().ok().and_then(|mut addresses| addresses.next());
    let address = address.ok_or_else(|| format!("{text} is no ADDRESS:PORT of this host"))?;
    if address.ip().is_loopback() {
        return Ok(address);
    }
    let remedy = "`loadgo transfer serve --token-file FILE` is a batch host for others";
    Err(format!("{text} can be reached from other hosts: {remedy}"))
}
