//! Both ends of a transfer, for Python.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::thread;
use std::time::Duration;

use loadgo_core::stop::StopRequest;
use loadgo_rjs::jobs::{JobLimits, Jobs};
use loadgo_rjs::rows::{self, TransferCsv};
use loadgo_transfer::bounds::TransferLimits;
use loadgo_transfer::client::{self, TransferOrder};
use loadgo_transfer::measuring::row::{EndRow, InterruptsBy};
use loadgo_transfer::moving::destination::Destination;
use loadgo_transfer::moving::method::Method;
use loadgo_transfer::news::{self, ServerNews};
use loadgo_transfer::protocol::wire::Direction;
use loadgo_transfer::refusal::TransferRefusal;
use loadgo_transfer::server::{self, ServerOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;

/// Adds this file's classes and function to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Transfer>()?;
    module.add_class::<TransferServer>()?;
    module.add_function(wrap_pyfunction!(transfer_columns, module)?)?;
    module.add_function(wrap_pyfunction!(transfer_methods, module)?)
}

/// The columns of a batch host's table of transfers, in order.
#[pyfunction]
fn transfer_columns() -> Vec<&'static str> {
    rows::column_names()
}

/// The methods by name, with the default of `message`, and the reason if this host cannot use the method.
#[pyfunction]
fn transfer_methods() -> Vec<(&'static str, u32, Option<String>)> {
    let reason = |method: Method| method.unavailable_reason().map(|reason| reason.to_string());
    Method::ALL.into_iter().map(|method| (method.name(), method.default_message_bytes(), reason(method))).collect()
}

/// One transfer, from this end.
#[pyclass(module = "loadgo._loadgo")]
struct Transfer {
    order: TransferOrder,
    stop: StopRequest,
}

#[pymethods]
impl Transfer {
    /// Raises `errors.Refused` if `to` is no address, and `ValueError` for an unknown method.
    #[new]
    #[pyo3(signature = (to, *, method, receive, size, message, token, from_file, into_file, time_s, stalled_s))]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword")]
    fn new(
        py: Python<'_>,
        to: &str,
        method: &str,
        receive: bool,
        size: Option<u64>,
        message: Option<u32>,
        token: Option<String>,
        from_file: Option<PathBuf>,
        into_file: Option<PathBuf>,
        time_s: f64,
        stalled_s: f64,
    ) -> PyResult<Transfer> {
        let method = Method::named(method).ok_or_else(|| errors::bad_argument(format!("there is no method {method}")))?;
        let order = TransferOrder {
            to: addresses(py, to)?,
            token,
            direction: if receive { Direction::Receive } else { Direction::Send },
            method,
            size,
            message: message.unwrap_or(method.default_message_bytes()),
            from: from_file,
            into: into_file,
            job: None,
            bounds: bounds(time_s, stalled_s, TransferLimits::default()),
            interrupts: py.detach(loadgo_transfer_meters::interrupt_meter_for_ends),
        };
        Ok(Transfer { order, stop: StopRequest::default() })
    }

    /// Makes the transfer. Returns `here`, `there` (None if the other end sent no figures) and `note`.
    /// Returns only `cannot`, with the reason, if one of the two hosts cannot transfer by this method. Raises `errors.Refused`.
    fn run<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let transfer_dict = PyDict::new(py);
        let ends = match py.detach(|| client::transfer(&self.order, &self.stop)) {
            Err(refusal @ TransferRefusal::Method(..)) => {
                transfer_dict.set_item("cannot", refusal.to_string())?;
                return Ok(transfer_dict);
            }
            ends => ends.map_err(|refusal| errors::refused(py, refusal))?,
        };
        transfer_dict.set_item("here", end_dict(py, &ends.here)?)?;
        transfer_dict.set_item("there", ends.there.as_ref().ok().map(|end| end_dict(py, end)).transpose()?)?;
        transfer_dict.set_item("note", ends.there.err().map(|missing| missing.to_string()))?;
        Ok(transfer_dict)
    }

    /// Ends the transfer early, from another thread.
    fn stop(&self) {
        self.stop.set();
    }
}

/// The end of a transfer that waits for the other.
#[pyclass(module = "loadgo._loadgo")]
struct TransferServer {
    listener: Arc<TcpListener>,
    serving: ServerOptions,
    rows: Option<PathBuf>,
}

#[pymethods]
impl TransferServer {
    /// Listens at once. Raises `errors.Refused` if it cannot listen at `at`, cannot write to `keep_in`, or cannot write to `rows`, the
    /// table of its jobs' transfers.
    #[new]
    #[pyo3(signature = (at, *, connections, size, total, time_s, stalled_s, token, keep_in, job_time_s, rows))]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword")]
    fn new(
        py: Python<'_>,
        at: &str,
        connections: usize,
        size: u64,
        total: u64,
        time_s: f64,
        stalled_s: f64,
        token: Option<String>,
        keep_in: Option<PathBuf>,
        job_time_s: f64,
        rows: Option<PathBuf>,
    ) -> PyResult<TransferServer> {
        rows.as_deref().map(|path| open_table(py, path)).transpose()?;
        if let Some(folder) = &keep_in {
            let tried = Destination::try_folder(folder);
            tried.map_err(|error| errors::refused(py, format!("nothing can be kept in {}: {error}", folder.display())))?;
        }
        let listener = TcpListener::bind(&addresses(py, at)?[..])
            .map_err(|error| errors::refused(py, format!("nothing can listen at {at}: {error}")))?;
        let (job_time, interrupts) = (span(job_time_s), py.detach(loadgo_transfer_meters::interrupt_meter_for_ends));
        let bounds =
            bounds(time_s, stalled_s, TransferLimits { connections, bytes: size, kept: total, ..TransferLimits::default() });
        let jobs = Arc::new(Jobs::new(JobLimits { job_time, ..JobLimits::for_server(&bounds) }));
        Ok(TransferServer {
            listener: Arc::new(listener),
            serving: ServerOptions { bounds, token, keep_in, interrupts, jobs },
            rows,
        })
    }

    /// Address at which the server listens, with its port.
    #[getter]
    fn address(&self) -> PyResult<String> {
        Ok(self.listener.local_addr()?.to_string())
    }

    /// Serves until `report` returns False. Calls it with each transfer's end, and about three times a second with None.
    fn serve(&self, py: Python<'_>, report: Bound<'_, PyAny>) -> PyResult<()> {
        let (news_sender, mut news_receiver) = news::channel(news::MOST_WAITING_REPORTS);
        let mut rows = self.rows.as_deref().map(|path| open_table(py, path)).transpose()?;
        let stop = StopRequest::default();
        let (listener, serving, stopped) = (self.listener.clone(), self.serving.clone(), stop.clone());
        let server = thread::Builder::new().spawn(move || server::serve(&listener, serving, stopped, &news_sender))?;
        let outcome = loop {
            let next = py.detach(move || (news_receiver.recv_timeout(Duration::from_millis(300)), news_receiver));
            news_receiver = next.1;
            let news = match next.0 {
                Ok(news) => {
                    add_to_table(py, &news, rows.as_mut())?;
                    Some(news_dict(py, news)?)
                }
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break Ok(()),
            };
            match report.call1((news,)).and_then(|answer| answer.is_truthy()) {
                Ok(true) => {}
                end => break end.map(|_| ()),
            }
        };
        stop.set();
        py.detach(|| server.join()).map_err(|_| errors::refused(py, "the server failed"))??;
        outcome?;
        for news in news_receiver.try_iter() {
            add_to_table(py, &news, rows.as_mut())?;
            report.call1((news_dict(py, news)?,))?;
        }
        Ok(())
    }
}

fn open_table(py: Python<'_>, path: &Path) -> PyResult<TransferCsv> {
    TransferCsv::open(path).map_err(|error| errors::refused(py, format!("{}: {error}", path.display())))
}

/// Adds a job's transfer to the table of transfers.
fn add_to_table(py: Python<'_>, news: &ServerNews, rows: Option<&mut TransferCsv>) -> PyResult<()> {
    match (news, rows) {
        (ServerNews::Ended { request, theirs: Some(end), .. }, Some(rows)) => rows
            .add(request, end)
            .map_err(|error| errors::refused(py, format!("the table of transfers cannot be written: {error}"))),
        _ => Ok(()),
    }
}

fn news_dict(py: Python<'_>, news: ServerNews) -> PyResult<Bound<'_, PyDict>> {
    let news_dict = PyDict::new(py);
    if let Some(words) = news.server_note() {
        news_dict.set_item("note", words)?;
    }
    match news {
        ServerNews::Full(_) | ServerNews::LeftOut(_) => {}
        ServerNews::Refused(peer, reason) => {
            news_dict.set_item("peer", peer.to_string())?;
            news_dict.set_item("refused", reason)?;
        }
        ServerNews::Ended { peer, request, end, kept, .. } => {
            news_dict.set_item("kept", kept)?;
            news_dict.set_item("peer", peer.to_string())?;
            news_dict.set_item("receive", request.direction == Direction::Send)?;
            news_dict.set_item("method", request.method.name())?;
            news_dict.set_item("message", request.message)?;
            news_dict.set_item("job", request.job.as_ref().map(|job| job.verb()))?;
            news_dict.set_item("end", end_dict(py, &end)?)?;
        }
    }
    Ok(news_dict)
}

/// All addresses of a name, which may be several ways to the same host.
fn addresses(py: Python<'_>, text: &str) -> PyResult<Vec<SocketAddr>> {
    client::parse_addresses(text).map_err(|refusal| errors::refused(py, refusal))
}

fn bounds(time_s: f64, stalled_s: f64, other: TransferLimits) -> TransferLimits {
    TransferLimits { time: span(time_s), stalled: span(stalled_s), ..other }
}

fn span(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX / 4)
}

fn end_dict<'py>(py: Python<'py>, end: &EndRow) -> PyResult<Bound<'py, PyDict>> {
    let end_dict = PyDict::new(py);
    let numbers = [
        ("bytes", end.moved.payload),
        ("wire_bytes", end.moved.wire),
        ("calls", end.moved.calls),
        ("messages", end.moved.messages),
        ("real_ns", end.real_ns),
        ("cpu_ns", end.cpu_ns),
        ("user_ns", end.user_ns),
        ("system_ns", end.system_ns),
        ("soft_interrupt_ns", end.soft_interrupt_ns),
        ("interrupt_ns", end.interrupt_ns),
        ("interrupts_upon_ns", end.interrupts_upon_ns),
        ("faults_minor", end.faults_minor),
        ("faults_major", end.faults_major),
        ("switches_voluntary", end.switches_voluntary),
        ("switches_involuntary", end.switches_involuntary),
    ];
    numbers.into_iter().try_for_each(|(name, number)| end_dict.set_item(name, number))?;
    let (by, clocked, error_ns, reason) = match &end.interrupts_by {
        InterruptsBy::Exact(doubt) => ("exact", Some(1.0), None, doubt.as_deref()),
        InterruptsBy::Windows { clocked, error_ns, doubt } => ("windows", Some(*clocked), *error_ns, doubt.as_deref()),
        InterruptsBy::NoNetwork => ("no network", None, None, None),
        InterruptsBy::Ticks(reason) => ("ticks", None, None, Some(reason.as_str())),
    };
    end_dict.set_item("interrupts_by", by)?;
    end_dict.set_item("interrupts_clocked", clocked)?;
    end_dict.set_item("interrupts_error_ns", error_ns)?;
    end_dict.set_item("interrupts_why", reason)?;
    end_dict.set_item("load_5min", end.load_5min)?;
    end_dict.set_item("counted_bytes", end.counted)?;
    end_dict.set_item("broke_off", &end.broke_off)?;
    Ok(end_dict)
}
