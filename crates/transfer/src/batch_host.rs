//! The interface of a batch host, which handles the transfers that belong to a job.

use std::error::Error;
use std::fmt;
use std::fs::File;
use std::io;

use crate::moving::source::DataSource;
use crate::protocol::wire::{JobKind, TransferRequest};

/// Why a batch host refuses a job or its data. The client is sent the error's words.
pub type JobRefusal = Box<dyn Error + Send + Sync>;

/// Handles the jobs of transfers; all transfers of a server share it.
pub trait BatchHost: fmt::Debug + Send + Sync {
    /// Begins the job of `request`, if it has one, and sets the request's size to the number of bytes that will move. May wait as
    /// long as `may_wait` returns true.
    ///
    /// # Errors
    /// Why the batch host does not take the job.
    fn begin(&self, request: &mut TransferRequest, may_wait: &mut dyn FnMut() -> bool) -> Result<Box<dyn JobData>, JobRefusal>;
}

/// The data of one transfer, as its job handles them.
pub trait JobData {
    /// The job's file for received data; None if the server chooses it.
    fn file(&self) -> Option<io::Result<File>> {
        None
    }

    /// The data that the job sends; None for a pattern.
    fn source(&self) -> Option<io::Result<DataSource>> {
        None
    }

    /// Finishes after the data have moved, `complete` or not. Returns the name of a job that begins.
    ///
    /// # Errors
    /// The data are no deck, or there are too many jobs.
    fn end(&self, _complete: bool) -> Result<Option<String>, JobRefusal> {
        Ok(None)
    }

    /// Notes that the client has acknowledged all data.
    fn acknowledge(&self) {}
}

/// The data of a transfer without a job, or of a file to store.
#[derive(Debug, Clone, Copy)]
pub struct PlainData;

impl JobData for PlainData {}

/// The batch host of a server without jobs; files can still be stored.
#[derive(Debug, Clone, Copy)]
pub struct NoJobs;

impl BatchHost for NoJobs {
    fn begin(&self, request: &mut TransferRequest, _: &mut dyn FnMut() -> bool) -> Result<Box<dyn JobData>, JobRefusal> {
        match request.job {
            None | Some(JobKind::Store) => Ok(Box::new(PlainData)),
            Some(_) => Err("no jobs are taken here".into()),
        }
    }
}
