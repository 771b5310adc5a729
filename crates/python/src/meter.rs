//! Metering without a load, for Python: the meters of this host as a class, which reports each span's rows to a callback.

use crate::errors;
use crate::progress::ProgressCalls;
use crate::ready::set_exit;
use crate::run::refused;
use loadgo_core::record::MeterRows;
use loadgo_run::{HostMeter, MeterOrder, MeteringProgress, MeteringResult, TierAsked, ToldLines};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Adds this file's class to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<MeteredHost>()
}

/// The request, from the keys of `options`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct MeterOptions {
    folder: Option<PathBuf>,
    meters: String,
    every_s: f64,
    duration_s: Option<f64>,
    command: Vec<OsString>,
    command_line: Vec<String>,
}

/// The meters of this host at work, until `watch` ends.
#[pyclass(module = "loadgo._loadgo")]
struct MeteredHost {
    meter: Mutex<Option<HostMeter>>,
    running: Option<Arc<AtomicI32>>,
}

#[pymethods]
impl MeteredHost {
    /// Loads the meters and makes the folder. Raises `loadgo.errors.Refused`, `BadRun`, `ValueError`.
    #[new]
    fn new(py: Python<'_>, options: MeterOptions) -> PyResult<MeteredHost> {
        let order = order(options)?;
        let meter = py.detach(|| HostMeter::begin(order)).map_err(|failure| refused(py, &failure.refusal))?;
        Ok(MeteredHost { running: meter.running(), meter: Mutex::new(Some(meter)) })
    }

    /// The process id of the command; 0 while none runs.
    fn running(&self) -> i32 {
        self.running.as_ref().map_or(0, |running| running.load(Ordering::Acquire))
    }

    /// Meters until the time is up, the command has ended, or `report` returns False.
    ///
    /// Calls `report` with a dict about three times a second and at the end of each span. The dict has at_s; at the end of a span it
    /// also has the rows by table (see `rows`) and the losses.
    ///
    /// Returns outcome, exit_status or signal, notes. Raises `loadgo.errors.Refused`, `BadRun`; and at the end an exception of `report`.
    fn watch<'py>(&self, py: Python<'py>, report: Py<PyAny>, with_rows: bool) -> PyResult<Bound<'py, PyDict>> {
        let meter = self.meter.lock().unwrap_or_else(PoisonError::into_inner).take();
        let meter = meter.ok_or_else(|| errors::refused(py, "the meters have been read already"))?;
        let mut calls = ProgressCalls::default();
        let metered = py.detach(|| {
            meter.watch(|progress| {
                let is_news = progress.rows.is_some();
                calls.decide(is_news, |py| report.bind(py).call1((progress_dict(py, progress, with_rows)?,))?.is_truthy())
            })
        });
        let left_behind =
            metered.as_ref().map_or_else(|failure| failure.left_behind.clone(), |metered| metered.left_behind.clone());
        calls.result(py, &left_behind, || {
            metered.as_ref().map_err(|failure| refused(py, &failure.refusal)).and_then(|metered| result_dict(py, metered))
        })
    }
}

fn order(options: MeterOptions) -> PyResult<MeterOrder> {
    let tier = TierAsked::named(Some(&options.meters)).map_err(|refusal| errors::bad_argument(refusal.to_string()))?;
    let name = options.folder.as_ref().and_then(|folder| folder.file_name());
    Ok(MeterOrder {
        id: name.map_or_else(|| "meter".into(), |name| name.to_string_lossy().into_owned()),
        address: None,
        folder: options.folder,
        tier,
        every: Duration::from_secs_f64(options.every_s),
        length: options.duration_s.map(Duration::from_secs_f64),
        command: options.command,
        command_line: options.command_line,
        sessions: None,
        told_lines: ToldLines::default(),
    })
}

fn progress_dict<'py>(py: Python<'py>, progress: &MeteringProgress<'_>, with_rows: bool) -> PyResult<Bound<'py, PyDict>> {
    let progress_dict = PyDict::new(py);
    progress_dict.set_item("at_s", progress.at.0 as f64 / 1e9)?;
    if let Some(sample) = progress.rows.filter(|_| with_rows) {
        progress_dict.set_item("rows", rows(py, sample)?)?;
        progress_dict.set_item("lost", progress.lost.iter().map(|lost| (lost.what, lost.count)).collect::<Vec<_>>())?;
    }
    Ok(progress_dict)
}

fn result_dict<'py>(py: Python<'py>, metered: &MeteringResult) -> PyResult<Bound<'py, PyDict>> {
    let result_dict = PyDict::new(py);
    result_dict.set_item("outcome", metered.outcome)?;
    set_exit(&result_dict, metered.exit)?;
    result_dict.set_item("notes", &metered.notes)?;
    result_dict.set_item("left_behind", &metered.left_behind)?;
    Ok(result_dict)
}

/// Rows of a span by table, for all users together, and span_ns.
///
/// - time (processor, category, time_ns)
/// - processes (who, user, cpu_ns, ready_wait_ns)
/// - queue (queue, measure, value)
/// - faults (kind, device, bucket_ns, count, cpu_ns, wait_ns)
/// - primitives (name, bucket_ns, count, errors, time_ns)
/// - segments (segment, faults_minor, faults_major, samples)
fn rows<'py>(py: Python<'py>, sample: &MeterRows) -> PyResult<Bound<'py, PyDict>> {
    let rows_by_table = PyDict::new(py);
    rows_by_table.set_item("span_ns", sample.time.first().map_or(0, |row| row.span_ns))?;
    let time = sample.time.iter().map(|row| (row.processor, row.category, row.time_ns));
    rows_by_table.set_item("time", time.collect::<Vec<_>>())?;
    let processes = sample.processes.iter().map(|row| (&*row.who, row.user, row.cpu_ns, row.ready_wait_ns));
    rows_by_table.set_item("processes", processes.collect::<Vec<_>>())?;
    let queue = sample.queue.iter().map(|row| (&*row.queue, row.measure, row.value));
    rows_by_table.set_item("queue", queue.collect::<Vec<_>>())?;
    let faults = sample.faults.iter().filter(|row| row.user.is_none() && row.command.is_none());
    let faults = faults.map(|row| (row.kind, row.device.as_deref(), row.bucket_ns, row.count, row.cpu_ns, row.wait_ns));
    rows_by_table.set_item("faults", faults.collect::<Vec<_>>())?;
    let primitives = sample.primitives.iter().filter(|row| row.user.is_none() && row.command.is_none());
    let primitives = primitives.map(|row| (&*row.name, row.bucket_ns, row.count, row.errors, row.time_ns));
    rows_by_table.set_item("primitives", primitives.collect::<Vec<_>>())?;
    let segments = sample.segments.iter().filter(|row| row.user.is_none());
    let segments = segments.map(|row| (&*row.segment, row.faults_minor, row.faults_major, row.samples));
    rows_by_table.set_item("segments", segments.collect::<Vec<_>>())?;
    Ok(rows_by_table)
}
