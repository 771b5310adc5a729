//! Scripts and the notations in them, for Python: checked here before any user logs in.

use crate::errors;
use loadgo_core::notation::json_schema::json_schema;
use loadgo_core::script::{self, SCRIPT_SHAPE, TimeLaw};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Adds this file's functions to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(parse_script, module)?)?;
    module.add_function(wrap_pyfunction!(script_schema, module)?)?;
    module.add_function(wrap_pyfunction!(parse_think, module)?)?;
    module.add_function(wrap_pyfunction!(parse_span, module)?)
}

/// Parses and checks a script. Keys: name, login, passes, think, typing (chars/s), needs, files, arrivals as (minute of the day, rate an hour), and its lines as (number, command).
///
/// Raises `loadgo.errors.Mistake` with the place of the first mistake.
#[pyfunction]
fn parse_script<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyDict>> {
    let script = script::parse(text).map_err(|mistake| errors::mistake(py, &mistake))?;
    let script_dict = PyDict::new(py);
    script_dict.set_item("name", &script.name)?;
    script_dict.set_item("login", &script.login)?;
    script_dict.set_item("passes", script.passes)?;
    script_dict.set_item("think", script.think.to_string())?;
    script_dict.set_item("typing", script.typing_chars_per_second)?;
    script_dict.set_item("needs", &script.needs)?;
    script_dict.set_item("files", script.files.keys().collect::<Vec<_>>())?;
    script_dict.set_item("arrivals", script.arrivals.iter().map(|rate| (rate.minute, rate.per_hour)).collect::<Vec<_>>())?;
    script_dict.set_item("lines", script.lines().map(|line| (line.number, line.name.as_str())).collect::<Vec<_>>())?;
    Ok(script_dict)
}

/// The JSON Schema (Draft 4) of scripts, as JSON text.
#[pyfunction]
fn script_schema(title: &str, description: &str) -> String {
    json_schema(&SCRIPT_SHAPE, title, description)
}

/// Parses a law of think time, such as `uniform(2s, 15s)`, and returns it as it is written in full.
///
/// Raises `ValueError` with the right form.
#[pyfunction]
fn parse_think(text: &str) -> PyResult<String> {
    TimeLaw::parse(text).map(|law| law.to_string()).map_err(errors::bad_argument)
}

/// Parses a span of time, such as `500ms`, to nanoseconds.
///
/// Raises `ValueError` with the right form.
#[pyfunction]
fn parse_span(text: &str) -> PyResult<u64> {
    script::parse_span(text).map(|span| span.0).map_err(errors::bad_argument)
}
