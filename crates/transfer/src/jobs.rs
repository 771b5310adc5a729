//! The batch host in a server: decks come in, "run", and leave a print file that who has the job's name may fetch.
//!
//! It keeps a few cards of each job, never a print file; so many jobs, each as long as the bounds say, and nothing on the disk.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rustix::fs::{MemfdFlags, memfd_create};
use serde::{Deserialize, Serialize};

use crate::bounds::Bounds;
use crate::deck::{self, LONGEST_DECK, Output};
use crate::meeting;
use crate::source::Source;
use crate::wire::{Direction, Request};

/// What a transfer is to a batch host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Job {
    /// A deck is sent; the answer is the job's name, which nobody can guess.
    Submit,
    /// The print file of the job of this name is fetched; when the client says that it has all of it, the job is over.
    Print(String),
    /// A file is sent for later.
    Store,
}

impl Job {
    /// As one asks for it.
    pub fn verb(&self) -> &'static str {
        match self {
            Job::Submit => "submit",
            Job::Print(_) => "print",
            Job::Store => "store",
        }
    }
}

/// The jobs that a server has.
#[derive(Debug)]
pub struct Jobs {
    bounds: Bounds,
    waiting: Mutex<HashMap<String, Waiting>>,
}

/// Whether `word` can be the name of a job.
pub fn is_name(word: &str) -> bool {
    !word.is_empty() && word.len() <= 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A job whose print file nobody has said to have.
#[derive(Debug)]
struct Waiting {
    output: Output,
    ready: Instant,
}

/// What a server does with the data of one transfer.
#[derive(Debug)]
pub enum Work {
    /// What the request says: data are dropped or kept, or are a pattern.
    Plain,
    /// A deck is put here.
    Deck(File),
    /// This is printed, for the job of this name.
    Print(String, Output),
}

impl Jobs {
    /// None yet, and never more than `bounds` say.
    pub fn new(bounds: Bounds) -> Jobs {
        Jobs { bounds, waiting: Mutex::default() }
    }

    /// What `request` comes to, once the job is done that it asks for; `request` then says how many bytes go.
    /// It waits while `goes_on`.
    ///
    /// # Errors
    /// In words for who asked.
    pub fn begin(&self, request: &mut Request, mut goes_on: impl FnMut() -> bool) -> Result<Work, String> {
        match (&request.job, request.direction) {
            (None, _) | (Some(Job::Store), Direction::Send) => Ok(Work::Plain),
            (Some(Job::Submit), Direction::Send) => self.deck(request.size),
            (Some(Job::Print(name)), Direction::Receive) => {
                let (name, ready) = (name.clone(), self.ready(name)?);
                while Instant::now() < ready {
                    if !goes_on() {
                        return Err("it was stopped".into());
                    }
                    std::thread::sleep(crate::bounds::TO_LOOK_UP.min(ready.saturating_duration_since(Instant::now())));
                }
                let output = self.waiting().get(&name).map(|job| job.output.clone()).ok_or_else(|| no_such(&name))?;
                request.size = output.size();
                Ok(Work::Print(name, output))
            }
            (Some(job), _) => Err(format!("{} goes the other way", job.verb())),
        }
    }

    fn deck(&self, size: u64) -> Result<Work, String> {
        if size > LONGEST_DECK {
            return Err(format!("a deck of {size} bytes is too long: at most {LONGEST_DECK}; store what is larger"));
        }
        self.room()?;
        let deck = memfd_create("loadgo-deck", MemfdFlags::CLOEXEC);
        deck.map(|fd| Work::Deck(fd.into())).map_err(|error| format!("there is no memory for a deck: {error}"))
    }

    /// Forgets jobs whose print file nobody has fetched for as long as a transfer may last.
    fn room(&self) -> Result<(), String> {
        let (now, kept, mut waiting) = (Instant::now(), self.bounds.time, self.waiting());
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

    /// What is left to do when the data have moved, all of them or not: the name of a job that begins.
    ///
    /// # Errors
    /// In words: what came is no deck, or there are too many jobs.
    pub fn end(&self, work: &Work, complete: bool) -> Result<Option<String>, String> {
        match work {
            Work::Deck(deck) if complete => self.submitted(deck).map(Some),
            _ => Ok(None),
        }
    }

    /// The client has said that it has all of it: a job that was printed is over. Until then it can be fetched again.
    pub fn confirmed(&self, work: &Work) {
        if let Work::Print(name, _) = work {
            self.waiting().remove(name);
        }
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
        let name = meeting::ticket().map_err(lost)?;
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

impl Work {
    /// Where a deck is put; None where data go as the server says.
    pub fn place(&self) -> Option<io::Result<File>> {
        match self {
            Work::Deck(deck) => Some(deck.try_clone()),
            _ => None,
        }
    }

    /// What is printed; None where it is a pattern.
    pub fn source(&self) -> Option<io::Result<Source>> {
        match self {
            Work::Print(_, output) => Some(Source::repeated(&output.beginning(), output.size())),
            _ => None,
        }
    }
}
