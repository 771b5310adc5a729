//! A CSV table of jobs' transfers: the column `job`, and the columns that `loadgo transfer --read` understands.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use loadgo_transfer::measuring::row::EndRow;
use loadgo_transfer::protocol::wire::{Direction, TransferRequest};

/// The table's header. `load` is the mean over five minutes, as in RFC 392.
pub const CSV_COLUMNS: &str =
    "job,method,direction,bytes,message,messages,faults,real_s,cpu_s,bits_per_s,us_per_bit,load,load_1min";

/// A table of transfers in a file, open for appending.
#[derive(Debug)]
pub struct TransferCsv {
    file: File,
}

impl TransferCsv {
    /// Opens the table at `path`, or creates it with its header.
    ///
    /// # Errors
    /// When the file cannot be written, or holds another table.
    pub fn open(path: &Path) -> io::Result<TransferCsv> {
        let mut file = File::options().create(true).append(true).open(path)?;
        if file.metadata()?.len() == 0 {
            file.write_all(format!("{CSV_COLUMNS}\n").as_bytes())?;
        } else if std::fs::read_to_string(path)?.lines().next() != Some(CSV_COLUMNS) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is another table: name a new file"));
        }
        Ok(TransferCsv { file })
    }

    /// Appends the client's end of the transfer that `request` asked for, unless it broke off.
    ///
    /// # Errors
    /// When the disk is full.
    pub fn add(&mut self, request: &TransferRequest, end: &EndRow) -> io::Result<()> {
        if end.broke_off.is_some() {
            return Ok(());
        }
        self.file.write_all(row(request, end).as_bytes())
    }
}

fn row(request: &TransferRequest, end: &EndRow) -> String {
    let direction = if request.direction == Direction::Send { "s" } else { "r" };
    let job = request.job.as_ref().map_or("", |job| job.verb());
    let (bits, real_s, cpu_s) = (8.0 * end.moved.payload as f64, end.real_ns as f64 / 1e9, end.cpu_ns as f64 / 1e9);
    let known = |number: f64| if number.is_finite() && bits > 0.0 { number.to_string() } else { String::new() };
    let (rate, each) = (known(bits / real_s), known(1e6 * cpu_s / bits));
    let (method, moved) = (request.method.name(), &end.moved);
    let faults = end.faults_minor.saturating_add(end.faults_major);
    let counts = format!("{job},{method},{direction},{},{},{},{faults}", moved.payload, request.message, moved.messages);
    format!("{counts},{real_s},{cpu_s},{rate},{each},{},{}\n", end.load_5min, end.load_1min)
}
