//! One job at the user's end: a deck submitted, a print file fetched, or a file stored.

use loadgo_core::stop::StopRequest;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

use loadgo_transfer::bounds::TransferLimits;
use loadgo_transfer::client::{TransferEnds, TransferOrder, transfer};

use loadgo_transfer::measuring::row::EndRow;
use loadgo_transfer::moving::method::Method;
use loadgo_transfer::moving::place::Destination;
use loadgo_transfer::protocol::wire::{Direction, JobKind};

use crate::batch::UNMETERED_REASON;
use crate::command_line::{JobOrder, Verb};
use crate::jobs::is_name;

/// Why a job failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The transfer began and broke off.
    BrokeOff(String),
    /// The transfer could not begin.
    Refused(String),
}

impl Failure {
    /// The program's exit status.
    pub fn status(&self) -> u8 {
        match self {
            Failure::BrokeOff(_) => 1,
            Failure::Refused(_) => 2,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::BrokeOff(reason) | Failure::Refused(reason) => f.write_str(reason),
        }
    }
}

/// Does the job, and returns a line about it for the user.
///
/// # Errors
/// [`Failure`], in words with the name of the file.
pub fn do_job(order: &JobOrder) -> Result<String, Failure> {
    let refused = |reason: String| Failure::Refused(format!("{}: {reason}", order.file.display()));
    let ask = ask(order).map_err(refused)?;
    let ends = transfer(&ask, &StopRequest::default()).map_err(|reason| refused(reason.words()))?;
    finish_job(order, ends).map(|end| job_line(order, &end))
}

fn ask(order: &JobOrder) -> Result<TransferOrder, String> {
    let (job, direction) = match order.verb {
        Verb::Submit => (JobKind::Submit, Direction::Send),
        Verb::Store => (JobKind::Store, Direction::Send),
        Verb::Print => (JobKind::Print(read_job_name(&order.file)?), Direction::Receive),
    };
    let prints = order.verb == Verb::Print;
    Ok(TransferOrder {
        to: parse_addresses(&order.to)?,
        token: order.token_file.as_deref().map(read_word).transpose()?,
        direction,
        method: Method::Records,
        size: None,
        message: Method::Records.default_message_bytes(),
        from: (!prints).then(|| order.file.clone()),
        into: prints.then(|| print_path(order)),
        job: Some(job),
        bounds: TransferLimits::default(),
        interrupts: Err(UNMETERED_REASON.into()),
    })
}

fn parse_addresses(text: &str) -> Result<Vec<SocketAddr>, String> {
    let addresses = text.to_socket_addrs().map(Vec::from_iter).map_err(|error| error.to_string());
    let addresses = addresses.and_then(|all| if all.is_empty() { Err("it has no address".into()) } else { Ok(all) });
    addresses.map_err(|reason| format!("{text} is no HOST:PORT that can be reached: {reason}"))
}

/// The name of the job in the file that `submit` wrote.
fn read_job_name(file: &Path) -> Result<String, String> {
    let word = read_word(file)?;
    if is_name(&word) { Ok(word) } else { Err("it names no job: give the .job that submit has left".into()) }
}

fn read_word(file: &Path) -> Result<String, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    Some(text.trim().to_owned()).filter(|word| !word.is_empty()).ok_or_else(|| format!("{} is empty", file.display()))
}

/// Path of the print file.
fn print_path(order: &JobOrder) -> PathBuf {
    order.into.clone().unwrap_or_else(|| order.file.with_extension("print"))
}

/// Checks that all data arrived, and writes the name of a submitted job to its file. For a print file this end's row is enough: the
/// file is here, even if the batch host has died since.
fn finish_job(order: &JobOrder, ends: TransferEnds) -> Result<EndRow, Failure> {
    let broke_off = |reason: &str| {
        let moved = ends.here.moved.payload;
        Failure::BrokeOff(format!("{}: {} after {moved} bytes", order.file.display(), reason.trim_end_matches('.')))
    };
    if let Some(reason) = &ends.here.broke_off {
        return Err(broke_off(reason));
    }
    if order.verb == Verb::Print {
        return Ok(ends.here);
    }
    let there = ends.there.as_ref().map_err(|reason| broke_off(reason))?;
    if let Some(reason) = &there.broke_off {
        return Err(broke_off(reason));
    }
    if order.verb == Verb::Submit {
        let name = ends.job.as_deref().filter(|name| is_name(name));
        let name = name.ok_or_else(|| broke_off("the batch host gave it no name"))?;
        write_job_name(&order.file.with_extension("job"), name).map_err(|error| broke_off(&error.to_string()))?;
    }
    Ok(ends.here)
}

/// Writes the file that names a job: the whole file, or none.
fn write_job_name(file: &Path, name: &str) -> io::Result<()> {
    let mut place = Destination::replacing(file)?;
    place.file().write_all(format!("{name}\n").as_bytes())?;
    place.commit()
}

fn job_line(order: &JobOrder, end: &EndRow) -> String {
    let (bytes, real_s, cpu_s) = (end.moved.payload, end.real_ns as f64 / 1e9, end.cpu_ns as f64 / 1e9);
    let action = match order.verb {
        Verb::Submit => format!("{} submitted", order.file.display()),
        Verb::Store => format!("{} stored", order.file.display()),
        Verb::Print => format!("{} printed", print_path(order).display()),
    };
    let rate = if bytes > 0 && real_s > 0.0 { format!(", {:.0} bit/s", 8.0 * bytes as f64 / real_s) } else { String::new() };
    format!("{action}: {bytes} bytes in {real_s:.6} s, {cpu_s:.6} s of processor time{rate}, load {:.2}", end.load_1min)
}
