//! The batch host: a submitted deck becomes a job, whose print file any client with the job's name can fetch.
//!
//! In memory it keeps a few cards of each job, and makes the print file from them while it is sent. The limits in [`JobLimits`] bound the
//! number of jobs and how long each is kept. Nothing is written to disk.

pub mod deck;

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, memfd_create};

use deck::{DeckOutput, MOST_DECK_BYTES};
use loadgo_transfer::batch_host::{BatchHost, JobData, PlainData};
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

impl BatchHost for Jobs {
    fn begin(&self, request: &mut TransferRequest, may_wait: &mut dyn FnMut() -> bool) -> Result<Box<dyn JobData>, String> {
        match (&request.job, request.direction) {
            (None, _) | (Some(JobKind::Store), Direction::Send) => Ok(Box::new(PlainData)),
            (Some(JobKind::Submit), Direction::Send) => Ok(Box::new(self.accept_deck(request.size)?)),
            (Some(JobKind::Print(name)), Direction::Receive) => {
                let print = self.await_print_file(name.clone(), may_wait)?;
                request.size = print.output.size();
                Ok(Box::new(print))
            }
            (Some(job), _) => Err(format!("{} goes the other way", job.verb())),
        }
    }
}

impl Jobs {
    /// No jobs yet.
    pub fn new(limits: JobLimits) -> Jobs {
        Jobs { limits, finished: Arc::default() }
    }

    fn await_print_file(&self, name: String, may_wait: &mut dyn FnMut() -> bool) -> Result<PrintFile, String> {
        let ready = self.ready_time(&name)?;
        while Instant::now() < ready {
            if !may_wait() {
                return Err("it was stopped".into());
            }
            std::thread::sleep(STOP_POLL_PERIOD.min(ready.saturating_duration_since(Instant::now())));
        }
        let output = self.finished().get(&name).map(|job| job.output.clone()).ok_or_else(|| unknown_job(&name))?;
        Ok(PrintFile { jobs: self.clone(), name, output })
    }

    fn accept_deck(&self, size: u64) -> Result<ArrivingDeck, String> {
        if size > MOST_DECK_BYTES {
            return Err(format!("a deck of {size} bytes is too long: at most {MOST_DECK_BYTES}; store what is larger"));
        }
        self.make_room()?;
        let deck = memfd_create("loadgo-deck", MemfdFlags::CLOEXEC);
        let deck = deck.map_err(|error| format!("there is no memory for a deck: {error}"))?;
        Ok(ArrivingDeck { jobs: self.clone(), deck: deck.into() })
    }

    /// Forgets jobs whose print files are older than [`JobLimits::kept`], and fails if no further job can be taken.
    fn make_room(&self) -> Result<(), String> {
        let (now, kept, mut finished) = (Instant::now(), self.limits.kept, self.finished());
        finished.retain(|_, job| now < job.ready + kept);
        match finished.len() {
            count if count < self.limits.jobs => Ok(()),
            _ if self.limits.jobs == 0 => Err("no jobs are taken here".into()),
            count => Err(format!("{count} jobs wait here to be printed, and no more are kept: print some first")),
        }
    }

    fn ready_time(&self, name: &str) -> Result<Instant, String> {
        self.finished().get(name).map(|job| job.ready).ok_or_else(|| unknown_job(name))
    }

    /// Makes a job of a complete deck, and returns the job's name.
    fn submit(&self, deck: &File) -> Result<String, String> {
        let lost = |error: io::Error| format!("the deck is lost: {error}");
        let mut text = vec![0; deck.metadata().map_err(lost)?.len() as usize];
        deck.read_exact_at(&mut text, 0).map_err(lost)?;
        let output = deck::read(&text)?;
        if output.size() > self.limits.bytes {
            return Err(format!("a print file of {} bytes is more than the {} allowed", output.size(), self.limits.bytes));
        }
        self.make_room()?;
        let name = random_ticket().map_err(lost)?;
        self.finished().insert(name.clone(), FinishedJob { output, ready: Instant::now() + self.limits.job_time });
        Ok(name)
    }

    fn finished(&self) -> MutexGuard<'_, HashMap<String, FinishedJob>> {
        self.finished.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unknown_job(name: &str) -> String {
    let name: String = name.chars().take(40).collect();
    format!(
        "there is no job {}: it was never submitted here, was printed, or was forgotten; submit it again",
        name.escape_default()
    )
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

    fn end(&self, complete: bool) -> Result<Option<String>, String> {
        if complete { self.jobs.submit(&self.deck).map(Some) } else { Ok(None) }
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
