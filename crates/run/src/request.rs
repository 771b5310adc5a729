//! A request for a run on this host, checked as far as possible before anything is made.

use loadgo_host::doctor::preflight::{Finding, Plan, preflight, raise_descriptor_limit};
use loadgo_host::limits::Limit;
use loadgo_host::refusal::Refusal;
use loadgo_host::scheduling::{Class, Wanted, may_bind};
use loadgo_host::terminals::login::Login;
use loadgo_sys::program_file::program_file;
use std::ffi::OsStr;
use std::path::PathBuf;

use crate::metering::TierAsked;
use crate::refusal::RunRefusal;
use crate::run_spec::RunSpec;

/// Number of users without think time from which on interactions come so fast that loadgo saves work on each.
const FEWEST_BUSY_USERS: u32 = 32;

/// A request for a run on this host.
#[derive(Clone, Debug)]
pub struct Request {
    /// The part of the request that any system understands.
    pub spec: RunSpec,
    /// Limits of the users' memory and processors.
    pub limit: Option<Limit>,
    /// Scheduling that the driver's thread asks for.
    pub scheduling: Wanted,
    /// The meters that the user asks for.
    pub meters: TierAsked,
    /// Usage is read for every n-th interaction of a user. `None`: for each, or for every 64th if many users never think.
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
    /// The programs or resources that are missing, and the remedy.
    pub fn check(&self) -> Result<Vec<String>, RunRefusal> {
        self.login()?;
        if let Some(missing) = self
            .spec
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
            users: u64::from(self.spec.load.users),
            login: &self.spec.script.login,
            homes: &self.homes,
            log_ins_at_once: u64::from(self.spec.load.log_ins_at_once),
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
    /// It is no command, or the program does not exist.
    pub fn login(&self) -> Result<Login, RunRefusal> {
        Ok(Login::find(&self.spec.script.login, &self.search_path)?)
    }

    /// Returns n if the usage of every n-th interaction of a user is read.
    pub fn usage_interval(&self) -> u32 {
        self.usage_every.unwrap_or(if self.spec.nobody_thinks() && self.spec.load.users >= FEWEST_BUSY_USERS { 64 } else { 1 })
    }

    /// Scheduling of the driver's thread: as requested, or the batch class if many users never think, because no line is due
    /// then.
    pub fn scheduling(&self) -> Wanted {
        let class = if self.spec.nobody_thinks() && self.spec.load.users >= FEWEST_BUSY_USERS {
            Class::Batch
        } else {
            self.scheduling.class
        };
        Wanted { class, ..self.scheduling }
    }
}
