//! Log-in sessions observed, for Python.

use crate::errors;
use loadgo_meters::MeterRefusal;
use loadgo_observation::{ObservedLine, ObservedPeople, Observer};
use loadgo_sys::clock::monotonic_ns;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::{Mutex, PoisonError};

/// Adds this file's class to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SessionObserver>()
}

/// The observation of this host's log-in sessions under way, until it is closed.
#[pyclass(module = "loadgo._loadgo")]
struct SessionObserver {
    observer: Mutex<Option<Observer>>,
}

impl SessionObserver {
    fn with<T: Send>(&self, py: Python<'_>, act: impl FnOnce(&mut Observer) -> Result<T, MeterRefusal> + Send) -> PyResult<T> {
        let result = py.detach(|| {
            let mut observer = self.observer.lock().unwrap_or_else(PoisonError::into_inner);
            observer.as_mut().ok_or_else(|| MeterRefusal::new("the observation has ended")).and_then(act)
        });
        result.map_err(|refusal| errors::refused(py, refusal))
    }
}

#[pymethods]
impl SessionObserver {
    /// Begins to observe the people with these numbers, or all if there are none, but none of the others. Raises `errors.Refused`.
    #[new]
    fn new(py: Python<'_>, wanted: Vec<u32>, left_out: Vec<u32>) -> PyResult<SessionObserver> {
        let people = ObservedPeople { wanted: wanted.into_iter().collect(), left_out: left_out.into_iter().collect() };
        let observer = py
            .detach(|| Observer::begin(&people))
            .map_err(|refusal| errors::refused(py, refusal.trying("log-in sessions cannot be observed")))?;
        Ok(SessionObserver { observer: Mutex::new(Some(observer)) })
    }

    /// Gathers what happened so far. Returns the number of lines, of sessions, and of sessions that are still open.
    fn gather(&self, py: Python<'_>) -> PyResult<(usize, u32, usize)> {
        self.with(py, |observer| {
            let gathered = observer.gather();
            Ok((gathered.lines().len(), gathered.sessions(), gathered.open_sessions()))
        })
    }

    /// Everything gathered: lines (dicts of `ObservedLine`), unfinished, strays, losses (count, what), and now_ns of the clock of
    /// their times.
    fn gathered<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let gathered_dict = PyDict::new(py);
        let mut observer = self.observer.lock().unwrap_or_else(PoisonError::into_inner);
        let observer = observer.as_mut().ok_or_else(|| errors::refused(py, "the observation has ended"))?;
        let gathered = observer.gather();
        let lines = gathered.lines().iter().map(|line| line_dict(py, line)).collect::<PyResult<Vec<_>>>()?;
        gathered_dict.set_item("lines", lines)?;
        let (unfinished, strays) = (gathered.unfinished, gathered.strays);
        let open_lines = observer.open_lines().map_err(|refusal| errors::refused(py, refusal))?;
        gathered_dict.set_item("unfinished", unfinished + open_lines)?;
        gathered_dict.set_item("strays", strays)?;
        gathered_dict.set_item("losses", observer.losses().map_err(|refusal| errors::refused(py, refusal))?)?;
        gathered_dict.set_item("now_ns", monotonic_ns())?;
        Ok(gathered_dict)
    }

    /// All bytes that the kernel's programs keep of sessions.
    fn kept_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.with(py, |observer| observer.kept_bytes()).map(|bytes| PyBytes::new(py, &bytes))
    }

    /// Ends the observation: the programs leave the kernel.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.observer.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

fn line_dict<'py>(py: Python<'py>, line: &ObservedLine) -> PyResult<Bound<'py, PyDict>> {
    let line_dict = PyDict::new(py);
    let used = &line.used;
    line_dict.set_item("session", line.session)?;
    line_dict.set_item("user", line.user)?;
    line_dict.set_item("name", PyBytes::new(py, &line.name))?;
    line_dict.set_item("has_shell_within", line.has_shell_within)?;
    line_dict.set_item("has_storage_counts", line.has_storage_counts)?;
    let figures = [
        ("prompt_ns", line.prompt_ns),
        ("first_key_ns", line.first_key_ns),
        ("typed_ns", line.typed_ns),
        ("ended_ns", line.ended_ns),
        ("cpu_ns", used.cpu_ns),
        ("user_ticks_ns", used.user_ticks_ns),
        ("system_ticks_ns", used.system_ticks_ns),
        ("queued_ns", used.queued_ns),
        ("faults_minor", used.faults_minor),
        ("faults_major", used.faults_major),
        ("read_bytes", used.read_bytes),
        ("written_bytes", used.written_bytes),
        ("storage_read_bytes", used.storage_read_bytes),
        ("storage_written_bytes", used.storage_written_bytes),
        ("storage_cancelled_bytes", used.storage_cancelled_bytes),
        ("held_pages", used.held_pages),
        ("processes", used.processes),
        ("terminal_waits", used.terminal_waits),
    ];
    for (name, value) in figures {
        line_dict.set_item(name, value)?;
    }
    Ok(line_dict)
}
