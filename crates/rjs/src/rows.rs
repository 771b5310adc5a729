//! A table of jobs' transfers in CSV, a row for each: the columns that `loadgo transfer --read` knows, and the job.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use loadgo_transfer::measuring::row::End;
use loadgo_transfer::protocol::wire::{Direction, Request};

/// The columns; `load` is over five minutes, as in the seed.
pub const COLUMNS: &str = "job,method,direction,bytes,message,messages,faults,real_s,cpu_s,bits_per_s,us_per_bit,load,load_1min";

/// A table that grows.
#[derive(Debug)]
pub struct Rows {
    file: File,
}

impl Rows {
    /// Goes on with the table at `path`, or begins it.
    ///
    /// # Errors
    /// When it cannot be written, or is another table.
    pub fn open(path: &Path) -> io::Result<Rows> {
        let mut file = File::options().create(true).append(true).open(path)?;
        if file.metadata()?.len() == 0 {
            file.write_all(format!("{COLUMNS}\n").as_bytes())?;
        } else if std::fs::read_to_string(path)?.lines().next() != Some(COLUMNS) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is another table: name a new file"));
        }
        Ok(Rows { file })
    }

    /// Adds the client's end of what `request` asked for; one that broke off is no row.
    ///
    /// # Errors
    /// When the disk is full.
    pub fn add(&mut self, request: &Request, end: &End) -> io::Result<()> {
        if end.broke_off.is_some() {
            return Ok(());
        }
        self.file.write_all(row(request, end).as_bytes())
    }
}

fn row(request: &Request, end: &End) -> String {
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
