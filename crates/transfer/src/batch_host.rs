//! The interface of a batch host: what a server asks about transfers that belong to a job.

use std::fmt;
use std::fs::File;
use std::io;

use crate::moving::source::Source;
use crate::protocol::wire::{Job, Request};

/// Does the jobs that transfers ask for; shared by all transfers of a server.
pub trait BatchHost: fmt::Debug + Send + Sync {
    /// What `request` comes to, once the job is done that it asks for; `request` then says how many bytes go. It waits while
    /// `goes_on`.
    ///
    /// # Errors
    /// In words for who asked.
    fn begin(&self, request: &mut Request, goes_on: &mut dyn FnMut() -> bool) -> Result<Box<dyn Work>, String>;
}

/// What a server does with the data of one transfer.
pub trait Work {
    /// Where the job wants what comes; `None` where data go as the server says.
    fn place(&self) -> Option<io::Result<File>> {
        None
    }

    /// What the job sends; `None` where it is a pattern.
    fn source(&self) -> Option<io::Result<Source>> {
        None
    }

    /// What is left to do when the data have moved, all of them or not: the name of a job that begins.
    ///
    /// # Errors
    /// In words: what came is no deck, or there are too many jobs.
    fn end(&self, _complete: bool) -> Result<Option<String>, String> {
        Ok(None)
    }

    /// The client has said that it has all of it.
    fn confirmed(&self) {}
}

/// A transfer without a job, or of a file that is only stored.
#[derive(Debug, Clone, Copy)]
pub struct Plain;

impl Work for Plain {}

/// A server that takes no jobs; files may still be stored.
#[derive(Debug, Clone, Copy)]
pub struct NoJobs;

impl BatchHost for NoJobs {
    fn begin(&self, request: &mut Request, _: &mut dyn FnMut() -> bool) -> Result<Box<dyn Work>, String> {
        match request.job {
            None | Some(Job::Store) => Ok(Box::new(Plain)),
            Some(_) => Err("no jobs are taken here".into()),
        }
    }
}
