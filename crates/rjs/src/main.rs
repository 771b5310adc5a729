//! `loadgo-rjs`. Its exit status is 0 when all data arrived, 1 when the transfer broke off, and 2 when none began.

use loadgo_rjs::command_line::{self, CommandLine, USAGE_TEXT};
use loadgo_rjs::{batch, entry};
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let outcome = match command_line::parse(&arguments, &|name| std::env::var(name).ok()) {
        Ok(CommandLine::Help) => Ok(USAGE_TEXT.to_owned()),
        Ok(CommandLine::Entry(order)) => entry::do_job(&order),
        Ok(CommandLine::Batch(host)) => batch::serve(&host).map_err(entry::Failure::Refused).map(|()| String::new()),
        Err(mistake) => Err(entry::Failure::Refused(format!("{mistake}\n{USAGE_TEXT}"))),
    };
    match outcome {
        Ok(line) if line.is_empty() => ExitCode::SUCCESS,
        Ok(line) => match writeln!(std::io::stdout(), "{line}") {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "loadgo-rjs: {failure}");
            ExitCode::from(failure.status())
        }
    }
}
