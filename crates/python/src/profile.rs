//! The clock profile of this host or of a command, for Python.

use crate::errors;
use loadgo_core::time::Instant;
use loadgo_meters::MeterRefusal;
use loadgo_meters::profile::live::{Live, ProfileScope, ProfileSpan};
use loadgo_sys::clock::monotonic_ns;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Mutex, PoisonError};

/// Adds this file's class to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<LiveProfile>()
}

/// A profile under way, until it is closed.
#[pyclass(module = "loadgo._loadgo")]
struct LiveProfile {
    live: Mutex<Option<Live>>,
}

#[pymethods]
impl LiveProfile {
    /// Begins to sample `hz` times a second: the host, or with `children` the programs that this thread starts.
    ///
    /// Raises `errors.Refused`.
    #[new]
    fn new(py: Python<'_>, hz: u32, children: bool) -> PyResult<LiveProfile> {
        let scope = if children { ProfileScope::Children } else { ProfileScope::Host };
        let live = py.detach(|| Live::begin(scope, hz, Instant(monotonic_ns())));
        let live = live.map_err(|refusal| errors::refused(py, refusal))?;
        Ok(LiveProfile { live: Mutex::new(Some(live)) })
    }

    /// Notes about measurements that are not available, with the reason.
    fn notes(&self) -> Vec<String> {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.as_ref().map(|live| live.notes().to_vec()).unwrap_or_default()
    }

    /// Rows since the last call: stacks (process, stack, samples) · segments (segment, faults_minor, faults_major,
    /// samples) · build_ids (path, id) · lost (count, what). Raises `errors.Refused`.
    fn sample<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let span = py.detach(|| {
            let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
            live.as_mut().ok_or("the profile has ended")?.sample(Instant(monotonic_ns()))
        });
        span_dict(py, &span.map_err(|refusal: MeterRefusal| errors::refused(py, refusal))?)
    }

    /// Ends the profile.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.live.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

fn span_dict<'py>(py: Python<'py>, span: &ProfileSpan) -> PyResult<Bound<'py, PyDict>> {
    let span_dict = PyDict::new(py);
    let stacks = span.stacks.iter().map(|row| (&*row.process, &*row.stack, row.samples));
    span_dict.set_item("stacks", stacks.collect::<Vec<_>>())?;
    let segments = span.segments.iter().filter(|row| row.user.is_none());
    let segments = segments.map(|row| (&*row.segment, row.faults_minor, row.faults_major, row.samples));
    span_dict.set_item("segments", segments.collect::<Vec<_>>())?;
    let build_ids = span.build_ids.iter().map(|(path, id)| (&**path, id.as_str()));
    span_dict.set_item("build_ids", build_ids.collect::<Vec<_>>())?;
    span_dict.set_item("lost", &span.lost)?;
    Ok(span_dict)
}
