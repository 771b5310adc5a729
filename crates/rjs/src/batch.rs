//! `loadgo-rjs serve`: a batch host for the length of a run, which is the server of `loadgo transfer serve` without Python.

use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread;

use crate::rows::Rows;
use loadgo_transfer::bounds::Bounds;
use loadgo_transfer::news::{self, News};
use loadgo_transfer::server::{self, Serving};

use crate::asked::Host;
use crate::jobs::{JobBounds, Jobs};

/// Serves until it is killed, or its rows cannot be written; its address is its first line.
///
/// # Errors
/// In words, when it cannot.
pub fn serve(host: &Host) -> Result<(), String> {
    let at = loopback(&host.listen)?;
    let mut rows = None;
    if let Some(path) = &host.rows {
        rows = Some(Rows::open(path).map_err(|error| format!("{}: {error}", path.display()))?);
    }
    let listener = TcpListener::bind(at).map_err(|error| format!("nothing can listen at {at}: {error}"))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    writeln!(io::stdout(), "{address}").map_err(|error| format!("its address cannot be told: {error}"))?;
    let limits = host.bounds;
    let bounds = Bounds { connections: limits.connections, ..Bounds::default() };
    let jobs = JobBounds { jobs: limits.jobs, job_time: limits.job_time, ..JobBounds::of(&bounds) };
    let jobs = Arc::new(Jobs::new(jobs));
    let serving = Serving { bounds, token: None, keep_in: None, interrupts: Err(UNMETERED.into()), jobs };
    let (tells, news) = news::channel(news::AT_ONCE);
    let stop = Arc::default();
    let server = thread::spawn(move || server::serve(&listener, serving, stop, &tells));
    let told = write_rows(&news, rows.as_mut());
    // The news end only with the server.
    told?;
    match server.join() {
        Ok(ended) => ended.map_err(|error| error.to_string()),
        Err(_) => Err("the server failed".into()),
    }
}

/// Why interrupts are told by ticks here, where a row has no column for them anyway.
pub(crate) const UNMETERED: &str = "loadgo-rjs brings no programs into the kernel";

/// Writes a row for each transfer, until the news end.
fn write_rows(news: &Receiver<News>, mut rows: Option<&mut Rows>) -> Result<(), String> {
    for told in news {
        if let Some(words) = told.of_the_server() {
            let _ = writeln!(io::stderr(), "{words}");
        }
        match told {
            News::Full(_) | News::LeftOut(_) => {}
            News::Refused(peer, why) => {
                let _ = writeln!(io::stderr(), "{peer} refused: {why}"); // nobody may be there to read it
            }
            News::Ended { request, theirs: Some(end), .. } => {
                if let Some(rows) = &mut rows {
                    rows.add(&request, &end).map_err(|error| format!("the rows cannot be written: {error}"))?;
                }
            }
            News::Ended { peer, end, .. } => {
                let why = end.broke_off.as_deref().unwrap_or("the other end did not tell its row");
                let _ = writeln!(io::stderr(), "{peer}: {why}");
            }
        }
    }
    Ok(())
}

/// A batch host without a token is for this host alone.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    let found = text.to_socket_addrs().ok().and_then(|mut all| all.next());
    let found = found.ok_or_else(|| format!("{text} is no ADDRESS:PORT of this host"))?;
    if found.ip().is_loopback() {
        return Ok(found);
    }
    let remedy = "`loadgo transfer serve --token-file FILE` is a batch host for others";
    Err(format!("{text} can be reached from other hosts: {remedy}"))
}
