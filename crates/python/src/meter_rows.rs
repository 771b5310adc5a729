//! The meters' rows of a span as tuples, for Python: those that an exposition adds up.

use loadgo_core::record::Sample;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// By table, for everybody together:
/// time (processor, category, time_ns) · processes (who, cpu_ns, ready_wait_ns) · queue (queue, measure, value) ·
/// faults (kind, device, bucket_ns, count, cpu_ns, wait_ns) · primitives (name, bucket_ns, count, errors, time_ns) ·
/// segments (segment, faults_minor, faults_major, samples) · span_ns.
pub fn rows<'py>(py: Python<'py>, sample: &Sample) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("span_ns", sample.time.first().map_or(0, |row| row.span_ns))?;
    let time = sample.time.iter().map(|row| (row.processor, row.category, row.time_ns));
    told.set_item("time", time.collect::<Vec<_>>())?;
    let processes = sample.processes.iter().map(|row| (&*row.who, row.user, row.cpu_ns, row.ready_wait_ns));
    told.set_item("processes", processes.collect::<Vec<_>>())?;
    let queue = sample.queue.iter().map(|row| (&*row.queue, row.measure, row.value));
    told.set_item("queue", queue.collect::<Vec<_>>())?;
    let faults = sample.faults.iter().filter(|row| row.user.is_none() && row.command.is_none());
    let faults = faults.map(|row| (row.kind, row.device.as_deref(), row.bucket_ns, row.count, row.cpu_ns, row.wait_ns));
    told.set_item("faults", faults.collect::<Vec<_>>())?;
    let primitives = sample.primitives.iter().filter(|row| row.user.is_none() && row.command.is_none());
    let primitives = primitives.map(|row| (&*row.name, row.bucket_ns, row.count, row.errors, row.time_ns));
    told.set_item("primitives", primitives.collect::<Vec<_>>())?;
    let segments = sample
        .segments
        .iter()
        .filter(|row| row.user.is_none())
        .map(|row| (&*row.segment, row.faults_minor, row.faults_major, row.samples));
    told.set_item("segments", segments.collect::<Vec<_>>())?;
    Ok(told)
}
