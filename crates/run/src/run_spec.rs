//! The specification of a run on any system: script, load, stop rule, and folder of the records.

use loadgo_core::load::OfferedLoad;
use loadgo_core::script::{Script, ScriptLine, ScriptStep, TimeLaw};
use loadgo_core::time::Span;
use loadgo_statistics::StopRule;
use std::path::PathBuf;
use std::sync::Arc;

/// The specification of a run, which is the same for a host and for a simulated machine.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// The run's id: the name of its folder.
    pub id: String,
    /// The run's folder, which must not hold a run yet.
    pub folder: PathBuf,
    /// The name by which the caller asked for the script: a bundled name or a path.
    pub script_name: String,
    /// The script's text.
    pub script_text: String,
    /// The script, with the caller's changes.
    pub script: Arc<Script>,
    /// The load.
    pub load: OfferedLoad,
    /// The rule that ends the run; `None`: the run ends with its load.
    pub until: Option<StopRule>,
    /// The command line, for `run.toml`.
    pub command: Vec<String>,
    /// The conditions that fail the run, for `run.toml`, so that a killed run has them too.
    pub fail_if: Vec<String>,
}

impl RunSpec {
    /// Number of interactions of the whole run; `None` if the script has choices, or if a time ends the load.
    pub fn interactions_expected(&self) -> Option<u64> {
        if let Some(until) = &self.until {
            return until.interactions.filter(|_| until.precisions.is_empty());
        }
        let passes = u64::from(self.load.passes.filter(|_| self.load.duration.is_none())?);
        let a_pass = lines_of(&self.script.steps)?;
        Some(u64::from(self.load.users) * passes * a_pass)
    }

    /// The load, which ends at the time limit of the stop rule too. The stop rule itself is asked only when a line is answered.
    pub(crate) fn load_with_time_limit(&self) -> OfferedLoad {
        let most = self.until.as_ref().and_then(|until| until.time_ns).map(Span);
        OfferedLoad { duration: self.load.duration.into_iter().chain(most).min(), ..self.load.clone() }
    }

    pub(crate) fn nobody_thinks(&self) -> bool {
        let laws = |line: &ScriptLine| [line.think.clone(), line.think_after.clone()];
        let line_thinks = |line: &ScriptLine| laws(line).into_iter().flatten().any(|law| law != TimeLaw::None);
        self.script.think == TimeLaw::None
            && self.script.typing_chars_per_second.is_none()
            && !self.script.lines().any(line_thinks)
    }
}

/// Number of lines of the steps; `None` where the steps have a choice.
fn lines_of(steps: &[ScriptStep]) -> Option<u64> {
    steps.iter().try_fold(0, |sum, step| match step {
        ScriptStep::Line(_) => Some(sum + 1),
        ScriptStep::Repeat(times, steps) => Some(sum + u64::from(*times) * lines_of(steps)?),
        ScriptStep::Choose(_) => None,
    })
}
