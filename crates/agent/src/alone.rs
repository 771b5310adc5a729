//! The program without a controller: `ready`, `meter` and `doctor` for somebody who has copied it to a host without Python.
//!
//! They use the meters of loadgo's own commands, and end with the same exit statuses. Reports are a few lines of text.

mod doctor;
mod interrupts;
mod meter;
mod ready;
mod statuses;
mod typed;
mod written;

use statuses::COULD_NOT_RUN_STATUS;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

/// Runs a command and says what it used. Exits as the command does.
pub(crate) fn ready(words: Vec<OsString>) -> ExitCode {
    ended(ready::run(words))
}

/// Meters this host, or a command, and says where the processors' time went.
pub(crate) fn meter(words: Vec<OsString>) -> ExitCode {
    ended(meter::run(words))
}

/// Says what can be measured on this host, and why not the rest.
pub(crate) fn doctor(words: Vec<OsString>) -> ExitCode {
    ended(doctor::run(words))
}

fn ended(result: Result<u8, String>) -> ExitCode {
    ExitCode::from(result.unwrap_or_else(|message| {
        let _ = writeln!(io::stderr(), "loadgo-agent: {message}");
        COULD_NOT_RUN_STATUS
    }))
}
