//! The end of the command's process by a library, in words.

use loadgo_sys::last_words;
use pyo3::prelude::*;

/// From now on, an abort of this process, or an `exit` before `end_by_itself`, says `text` and ends with `status`.
#[pyfunction]
fn say_at_abort(text: &str, status: i32) {
    last_words::say_at_abort(text, status);
}

/// Lets this process end without these words.
#[pyfunction]
fn end_by_itself() {
    last_words::end_by_itself();
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(say_at_abort, module)?)?;
    module.add_function(wrap_pyfunction!(end_by_itself, module)?)
}
