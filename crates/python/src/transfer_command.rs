//! Transfers of any command, for Python: the meter as a class, a run of the command as a dict.

use crate::ready::{closed, not_metered, run_dict, sentences, sources, streams};
use loadgo_transfer_meters::InterruptCharge;
use loadgo_transfer_meters::sockets::CommandTraffic;
use loadgo_transfer_meters::sums::{NetworkInterruptTime, SOCKET_KINDS, SocketTotals};
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
        let command = py.detach(CommandTransfer::open).map_err(|error| not_metered(py, &error))?;
        Ok(TransferMeter { running: command.oneshot().running(), command: Mutex::new(Some(command)) })
    }

    /// Sources of the figures, as of `CommandMeter`, and `missing`: a sentence for each fact about the sockets that is not known.
    fn sources<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let command = self.command.lock().unwrap_or_else(PoisonError::into_inner);
        let command = command.as_ref().ok_or_else(|| closed(py))?;
        let sources_dict = sources(py, command.oneshot())?;
        sources_dict.set_item("missing", command.missing())?;
        Ok(sources_dict)
    }

    /// Runs `command` once with this process's streams. Returns `run` (as of `CommandMeter`), `counted` (None if not known, with
    /// `why_not`) and `load_5min`. Raises `OSError` if the command cannot be run.
    fn run<'py>(&self, py: Python<'py>, command: Vec<OsString>) -> PyResult<Bound<'py, PyDict>> {
        let ran = py.detach(|| {
            let mut transfer = self.command.lock().unwrap_or_else(PoisonError::into_inner);
            transfer.as_mut().map(|meter| meter.run(&command, streams(true, true)))
        });
        transferred_dict(py, &ran.ok_or_else(|| closed(py))??)
    }

    /// The id of the running command; 0 if there is none.
    fn running(&self) -> i32 {
        self.running.load(Ordering::Acquire)
    }

    /// Undoes the meter's changes on the host. Returns sentences about things that stay there.
    fn close(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| {
            let command = self.command.lock().unwrap_or_else(PoisonError::into_inner).take();
            sentences(command.map_or_else(Vec::new, CommandTransfer::close))
        })
    }
}

fn transferred_dict<'py>(py: Python<'py>, transferred: &CommandTransferred) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("run", run_dict(py, &transferred.run)?)?;
    dict.set_item("counted", transferred.traffic.as_ref().ok().map(|traffic| traffic_dict(py, traffic)).transpose()?)?;
    dict.set_item("why_not", transferred.traffic.as_ref().err().map(ToString::to_string))?;
    dict.set_item("load_5min", transferred.load_5min)?;
    Ok(dict)
}

fn traffic_dict<'py>(py: Python<'py>, traffic: &CommandTraffic) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let moved = PyDict::new(py);
    for (kind, sums) in SOCKET_KINDS.into_iter().zip(&traffic.moved) {
        moved.set_item(kind, totals_dict(py, sums)?)?;
    }
    dict.set_item("moved", moved)?;
    let interrupts = traffic.interrupts.map(|sums| interrupts_dict(py, &sums)).transpose()?;
    dict.set_item("interrupts", interrupts)?;
    dict.set_item("held", traffic.held)?;
    dict.set_item("unsent", traffic.unsent)?;
    dict.set_item("lost", traffic.lost)?;
    dict.set_item("charges_the_interrupted", traffic.charge == InterruptCharge::ToTheInterrupted)?;
    Ok(dict)
}

fn totals_dict<'py>(py: Python<'py>, totals: &SocketTotals) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let numbers = [
        ("sockets", totals.sockets),
        ("sent", totals.sent),
        ("received", totals.received),
        ("sent_again", totals.sent_again),
        ("sends", totals.sends),
        ("receives", totals.receives),
        ("segments_sent", totals.segments_sent),
        ("segments_received", totals.segments_received),
    ];
    numbers.into_iter().try_for_each(|(name, number)| dict.set_item(name, number))?;
    Ok(dict)
}

fn interrupts_dict<'py>(py: Python<'py>, sums: &NetworkInterruptTime) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let numbers = [
        ("soft_ns", sums.soft_interrupt_ns()),
        ("hard_ns", sums.device_interrupt_ns()),
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
