//! The contents of frames that are JSON: who the agent is, what it is asked, and what it answers.

use serde::{Deserialize, Serialize};

/// Interval between two beats of either side.
pub const BEAT_EVERY_S: u64 = 1;
/// Time without a frame after which an agent takes its controller for lost, and ends.
pub const CONTROLLER_SILENCE_S: u64 = 30;
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
}

/// A request for the meters of the host.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct MeterRequest {
    /// Id of the metering: the name of the controller's folder.
    pub id: String,
    /// The address by which the controller reaches this host: `ssh://HOST`.
    pub address: String,
    /// `none`, `cheap` or `exact`; `allowed` for the cheap ones where the host allows them, else none.
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
