//! `loadgo-rjs`. Its exit status is 0 when all data arrived, 1 when the transfer broke off, and 2 when none began.

use loadgo_rjs::command_line::{self, CommandLine, USAGE_TEXT};
use loadgo_rjs::{batch, entry};
use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

/// Exit status if no transfer began.
const REFUSED_STATUS: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    match command_line::parse(&arguments, &|name| std::env::var(name).ok()) {
        Ok(CommandLine::Help) => print(USAGE_TEXT),
        Ok(CommandLine::Entry(order)) => match entry::do_job(&order) {
            Ok(line) => print(&line),
            Err(failure) => fail(&failure, failure.status()),
        },
        Ok(CommandLine::Batch(host)) => match batch::serve(&host) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => fail(&failure, REFUSED_STATUS),
        },
        Err(mistake) => fail(&format_args!("{mistake}\n{USAGE_TEXT}"), REFUSED_STATUS),
    }
}

fn print(line: &str) -> ExitCode {
    writeln!(std::io::stdout(), "{line}").map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

fn fail(reason: &dyn Display, status: u8) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "loadgo-rjs: {reason}");
    ExitCode::from(status)
}
