//! A CSV table of jobs' transfers: the column `job`, and the columns that `loadgo transfer --read` understands.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use loadgo_transfer::measuring::row::EndRow;
use loadgo_transfer::protocol::wire::{Direction, TransferRequest};

/// A column's value for a request and the client's row.
type Cell = fn(&TransferRequest, &EndRow) -> String;

/// The columns in their order. `load` is the mean over five minutes, as in RFC 392.
const COLUMNS: [(&str, Cell); 13] = [
    ("job", |request, _| request.job.as_ref().map_or("", |job| job.verb()).into()),
    ("method", |request, _| request.method.name().into()),
    ("direction", |request, _| if request.direction == Direction::Send { "s" } else { "r" }.into()),
    ("bytes", |_, end| end.moved.payload.to_string()),
    ("message", |request, _| request.message.to_string()),
    ("messages", |_, end| end.moved.messages.to_string()),
    ("faults", |_, end| end.faults_minor.saturating_add(end.faults_major).to_string()),
    ("real_s", |_, end| real_s(end).to_string()),
    ("cpu_s", |_, end| cpu_s(end).to_string()),
    ("bits_per_s", |_, end| quotient(bits(end) / real_s(end), end)),
    ("us_per_bit", |_, end| quotient(1e6 * cpu_s(end) / bits(end), end)),
    ("load", |_, end| end.load_5min.to_string()),
    ("load_1min", |_, end| end.load_1min.to_string()),
];

/// The names of the table's columns, in their order.
pub fn column_names() -> Vec<&'static str> {
    COLUMNS.iter().map(|(name, _)| *name).collect()
}

/// A table of transfers in a file, open for appending.
#[derive(Debug)]
pub struct TransferCsv {
    file: File,
}

impl TransferCsv {
    /// Opens the table at `path`, or creates it with its header.
    ///
    /// # Errors
    /// The file cannot be written, or holds another table.
    pub fn open(path: &Path) -> io::Result<TransferCsv> {
        let header = column_names().join(",");
        let mut file = File::options().create(true).append(true).open(path)?;
        if file.metadata()?.len() == 0 {
            file.write_all(format!("{header}\n").as_bytes())?;
        } else if std::fs::read_to_string(path)?.lines().next() != Some(&header) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is another table: name a new file"));
        }
        Ok(TransferCsv { file })
    }

    /// Appends the client's row of a requested transfer, unless the transfer broke off.
    ///
    /// # Errors
    /// The disk is full.
    pub fn add(&mut self, request: &TransferRequest, end: &EndRow) -> io::Result<()> {
        if end.broke_off.is_some() {
            return Ok(());
        }
        self.file.write_all(row(request, end).as_bytes())
    }
}

fn row(request: &TransferRequest, end: &EndRow) -> String {
    COLUMNS.map(|(_, cell)| cell(request, end)).join(",") + "\n"
}

fn real_s(end: &EndRow) -> f64 {
    end.real_ns as f64 / 1e9
}

fn cpu_s(end: &EndRow) -> f64 {
    end.cpu_ns as f64 / 1e9
}

fn bits(end: &EndRow) -> f64 {
    8.0 * end.moved.payload as f64
}

/// `value` as text; empty if it was divided by 0, or if the end moved nothing.
fn quotient(value: f64, end: &EndRow) -> String {
    if value.is_finite() && end.moved.payload > 0 { value.to_string() } else { String::new() }
}
