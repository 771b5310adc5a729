//! Records a person's session, and imports recorded sessions, for Python.

use crate::errors;
use loadgo_host::leftovers::{Leftovers, Thing, clear_stale};
use loadgo_recorder::asciicast::{self, dialogue_of};
use loadgo_recorder::recording::{RecordedScript, SessionEnding, SessionFacts, script_of, text_of};
use loadgo_recorder::teletype::shell::{ShellKind, random_id, shell_of};
use loadgo_recorder::teletype::{self, RecordingRequest};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::io::{stdin, stdout};
use std::os::fd::AsFd;
use std::path::PathBuf;

/// Adds this file's functions to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(record_session, module)?)?;
    module.add_function(wrap_pyfunction!(script_of_cast, module)?)?;
    module.add_function(wrap_pyfunction!(marks_prompts, module)?)
}

/// Whether the prompts of this shell can be marked, so that loadgo recognises them with certainty.
#[pyfunction]
fn marks_prompts(shell: Vec<String>) -> bool {
    shell_of(&shell) != ShellKind::Unmarked
}

/// Records a session of `shell` on this process's terminal, until it ends.
///
/// Returns the script with its facts: see `script_dict`. Raises `loadgo.errors.Refused` when there is nothing to record.
#[pyfunction]
fn record_session<'py>(
    py: Python<'py>,
    shell: Vec<String>,
    variables: BTreeMap<String, String>,
    cast_path: Option<PathBuf>,
    login: &str,
    name: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let variables: Vec<(String, String)> = variables.into_iter().collect();
    let recorded = py.detach(|| {
        clear_stale();
        let start_up_folder = env::temp_dir().join(format!("loadgo-record-{}", random_id()));
        // Without the list, a recording that is killed leaves the folder: no reason not to record.
        let _undone_at_the_end = Leftovers::begin("record").and_then(|mut leftovers| {
            leftovers.note(Thing::Home(start_up_folder.clone()))?;
            Ok(leftovers)
        });
        let (input, output) = (stdin(), stdout());
        let order = RecordingRequest {
            shell: &shell,
            env: &variables,
            input: input.as_fd(),
            output: output.as_fd(),
            cast: cast_path.as_deref(),
            start_up_folder: &start_up_folder,
        };
        let session = teletype::record(&order).map_err(|error| format!("the session cannot be recorded: {error}"))?;
        let about = SessionFacts { name: name.into(), login: login.into(), marks: session.shell != ShellKind::Unmarked };
        let mut recorded = script_of(&session.dialogue, &about)?;
        let ends_early = |why| format!("the cast ends early, it could not be written: {why}");
        recorded.notes.extend(session.cast_failure.map(ends_early));
        Ok(recorded)
    });
    script_dict(py, &recorded.map_err(|refusal: Box<dyn Error + Send + Sync>| errors::refused(py, refusal))?)
}

/// Makes a script of an asciicast file's text.
///
/// `login` is the command that logs in. Default: the recorded command, which the file names.
///
/// Raises `loadgo.errors.Mistake` with the malformed line's number, `loadgo.errors.Refused` if no line was typed.
#[pyfunction]
fn script_of_cast<'py>(py: Python<'py>, text: &str, name: Option<&str>, login: Option<&str>) -> PyResult<Bound<'py, PyDict>> {
    let cast = asciicast::read(text).map_err(|mistake| errors::raised(py, "Mistake", (mistake.line, 1, mistake.message)))?;
    let login = login.or(cast.command.as_deref()).unwrap_or("sh").to_owned();
    let words: Vec<String> = login.split_whitespace().map(String::from).collect();
    let name = name.or(cast.title.as_deref()).unwrap_or("recorded session").to_owned();
    let about = SessionFacts { name, login, marks: shell_of(&words) != ShellKind::Unmarked };
    let recorded = py.detach(|| script_of(&dialogue_of(&cast), &about));
    script_dict(py, &recorded.map_err(|refusal| errors::refused(py, refusal))?)
}

/// A recorded script as a dict: script (TOML), login, lines, think_ns, typing (chars/s or None), secrets (line numbers), statuses,
/// notes, ending.
fn script_dict<'py>(py: Python<'py>, recorded: &RecordedScript) -> PyResult<Bound<'py, PyDict>> {
    let script_dict = PyDict::new(py);
    script_dict.set_item("script", text_of(recorded))?;
    script_dict.set_item("login", &recorded.script.login)?;
    script_dict.set_item("lines", recorded.script.steps.len())?;
    script_dict.set_item("think_ns", recorded.think_times.iter().map(|span| span.0).collect::<Vec<_>>())?;
    script_dict.set_item("typing", recorded.typing_chars_per_second)?;
    script_dict.set_item("secrets", &recorded.secrets)?;
    script_dict.set_item("statuses", recorded.statuses)?;
    script_dict.set_item("notes", &recorded.notes)?;
    script_dict.set_item("ending", ending(recorded.ending))?;
    Ok(script_dict)
}

fn ending(ending: SessionEnding) -> String {
    match ending {
        SessionEnding::Exited(status) => format!("exited {status}"),
        SessionEnding::Killed(signal) => format!("killed by signal {signal}"),
        SessionEnding::Stopped(signal) => format!("stopped by signal {signal}"),
        SessionEnding::HungUp => "hung up".into(),
        SessionEnding::Unknown => "unknown".into(),
    }
}
