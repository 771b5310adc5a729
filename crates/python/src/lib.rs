//! Python bindings: signatures, conversion, errors; no logic.
//!
//! Each file is a part, and adds its functions with `register`.

mod agent;
mod doctor;
mod ending;
mod errors;
mod machine;
mod meter;
mod observe;
mod profile;
mod progress;
mod ready;
mod record;
mod run;
mod run_machine;
mod script;
mod simulate;
mod store;
mod transfer;
mod transfer_command;

use loadgo_core::system::Usage;
use loadgo_host::terminals::host::LOG_OUT_PAUSE;
use loadgo_sys::child::Wait4Usage;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The extension module `loadgo._loadgo`.
#[pymodule]
fn _loadgo(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("LOG_OUT_PAUSE_NS", LOG_OUT_PAUSE.0)?;
    module.add("USAGE_COLUMNS", names(module, Usage::default().by_column())?)?;
    module.add("WAIT4_FIGURES", names(module, Wait4Usage::default().by_name())?)?;
    ending::register(module)?;
    script::register(module)?;
    machine::register(module)?;
    run::register(module)?;
    run_machine::register(module)?;
    simulate::register(module)?;
    store::register(module)?;
    meter::register(module)?;
    observe::register(module)?;
    profile::register(module)?;
    record::register(module)?;
    ready::register(module)?;
    transfer::register(module)?;
    transfer_command::register(module)?;
    doctor::register(module)?;
    agent::register(module)
}

/// The names of values.
fn names<'py, V, const COUNT: usize>(
    module: &Bound<'py, PyModule>,
    values: [(&'static str, V); COUNT],
) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(module.py(), values.map(|(name, _)| name))
}
