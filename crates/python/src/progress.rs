//! Python callbacks that get the progress of a call: how often they are called, and the consequence of an exception.

use loadgo_run::Decision;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

/// Number of reports for each call. Reports come ten times a second.
const REPORTS_PER_CALL: u32 = 3;

/// The calls of one callback, and the first exception that it has raised.
#[derive(Default)]
pub struct ProgressCalls {
    reports: u32,
    raised: Option<PyErr>,
}

impl ProgressCalls {
    /// Makes the `call` if one is due or `is_news`. The call returns whether to continue. After an exception no call is made.
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

    /// The result of the work: the callback's exception, otherwise the result of `finished`. Texts about things that stay behind on the host
    /// are added to an exception as its notes.
    pub fn result<T>(self, py: Python<'_>, left_behind: &[String], finished: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
        self.raised.map_or_else(finished, Err).inspect_err(|error| {
            for text in left_behind {
                // An exception whose class has replaced the method is raised without notes.
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
