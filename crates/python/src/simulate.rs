//! Simulations of machines under their own load, for Python: one machine until the figures are precise, or many at once.

use crate::errors;
use crate::machine::read;
use loadgo_core::stop::StopRequest;
use loadgo_machine::spec::{Machine, Population};
use loadgo_machine::study::{ClassReport, FigureResult, Report, StationReport, StudySubject, study, sweep as studies};
use loadgo_statistics::{StopReason, StopRule};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Interval between two checks for a signal to Python.
const SIGNAL_CHECK_PERIOD: Duration = Duration::from_millis(50);
const NS_PER_S: f64 = 1e9;

/// Adds this file's functions to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(simulate, module)?)?;
    module.add_function(wrap_pyfunction!(sweep, module)?)
}

/// The request, from the keys of `options`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Options {
    users: Option<u32>,
    until: String,
    seed: u64,
    streams: usize,
}

/// Simulates the machine of a file's `text`, with `sets` changed in it.
///
/// Raises `loadgo.errors.Mistake`, `Refused`, `ValueError`; an interrupt ends it.
#[pyfunction]
fn simulate<'py>(py: Python<'py>, text: &str, sets: Vec<String>, options: Options) -> PyResult<Bound<'py, PyDict>> {
    let (mut machine, _) = read(py, text, &sets)?;
    let until = StopRule::parse(&options.until).map_err(errors::bad_argument)?;
    if let Some(users) = options.users {
        set_users(&mut machine, users)?;
    }
    let subject = StudySubject { machine: Arc::new(machine), seed: options.seed };
    let report = interruptible(py, |stop| study(&subject, options.streams, &until, stop))?;
    let report = report.map_err(|reason| errors::refused(py, reason))?;
    report_dict(py, &subject.machine.title, &report)
}

/// Simulates each of (file's text, seed) over one stream, on `threads` threads.
///
/// Raises what `simulate` raises.
#[pyfunction]
fn sweep<'py>(py: Python<'py>, machines: Vec<(String, u64)>, until: &str, threads: usize) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let until = StopRule::parse(until).map_err(errors::bad_argument)?;
    let subjects = subjects(py, &machines)?;
    let reports = interruptible(py, |stop| studies(&subjects, threads, &until, stop))?;
    let report_dicts = subjects.iter().zip(reports).map(|(subject, report)| {
        let report = report.map_err(|reason| errors::refused(py, reason))?;
        report_dict(py, &subject.machine.title, &report)
    });
    report_dicts.collect()
}

/// Parses the machines; equal texts that follow each other are parsed once.
fn subjects(py: Python<'_>, machines: &[(String, u64)]) -> PyResult<Vec<StudySubject>> {
    let mut subjects: Vec<StudySubject> = Vec::with_capacity(machines.len());
    for (index, (text, seed)) in machines.iter().enumerate() {
        let machine = match index.checked_sub(1) {
            Some(before) if machines[before].0 == *text => Arc::clone(&subjects[before].machine),
            _ => Arc::new(read(py, text, &[])?.0),
        };
        subjects.push(StudySubject { machine, seed: *seed });
    }
    Ok(subjects)
}

/// Sets the number of users of a machine that has one class of them.
fn set_users(machine: &mut Machine, users: u32) -> PyResult<()> {
    let mistake = match machine.load.as_mut_slice() {
        [class] if users > 0 && matches!(class.population, Population::Closed(_)) => {
            class.population = Population::Closed(users);
            return Ok(());
        }
        [class] if users > 0 => format!("the users of {:?} come and go: their number cannot be set", class.name),
        [_] => "0 users cannot be simulated: at least 1".into(),
        [] => "the machine's file has no load of its own: add a [[load]], or give it a script with loadgo run".into(),
        several => format!("the machine's load has {} classes: set each one's users in the file", several.len()),
    };
    Err(errors::bad_argument(mistake))
}

/// Runs `work` on a thread of its own, and requests its stop when Python has a signal.
fn interruptible<T: Send>(py: Python<'_>, work: impl FnOnce(&StopRequest) -> T + Send) -> PyResult<T> {
    let stop = StopRequest::default();
    py.detach(|| {
        thread::scope(|scope| {
            let (outcome_sender, outcome_receiver) = channel();
            let stop = &stop;
            thread::Builder::new().spawn_scoped(scope, move || outcome_sender.send(work(stop)))?;
            let mut interrupted = None;
            loop {
                match outcome_receiver.recv_timeout(SIGNAL_CHECK_PERIOD) {
                    Ok(outcome) => return interrupted.map_or(Ok(outcome), Err),
                    Err(RecvTimeoutError::Disconnected) => panic!("a simulation ended without an outcome"),
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(signal) = Python::attach(|py| py.check_signals()) {
                            stop.set();
                            interrupted = Some(signal);
                        }
                    }
                }
            }
        })
    })
}

fn report_dict<'py>(py: Python<'py>, title: &str, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let report_dict = PyDict::new(py);
    report_dict.set_item("title", title)?;
    report_dict.set_item("end", end(report.end))?;
    report_dict.set_item("interactions", report.interactions)?;
    report_dict.set_item("simulated_s", report.simulated_ns as f64 / NS_PER_S)?;
    report_dict.set_item("events", report.events)?;
    report_dict.set_item("all", class(py, &report.all)?)?;
    report_dict.set_item("little", estimate(py, &report.little, 1.0 / NS_PER_S)?)?;
    report_dict.set_item("active", estimate(py, &report.active, 1.0)?)?;
    report_dict.set_item("asking", estimate(py, &report.asking, 1.0)?)?;
    report_dict
        .set_item("classes", report.classes.iter().map(|user_class| class(py, user_class)).collect::<PyResult<Vec<_>>>()?)?;
    report_dict.set_item(
        "stations",
        report.stations.iter().map(|machine_station| station(py, machine_station)).collect::<PyResult<Vec<_>>>()?,
    )?;
    let time = PyDict::new(py);
    for (category, share) in &report.time {
        time.set_item(category.name(), estimate(py, share, 1.0)?)?;
    }
    report_dict.set_item("time", time)?;
    Ok(report_dict)
}

fn end(end: StopReason) -> &'static str {
    match end {
        StopReason::Length => "length",
        StopReason::Precision => "precision",
        StopReason::LimitReached => "most",
        StopReason::Stopped => "stopped",
    }
}

fn class<'py>(py: Python<'py>, class: &ClassReport) -> PyResult<Bound<'py, PyDict>> {
    let class_dict = PyDict::new(py);
    class_dict.set_item("name", &class.name)?;
    class_dict.set_item("users", class.users)?;
    class_dict.set_item("throughput", estimate(py, &class.throughput, NS_PER_S)?)?;
    class_dict.set_item("mean", estimate(py, &class.mean, 1.0 / NS_PER_S)?)?;
    let quantiles = class.quantiles.iter().map(|quantile| estimate(py, quantile, 1.0 / NS_PER_S));
    class_dict.set_item("quantiles", quantiles.collect::<PyResult<Vec<_>>>()?)?;
    Ok(class_dict)
}

fn station<'py>(py: Python<'py>, station: &StationReport) -> PyResult<Bound<'py, PyDict>> {
    let station_dict = PyDict::new(py);
    let (requests, response) = station.requests.as_ref().map(|(requests, response)| (requests, response)).unzip();
    let optional = |figure: Option<&FigureResult>, scale: f64| figure.map(|figure| estimate(py, figure, scale)).transpose();
    station_dict.set_item("name", &station.name)?;
    station_dict.set_item("servers", station.servers)?;
    station_dict.set_item("utilisation", optional(station.utilisation.as_ref(), 1.0)?)?;
    station_dict.set_item("queue", estimate(py, &station.queue, 1.0)?)?;
    station_dict.set_item("requests", optional(requests, NS_PER_S)?)?;
    station_dict.set_item("response", optional(response, 1.0 / NS_PER_S)?)?;
    Ok(station_dict)
}

/// A figure as (value, half of the interval's width), or the reason why it is missing.
fn estimate<'py>(py: Python<'py>, figure: &FigureResult, scale: f64) -> PyResult<Bound<'py, PyAny>> {
    match figure {
        Ok(interval) => Ok((interval.value * scale, interval.half_width * scale).into_pyobject(py)?.into_any()),
        Err(missing) => Ok(missing.to_string().into_pyobject(py)?.into_any()),
    }
}
