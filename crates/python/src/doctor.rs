//! Abilities of this host to measure, for Python.

use loadgo_agent::abilities::host_abilities;
use loadgo_agent::message::Ability;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

/// Adds this file's functions to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(probe, module)?)
}

/// One dict for each ability of this host: ability, state (`exact`, `estimated`, `absent`), how, why_not, remedy.
#[pyfunction]
fn probe(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    py.detach(host_abilities).iter().map(|ability| ability_dict(py, ability)).collect()
}

fn ability_dict<'py>(py: Python<'py>, found: &Ability) -> PyResult<Bound<'py, PyDict>> {
    let Ability { ability, state, how, why_not, remedy } = found;
    ["ability", "state", "how", "why_not", "remedy"].into_iter().zip([ability, state, how, why_not, remedy]).into_py_dict(py)
}
