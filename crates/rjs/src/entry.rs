//! One job at the user's end: a deck submitted, a print file fetched, or a file stored.

use loadgo_core::stop::StopRequest;
use std::error::Error;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use loadgo_transfer::bounds::TransferLimits;
use loadgo_transfer::client::{TransferEnds, TransferOrder, parse_addresses, transfer};
use loadgo_transfer::measuring::row::EndRow;
use loadgo_transfer::moving::destination::Destination;
use loadgo_transfer::moving::method::Method;
use loadgo_transfer::protocol::wire::{Direction, JobKind};
use loadgo_transfer::refusal::TransferRefusal;

use crate::batch::UNMETERED_REASON;
use crate::command_line::{JobOrder, Verb};
use crate::jobs::is_name;

/// Why a job failed, with the file that the user named.
#[derive(Debug)]
pub enum JobFailure {
    /// The transfer began and broke off after this number of bytes.
    BrokeOff(PathBuf, Box<dyn Error>, u64),
    /// The transfer could not begin.
    Refused(PathBuf, OrderRefusal),
}

/// Why the transfer of a job cannot begin.
#[derive(Debug)]
pub enum OrderRefusal {
    /// The file does not hold the name of a job.
    NoJobName,
    /// The file cannot be read.
    Unreadable(PathBuf, io::Error),
    /// The file is empty.
    Empty(PathBuf),
    /// The transfer is refused.
    Transfer(TransferRefusal),
}

impl JobFailure {
    /// The program's exit status.
    pub fn status(&self) -> u8 {
        match self {
            JobFailure::BrokeOff(..) => 1,
            JobFailure::Refused(..) => 2,
        }
    }
}

impl Error for JobFailure {}

impl fmt::Display for JobFailure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JobFailure::BrokeOff(file, reason, bytes) => {
                write!(out, "{}: {} after {bytes} bytes", file.display(), reason.to_string().trim_end_matches('.'))
            }
            JobFailure::Refused(file, refusal) => write!(out, "{}: {refusal}", file.display()),
        }
    }
}

impl fmt::Display for OrderRefusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OrderRefusal::NoJobName => out.write_str("it names no job: give the .job file that submit wrote"),
            OrderRefusal::Unreadable(file, error) => write!(out, "{}: {error}", file.display()),
            OrderRefusal::Empty(file) => write!(out, "{} is empty", file.display()),
            OrderRefusal::Transfer(refusal) => refusal.fmt(out),
        }
    }
}

impl From<TransferRefusal> for OrderRefusal {
    fn from(refusal: TransferRefusal) -> OrderRefusal {
        OrderRefusal::Transfer(refusal)
    }
}

/// Does the job, and returns a line about it for the user.
///
/// # Errors
/// The transfer could not begin, or broke off.
pub fn do_job(order: &JobOrder) -> Result<String, JobFailure> {
    let ends = transfer_order(order).and_then(|transfer_order| Ok(transfer(&transfer_order, &StopRequest::default())?));
    let ends = ends.map_err(|refusal| JobFailure::Refused(order.file.clone(), refusal))?;
    finish_job(order, ends).map(|end| job_line(order, &end))
}

fn transfer_order(order: &JobOrder) -> Result<TransferOrder, OrderRefusal> {
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

/// The name of the job in the file that `submit` wrote.
fn read_job_name(file: &Path) -> Result<String, OrderRefusal> {
    let word = read_word(file)?;
    if is_name(&word) { Ok(word) } else { Err(OrderRefusal::NoJobName) }
}

fn read_word(file: &Path) -> Result<String, OrderRefusal> {
    let text = fs::read_to_string(file).map_err(|error| OrderRefusal::Unreadable(file.to_owned(), error))?;
    Some(text.trim().to_owned()).filter(|word| !word.is_empty()).ok_or_else(|| OrderRefusal::Empty(file.to_owned()))
}

/// Path of the print file.
fn print_path(order: &JobOrder) -> PathBuf {
    order.into.clone().unwrap_or_else(|| order.file.with_extension("print"))
}

/// Checks that all data arrived, and writes the name of a submitted job to its file. For a print file this end's row is enough: the
/// file is here, even if the batch host has died since.
fn finish_job(order: &JobOrder, ends: TransferEnds) -> Result<EndRow, JobFailure> {
    let TransferEnds { here, there, job } = ends;
    let bytes = here.moved.payload;
    let broke_off = |reason: Box<dyn Error>| JobFailure::BrokeOff(order.file.clone(), reason, bytes);
    if let Some(reason) = here.broke_off {
        return Err(broke_off(reason.into()));
    }
    if order.verb == Verb::Print {
        return Ok(here);
    }
    if let Some(reason) = there.map_err(|missing| broke_off(missing.into()))?.broke_off {
        return Err(broke_off(reason.into()));
    }
    if order.verb == Verb::Submit {
        let name = job.filter(|name| is_name(name)).ok_or_else(|| broke_off("the batch host gave it no name".into()))?;
        write_job_name(&order.file.with_extension("job"), &name).map_err(|error| broke_off(error.into()))?;
    }
    Ok(here)
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
