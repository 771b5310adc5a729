//! A Python callback with the progress of a call: how often it is called, and what follows when it raises.

use loadgo_run::Decision;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

/// The callback is called for every third report: reports come ten times a second.
const REPORTS_PER_CALL: u32 = 3;

/// The calls of one callback, and the first exception that one of them has raised.
#[derive(Default)]
pub struct ProgressCalls {
    reports: u32,
    raised: Option<PyErr>,
}

impl ProgressCalls {
    /// Makes the `call`, which returns whether to continue, where one is due or `is_news`; none is made after an exception.
    pub fn decide(&mut self, is_news: bool, call: impl FnOnce(Python<'_>) -> PyResult<bool>) -> Decision {
        self.reports += 1;
        if self.raised.is_some() || !(is_news || self.reports % REPORTS_PER_CALL == 1) {
            return Decision::Continue;
        }
        let answer = Python::attach(|py| {
            py.check_signals()?;
            call(py)
        });
        match answer {
            Ok(true) => Decision::Continue,
            Ok(false) => Decision::Stop,
            Err(error) => {
                let decision = decision_after(&error);
                self.raised = Some(error);
                decision
            }
        }
    }

    /// The result of the work: what the callback has raised, else what `finished` returns. What stays behind on the host is added to an
    /// exception as its notes.
    pub fn result<T>(self, py: Python<'_>, left_behind: &[String], finished: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
        self.raised.map_or_else(finished, Err).inspect_err(|error| {
            for text in left_behind {
                // An exception that takes no notes (its class has changed the method) is raised without.
                let _ = error.value(py).call_method1("add_note", (text,));
            }
        })
    }
}

/// An interrupt (`KeyboardInterrupt`, `SystemExit`) asks for the end; any other exception is a failure of the caller.
fn decision_after(error: &PyErr) -> Decision {
    Python::attach(|py| match error.is_instance_of::<PyException>(py) {
        true => Decision::Fail(error.to_string()),
        false => Decision::Stop,
    })
}
