//! Converts Rust's errors to Python's: the classes of `loadgo/errors.py`, raised by name. No other file does that.

use loadgo_core::script::ScriptMistake;
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::fmt::Display;

/// `loadgo.errors.CLASS(*arguments)`, ready to be raised; Python's own error if there is no such class.
pub fn raised<'py>(py: Python<'py>, class: &str, arguments: impl PyCallArgs<'py>) -> PyErr {
    let error = py.import("loadgo.errors").and_then(|errors| errors.getattr(class)).and_then(|class| class.call1(arguments));
    error.map_or_else(|failure| failure, PyErr::from_value)
}

/// `Refused` with the text of `refusal`.
pub fn refused(py: Python<'_>, refusal: impl Display) -> PyErr {
    raised(py, "Refused", (refusal.to_string(),))
}

/// `BadArgument` with the text `message`.
pub fn bad_argument(message: impl Display) -> PyErr {
    Python::attach(|py| raised(py, "BadArgument", (message.to_string(),)))
}

/// `BadArgument` with the text `message`, which has the argument's `name` in backquotes.
pub fn about_argument(name: &str, message: String) -> PyErr {
    let error = bad_argument(message);
    Python::attach(|py| about_arguments(py, error, &[name]))
}

/// The error, marked as one that concerns these arguments, whose names its text has.
pub fn about_arguments(py: Python<'_>, error: PyErr, names: &[&str]) -> PyErr {
    let named = PyTuple::new(py, names).and_then(|names| error.value(py).call_method1("about", names));
    named.map_or_else(|failure| failure, PyErr::from_value)
}

/// A mistake in a script, as Python's `Mistake(line, column, message)`.
pub fn mistake(py: Python<'_>, mistake: &ScriptMistake) -> PyErr {
    raised(py, "Mistake", (mistake.line, mistake.column, mistake.message.as_str()))
}
