//! One job at the user's end: a deck submitted, a print file fetched, or a file stored.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loadgo_transfer::bounds::Bounds;
use loadgo_transfer::client::{Ask, Transfer, transfer};

use loadgo_transfer::measuring::row::End;
use loadgo_transfer::moving::method::Method;
use loadgo_transfer::moving::place::Place;
use loadgo_transfer::protocol::wire::{Direction, Job};

use crate::asked::{Order, Verb};
use crate::batch::UNMETERED;
use crate::jobs::is_name;

/// Why a job came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It was begun, and broke off.
    BrokeOff(String),
    /// It could not be.
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
            Failure::BrokeOff(why) | Failure::Refused(why) => f.write_str(why),
        }
    }
}

/// Makes the job; what it came to, in a line.
///
/// # Errors
/// [`Failure`], in words with the file that it was about.
pub fn make(order: &Order) -> Result<String, Failure> {
    let refused = |why: String| Failure::Refused(format!("{}: {why}", order.file.display()));
    let ask = ask(order).map_err(refused)?;
    let done = transfer(&ask, &Arc::default()).map_err(|why| refused(why.words()))?;
    finished(order, done).map(|end| told(order, &end))
}

fn ask(order: &Order) -> Result<Ask, String> {
    let (job, direction) = match order.verb {
        Verb::Submit => (Job::Submit, Direction::Send),
        Verb::Store => (Job::Store, Direction::Send),
        Verb::Print => (Job::Print(name_of(&order.file)?), Direction::Receive),
    };
    let prints = order.verb == Verb::Print;
    Ok(Ask {
        to: addresses(&order.to)?,
        token: order.token_file.as_deref().map(read_word).transpose()?,
        direction,
        method: Method::Records,
        size: None,
        message: Method::Records.usual_message(),
        from: (!prints).then(|| order.file.clone()),
        into: prints.then(|| place(order)),
        job: Some(job),
        bounds: Bounds::default(),
        interrupts: Err(UNMETERED.into()),
    })
}

fn addresses(text: &str) -> Result<Vec<SocketAddr>, String> {
    let found = text.to_socket_addrs().map(Vec::from_iter).map_err(|error| error.to_string());
    let found = found.and_then(|all| if all.is_empty() { Err("it has no address".into()) } else { Ok(all) });
    found.map_err(|why| format!("{text} is no HOST:PORT that can be reached: {why}"))
}

/// The name of the job in the file that `submit` left.
fn name_of(file: &Path) -> Result<String, String> {
    let word = read_word(file)?;
    if is_name(&word) { Ok(word) } else { Err("it names no job: give the .job that submit has left".into()) }
}

fn read_word(file: &Path) -> Result<String, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    Some(text.trim().to_owned()).filter(|word| !word.is_empty()).ok_or_else(|| format!("{} is empty", file.display()))
}

/// Where the print file goes.
fn place(order: &Order) -> PathBuf {
    order.into.clone().unwrap_or_else(|| order.file.with_extension("print"))
}

/// Sees whether all came over, and keeps the name of a job that was submitted. A print file that is here is in its place, whatever
/// becomes of its host.
fn finished(order: &Order, done: Transfer) -> Result<End, Failure> {
    let broke_off = |why: &str| {
        let moved = done.here.moved.payload;
        Failure::BrokeOff(format!("{}: {} after {moved} bytes", order.file.display(), why.trim_end_matches('.')))
    };
    if let Some(why) = &done.here.broke_off {
        return Err(broke_off(why));
    }
    if order.verb == Verb::Print {
        return Ok(done.here);
    }
    let there = done.there.as_ref().map_err(|why| broke_off(why))?;
    if let Some(why) = &there.broke_off {
        return Err(broke_off(why));
    }
    if order.verb == Verb::Submit {
        let name = done.job.as_deref().filter(|name| is_name(name));
        let name = name.ok_or_else(|| broke_off("the batch host gave it no name"))?;
        keep(&order.file.with_extension("job"), name).map_err(|error| broke_off(&error.to_string()))?;
    }
    Ok(done.here)
}

/// Writes the file that names a job, the whole of it or none.
fn keep(file: &Path, name: &str) -> io::Result<()> {
    let mut place = Place::over(file)?;
    place.file().write_all(format!("{name}\n").as_bytes())?;
    place.whole()
}

fn told(order: &Order, end: &End) -> String {
    let (bytes, real_s, cpu_s) = (end.moved.payload, end.real_ns as f64 / 1e9, end.cpu_ns as f64 / 1e9);
    let what = match order.verb {
        Verb::Submit => format!("{} submitted", order.file.display()),
        Verb::Store => format!("{} stored", order.file.display()),
        Verb::Print => format!("{} printed", place(order).display()),
    };
    let rate = if bytes > 0 && real_s > 0.0 { format!(", {:.0} bit/s", 8.0 * bytes as f64 / real_s) } else { String::new() };
    format!("{what}: {bytes} bytes in {real_s:.6} s, {cpu_s:.6} s of processor time{rate}, load {:.2}", end.load_1min)
}
