//! The batch host: a submitted deck becomes a job, whose print file any client with the job's name can fetch.
//!
//! In memory it keeps a few cards of each job, and makes the print file from them while it is sent. The limits in [`JobLimits`] bound the
//! number of jobs and how long each is kept. Nothing is written to disk.

pub mod deck;

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, memfd_create};

use deck::{DeckMistake, DeckOutput, MOST_DECK_BYTES};
use loadgo_transfer::batch_host::{BatchHost, JobData, JobRefusal, PlainData};
use loadgo_transfer::bounds::{STOP_POLL_PERIOD, TransferLimits};
use loadgo_transfer::moving::source::DataSource;
use loadgo_transfer::protocol::wire::{Direction, JobKind, TransferRequest};
use loadgo_transfer::tickets::random_ticket;

/// The limits of a batch host.
#[derive(Debug, Clone, Copy)]
pub struct JobLimits {
    /// Largest number of jobs whose print files wait to be fetched; with 0, no jobs are taken.
    pub jobs: usize,
    /// Time from a job's submission to its print file.
    pub job_time: Duration,
    /// Time after which a print file that no client fetched is forgotten.
    pub kept: Duration,
    /// Largest size of a print file, in bytes.
    pub bytes: u64,
}

impl JobLimits {
    /// Default limits for a server with these `bounds`.
    pub fn for_server(bounds: &TransferLimits) -> JobLimits {
        JobLimits { jobs: 1024, job_time: Duration::ZERO, kept: bounds.time, bytes: bounds.bytes }
    }
}

/// The jobs of a server; clones share them.
#[derive(Debug, Clone)]
pub struct Jobs {
    limits: JobLimits,
    finished: Arc<Mutex<HashMap<String, FinishedJob>>>,
}

/// Whether `word` can be the name of a job.
pub fn is_name(word: &str) -> bool {
    !word.is_empty() && word.len() <= 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A finished job whose print file no client has acknowledged.
#[derive(Debug)]
struct FinishedJob {
    output: DeckOutput,
    ready: Instant,
}

/// Why this batch host refuses a job.
#[derive(Debug)]
enum JobRefusalReason {
    /// A job of this kind moves data in the other direction.
    WrongDirection(&'static str),
    Stopped,
    UnknownJob(String),
    LongDeck(u64),
    BadDeck(DeckMistake),
    LostDeck(io::Error),
    /// The size, and the limit.
    LongPrintFile(u64, u64),
    NoMemory(io::Error),
    NoJobs,
    TooManyJobs(usize),
}

impl Error for JobRefusalReason {}

impl fmt::Display for JobRefusalReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JobRefusalReason::WrongDirection(verb) => write!(out, "{verb} moves data in the other direction"),
            JobRefusalReason::Stopped => out.write_str("it was stopped"),
            JobRefusalReason::UnknownJob(name) => {
                let name: String = name.chars().take(MOST_NAME_CHARS).collect();
                let reasons = "it was never submitted here, was printed, or was forgotten";
                write!(out, "there is no job {}: {reasons}; submit it again", name.escape_default())
            }
            JobRefusalReason::LongDeck(size) => {
                write!(out, "a deck of {size} bytes is too long: at most {MOST_DECK_BYTES}; store what is larger")
            }
            JobRefusalReason::BadDeck(mistake) => mistake.fmt(out),
            JobRefusalReason::LostDeck(error) => write!(out, "the deck is lost: {error}"),
            JobRefusalReason::LongPrintFile(size, most) => {
                write!(out, "a print file of {size} bytes is more than the {most} allowed")
            }
            JobRefusalReason::NoMemory(error) => write!(out, "there is no memory for a deck: {error}"),
            JobRefusalReason::NoJobs => out.write_str("no jobs are taken here"),
            JobRefusalReason::TooManyJobs(count) => {
                write!(out, "{count} jobs wait here to be printed, and no more are kept: print some first")
            }
        }
    }
}

/// Largest number of characters of an unknown job's name that a refusal repeats.
const MOST_NAME_CHARS: usize = 40;

impl BatchHost for Jobs {
    fn begin(&self, request: &mut TransferRequest, may_wait: &mut dyn FnMut() -> bool) -> Result<Box<dyn JobData>, JobRefusal> {
        match (&request.job, request.direction) {
            (None, _) | (Some(JobKind::Store), Direction::Send) => Ok(Box::new(PlainData)),
            (Some(JobKind::Submit), Direction::Send) => Ok(Box::new(self.accept_deck(request.size)?)),
            (Some(JobKind::Print(name)), Direction::Receive) => {
                let print = self.await_print_file(name.clone(), may_wait)?;
                request.size = print.output.size();
                Ok(Box::new(print))
            }
            (Some(job), _) => Err(JobRefusalReason::WrongDirection(job.verb()).into()),
        }
    }
}

impl Jobs {
    /// No jobs yet.
    pub fn new(limits: JobLimits) -> Jobs {
        Jobs { limits, finished: Arc::default() }
    }

    fn await_print_file(&self, name: String, may_wait: &mut dyn FnMut() -> bool) -> Result<PrintFile, JobRefusalReason> {
        let ready = self.ready_time(&name)?;
        while Instant::now() < ready {
            if !may_wait() {
                return Err(JobRefusalReason::Stopped);
            }
            std::thread::sleep(STOP_POLL_PERIOD.min(ready.saturating_duration_since(Instant::now())));
        }
        let output = self.finished().get(&name).map(|job| job.output.clone());
        let output = output.ok_or_else(|| JobRefusalReason::UnknownJob(name.clone()))?;
        Ok(PrintFile { jobs: self.clone(), name, output })
    }

    fn accept_deck(&self, size: u64) -> Result<ArrivingDeck, JobRefusalReason> {
        if size > MOST_DECK_BYTES {
            return Err(JobRefusalReason::LongDeck(size));
        }
        self.make_room()?;
        let deck = memfd_create("loadgo-deck", MemfdFlags::CLOEXEC);
        let deck = deck.map_err(|error| JobRefusalReason::NoMemory(error.into()))?;
        Ok(ArrivingDeck { jobs: self.clone(), deck: deck.into() })
    }

    /// Forgets jobs whose print files are older than [`JobLimits::kept`], and fails if no further job can be taken.
    fn make_room(&self) -> Result<(), JobRefusalReason> {
        let (now, kept, mut finished) = (Instant::now(), self.limits.kept, self.finished());
        finished.retain(|_, job| now < job.ready + kept);
        match finished.len() {
            count if count < self.limits.jobs => Ok(()),
            _ if self.limits.jobs == 0 => Err(JobRefusalReason::NoJobs),
            count => Err(JobRefusalReason::TooManyJobs(count)),
        }
    }

    fn ready_time(&self, name: &str) -> Result<Instant, JobRefusalReason> {
        self.finished().get(name).map(|job| job.ready).ok_or_else(|| JobRefusalReason::UnknownJob(name.to_owned()))
    }

    /// Makes a job of a complete deck, and returns the job's name.
    fn submit(&self, deck: &File) -> Result<String, JobRefusalReason> {
        let mut text = vec![0; deck.metadata().map_err(JobRefusalReason::LostDeck)?.len() as usize];
        deck.read_exact_at(&mut text, 0).map_err(JobRefusalReason::LostDeck)?;
        let output = deck::read(&text).map_err(JobRefusalReason::BadDeck)?;
        if output.size() > self.limits.bytes {
            return Err(JobRefusalReason::LongPrintFile(output.size(), self.limits.bytes));
        }
        self.make_room()?;
        let name = random_ticket().map_err(JobRefusalReason::LostDeck)?;
        self.finished().insert(name.clone(), FinishedJob { output, ready: Instant::now() + self.limits.job_time });
        Ok(name)
    }

    fn finished(&self) -> MutexGuard<'_, HashMap<String, FinishedJob>> {
        self.finished.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A deck that arrives; once it is complete, it becomes a job.
struct ArrivingDeck {
    jobs: Jobs,
    deck: File,
}

impl JobData for ArrivingDeck {
    fn file(&self) -> Option<io::Result<File>> {
        Some(self.deck.try_clone())
    }

    fn end(&self, complete: bool) -> Result<Option<String>, JobRefusal> {
        if complete { Ok(Some(self.jobs.submit(&self.deck)?)) } else { Ok(None) }
    }
}

/// A print file on its way to a client. Until the client acknowledges it, it can be fetched again.
struct PrintFile {
    jobs: Jobs,
    name: String,
    output: DeckOutput,
}

impl JobData for PrintFile {
    fn source(&self) -> Option<io::Result<DataSource>> {
        Some(DataSource::repeated(&self.output.beginning(), self.output.size()))
    }

    fn acknowledge(&self) {
        self.jobs.finished().remove(&self.name);
    }
}
