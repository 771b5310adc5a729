//! The contents of frames that are JSON: who the agent is, what it is asked, and what it answers.

use loadgo_run::LoadOrder;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Interval between two beats of either side.
pub const BEAT_EVERY_S: u64 = 1;
/// Time without a frame after which an agent takes its controller for lost, and ends.
pub const CONTROLLER_SILENCE_S: u64 = 30;
/// Time without a frame after which an agent that drives users takes its controller for lost. It is shorter than the time after
/// which the controller takes the agent for lost: nobody who was given up goes on loading.
pub const DRIVING_SILENCE_S: u64 = 12;
/// Longest time for which a driver may have been stopped: its controller has not given it up by then.
pub const MOST_STANDSTILL_S: u64 = 10;
/// Time that a log-in has which is tried. sshd's own limit is 120 s by default.
pub const TRIAL_LIMIT_S: u64 = 150;
/// Time without a frame after which a controller takes its agent for lost.
pub const AGENT_SILENCE_S: u64 = 15;

/// Identity of the agent: the body of its first frame.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Hello {
    /// SHA-256 of the program, in hexadecimal digits.
    pub hash: String,
    /// The agent's process id, there.
    pub pid: u32,
    /// The name of the host that it runs on.
    pub hostname: String,
    /// The kernel's release.
    pub kernel: String,
    /// Whether it runs as root.
    pub is_root: bool,
}

/// A question or an order to an agent.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Request {
    /// The abilities of its host.
    Doctor {},
    /// The meters of the host, without a load.
    Meter(MeterRequest),
    /// The end of a log-in to another host, tried from here.
    Try(TryRequest),
    /// The driving of users from here.
    Drive(Box<DriveRequest>),
    /// The metered runs of a command.
    Ready(ReadyRequest),
}

/// A request to run a command here and to meter it.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct ReadyRequest {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// For each run, in order, whether the command's pages are dropped from memory first.
    pub cold: Vec<bool>,
    /// Whether what the command prints is sent.
    pub output: bool,
}

/// The answer to a request to run a command.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct ReadyAnswer {
    /// The runs that were made: fewer than asked after a stop, or when the command could not be started.
    pub runs: Vec<RunAnswer>,
    /// Why the command could not be started.
    pub not_run: Option<NotRunAnswer>,
    /// Start of the first run, in nanoseconds since the host booted.
    pub began_ns: u64,
    /// The agent's own peak memory: that of a command is never reported lower.
    pub floor_bytes: u64,
    /// Where the figures come from.
    pub sources: SourcesAnswer,
    /// Things that stay behind on this host, each with the reason and the remedy.
    pub left_behind: Vec<String>,
}

/// Why a command could not be started.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct NotRunAnswer {
    /// Whether there is no such program, rather than one that cannot be executed.
    pub is_missing: bool,
    /// The reason, in the system's words.
    pub reason: String,
}

/// One run of a command, as it was measured. `None` means not measured, never 0.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct RunAnswer {
    /// Time from the loading of the program to its end.
    pub real_ns: u64,
    /// Usage by the columns of an interaction.
    pub usage: BTreeMap<String, Option<u64>>,
    /// Usage by wait4(2).
    pub waited: BTreeMap<String, u64>,
    /// The exit status, unless a signal ended it.
    pub exit_status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Number of its processes that still ran at its end.
    pub left_running: u64,
    /// Number of these that were not killed.
    pub let_go: u64,
    /// Number of usage records that were lost.
    pub lost: u64,
    /// How cold it was made, if it was.
    pub cold: Option<ColdAnswer>,
    /// Whether the controller wanted the end during the run.
    pub interrupted: bool,
}

/// How cold a command was made.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct ColdAnswer {
    /// The path of each file whose pages were dropped, its size, and what stayed in memory all the same, in bytes.
    pub files: Vec<(String, u64, Option<u64>)>,
    /// Whether the cached names of files were dropped too.
    pub names_dropped: bool,
}

/// Where the figures of a command come from.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct SourcesAnswer {
    /// Where processor time comes from.
    pub cpu: String,
    /// Where faults come from.
    pub faults: String,
    /// Where waits come from.
    pub waits: String,
    /// The smallest step of processor time.
    pub cpu_resolution_ns: u64,
    /// How user and system time are told apart.
    pub split: String,
    /// Whether the command had a control group.
    pub groups: bool,
    /// Sources that were not available, each with the remedy; and what was undone of killed runs.
    pub notes: Vec<String>,
}

/// A request to try a log-in from here.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct TryRequest {
    /// Id of the run.
    pub id: String,
    /// The command that logs in, and ends.
    pub command: String,
    /// The script's environment.
    pub environment: BTreeMap<String, String>,
}

/// The answer to a tried log-in.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct TryAnswer {
    /// The exit status; `None` if it did not end in its time.
    pub status: Option<i32>,
    /// The last of what it printed as errors.
    pub messages: String,
}

/// A request to drive a range of a run's users from here.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct DriveRequest {
    /// Id of the run.
    pub id: String,
    /// The address by which the controller reaches this host.
    pub address: String,
    /// The script, and the load of the range.
    pub load: LoadOrder,
    /// Where all users of the run log in, in the order of their numbers.
    pub destinations: Vec<DestinationPart>,
    /// Whether the driver's thread asks for the real-time class.
    pub fifo: bool,
    /// The processor that it is bound to.
    pub processor: Option<usize>,
    /// Usage is read for every n-th interaction of a user.
    pub usage_every: Option<u32>,
}

/// A range of users, and the host that they log in to.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct DestinationPart {
    /// The last of the users.
    pub last_user: u32,
    /// The command that logs them in.
    pub login: String,
    /// The directory there in which sessions announce themselves to the host's agent.
    pub sessions: Option<String>,
    /// Whether the controller passes on to that agent which line a user types next.
    pub next_lines: bool,
}

/// An order to the driver that is at work.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Order {
    /// Log the users in.
    LogIn {},
    /// Let them begin.
    Begin {
        /// When, on this host's monotonic clock, in nanoseconds.
        at_ns: u64,
    },
    /// End the sessions of users whose host is lost.
    GiveUp {
        /// The first of them.
        first_user: u32,
        /// The last of them.
        last_user: u32,
        /// Why, in words.
        reason: String,
    },
}

/// How far the driver at work has come.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct DrivingProgress {
    /// `log-in`, `warm-up`, `steady` or `ramp-down`.
    pub phase: String,
    /// The last barrier that it has come to: `log-ins` or `lines`.
    pub reached: Option<String>,
    /// Number of users who have logged in so far.
    pub users_logged_in: u32,
    /// Number of interactions so far.
    pub interactions: u64,
}

/// The answer to a request to drive users, when they have left.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct DriveAnswer {
    /// `done`, or `stopped` before its time.
    pub outcome: String,
    /// Number of interactions in the records.
    pub interactions: u64,
    /// Number of users who were logged in at some time.
    pub logged_in: u32,
    /// Number of users who finished.
    pub done: u32,
    /// Number of users whose session ended before they were done.
    pub died: u32,
    /// Number of users who could not log in.
    pub refused: u32,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// Things that stay behind on this host, each with the reason and the remedy.
    pub left_behind: Vec<String>,
}

/// A request for the meters of the host.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct MeterRequest {
    /// Id of the metering: the name of the controller's folder.
    pub id: String,
    /// The address by which the controller reaches this host: `ssh://HOST`.
    pub address: String,
    /// `none`, `cheap`, `cheap,locks`, `cheap,profile`, `sampled` or `exact`; `allowed` for the cheap ones where the host allows them, else none.
    pub meters: String,
    /// Length of a span of the records.
    pub every_s: f64,
    /// Length of the metering; without it, until the controller says so.
    pub duration_s: Option<f64>,
    /// The controller's command line, for the record.
    pub command_line: Vec<String>,
    /// The largest number of a user, where users of the controller log in to this host and are to be measured one by one.
    #[serde(default)]
    pub users: Option<u32>,
    /// The command's name of each line that these users type, by the line's number; empty for numbers without a line.
    #[serde(default)]
    pub commands: Vec<String>,
}

/// One ability of a host, as `loadgo doctor` shows it.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Ability {
    /// The ability, in a few words.
    pub ability: String,
    /// `exact`, `estimated` or `absent`.
    pub state: String,
    /// The means; empty when absent.
    pub how: String,
    /// The reason why it is no better; empty when exact.
    pub why_not: String,
    /// The remedy; empty if none is known.
    pub remedy: String,
}

/// The answer to a request for meters.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct MeterAnswer {
    /// `done`, or `stopped` before its time.
    pub outcome: String,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// Things that stay behind on the agent's host, each with the reason and the remedy.
    pub left_behind: Vec<String>,
}

/// The reason why there is no answer.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct RefusalAnswer {
    /// The reason, with the remedy.
    pub reason: String,
    /// Things that stay behind on the agent's host, each with the reason and the remedy.
    pub left_behind: Vec<String>,
}
