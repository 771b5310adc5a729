//! The controller's side of an agent, for Python: frames out of bytes, and the run folder that grows by frames.

use crate::errors;
use loadgo_agent::frame::{Decoder, Frame, Kind};
use loadgo_agent::received::{NotKept, ReceivedRecords};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// Adds this file's classes to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<AgentFrames>()?;
    module.add_class::<AgentRecords>()?;
    module.add_function(wrap_pyfunction!(agent_frame, module)?)
}

/// The frame of a controller, of the kind `request`, `beat`, `clock`, `order` or `stop`, as it is sent.
#[pyfunction]
fn agent_frame<'py>(py: Python<'py>, kind: &str, body: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let kind = match kind {
        "request" => Kind::Request,
        "beat" => Kind::Beat,
        "stop" => Kind::Stop,
        "clock" => Kind::Clock,
        "order" => Kind::Order,
        "next-lines" => Kind::NextLines,
        other => return Err(errors::bad_argument(format!("a controller sends no {other}"))),
    };
    Ok(PyBytes::new(py, &Frame::encoded(kind, body)))
}

/// Takes frames out of an agent's stream.
#[pyclass(module = "loadgo._loadgo")]
struct AgentFrames {
    decoder: Decoder,
}

#[pymethods]
impl AgentFrames {
    #[new]
    fn new() -> AgentFrames {
        AgentFrames { decoder: Decoder::of_agent() }
    }

    /// Takes the next bytes, and returns the frames that they complete: kind and body. Raises `errors.Refused`.
    fn feed<'py>(&mut self, py: Python<'py>, bytes: &[u8]) -> PyResult<Vec<(&'static str, Bound<'py, PyBytes>)>> {
        let frames = self.decoder.feed(bytes).map_err(|wrong| errors::refused(py, wrong))?;
        Ok(frames.iter().map(|frame| (name_of(frame.kind), PyBytes::new(py, &frame.body))).collect())
    }

    /// Whether the stream may end here: after the greeting, and between two frames.
    fn is_between_frames(&self) -> bool {
        self.decoder.is_between_frames()
    }

    /// The text that came in place of the greeting; empty after the greeting.
    fn text_before_greeting(&self) -> String {
        self.decoder.text_before_greeting()
    }
}

fn name_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Hello => "hello",
        Kind::Request => "request",
        Kind::Beat => "beat",
        Kind::Stop => "stop",
        Kind::Clock => "clock",
        Kind::Origin => "origin",
        Kind::Order => "order",
        Kind::NextLines => "next-lines",
        Kind::Progress => "progress",
        Kind::Sessions => "sessions",
        Kind::Printed => "printed",
        Kind::RunToml => "run.toml",
        Kind::Table => "table",
        Kind::Answer => "answer",
        Kind::Refusal => "refusal",
    }
}

/// A run folder here that is written from an agent's frames. Its methods raise `errors.BadRun`.
#[pyclass(module = "loadgo._loadgo")]
struct AgentRecords {
    records: Option<ReceivedRecords>,
}

#[pymethods]
impl AgentRecords {
    /// Makes the folder with the agent's `run.toml`.
    #[new]
    fn new(py: Python<'_>, folder: PathBuf, run_toml: &[u8]) -> PyResult<AgentRecords> {
        let records = ReceivedRecords::begin(&folder, run_toml).map_err(|error| bad_run(py, &error))?;
        Ok(AgentRecords { records: Some(records) })
    }

    /// Appends the body of a frame of the kind `table`.
    fn append(&mut self, py: Python<'_>, body: &[u8]) -> PyResult<()> {
        let records = self.records.as_mut().ok_or_else(|| errors::refused(py, "the records are complete"))?;
        records.append(body).map_err(|error| bad_run(py, &error))
    }

    /// Completes the folder with the agent's last `run.toml`.
    fn finish(&mut self, py: Python<'_>, run_toml: &[u8]) -> PyResult<()> {
        let Some(records) = self.records.take() else { return Ok(()) };
        py.detach(|| records.finish(run_toml)).map_err(|error| bad_run(py, &error))
    }

    /// Completes the folder after the agent was lost, with a note about the loss.
    fn break_off(&mut self, py: Python<'_>, note: String) -> PyResult<()> {
        let Some(records) = self.records.take() else { return Ok(()) };
        py.detach(|| records.break_off(note)).map_err(|error| bad_run(py, &error))
    }
}

fn bad_run(py: Python<'_>, error: &NotKept) -> PyErr {
    let arguments = match error {
        NotKept::Folder(error) => error.arguments(),
        NotKept::Damaged(_) => &[],
    };
    errors::about_arguments(py, errors::raised(py, "BadRun", (error.to_string(),)), arguments)
}
