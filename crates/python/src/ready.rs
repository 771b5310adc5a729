//! One command's ready message, for Python: the meter as a class, a run of the command as a dict.

use crate::errors;
use loadgo_host::commands::cold::Cold;
use loadgo_host::commands::oneshot::{Oneshot, Run, Streams, Warmth};
use loadgo_host::refusal::Refusal;
use loadgo_sys::child::Exit;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict as _, PyDict};
use std::ffi::OsString;
use std::io;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Adds this file's class to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<CommandMeter>()
}

/// Runs commands one after the other under the best meter of this host.
#[pyclass(module = "loadgo._loadgo")]
struct CommandMeter {
    oneshot: Mutex<Option<Oneshot>>,
    running: Arc<AtomicI32>,
}

#[pymethods]
impl CommandMeter {
    /// Raises `loadgo.errors.Refused` on a host that can measure nothing.
    #[new]
    fn new(py: Python<'_>) -> PyResult<CommandMeter> {
        let oneshot = py.detach(Oneshot::open_on_cleared_host).map_err(|error| not_metered(py, &error))?;
        Ok(CommandMeter { running: oneshot.running(), oneshot: Mutex::new(Some(oneshot)) })
    }

    /// Sources of the figures: cpu, faults, waits, cpu_resolution_ns, split, notes, groups.
    fn sources<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let oneshot = self.oneshot.lock().unwrap_or_else(PoisonError::into_inner);
        sources(py, oneshot.as_ref().ok_or_else(|| closed(py))?)
    }

    /// Runs `command` once. Raises `OSError` when it cannot be run.
    fn run<'py>(
        &self,
        py: Python<'py>,
        command: Vec<OsString>,
        input: bool,
        output: bool,
        cold: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let ran = py.detach(|| {
            let mut oneshot = self.oneshot.lock().unwrap_or_else(PoisonError::into_inner);
            oneshot.as_mut().map(|oneshot| oneshot.run(&command, streams(input, output), warmth(cold)))
        });
        run_dict(py, &ran.ok_or_else(|| closed(py))??)
    }

    /// The id of the running command; 0 if there is none.
    fn running(&self) -> i32 {
        self.running.load(Ordering::Acquire)
    }

    /// Undoes the meter's changes on the host. Returns sentences about things that stay there.
    fn close(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| {
            let oneshot = self.oneshot.lock().unwrap_or_else(PoisonError::into_inner).take();
            sentences(oneshot.map_or_else(Vec::new, Oneshot::close))
        })
    }
}

/// Sentences about things that stay on the host, with the remedies.
pub(crate) fn sentences(left_behind: Vec<Refusal>) -> Vec<String> {
    left_behind.iter().map(ToString::to_string).collect()
}

pub(crate) fn not_metered(py: Python<'_>, error: &io::Error) -> PyErr {
    errors::refused(py, format!("the command cannot be metered: {error}"))
}

pub(crate) fn closed(py: Python<'_>) -> PyErr {
    errors::refused(py, "the meter is closed")
}

pub(crate) fn streams(input: bool, output: bool) -> Streams {
    match (input, output) {
        (true, true) => Streams::Inherited,
        (false, true) => Streams::NoInput,
        (true, false) => Streams::NoOutput,
        (false, false) => Streams::Null,
    }
}

fn warmth(cold: bool) -> Warmth {
    if cold { Warmth::Cold } else { Warmth::AsItIs }
}

pub(crate) fn sources<'py>(py: Python<'py>, oneshot: &Oneshot) -> PyResult<Bound<'py, PyDict>> {
    let sources = oneshot.sources();
    let sources_dict = PyDict::new(py);
    sources_dict.set_item("cpu", sources.cpu)?;
    sources_dict.set_item("faults", sources.faults)?;
    sources_dict.set_item("waits", sources.waits)?;
    sources_dict.set_item("cpu_resolution_ns", sources.cpu_resolution_ns)?;
    sources_dict.set_item("split", sources.split)?;
    sources_dict.set_item("groups", oneshot.no_groups().is_none())?;
    let no_groups = oneshot.no_groups().map(str::to_owned);
    let notes = no_groups.into_iter().chain(sources.notes.iter().chain(oneshot.undone()).cloned());
    sources_dict.set_item("notes", notes.collect::<Vec<_>>())?;
    Ok(sources_dict)
}

/// A run of a command as a dict: real_ns, usage, waited, exit_status or signal, left_running, let_go, lost, cold.
pub(crate) fn run_dict<'py>(py: Python<'py>, run: &Run) -> PyResult<Bound<'py, PyDict>> {
    let run_dict = PyDict::new(py);
    run_dict.set_item("real_ns", run.real_ns)?;
    run_dict.set_item("usage", run.usage.by_column().into_py_dict(py)?)?;
    run_dict.set_item("waited", run.waited.by_name().into_py_dict(py)?)?;
    set_exit(&run_dict, Some(run.exit))?;
    run_dict.set_item("left_running", run.left_running)?;
    run_dict.set_item("let_go", run.let_go)?;
    run_dict.set_item("lost", run.lost)?;
    run_dict.set_item("cold", run.cold.as_ref().map(|cold| cold_dict(py, cold)).transpose()?)?;
    Ok(run_dict)
}

/// Sets exit_status and signal, of which one or both are None.
pub(crate) fn set_exit(dict: &Bound<'_, PyDict>, exit: Option<Exit>) -> PyResult<()> {
    let (status, signal) = match exit {
        Some(Exit::Status(status)) => (Some(status), None),
        Some(Exit::Signal(signal)) => (None, Some(signal)),
        None => (None, None),
    };
    dict.set_item("exit_status", status)?;
    dict.set_item("signal", signal)
}

/// A cold start as a dict: files (path, bytes, stayed_bytes) and names_dropped.
fn cold_dict<'py>(py: Python<'py>, cold: &Cold) -> PyResult<Bound<'py, PyDict>> {
    let cold_dict = PyDict::new(py);
    let files: Vec<_> = cold.files.iter().map(|file| (&file.path, file.bytes, file.stayed_bytes)).collect();
    cold_dict.set_item("files", files)?;
    cold_dict.set_item("names_dropped", cold.names_dropped)?;
    Ok(cold_dict)
}
