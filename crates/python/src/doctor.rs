//! Abilities of this host to measure, for Python.

use loadgo_host::doctor::{Answer, State, probe as try_everything};
use loadgo_meters::available::{MeterAvailability, MeterQuality, host_meters};
use loadgo_transfer_meters::sockets;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Adds this file's functions to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(probe, module)?)
}

/// One dict for each ability of this host: ability, state (`exact`, `estimated`, `absent`), how, why_not, remedy.
#[pyfunction]
fn probe(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let (answers, mut meters) = py.detach(|| (try_everything(), host_meters()));
    meters.push(sockets::availability());
    let answers = answers.iter().map(|answer| in_python(py, answer));
    answers.chain(meters.iter().map(|meter| meter_in_python(py, meter))).collect()
}

fn meter_in_python<'py>(py: Python<'py>, meter: &MeterAvailability) -> PyResult<Bound<'py, PyDict>> {
    let (state, how, why_not) = match &meter.quality {
        MeterQuality::Exact if meter.meter.is_only_exact() => ("exact", "every event, with the exact meters", ""),
        MeterQuality::Exact => ("exact", "every event", ""),
        MeterQuality::Estimated(how) => ("estimated", how.as_str(), ""),
        MeterQuality::Absent(why) => ("absent", "", why.as_str()),
    };
    let ability_dict = PyDict::new(py);
    ability_dict.set_item("ability", format!("meter: {}", meter.meter.name()))?;
    ability_dict.set_item("state", state)?;
    ability_dict.set_item("how", how)?;
    ability_dict.set_item("why_not", why_not)?;
    ability_dict.set_item("remedy", "")?; // it stands in `why_not`
    Ok(ability_dict)
}

fn in_python<'py>(py: Python<'py>, answer: &Answer) -> PyResult<Bound<'py, PyDict>> {
    let ability_dict = PyDict::new(py);
    ability_dict.set_item("ability", answer.ability)?;
    ability_dict.set_item("state", state(answer))?;
    ability_dict.set_item("how", &answer.how)?;
    ability_dict.set_item("why_not", &answer.why_not)?;
    ability_dict.set_item("remedy", &answer.remedy)?;
    Ok(ability_dict)
}

fn state(answer: &Answer) -> &'static str {
    match answer.state {
        State::Exact => "exact",
        State::Estimated => "estimated",
        State::Absent => "absent",
    }
}
