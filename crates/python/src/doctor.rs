//! Abilities of this host to measure, for Python.

use loadgo_host::doctor::{self, Answer, State};
use loadgo_meters::available::{MeterAvailability, MeterQuality, host_meters};
use loadgo_transfer_meters::sockets;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

/// Adds this file's functions to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(probe, module)?)
}

/// One dict for each ability of this host: ability, state (`exact`, `estimated`, `absent`), how, why_not, remedy.
#[pyfunction]
fn probe(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let (answers, mut meters) = py.detach(|| (doctor::probe(), host_meters()));
    meters.push(sockets::availability());
    let answers = answers.iter().map(|answer| answer_dict(py, answer));
    answers.chain(meters.iter().map(|meter| meter_dict(py, meter))).collect()
}

fn meter_dict<'py>(py: Python<'py>, meter: &MeterAvailability) -> PyResult<Bound<'py, PyDict>> {
    let (state, how, why_not) = match &meter.quality {
        MeterQuality::Exact if meter.meter.is_only_exact() => ("exact", "every event, with the exact meters", ""),
        MeterQuality::Exact => ("exact", "every event", ""),
        MeterQuality::Estimated(how) => ("estimated", how.as_str(), ""),
        MeterQuality::Absent(why) => ("absent", "", why.as_str()),
    };
    let remedy = ""; // it is part of `why_not`
    ability_dict(py, [&format!("meter: {}", meter.meter.name()), state, how, why_not, remedy])
}

fn answer_dict<'py>(py: Python<'py>, answer: &Answer) -> PyResult<Bound<'py, PyDict>> {
    let state = match answer.state {
        State::Exact => "exact",
        State::Estimated => "estimated",
        State::Absent => "absent",
    };
    ability_dict(py, [answer.ability, state, &answer.how, &answer.why_not, &answer.remedy])
}

fn ability_dict<'py>(py: Python<'py>, values: [&str; 5]) -> PyResult<Bound<'py, PyDict>> {
    ["ability", "state", "how", "why_not", "remedy"].into_iter().zip(values).into_py_dict(py)
}
