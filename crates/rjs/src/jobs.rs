//! The batch host: a submitted deck becomes a job, which leaves a print file for whoever has the job's name.
//!
//! It keeps a few cards of each job, never a print file; so many jobs, each as long as the bounds say, and nothing on the disk.

pub mod deck;

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, memfd_create};

use deck::{LONGEST_DECK, Output};
use loadgo_transfer::batch_host::{BatchHost, Plain, Work};
use loadgo_transfer::bounds::{Bounds, TO_LOOK_UP};
use loadgo_transfer::moving::source::Source;
use loadgo_transfer::protocol::wire::{Direction, Job, Request};
use loadgo_transfer::tickets::ticket;

/// The limits of a batch host.
#[derive(Debug, Clone, Copy)]
pub struct JobBounds {
    /// Jobs whose print file waits to be fetched; 0 takes none.
    pub jobs: usize,
    /// How long a job takes before its print file is there.
    pub job_time: Duration,
    /// How long a print file that nobody fetches is kept.
    pub kept: Duration,
    /// Bytes of the longest print file.
    pub bytes: u64,
}

impl JobBounds {
    /// Those of a server with these `bounds`, where nothing else is said of jobs.
    pub fn of(bounds: &Bounds) -> JobBounds {
        JobBounds { jobs: 1024, job_time: Duration::ZERO, kept: bounds.time, bytes: bounds.bytes }
    }
}

/// The jobs that a server has; clones share them.
#[derive(Debug, Clone)]
pub struct Jobs {
    bounds: JobBounds,
    waiting: Arc<Mutex<HashMap<String, Waiting>>>,
}

/// Whether `word` can be the name of a job.
pub fn is_name(word: &str) -> bool {
    !word.is_empty() && word.len() <= 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A finished job whose print file no client has acknowledged.
#[derive(Debug)]
struct Waiting {
    output: Output,
    ready: Instant,
}

impl BatchHost for Jobs {
    fn begin(&self, request: &mut Request, goes_on: &mut dyn FnMut() -> bool) -> Result<Box<dyn Work>, String> {
        match (&request.job, request.direction) {
            (None, _) | (Some(Job::Store), Direction::Send) => Ok(Box::new(Plain)),
            (Some(Job::Submit), Direction::Send) => Ok(Box::new(self.deck(request.size)?)),
            (Some(Job::Print(name)), Direction::Receive) => {
                let print = self.print(name.clone(), goes_on)?;
                request.size = print.output.size();
                Ok(Box::new(print))
            }
            (Some(job), _) => Err(format!("{} goes the other way", job.verb())),
        }
    }
}

impl Jobs {
    /// None yet, and never more than `bounds` say.
    pub fn new(bounds: JobBounds) -> Jobs {
        Jobs { bounds, waiting: Arc::default() }
    }

    fn print(&self, name: String, goes_on: &mut dyn FnMut() -> bool) -> Result<Print, String> {
        let ready = self.ready(&name)?;
        while Instant::now() < ready {
            if !goes_on() {
                return Err("it was stopped".into());
            }
            std::thread::sleep(TO_LOOK_UP.min(ready.saturating_duration_since(Instant::now())));
        }
        let output = self.waiting().get(&name).map(|job| job.output.clone()).ok_or_else(|| no_such(&name))?;
        Ok(Print { jobs: self.clone(), name, output })
    }

    fn deck(&self, size: u64) -> Result<Deck, String> {
        if size > LONGEST_DECK {
            return Err(format!("a deck of {size} bytes is too long: at most {LONGEST_DECK}; store what is larger"));
        }
        self.room()?;
        let deck = memfd_create("loadgo-deck", MemfdFlags::CLOEXEC);
        let deck = deck.map_err(|error| format!("there is no memory for a deck: {error}"))?;
        Ok(Deck { jobs: self.clone(), deck: deck.into() })
    }

    /// Forgets jobs whose print file nobody has fetched for as long as it is kept.
    fn room(&self) -> Result<(), String> {
        let (now, kept, mut waiting) = (Instant::now(), self.bounds.kept, self.waiting());
        waiting.retain(|_, job| now < job.ready + kept);
        match waiting.len() {
            count if count < self.bounds.jobs => Ok(()),
            _ if self.bounds.jobs == 0 => Err("no jobs are taken here".into()),
            count => Err(format!("{count} jobs wait here to be printed, and no more are kept: print some first")),
        }
    }

    fn ready(&self, name: &str) -> Result<Instant, String> {
        self.waiting().get(name).map(|job| job.ready).ok_or_else(|| no_such(name))
    }

    fn submitted(&self, deck: &File) -> Result<String, String> {
        let lost = |error: io::Error| format!("the deck is lost: {error}");
        let mut text = vec![0; deck.metadata().map_err(lost)?.len() as usize];
        deck.read_exact_at(&mut text, 0).map_err(lost)?;
        let output = deck::read(&text)?;
        if output.size() > self.bounds.bytes {
            return Err(format!("a print file of {} bytes is more than the {} allowed", output.size(), self.bounds.bytes));
        }
        self.room()?;
        let name = ticket().map_err(lost)?;
        self.waiting().insert(name.clone(), Waiting { output, ready: Instant::now() + self.bounds.job_time });
        Ok(name)
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<String, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn no_such(name: &str) -> String {
    let name: String = name.chars().take(40).collect();
    format!(
        "there is no job {}: it was never submitted here, was printed, or was forgotten; submit it again",
        name.escape_default()
    )
}

/// A deck that comes, and is a job when all of it is there.
struct Deck {
    jobs: Jobs,
    deck: File,
}

impl Work for Deck {
    fn place(&self) -> Option<io::Result<File>> {
        Some(self.deck.try_clone())
    }

    fn end(&self, complete: bool) -> Result<Option<String>, String> {
        if complete { self.jobs.submitted(&self.deck).map(Some) } else { Ok(None) }
    }
}

/// A print file that is fetched; until the client says that it has all of it, it can be fetched again.
struct Print {
    jobs: Jobs,
    name: String,
    output: Output,
}

impl Work for Print {
    fn source(&self) -> Option<io::Result<Source>> {
        Some(Source::repeated(&self.output.beginning(), self.output.size()))
    }

    fn confirmed(&self) {
        self.jobs.waiting().remove(&self.name);
    }
}
