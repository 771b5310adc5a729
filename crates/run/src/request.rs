//! A request for a run on this host, checked as far as possible before anything is made.

use loadgo_host::doctor::preflight::{Finding, Plan, preflight, raise_descriptor_limit};
use loadgo_host::limits::Limit;
use loadgo_host::limits::each::UserLimits;
use loadgo_host::refusal::Refusal;
use loadgo_host::scheduling::{Class, Wanted, may_bind};
use loadgo_host::terminals::announcement::is_plain_path;
use loadgo_host::terminals::destinations::{Destination, Destinations};
use loadgo_host::terminals::login::Login;
use loadgo_host::terminals::next_lines::NextLines;
use loadgo_host::terminals::orders::{ControllerTerms, DriverOrders};
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
    /// Limits of each user's resources.
    pub limit_each: Option<UserLimits>,
    /// Scheduling that the driver's thread asks for.
    pub scheduling: Wanted,
    /// The meters that the user asks for.
    pub meters: TierAsked,
    /// Usage is read for every n-th interaction of a user. `None`: for each, or for every 64th if many users never think.
    pub usage_every: Option<u32>,
    /// Whether the working sets of the users' processes are measured.
    pub working_sets: bool,
    /// The directory under which homes are made.
    pub homes: PathBuf,
    /// The directories that programs are looked up in.
    pub search_path: String,
    /// The host that the log-in command leads to, if an agent meters it. Then this host is not metered, and the script's `needs`
    /// are that host's.
    pub other_host: Option<OtherHost>,
    /// Orders while the run goes on: users who are given up since their host is lost, and barriers.
    pub orders: DriverOrders,
    /// The terms of the controller elsewhere whose orders open the barriers, if this host drives for one.
    pub controller: Option<ControllerTerms>,
}

/// Another host that users log in to, as its agent describes it in a `run.toml`, or several such hosts together.
#[derive(Clone, Debug)]
pub struct OtherHost {
    /// The section `system`.
    pub system: toml::Table,
    /// The section `conditions`.
    pub conditions: toml::Table,
    /// The users of each host, in the order of their numbers. Empty: all users have the script's log-in, and no agent.
    pub users: Vec<UsersOfHost>,
}

/// A range of users, and how they log in to their host.
#[derive(Clone, Debug)]
pub struct UsersOfHost {
    /// The last of the users. The first follows the last user of the host before.
    pub last_user: u32,
    /// The command that logs them in.
    pub login: String,
    /// The directory there in which sessions announce themselves, if the agent measures what they use.
    pub sessions: Option<String>,
    /// The way to that agent for the news which line a user types next.
    pub next_lines: Option<NextLines>,
}

impl OtherHost {
    /// Takes the description of a host out of its agent's `run_toml`.
    ///
    /// # Errors
    /// It is no TOML.
    pub fn parse(run_toml: &str) -> Result<OtherHost, Refusal> {
        let table: toml::Table = run_toml.parse().map_err(|error: toml::de::Error| format!("run.toml: {}", error.message()))?;
        let section = |name: &str| table.get(name).and_then(toml::Value::as_table).cloned().unwrap_or_default();
        Ok(OtherHost { system: section("system"), conditions: section("conditions"), users: Vec::new() })
    }

    /// This host, or these hosts, with their users.
    ///
    /// # Errors
    /// The directory of an agent is no path that can be typed into every shell.
    pub fn with_users(self, users: Vec<UsersOfHost>) -> Result<OtherHost, Refusal> {
        let directories = users.iter().filter_map(|users| users.sessions.as_deref());
        match directories.into_iter().find(|path| !is_plain_path(path)) {
            Some(path) => Err(Refusal::new(format!("the agent names no directory: {path:?}"))),
            None => Ok(OtherHost { users, ..self }),
        }
    }
}

impl Request {
    /// Checks all that can be checked before anything is made, and returns notes about doubts.
    ///
    /// # Errors
    /// The programs or resources that are missing, and the remedy.
    pub fn check(&self) -> Result<Vec<String>, RunRefusal> {
        self.login()?;
        let needs = if self.other_host.is_some() { &[][..] } else { &self.spec.script.needs };
        if let Some(missing) =
            needs.iter().find(|program| program_file(OsStr::new(program), OsStr::new(&self.search_path)).is_none())
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
            log_ins_at_once: u64::from(self.spec.load.log_ins_at_once.min(self.spec.load.users)),
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

    /// Finds the program of each host's log-in command. Without other hosts, all users have the script's.
    ///
    /// # Errors
    /// A command is none, or its program does not exist.
    pub fn destinations(&self) -> Result<Destinations, RunRefusal> {
        let hosts = self.other_host.as_ref().map_or(&[][..], |host| &host.users);
        if hosts.is_empty() {
            return Ok(Destinations::one(self.login()?));
        }
        let destination = |users: &UsersOfHost| {
            let login = Login::find(&users.login, &self.search_path)?;
            Ok(Destination {
                last_user: users.last_user,
                login,
                announced_in: users.sessions.clone(),
                next_lines: users.next_lines.clone(),
            })
        };
        Ok(Destinations::new(hosts.iter().map(destination).collect::<Result<_, RunRefusal>>()?))
    }

    /// Whether the meters of this run are those of this host: the system of the run, or a host that drives for a controller.
    pub(crate) fn meters_this_host(&self) -> bool {
        self.other_host.is_none() || self.controller.is_some()
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
