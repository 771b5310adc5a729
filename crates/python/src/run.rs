//! Runs, for Python: requests from a dict of options, progress to a callback, results as a dict.

use crate::errors;
use crate::progress::ProgressCalls;
use loadgo_core::load::{LoadModel, OfferedLoad, WarmUp};
use loadgo_core::script::{self, Script, TimeLaw};
use loadgo_core::time::Span;
use loadgo_host::limits::Limit;
use loadgo_host::refusal::Refusal;
use loadgo_host::scheduling::{Class, Wanted};
use loadgo_run::{
    Decision, Failure, Finished, GivenUp, GivenUpUsers, OtherHost, Progress, Request, RunRefusal, RunSpec, TierAsked, UsersOfHost,
};
use loadgo_statistics::StopRule;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::Arc;

/// Adds this file's functions to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<UsersToGiveUp>()?;
    module.add_function(wrap_pyfunction!(run_host, module)?)?;
    module.add_function(wrap_pyfunction!(parse_limit, module)?)?;
    module.add_function(wrap_pyfunction!(parse_until, module)?)
}

/// The part of the request that any system understands: keys of `options`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct LoadOptions {
    script: String,
    command: Vec<String>,
    #[pyo3(default)]
    fail_if: Vec<String>,
    users: u32,
    passes: Option<u32>,
    duration_s: Option<f64>,
    warm_up_s: Option<f64>,
    until: Option<String>,
    arrivals_per_second: Option<f64>,
    seed: u64,
    /// The command that logs users in, in place of the script's.
    #[pyo3(default)]
    login: Option<String>,
    #[pyo3(default)]
    think: Option<String>,
    /// Typing speed in characters a second; absent: the script's; 0: every line at once.
    #[pyo3(default)]
    typing: Option<f64>,
    log_ins_at_once: Option<u32>,
}

/// The part of the request for this host: the other keys of `options`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct HostOptions {
    limit: Option<String>,
    homes: String,
    search_path: String,
    fifo: bool,
    processor: Option<usize>,
    usage_every: Option<u32>,
    meters: Option<String>,
    /// The `run.toml` of that host's agent.
    #[pyo3(default)]
    other_host: Option<String>,
    /// The users of each other host: the last user, the log-in command, and a directory or None. In the directory sessions announce
    /// themselves to the agent there.
    #[pyo3(default)]
    other_host_users: Vec<(u32, String, Option<String>)>,
    /// Requests to give users up, whose host is lost.
    #[pyo3(default)]
    given_up: Option<UsersToGiveUp>,
}

/// Users who are given up while a run goes on. The run has it as the option `given_up`.
#[pyclass(module = "loadgo._loadgo", from_py_object)]
#[derive(Clone, Default)]
struct UsersToGiveUp(GivenUpUsers);

#[pymethods]
impl UsersToGiveUp {
    #[new]
    fn new() -> UsersToGiveUp {
        UsersToGiveUp::default()
    }

    /// Ends the sessions of the users `first` to `last`, for a reason in words. Those who are not logged in yet will not be.
    fn add(&self, first: u32, last: u32, reason: String) {
        self.0.add(GivenUp { users: first..=last, reason });
    }
}

/// Runs a script on this host into `folder`.
///
/// Calls `report` about three times a second with the progress; it stops the run by returning False. Keys of the progress:
/// phase, at_s, computed_s or None, users_logged_in, users, interactions, interactions_expected or None.
///
/// Raises `loadgo.errors.Mistake`, `Refused` or `BadRun`; or an exception of `report`, after the run was stopped in order.
#[pyfunction]
fn run_host<'py>(
    py: Python<'py>,
    script_text: &str,
    options: &Bound<'py, PyAny>,
    folder: &str,
    report: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let request = request(load_request(py, script_text, options.extract()?, folder)?, options.extract()?)?;
    drive(py, report.as_ref(), |decide| loadgo_run::run(&request, decide))
}

/// Starts `run`, reports its progress to `callback`, and returns its result as a dict.
pub fn drive<'py>(
    py: Python<'py>,
    callback: Option<&Py<PyAny>>,
    run: impl FnOnce(&mut dyn FnMut(&Progress) -> Decision) -> Result<Finished, Failure> + Send,
) -> PyResult<Bound<'py, PyDict>> {
    let mut calls = ProgressCalls::default();
    let finished = py.detach(|| {
        run(&mut |progress| {
            calls.decide(false, |py| {
                callback.map_or(Ok(true), |callback| callback.bind(py).call1((progress_dict(py, progress)?,))?.is_truthy())
            })
        })
    });
    let left_behind =
        finished.as_ref().map_or_else(|failure| failure.left_behind.clone(), |finished| finished.left_behind.clone());
    calls.result(py, &left_behind, || {
        finished.as_ref().map_err(|failure| refused(py, &failure.refusal)).and_then(|finished| result_dict(py, finished))
    })
}

/// Parses the limits of users: `memory_bytes` and `cpus`, each None without such a limit. Raises `ValueError` with the right form.
#[pyfunction]
fn parse_limit<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyDict>> {
    let limit = Limit::parse(text).map_err(refused_argument)?;
    let values = PyDict::new(py);
    values.set_item("memory_bytes", limit.memory_bytes)?;
    values.set_item("cpus", limit.cpus)?;
    Ok(values)
}

fn refused_argument(refusal: Refusal) -> PyErr {
    errors::bad_argument(refusal.to_string())
}

/// Parses a stop rule and returns it as it is written in full; raises `ValueError` with the right form.
#[pyfunction]
fn parse_until(text: &str) -> PyResult<String> {
    StopRule::parse(text).map(|until| until.to_string()).map_err(errors::bad_argument)
}

fn progress_dict<'py>(py: Python<'py>, progress: &Progress) -> PyResult<Bound<'py, PyDict>> {
    let progress_dict = PyDict::new(py);
    progress_dict.set_item("phase", progress.phase)?;
    progress_dict.set_item("at_s", progress.at.0 as f64 / 1e9)?;
    progress_dict.set_item("computed_s", progress.computed_s)?;
    progress_dict.set_item("users_logged_in", progress.logged_in)?;
    progress_dict.set_item("users", progress.users)?;
    progress_dict.set_item("interactions", progress.interactions)?;
    progress_dict.set_item("interactions_expected", progress.interactions_expected)?;
    Ok(progress_dict)
}

/// Builds the part of the request that any system understands.
pub fn load_request(py: Python<'_>, script_text: &str, options: LoadOptions, folder: &str) -> PyResult<RunSpec> {
    let script = script::parse(script_text).map_err(|mistake| errors::mistake(py, &mistake))?;
    let script = with_options(script, &options)?;
    let folder = PathBuf::from(folder);
    Ok(RunSpec {
        id: folder.file_name().map_or_else(|| "run".into(), |name| name.to_string_lossy().into_owned()),
        folder,
        script_text: script_text.into(),
        script: Arc::new(script),
        load: load(&options),
        until: options.until.as_deref().map(StopRule::parse).transpose().map_err(errors::bad_argument)?,
        command: options.command,
        fail_if: options.fail_if,
        script_name: options.script,
    })
}

fn request(spec: RunSpec, options: HostOptions) -> PyResult<Request> {
    let other_host = options.other_host.as_deref().map(OtherHost::parse).transpose().map_err(refused_argument)?;
    let users_of = |(last_user, login, sessions)| UsersOfHost { last_user, login, sessions };
    let users: Vec<_> = options.other_host_users.into_iter().map(users_of).collect();
    Ok(Request {
        spec,
        limit: options.limit.as_deref().map(Limit::parse).transpose().map_err(refused_argument)?,
        scheduling: Wanted { class: if options.fifo { Class::Fifo } else { Class::Ordinary }, processor: options.processor },
        meters: TierAsked::named(options.meters.as_deref()).map_err(refused_argument)?,
        usage_every: options.usage_every,
        homes: PathBuf::from(options.homes),
        search_path: options.search_path,
        given_up: options.given_up.unwrap_or_default().0,
        other_host: other_host.map(|host| host.with_users(users)).transpose().map_err(refused_argument)?,
    })
}

/// The script with the log-in, the think times and the typing speed of the options, if any.
fn with_options(mut script: Script, options: &LoadOptions) -> PyResult<Script> {
    if let Some(login) = &options.login {
        script::check_login(login).map_err(|mistake| errors::about_argument("login", mistake.message))?;
        script.login.clone_from(login);
    }
    if let Some(think) = &options.think {
        script.set_think(TimeLaw::parse(think).map_err(errors::bad_argument)?);
    }
    if let Some(rate) = options.typing {
        script.typing_chars_per_second = Some(rate).filter(|rate| *rate > 0.0);
    }
    Ok(script)
}

fn load(options: &LoadOptions) -> OfferedLoad {
    let span = |seconds: Option<f64>| seconds.map(Span::from_secs_f64);
    let closed = OfferedLoad::closed(options.users, 1);
    OfferedLoad {
        model: options.arrivals_per_second.map_or(LoadModel::Closed, LoadModel::Open),
        passes: options.passes,
        duration: span(options.duration_s),
        warm_up: span(options.warm_up_s).map_or(WarmUp::FirstLine, WarmUp::For),
        seed: options.seed,
        log_ins_at_once: options.log_ins_at_once.unwrap_or(closed.log_ins_at_once),
        ..closed
    }
}

fn result_dict<'py>(py: Python<'py>, finished: &Finished) -> PyResult<Bound<'py, PyDict>> {
    let run_dict = PyDict::new(py);
    run_dict.set_item("outcome", finished.outcome)?;
    run_dict.set_item("origin_ns", finished.origin_ns)?;
    run_dict.set_item("interactions", finished.interactions)?;
    run_dict.set_item("logged_in", finished.summary.logged_in)?;
    run_dict.set_item("done", finished.summary.done)?;
    run_dict.set_item("died", finished.summary.died)?;
    run_dict.set_item("refused", finished.summary.refused)?;
    run_dict.set_item("notes", &finished.notes)?;
    run_dict.set_item("left_behind", &finished.left_behind)?;
    Ok(run_dict)
}

/// A run's refusal as Python's error, which names the arguments that it concerns.
pub fn refused(py: Python<'_>, refusal: &RunRefusal) -> PyErr {
    let class = match refusal {
        RunRefusal::Folder(_) | RunRefusal::CutOff { .. } => "BadRun",
        RunRefusal::Refused(_) => "Refused",
        RunRefusal::HostTrouble(_) | RunRefusal::Caller(_) | RunRefusal::Panicked { .. } | RunRefusal::NotWhole(_) => {
            "RunTrouble"
        }
    };
    errors::about_arguments(py, errors::raised(py, class, (refusal.to_string(),)), &refusal.arguments())
}
