//! The transfer of any command, for Python: the meter as a class, a run of the command as a dict.

use crate::errors;
use crate::ready::{sources, streams, told};
use loadgo_transfer_meters::Charge;
use loadgo_transfer_meters::sockets::Counted;
use loadgo_transfer_meters::sums::{Interrupts, KINDS, Moved};
use loadgo_transfer_meters::{CommandTransfer, CommandTransferred};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::OsString;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Adds this file's class to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<TransferMeter>()
}

/// Runs one command under the meters of this host, and follows its sockets.
#[pyclass(module = "loadgo._loadgo")]
struct TransferMeter {
    command: Mutex<Option<CommandTransfer>>,
    running: Arc<AtomicI32>,
}

#[pymethods]
impl TransferMeter {
    /// Raises `loadgo.errors.Refused` on a host that can measure nothing.
    #[new]
    fn new(py: Python<'_>) -> PyResult<TransferMeter> {
        let refused = |error| errors::raised(py, "Refused", (format!("the command cannot be metered: {error}"),));
        let command = py.detach(CommandTransfer::open).map_err(refused)?;
        Ok(TransferMeter { running: command.oneshot().running(), command: Mutex::new(Some(command)) })
    }

    /// Where the figures come from, as of `CommandMeter`, and `missing`: what of its sockets is not known.
    fn sources<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let held = self.command.lock().unwrap_or_else(PoisonError::into_inner);
        let command = held.as_ref().ok_or_else(|| closed(py))?;
        let told = sources(py, command.oneshot())?;
        told.set_item("missing", command.missing())?;
        Ok(told)
    }

    /// Runs `command` once, with this process's streams: `run` as of `CommandMeter`, `counted` (None when not known) with
    /// `why_not`, `load_5min`. Raises `OSError` when it cannot be run.
    fn run<'py>(&self, py: Python<'py>, command: Vec<OsString>) -> PyResult<Bound<'py, PyDict>> {
        let ran = py.detach(|| {
            let mut held = self.command.lock().unwrap_or_else(PoisonError::into_inner);
            held.as_mut().map(|meter| meter.run(&command, streams(true, true)))
        });
        transferred(py, &ran.ok_or_else(|| closed(py))??)
    }

    /// The id of the command that runs, 0 when none does.
    fn running(&self) -> i32 {
        self.running.load(Ordering::Acquire)
    }

    /// Undoes what was made on the host for the meter.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.command.lock().unwrap_or_else(PoisonError::into_inner).take()));
    }
}

fn closed(py: Python<'_>) -> PyErr {
    errors::raised(py, "Refused", ("the meter is closed",))
}

fn transferred<'py>(py: Python<'py>, made: &CommandTransferred) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("run", told(py, &made.run)?)?;
    dict.set_item("counted", made.counted.as_ref().ok().map(|counted| in_python(py, counted)).transpose()?)?;
    dict.set_item("why_not", made.counted.as_ref().err())?;
    dict.set_item("load_5min", made.load_5min)?;
    Ok(dict)
}

fn in_python<'py>(py: Python<'py>, counted: &Counted) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let moved = PyDict::new(py);
    for (kind, sums) in KINDS.into_iter().zip(&counted.moved) {
        moved.set_item(kind, moved_in_python(py, sums)?)?;
    }
    dict.set_item("moved", moved)?;
    let interrupts = counted.interrupts.map(|sums| interrupts_in_python(py, &sums)).transpose()?;
    dict.set_item("interrupts", interrupts)?;
    dict.set_item("held", counted.held)?;
    dict.set_item("unsent", counted.unsent)?;
    dict.set_item("lost", counted.lost)?;
    dict.set_item("charges_the_interrupted", counted.charge == Charge::ToTheInterrupted)?;
    Ok(dict)
}

fn moved_in_python<'py>(py: Python<'py>, moved: &Moved) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let numbers = [
        ("sockets", moved.sockets),
        ("sent", moved.sent),
        ("received", moved.received),
        ("sent_again", moved.sent_again),
        ("sends", moved.sends),
        ("receives", moved.receives),
        ("segments_sent", moved.segments_sent),
        ("segments_received", moved.segments_received),
    ];
    numbers.into_iter().try_for_each(|(name, number)| dict.set_item(name, number))?;
    Ok(dict)
}

fn interrupts_in_python<'py>(py: Python<'py>, sums: &Interrupts) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let numbers = [
        ("soft_ns", sums.soft_for_it()),
        ("hard_ns", sums.hard_for_it()),
        ("soft_inside_ns", sums.soft_inside),
        ("hard_inside_ns", sums.hard_inside),
        ("soft_all_ns", sums.soft + sums.soft_unknown),
        ("soft_unknown_ns", sums.soft_unknown),
        ("hard_all_ns", sums.hard),
        ("packets_all", sums.packets),
        ("packets", sums.packets_ours),
    ];
    numbers.into_iter().try_for_each(|(name, number)| dict.set_item(name, number))?;
    Ok(dict)
}
