//! A request for a run on this host, checked as far as possible before anything is made.

use loadgo_host::doctor::preflight::{Finding, Plan, preflight, raise_descriptor_limit};
use loadgo_host::limits::Limit;
use loadgo_host::refusal::Refusal;
use loadgo_host::scheduling::{Class, Wanted, may_bind};
use loadgo_host::terminals::login::Login;
use loadgo_sys::program_file::program_file;
use std::ffi::OsStr;
use std::path::PathBuf;

use crate::asked::Asked;
use crate::metering::TierAsked;
use crate::refusal::RunRefusal;

/// Users without think time that fill the host: from this number on each interaction may take only microseconds.
const FEWEST_BUSY_USERS: u32 = 32;

/// A request for a run on this host.
#[derive(Clone, Debug)]
pub struct Request {
    /// The part of the request that any system understands.
    pub asked: Asked,
    /// Limits of the users' memory and processors.
    pub limit: Option<Limit>,
    /// Scheduling that the driver's thread asks for.
    pub scheduling: Wanted,
    /// The meters that the user asks for.
    pub meters: TierAsked,
    /// Usage of every n-th interaction of a user; `None`: every one, or every 64th when nobody thinks.
    pub usage_every: Option<u32>,
    /// The directory under which homes are made.
    pub homes: PathBuf,
    /// The directories that programs are looked up in.
    pub search_path: String,
}

impl Request {
    /// Checks all that can be checked before anything is made, and returns notes about doubts.
    ///
    /// # Errors
    /// What is missing or would not fit, and the remedy.
    pub fn check(&self) -> Result<Vec<String>, RunRefusal> {
        self.login()?;
        if let Some(missing) = self
            .asked
            .script
            .needs
            .iter()
            .find(|program| program_file(OsStr::new(program), OsStr::new(&self.search_path)).is_none())
        {
            let refusal = format!("the script needs {missing}, which is not on the PATH ({})", self.search_path);
            return Err(Refusal::new(refusal).into());
        }
        if let Some(processor) = self.scheduling.processor
            && let Err(reason) = may_bind(processor)
        {
            let refusal = Refusal::new(format!("the driver cannot be bound to processor {processor}")).because(reason);
            return Err(refusal.with_remedy("lscpu names the processors").about("processor").into());
        }
        raise_descriptor_limit();
        let plan = Plan {
            users: u64::from(self.asked.load.users),
            login: &self.asked.script.login,
            homes: &self.homes,
            log_ins_at_once: u64::from(self.asked.load.log_ins_at_once),
        };
        let (fatal, doubtful): (Vec<Finding>, Vec<Finding>) = preflight(&plan).into_iter().partition(|finding| finding.fatal);
        match fatal.is_empty() {
            true => Ok(doubtful.iter().map(|finding| finding.refusal.to_string()).collect()),
            false => Err(RunRefusal::Refused(fatal.into_iter().map(|finding| finding.refusal).collect())),
        }
    }

    /// Finds the program of the log-in command.
    ///
    /// # Errors
    /// When it is no command, or the program is not there.
    pub fn login(&self) -> Result<Login, RunRefusal> {
        Ok(Login::find(&self.asked.script.login, &self.search_path)?)
    }

    /// Returns n, where the usage of every n-th interaction of a user is read.
    pub fn every(&self) -> u32 {
        self.usage_every.unwrap_or(if self.asked.nobody_thinks() && self.asked.load.users >= FEWEST_BUSY_USERS { 64 } else { 1 })
    }

    /// Scheduling of the driver's thread: as requested, or of the batch class where many users never think: then no line is ever due.
    pub fn scheduling(&self) -> Wanted {
        let class = if self.asked.nobody_thinks() && self.asked.load.users >= FEWEST_BUSY_USERS {
            Class::Batch
        } else {
            self.scheduling.class
        };
        Wanted { class, ..self.scheduling }
    }
}
