//! The one place where Rust's errors become Python's: the classes of `loadgo/errors.py`, raised by name.

use loadgo_core::script::ScriptMistake;
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

/// `loadgo.errors.CLASS(*arguments)`, ready to be raised; Python's own complaint when there is no such class.
pub fn raised<'py>(py: Python<'py>, class: &str, arguments: impl PyCallArgs<'py>) -> PyErr {
    let made = py.import("loadgo.errors").and_then(|errors| errors.getattr(class)).and_then(|class| class.call1(arguments));
    match made {
        Ok(error) => PyErr::from_value(error),
        Err(complaint) => complaint,
    }
}

/// `BadArgument` with the text `message`.
pub fn bad_argument(message: impl Into<String>) -> PyErr {
    Python::attach(|py| raised(py, "BadArgument", (message.into(),)))
}

/// `BadArgument` with the text `message`, which has the argument's `name` in backquotes.
pub fn about_argument(name: &str, message: String) -> PyErr {
    let error = bad_argument(message);
    Python::attach(|py| match error.value(py).call_method1("about", (name,)) {
        Ok(error) => PyErr::from_value(error),
        Err(complaint) => complaint,
    })
}

/// A mistake in a script, as Python's `Mistake(line, column, message)`.
pub fn mistake(py: Python<'_>, mistake: &ScriptMistake) -> PyErr {
    raised(py, "Mistake", (mistake.line, mistake.column, mistake.message.as_str()))
}
