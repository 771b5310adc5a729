//! A load as it is asked for, by Python or by a controller on another host: plain values, which become a run's specification.

use crate::run_spec::RunSpec;
use loadgo_core::arrivals::DayOfArrivals;
use loadgo_core::load::{LoadModel, OfferedLoad, WarmUp};
use loadgo_core::script::{self, Script, ScriptMistake, TimeLaw};
use loadgo_core::time::Span;
use loadgo_statistics::StopRule;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// A script, the changes of it, and the load of the users who type it.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct LoadOrder {
    /// The script's text.
    pub script_text: String,
    /// The name by which the caller asked for the script.
    pub script_name: String,
    /// The caller's command line.
    pub command: Vec<String>,
    /// The conditions that fail the run.
    pub fail_if: Vec<String>,
    /// The number of the first user.
    pub first_user: u32,
    /// Number of users, from the first on.
    pub users: u32,
    /// Number of passes of each user; `None`: until the load ends.
    pub passes: Option<u32>,
    /// Length of the steady phase.
    pub duration_s: Option<f64>,
    /// Length of the warm-up; `None`: until every user has typed a line.
    pub warm_up_s: Option<f64>,
    /// The rule that ends the load.
    pub until: Option<String>,
    /// Rate of log-ins of an open load; `None`: the load is closed.
    pub arrivals_per_second: Option<f64>,
    /// The time of the day from which the script's own rates hold in place of that rate, in minutes since midnight.
    #[serde(default)]
    pub arrivals_from: Option<u32>,
    /// The seed of all random streams.
    pub seed: u64,
    /// The command that logs users in, in place of the script's.
    pub login: Option<String>,
    /// The law of think times, in place of the script's.
    pub think: Option<String>,
    /// Typing speed in characters a second, in place of the script's; 0: every line at once.
    pub typing: Option<f64>,
    /// Largest number of log-ins that are under way at once.
    pub log_ins_at_once: Option<u32>,
}

/// A value of an order that is not possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrongOrder {
    /// The script has a mistake.
    Script(ScriptMistake),
    /// The log-in command is none.
    Login(String),
    /// Another value is none of its kind.
    Value(String),
}

impl fmt::Display for WrongOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WrongOrder::Script(mistake) => mistake.fmt(f),
            WrongOrder::Login(message) | WrongOrder::Value(message) => f.write_str(message),
        }
    }
}

impl LoadOrder {
    /// The specification of the run into `folder` whose name is its id.
    ///
    /// # Errors
    /// A mistake in the script, or a value that is not possible.
    pub fn spec(self, folder: PathBuf) -> Result<RunSpec, WrongOrder> {
        let script = script::parse(&self.script_text).map_err(WrongOrder::Script)?;
        let script = self.changed(script)?;
        let day = self.day(&script)?;
        Ok(RunSpec {
            id: folder.file_name().map_or_else(|| "run".into(), |name| name.to_string_lossy().into_owned()),
            folder,
            script: Arc::new(script),
            load: OfferedLoad { day, ..self.load() },
            until: self
                .until
                .as_deref()
                .map(StopRule::parse)
                .transpose()
                .map_err(|mistake| WrongOrder::Value(mistake.to_string()))?,
            script_text: self.script_text,
            command: self.command,
            fail_if: self.fail_if,
            script_name: self.script_name,
        })
    }

    /// The script with the log-in, the think times and the typing speed of the order, if any.
    fn changed(&self, mut script: Script) -> Result<Script, WrongOrder> {
        if let Some(login) = &self.login {
            script::check_login(login).map_err(|mistake| WrongOrder::Login(mistake.message))?;
            script.login.clone_from(login);
        }
        if let Some(think) = &self.think {
            script.set_think(TimeLaw::parse(think).map_err(|mistake| WrongOrder::Value(mistake.to_string()))?);
        }
        if let Some(rate) = self.typing {
            script.typing_chars_per_second = Some(rate).filter(|rate| *rate > 0.0);
        }
        Ok(script)
    }

    /// The rates of the script from the order's time of the day on.
    fn day(&self, script: &Script) -> Result<Option<DayOfArrivals>, WrongOrder> {
        let Some(from_minute) = self.arrivals_from else { return Ok(None) };
        if script.arrivals.is_empty() {
            return Err(WrongOrder::Value("the script has no rates over the day: add [arrivals] \"09:00\" = \"30/h\"".into()));
        }
        Ok(Some(DayOfArrivals { rates: script.arrivals.clone(), from_minute }))
    }

    fn load(&self) -> OfferedLoad {
        let span = |seconds: Option<f64>| seconds.map(Span::from_secs_f64);
        let closed = OfferedLoad::closed(self.users, 1);
        OfferedLoad {
            model: self.arrivals_per_second.map_or(LoadModel::Closed, LoadModel::Open),
            first_user: self.first_user,
            passes: self.passes,
            duration: span(self.duration_s),
            warm_up: span(self.warm_up_s).map_or(WarmUp::FirstLine, WarmUp::For),
            seed: self.seed,
            log_ins_at_once: self.log_ins_at_once.unwrap_or(closed.log_ins_at_once),
            ..closed
        }
    }
}
