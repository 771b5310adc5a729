//! Runs, for Python: requests from a dict of options, progress to a callback, results as a dict.

use crate::errors;
use crate::progress::ProgressCalls;
use loadgo_host::limits::Limit;
use loadgo_host::limits::each::{EachLimit, UserLimits};
use loadgo_host::refusal::Refusal;
use loadgo_host::scheduling::{Class, Wanted};
use loadgo_host::terminals::next_lines::NextLines;
use loadgo_run::{
    Decision, DriverOrder, DriverOrders, Failure, Finished, GivenUp, LoadOrder, OtherHost, Progress, Request, RunRefusal,
    RunSpec, TierAsked, UsersOfHost, WrongOrder,
};
use loadgo_statistics::StopRule;
use loadgo_store::Folder;
use loadgo_sys::clock::monotonic_ns;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::os::fd::RawFd;
use std::path::PathBuf;

/// Adds this file's functions to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<UsersToGiveUp>()?;
    module.add_class::<RunFolder>()?;
    module.add_function(wrap_pyfunction!(run_host, module)?)?;
    module.add_function(wrap_pyfunction!(parse_limit, module)?)?;
    module.add_function(wrap_pyfunction!(parse_limit_each, module)?)?;
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
    /// The time of the day from which the script's own rates hold, in minutes since midnight.
    #[pyo3(default)]
    arrivals_from: Option<u32>,
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
    /// Limits of each user.
    #[pyo3(default)]
    limit_each: Option<String>,
    /// Users with limits of their own.
    #[pyo3(default)]
    limit_single: Vec<(Vec<u32>, String)>,
    homes: String,
    search_path: String,
    fifo: bool,
    processor: Option<usize>,
    usage_every: Option<u32>,
    /// Whether the working sets of the users' processes are measured.
    #[pyo3(default)]
    working_sets: bool,
    meters: Option<String>,
    /// The `run.toml` of that host's agent.
    #[pyo3(default)]
    other_host: Option<String>,
    /// The users of each other host: the last user, the log-in command, a directory or None, and a pipe's descriptor or None. In the
    /// directory sessions announce themselves to the agent there. The run writes into the pipe what each user types next.
    #[pyo3(default)]
    other_host_users: Vec<(u32, String, Option<String>, Option<RawFd>)>,
    /// Requests to give users up, whose host is lost.
    #[pyo3(default)]
    given_up: Option<UsersToGiveUp>,
}

/// Users who are given up while a run goes on. The run has it as the option `given_up`.
#[pyclass(module = "loadgo._loadgo", from_py_object)]
#[derive(Clone, Default)]
struct UsersToGiveUp(DriverOrders);

#[pymethods]
impl UsersToGiveUp {
    #[new]
    fn new() -> UsersToGiveUp {
        UsersToGiveUp::default()
    }

    /// Ends the sessions of the users `first` to `last`, for a reason in words. Those who are not logged in yet will not be.
    fn add(&self, first: u32, last: u32, reason: String) {
        self.0.give(DriverOrder::GiveUp(GivenUp { users: first..=last, reason }));
    }

    /// The ranges of users who were given up since the last call, each with the reason, for drivers on other hosts.
    fn taken(&self) -> Vec<(u32, u32, String)> {
        let of = |order| match order {
            DriverOrder::GiveUp(GivenUp { users, reason }) => Some((*users.start(), *users.end(), reason)),
            DriverOrder::Open { .. } | DriverOrder::Stop => None,
        };
        self.0.take().into_iter().filter_map(of).collect()
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

/// Parses the limits of each user; each value is None without such a limit. Raises `ValueError` with the right form.
#[pyfunction]
fn parse_limit_each<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyDict>> {
    let limit = EachLimit::parse(text).map_err(refused_argument)?;
    let values = PyDict::new(py);
    values.set_item("cpus", limit.cpus)?;
    values.set_item("memory_bytes", limit.memory_bytes)?;
    values.set_item("swap_bytes", limit.swap_bytes)?;
    values.set_item("pids", limit.pids)?;
    values.set_item("nice", limit.nice)?;
    values.set_item("io_bytes_per_s", limit.io_bytes_per_s)?;
    Ok(values)
}

/// The limits of each user, and of those who have their own; `None` without any.
pub fn user_limits(everybody: Option<&str>, single: &[(Vec<u32>, String)]) -> Result<Option<UserLimits>, Refusal> {
    if everybody.is_none() && single.is_empty() {
        return Ok(None);
    }
    let mut limits = UserLimits::of_everybody(everybody.map(EachLimit::parse).transpose()?.unwrap_or_default());
    for (users, text) in single {
        let limit = EachLimit::parse(text)?;
        limits.single.extend(users.iter().map(|user| (*user, limit.clone())));
    }
    Ok(Some(limits))
}

/// The error of a wrong argument.
pub fn refused_argument(refusal: Refusal) -> PyErr {
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
    let order = LoadOrder {
        script_text: script_text.into(),
        script_name: options.script,
        command: options.command,
        fail_if: options.fail_if,
        first_user: 1,
        users: options.users,
        passes: options.passes,
        duration_s: options.duration_s,
        warm_up_s: options.warm_up_s,
        until: options.until,
        arrivals_per_second: options.arrivals_per_second,
        arrivals_from: options.arrivals_from,
        seed: options.seed,
        login: options.login,
        think: options.think,
        typing: options.typing,
        log_ins_at_once: options.log_ins_at_once,
    };
    order.spec(PathBuf::from(folder)).map_err(|wrong| match wrong {
        WrongOrder::Script(mistake) => errors::mistake(py, &mistake),
        WrongOrder::Login(message) => errors::about_argument("login", message),
        WrongOrder::Value(message) => errors::bad_argument(message),
    })
}

/// The folder of a run whose users are driven on other hosts. It is locked until it is closed.
#[pyclass(module = "loadgo._loadgo")]
struct RunFolder {
    folder: Option<Folder>,
    origin_ns: u64,
    interactions_expected: Option<u64>,
}

#[pymethods]
impl RunFolder {
    /// Makes the folder with `run.toml` and the script. Takes what `run_host` takes, and raises `BadRun` and `Mistake`.
    #[new]
    fn new(py: Python<'_>, script_text: &str, options: &Bound<'_, PyAny>, folder: &str) -> PyResult<RunFolder> {
        let request = request(load_request(py, script_text, options.extract()?, folder)?, options.extract()?)?;
        let folder = loadgo_run::begin_folder(&request).map_err(|refusal| refused(py, &refusal))?;
        let interactions_expected = request.spec.interactions_expected();
        Ok(RunFolder { folder: Some(folder), origin_ns: monotonic_ns(), interactions_expected })
    }

    /// The beginning of the run on the monotonic clock, in nanoseconds.
    fn origin_ns(&self) -> u64 {
        self.origin_ns
    }

    /// Number of interactions of the whole run, if it is known beforehand.
    fn interactions_expected(&self) -> Option<u64> {
        self.interactions_expected
    }

    /// Says that the folder is complete.
    fn close(&mut self) {
        self.folder = None;
    }
}

fn request(spec: RunSpec, options: HostOptions) -> PyResult<Request> {
    let other_host = options.other_host.as_deref().map(OtherHost::parse).transpose().map_err(refused_argument)?;
    let users_of = |(last_user, login, sessions, pipe): (u32, String, Option<String>, Option<RawFd>)| {
        let next_lines = pipe.map(NextLines::into_pipe).transpose()?;
        Ok(UsersOfHost { last_user, login, sessions, next_lines })
    };
    let users: Vec<_> = options.other_host_users.into_iter().map(users_of).collect::<std::io::Result<_>>()?;
    Ok(Request {
        spec,
        limit_each: user_limits(options.limit_each.as_deref(), &options.limit_single).map_err(refused_argument)?,
        limit: options.limit.as_deref().map(Limit::parse).transpose().map_err(refused_argument)?,
        scheduling: Wanted { class: if options.fifo { Class::Fifo } else { Class::Ordinary }, processor: options.processor },
        meters: TierAsked::named(options.meters.as_deref()).map_err(refused_argument)?,
        usage_every: options.usage_every,
        working_sets: options.working_sets,
        homes: PathBuf::from(options.homes),
        search_path: options.search_path,
        orders: options.given_up.unwrap_or_default().0,
        controller: None,
        other_host: other_host.map(|host| host.with_users(users)).transpose().map_err(refused_argument)?,
    })
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
