//! `loadgo-rjs`; its exit status is 0 when all was moved, 1 when a transfer broke off, and 2 when none began.

use loadgo_rjs::asked::{self, Asked, USAGE};
use loadgo_rjs::{batch, entry};
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let done = match asked::read(&arguments, &|name| std::env::var(name).ok()) {
        Ok(Asked::Help) => Ok(USAGE.to_owned()),
        Ok(Asked::Entry(order)) => entry::make(&order),
        Ok(Asked::Batch(host)) => batch::serve(&host).map_err(entry::Failure::Refused).map(|()| String::new()),
        Err(why) => Err(entry::Failure::Refused(format!("{why}\n{USAGE}"))),
    };
    match done {
        Ok(told) if told.is_empty() => ExitCode::SUCCESS,
        Ok(told) => match writeln!(std::io::stdout(), "{told}") {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "loadgo-rjs: {failure}");
            ExitCode::from(failure.status())
        }
    }
}
