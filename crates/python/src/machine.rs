//! Machine files for Python: read, laid over the machines that they are like, and printed in one text.

use crate::errors;
use loadgo_core::machine::file::{Mistake, Origin, parse_with, print};
use loadgo_core::machine::spec::{Class, Machine, Population};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Adds this file's function to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(parse_machine, module)?)
}

/// What a machine file says with `sets` (`KEY=VALUE`) over it: title, source, processors, commands, stores, load as (class, users
/// or None), and the text of everything merged.
///
/// Raises `loadgo.errors.Mistake` with the place of the first mistake, `ValueError` for one in `sets`.
#[pyfunction]
fn parse_machine<'py>(py: Python<'py>, text: &str, sets: Vec<String>) -> PyResult<Bound<'py, PyDict>> {
    let (machine, merged) = read(py, text, &sets)?;
    let told = PyDict::new(py);
    told.set_item("title", &machine.title)?;
    told.set_item("source", &machine.source)?;
    told.set_item("processors", machine.processors.count)?;
    told.set_item("commands", machine.commands.iter().map(|command| command.name.as_str()).collect::<Vec<_>>())?;
    told.set_item("stores", machine.stores.iter().map(|store| store.name.as_str()).collect::<Vec<_>>())?;
    told.set_item("load", machine.load.iter().map(|class| (class.name.as_str(), users(class))).collect::<Vec<_>>())?;
    told.set_item("text", merged)?;
    Ok(told)
}

fn users(class: &Class) -> Option<u32> {
    match class.population {
        Population::Closed(users) => Some(users),
        Population::Open(_) => None,
    }
}

/// The machine that a file's `text` tells with `sets` (`KEY=VALUE`) over it, and the text of everything merged.
pub fn read(py: Python<'_>, text: &str, sets: &[String]) -> PyResult<(Machine, String)> {
    let sets = sets.iter().map(|set| setting(set)).collect::<PyResult<Vec<_>>>()?;
    let mut resolve = |name: &str| like(py, name).map_err(|error| error.value(py).to_string());
    let machine = parse_with(text, &sets, &mut resolve).map_err(|mistake| raised(py, &mistake))?;
    let text = print(&machine);
    Ok((machine, text))
}

fn setting(set: &str) -> PyResult<(String, String)> {
    let (key, value) = set.split_once('=').ok_or_else(|| {
        PyValueError::new_err(format!("--set {set}: a value is missing: write it as in --set processors.speed=2"))
    })?;
    Ok((key.trim().into(), value.trim().into()))
}

/// The text of the machine that another is like.
fn like(py: Python<'_>, name: &str) -> PyResult<String> {
    py.import("loadgo.running.machines")?.getattr("find")?.call1((name,))?.getattr("text")?.extract()
}

fn raised(py: Python<'_>, mistake: &Mistake) -> PyErr {
    let place = (mistake.line, mistake.column, mistake.message.as_str());
    match &mistake.origin {
        Origin::File => errors::raised(py, "Mistake", place),
        Origin::Like(name) => errors::raised(py, "Mistake", (place.0, place.1, place.2, name.as_str())),
        Origin::Set(_) => PyValueError::new_err(mistake.to_string()),
    }
}
