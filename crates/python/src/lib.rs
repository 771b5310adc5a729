//! Python bindings: signatures, conversion, errors; no logic.

use pyo3::prelude::*;

/// The extension module `loadgo._loadgo`.
#[pymodule]
fn _loadgo(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
