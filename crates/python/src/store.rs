//! The run folder for Python: streams that are incomplete or still grow, which only the writer's own code can read.

use std::path::{Path, PathBuf};

use loadgo_store::{self as store, Folder, Follower, Table};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors;

/// Adds this part to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(table_columns, module)?)?;
    module.add_function(wrap_pyfunction!(whole, module)?)?;
    module.add_function(wrap_pyfunction!(file_checksum, module)?)?;
    module.add_function(wrap_pyfunction!(complete, module)?)?;
    module.add_function(wrap_pyfunction!(is_being_written, module)?)?;
    module.add_class::<Growing>()
}

/// The columns of each table of a run folder, in order: name and type, which docs/run-folder.md explains.
#[pyfunction]
fn table_columns(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let tables = PyDict::new(py);
    for table in Table::ALL {
        let columns = table.columns().into_iter().map(|column| (column.name, column.kind));
        tables.set_item(table.name(), columns.collect::<Vec<_>>())?;
    }
    Ok(tables)
}

/// Size of the complete batches of the stream at `path`, and what stands behind them: (bytes, rows, words or None).
///
/// Raises `BadRun` when it cannot be read.
#[pyfunction]
fn whole(py: Python<'_>, path: PathBuf) -> PyResult<(u64, u64, Option<String>)> {
    let whole = py.detach(|| store::whole_part(&path)).map_err(|error| bad_run(py, &error))?;
    Ok((whole.bytes, whole.rows, whole.rest))
}

/// The size and the CRC-32 of a file, as `run.toml` has them of each table. Raises `OSError`.
#[pyfunction]
fn file_checksum(py: Python<'_>, path: PathBuf) -> PyResult<(u64, u32)> {
    Ok(py.detach(|| store::file_checksum(&path))?)
}

/// Completes the folder of a run that was killed: complete batches become Parquet, the outcome becomes `killed`.
///
/// Raises `BadRun` when the run is still being written, or its folder cannot be read or written.
#[pyfunction]
fn complete(py: Python<'_>, folder: PathBuf) -> PyResult<()> {
    py.detach(|| Folder::open(folder).and_then(|folder| store::complete(&folder))).map_err(|error| bad_run(py, &error))
}

/// True while a process holds the streams of the run in `folder` open for writing.
#[pyfunction]
fn is_being_written(py: Python<'_>, folder: PathBuf) -> PyResult<bool> {
    py.detach(|| Folder::open(folder).and_then(|folder| folder.is_being_written())).map_err(|error| bad_run(py, &error))
}

/// A growing table's stream. It is read to its end even if the run ends and removes the stream.
#[pyclass(module = "loadgo._loadgo")]
struct Growing {
    path: PathBuf,
    follower: Option<Follower>,
    schema: Vec<u8>,
}

#[pymethods]
impl Growing {
    /// The stream of `table` in the run's `folder`; it need not exist yet.
    #[new]
    fn new(py: Python<'_>, folder: PathBuf, table: &str) -> PyResult<Growing> {
        let table = Table::named(table).ok_or_else(|| errors::raised(py, "BadRun", (format!("a run has no table {table}"),)))?;
        let path = Folder::open(folder).map_err(|error| bad_run(py, &error))?.stream(table);
        Ok(Growing { path, follower: None, schema: Vec::new() })
    }

    /// The new rows since the last call, as an Arrow IPC stream; no bytes if there are none.
    ///
    /// Raises `BadRun` when the stream cannot be read. Rows before damage are returned first: the next call raises.
    fn news<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let news = py.detach(|| self.read()).map_err(|error| bad_run(py, &error))?;
        Ok(PyBytes::new(py, &news))
    }

    /// True when the stream's end has been read.
    fn ended(&self) -> bool {
        self.follower.as_ref().is_some_and(Follower::ended)
    }
}

impl Growing {
    fn read(&mut self) -> store::Result<Vec<u8>> {
        let Some(follower) = open_follower(&mut self.follower, &self.path)? else { return Ok(Vec::new()) };
        let mut news = Vec::new();
        loop {
            match follower.next_message() {
                Ok(Some(message)) if self.schema.is_empty() => self.schema = message,
                Ok(Some(message)) => news.extend(message),
                Ok(None) => break,
                Err(_) if !news.is_empty() => break, // the next call meets it again
                Err(error) => return Err(error),
            }
        }
        Ok(if news.is_empty() { news } else { [self.schema.as_slice(), &news].concat() })
    }
}

/// The reader of the stream at `path`, opened once the stream exists.
fn open_follower<'a>(follower: &'a mut Option<Follower>, path: &Path) -> store::Result<Option<&'a mut Follower>> {
    if follower.is_none() && path.exists() {
        *follower = Some(Follower::open(path)?);
    }
    Ok(follower.as_mut())
}

fn bad_run(py: Python<'_>, error: &store::Error) -> PyErr {
    errors::about_arguments(py, errors::raised(py, "BadRun", (error.to_string(),)), error.arguments())
}
