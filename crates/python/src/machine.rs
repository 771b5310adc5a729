//! Machine files for Python: parsed, merged with the machines that they extend, and printed as one text.

use crate::errors;
use loadgo_core::notation::json_schema::json_schema;
use loadgo_machine::draw::AmountLaw;
use loadgo_machine::file::{self, MACHINE_SHAPE, MachineMistake, Origin, parse_with, print};
use loadgo_machine::spec::{Machine, Population, UserClass};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Adds this file's functions to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(parse_machine, module)?)?;
    module.add_function(wrap_pyfunction!(machine_schema, module)?)?;
    module.add_function(wrap_pyfunction!(parse_law, module)?)
}

/// Parses a machine file with `sets` (`KEY=VALUE`) over it. Keys: title, source, processors, commands, stores, load as (class,
/// users or None), and the text of everything merged.
///
/// Raises `loadgo.errors.Mistake` with the place of the first mistake, `ValueError` for a mistake in `sets`.
#[pyfunction]
fn parse_machine<'py>(py: Python<'py>, text: &str, sets: Vec<String>) -> PyResult<Bound<'py, PyDict>> {
    let (machine, merged) = read(py, text, &sets)?;
    let machine_dict = PyDict::new(py);
    machine_dict.set_item("title", &machine.title)?;
    machine_dict.set_item("source", &machine.source)?;
    machine_dict.set_item("processors", machine.processors.count)?;
    machine_dict.set_item("commands", machine.commands.iter().map(|command| command.name.as_str()).collect::<Vec<_>>())?;
    machine_dict.set_item("stores", machine.stores.iter().map(|store| store.name.as_str()).collect::<Vec<_>>())?;
    machine_dict.set_item("load", machine.load.iter().map(|class| (class.name.as_str(), users(class))).collect::<Vec<_>>())?;
    machine_dict.set_item("text", merged)?;
    Ok(machine_dict)
}

/// The JSON Schema (Draft 4) of machine files, as JSON text.
#[pyfunction]
fn machine_schema(title: &str, description: &str) -> String {
    json_schema(&MACHINE_SHAPE, title, description)
}

/// Parses a law, such as `lognormal(80ms, 120ms, max 2s)`, to a dict. `kind` is its name, `parameters` its values in order, and `least`
/// and `most` its bounds, or None. `timed` says whether its amounts are times: then they are nanoseconds, with fractions. An
/// amount alone is the law `fixed`, and `none` is a law without parameters.
///
/// Raises `ValueError` with the right form.
#[pyfunction]
fn parse_law<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyDict>> {
    let law_dict = PyDict::new(py);
    if text.trim() == "none" {
        return fill_law(law_dict, ("none", Vec::new()), (None, None), true);
    }
    let (law, timed) = file::parse_law(text).map_err(errors::bad_argument)?;
    let (law, bounds) = match law {
        AmountLaw::Bounded(law, least, most) => {
            (*law, (Some(least).filter(|least| *least > 0.0), Some(most).filter(|most| most.is_finite())))
        }
        law => (law, (None, None)),
    };
    fill_law(law_dict, law.parts(), bounds, timed)
}

fn fill_law<'py>(
    law_dict: Bound<'py, PyDict>,
    (kind, parameters): (&str, Vec<f64>),
    (least, most): (Option<f64>, Option<f64>),
    timed: bool,
) -> PyResult<Bound<'py, PyDict>> {
    law_dict.set_item("kind", kind)?;
    law_dict.set_item("parameters", parameters)?;
    law_dict.set_item("timed", timed)?;
    law_dict.set_item("least", least)?;
    law_dict.set_item("most", most)?;
    Ok(law_dict)
}

fn users(class: &UserClass) -> Option<u32> {
    match class.population {
        Population::Closed(users) => Some(users),
        Population::Open(_) => None,
    }
}

/// Parses the machine of a file's `text` with `sets` (`KEY=VALUE`) over it; also returns the text of everything merged.
pub fn read(py: Python<'_>, text: &str, sets: &[String]) -> PyResult<(Machine, String)> {
    let sets = sets.iter().map(|set| parse_setting(set)).collect::<PyResult<Vec<_>>>()?;
    let mut resolve = |name: &str| machine_text(py, name).map_err(|error| error.value(py).to_string().into());
    let machine = parse_with(text, &sets, &mut resolve).map_err(|mistake| machine_error(py, &mistake))?;
    let text = print(&machine);
    Ok((machine, text))
}

fn parse_setting(set: &str) -> PyResult<(String, String)> {
    let (key, value) = file::key_and_value(set).ok_or_else(|| {
        errors::about_argument("set", format!("`set={set}`: a value is missing: write it as in `set=processors.speed=2`"))
    })?;
    Ok((key.into(), value.into()))
}

/// Text of the machine `name`, which another machine extends.
fn machine_text(py: Python<'_>, name: &str) -> PyResult<String> {
    py.import("loadgo.running.machines")?.getattr("find")?.call1((name,))?.getattr("text")?.extract()
}

fn machine_error(py: Python<'_>, mistake: &MachineMistake) -> PyErr {
    let MachineMistake { line, column, message, .. } = mistake;
    match &mistake.origin {
        Origin::File => errors::raised(py, "Mistake", (*line, *column, message.as_str())),
        Origin::Like(name) => errors::raised(py, "Mistake", (*line, *column, message.as_str(), name.as_str())),
        Origin::Set(_) => errors::about_argument("set", mistake.to_string()),
    }
}
