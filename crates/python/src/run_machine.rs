//! Runs on simulated machines, for Python: the options of the machine, besides those of any system.

use crate::machine;
use crate::run::{drive, load_request, refused_argument, user_limits};
use loadgo_run::{OnMachine, run_on_machine};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// Adds this file's function to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(run_machine, module)?)
}

/// The request for a simulated machine: keys of `options`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct MachineOptions {
    machine: String,
    machine_text: String,
    set: Vec<String>,
    /// Limits of each user.
    #[pyo3(default)]
    limit_each: Option<String>,
    /// Users with limits of their own.
    #[pyo3(default)]
    limit_single: Vec<(Vec<u32>, String)>,
}

/// Runs a script on a simulated machine into `folder`, as `run_host` does on this host. The progress has `computed_s`, too.
///
/// Raises `loadgo.errors.Mistake`, `Refused` or `BadRun`; or an exception of `report`, after the run was stopped in order.
#[pyfunction]
fn run_machine<'py>(
    py: Python<'py>,
    script_text: &str,
    options: &Bound<'py, PyAny>,
    folder: &str,
    report: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let spec = load_request(py, script_text, options.extract()?, folder)?;
    let MachineOptions { machine: name, machine_text, set, limit_each, limit_single } = options.extract()?;
    let (machine, text) = machine::read(py, &machine_text, &set)?;
    let limit_each = user_limits(limit_each.as_deref(), &limit_single).map_err(refused_argument)?;
    let request = OnMachine { spec, machine: Arc::new(machine), name, text, set, limit_each };
    drive(py, report.as_ref(), |decide| run_on_machine(&request, decide))
}
