//! Parses the command line of `loadgo-rjs`, without opening or connecting anything.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::jobs::JobLimits;
use loadgo_transfer::bounds::TransferLimits;

/// The help text.
pub const USAGE_TEXT: &str = "\
usage: loadgo-rjs submit NAME.deck     send a deck to the batch host; NAME.job then names the job
       loadgo-rjs print NAME.job       fetch its print file into NAME.print
       loadgo-rjs store FILE           send a file for later
         [--to HOST:PORT]              the batch host; by default the value of BATCH_HOST
         [--token-file FILE]           its token, if it has one
         [--into FILE]                 with print: into this file
       loadgo-rjs serve                be a batch host on this host, until killed; its address is the first line
         [--listen ADDRESS:PORT] [--connections NUMBER] [--jobs NUMBER] [--job-time SECONDS] [--rows FILE.csv]";

/// Environment variable with the batch host's HOST:PORT.
const BATCH_HOST_VARIABLE: &str = "BATCH_HOST";

/// The action that a command line asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum CommandLine {
    /// Print the help text.
    Help,
    /// Do one job at the user's end.
    Entry(JobOrder),
    /// Serve a batch host.
    Batch(BatchHostOptions),
}

/// The three jobs of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Send a deck.
    Submit,
    /// Fetch a print file.
    Print,
    /// Send a file for later.
    Store,
}

/// One job at the user's end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobOrder {
    /// Kind of the job.
    pub verb: Verb,
    /// The deck, the file that names the job, or the file to store.
    pub file: PathBuf,
    /// HOST:PORT of the batch host.
    pub to: String,
    /// File with the batch host's token, if it has one.
    pub token_file: Option<PathBuf>,
    /// File for the print file; NAME.print by default.
    pub into: Option<PathBuf>,
}

/// Options of `serve`: a batch host on this host.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchHostOptions {
    /// ADDRESS:PORT on the loopback interface.
    pub listen: String,
    /// Limits that the options set.
    pub limits: BatchHostLimits,
    /// CSV file for the rows of its transfers.
    pub rows: Option<PathBuf>,
}

/// Limits of a batch host that options can set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BatchHostLimits {
    /// Largest number of transfers at once.
    pub connections: usize,
    /// Largest number of jobs that wait to be printed.
    pub jobs: usize,
    /// Time from a job's submission to its print file.
    pub job_time: Duration,
}

/// A mistake on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLineMistake {
    /// There is no action.
    NoAction,
    /// The first word is no action.
    UnknownAction(String),
    /// The action has no such option.
    UnknownOption(String),
    /// The option has no value.
    NoValue(String),
    /// The option, or the file, has two values.
    GivenTwice(String, [String; 2]),
    /// The action needs a file.
    NoFile,
    /// Neither an option nor the environment names the batch host.
    NoBatchHost,
    /// The option needs a number, not this text.
    BadNumber(&'static str, String),
    /// The time of a job is no number of seconds.
    BadJobTime(String),
}

impl Error for CommandLineMistake {}

impl fmt::Display for CommandLineMistake {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandLineMistake::NoAction => out.write_str("what is to be done?"),
            CommandLineMistake::UnknownAction(word) => {
                write!(out, "{word:?} is not understood: submit, print, store or serve")
            }
            CommandLineMistake::UnknownOption(option) => write!(out, "{option} is not understood"),
            CommandLineMistake::NoValue(option) => write!(out, "{option} needs a value"),
            CommandLineMistake::GivenTwice(option, [first, second]) => {
                write!(out, "{option} is given twice: {first} and {second}")
            }
            CommandLineMistake::NoFile => out.write_str("which file?"),
            CommandLineMistake::NoBatchHost => {
                write!(out, "where is the batch host? --to HOST:PORT, or set {BATCH_HOST_VARIABLE}")
            }
            CommandLineMistake::BadNumber(option, text) => {
                write!(out, "{option} takes a number from 1 to {MOST_CONNECTIONS_OR_JOBS}, not {text:?}")
            }
            CommandLineMistake::BadJobTime(text) => write!(out, "--job-time takes seconds from 0 to 86400, not {text:?}"),
        }
    }
}

/// Largest value of `--connections` and of `--jobs`.
const MOST_CONNECTIONS_OR_JOBS: usize = 1_000_000;

/// Parses the `words` of a command line; `variable` looks up environment variables.
///
/// # Errors
/// The first mistake.
pub fn parse(words: &[String], variable: &dyn Fn(&str) -> Option<String>) -> Result<CommandLine, CommandLineMistake> {
    let (verb, options) = words.split_first().ok_or(CommandLineMistake::NoAction)?;
    match verb.as_str() {
        "-h" | "--help" | "help" => Ok(CommandLine::Help),
        "submit" => parse_job(Verb::Submit, options, variable).map(CommandLine::Entry),
        "print" => parse_job(Verb::Print, options, variable).map(CommandLine::Entry),
        "store" => parse_job(Verb::Store, options, variable).map(CommandLine::Entry),
        "serve" => parse_serve(options).map(CommandLine::Batch),
        other => Err(CommandLineMistake::UnknownAction(other.to_owned())),
    }
}

fn parse_job(verb: Verb, words: &[String], variable: &dyn Fn(&str) -> Option<String>) -> Result<JobOrder, CommandLineMistake> {
    let (mut file, mut to, mut token_file, mut into) = (None, None, None, None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let slot = match word.as_str() {
            "--to" => &mut to,
            "--token-file" => &mut token_file,
            "--into" if verb == Verb::Print => &mut into,
            option if option.starts_with('-') => return Err(CommandLineMistake::UnknownOption(option.to_owned())),
            _ => {
                fill(&mut file, Some(word), "a file")?;
                continue;
            }
        };
        fill(slot, words.next(), word)?;
    }
    let to = to.or_else(|| variable(BATCH_HOST_VARIABLE)).filter(|to| !to.is_empty());
    Ok(JobOrder {
        verb,
        file: file.ok_or(CommandLineMistake::NoFile)?.into(),
        to: to.ok_or(CommandLineMistake::NoBatchHost)?,
        token_file: token_file.map(Into::into),
        into: into.map(Into::into),
    })
}

fn parse_serve(words: &[String]) -> Result<BatchHostOptions, CommandLineMistake> {
    let (mut listen, mut connections, mut jobs, mut job_time, mut rows) = (None, None, None, None, None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let slot = match word.as_str() {
            "--listen" => &mut listen,
            "--connections" => &mut connections,
            "--jobs" => &mut jobs,
            "--job-time" => &mut job_time,
            "--rows" => &mut rows,
            other => return Err(CommandLineMistake::UnknownOption(other.to_owned())),
        };
        fill(slot, words.next(), word)?;
    }
    let default = TransferLimits::default();
    let default_jobs = JobLimits::for_server(&default);
    let limits = BatchHostLimits {
        connections: parse_number("--connections", connections, default.connections)?,
        jobs: parse_number("--jobs", jobs, default_jobs.jobs)?,
        job_time: job_time.map_or(Ok(default_jobs.job_time), |text| parse_job_time(&text))?,
    };
    Ok(BatchHostOptions { listen: listen.unwrap_or_else(|| "127.0.0.1:3920".into()), limits, rows: rows.map(Into::into) })
}

/// Sets the value of `option`, which must have one, and must not have been set before.
fn fill(slot: &mut Option<String>, value: Option<&String>, option: &str) -> Result<(), CommandLineMistake> {
    let value = value.ok_or_else(|| CommandLineMistake::NoValue(option.to_owned()))?;
    match slot.replace(value.clone()) {
        None => Ok(()),
        Some(before) => Err(CommandLineMistake::GivenTwice(option.to_owned(), [before, value.clone()])),
    }
}

fn parse_number(option: &'static str, text: Option<String>, default: usize) -> Result<usize, CommandLineMistake> {
    let Some(text) = text else { return Ok(default) };
    let number = text.parse().ok().filter(|number| (1..=MOST_CONNECTIONS_OR_JOBS).contains(number));
    number.ok_or(CommandLineMistake::BadNumber(option, text))
}

fn parse_job_time(text: &str) -> Result<Duration, CommandLineMistake> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.0..=86_400.0).contains(seconds));
    let job_time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    job_time.ok_or_else(|| CommandLineMistake::BadJobTime(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<CommandLine, CommandLineMistake> {
        let words: Vec<String> = line.split_whitespace().map(Into::into).collect();
        parse(&words, &|name| (name == BATCH_HOST_VARIABLE).then(|| "there:1".into()))
    }

    #[test]
    fn the_help_names_the_files_of_a_job() {
        for words in ["submit NAME.deck", "NAME.job then names the job", "print NAME.job", "into NAME.print"] {
            assert!(USAGE_TEXT.contains(words), "{words}");
        }
    }

    #[test]
    fn a_job_goes_to_the_given_host_or_else_to_the_environments() {
        for (line, to) in [("submit a.deck", "there:1"), ("submit --to here:2 a.deck", "here:2")] {
            let Ok(CommandLine::Entry(order)) = parsed(line) else { panic!("{line}") };
            assert_eq!((order.verb, order.file, order.to), (Verb::Submit, "a.deck".into(), to.to_owned()));
        }
    }

    #[test]
    fn each_mistake_on_the_command_line_is_named() {
        for (line, words) in [
            ("", "what is to be done"),
            ("sbumit a", "not understood"),
            ("submit", "which file"),
            ("submit a b", "twice"),
            ("submit a --to", "--to needs a value"),
            ("store a --into b", "not understood"),
            ("serve --jobs 0", "from 1"),
            ("serve --job-time -1", "from 0"),
            ("serve --job-time nan", "from 0"),
        ] {
            assert!(parsed(line).expect_err(line).to_string().contains(words), "{line}");
        }
        let nowhere = parse(&["submit".into(), "a".into()], &|_| None);
        assert_eq!(nowhere, Err(CommandLineMistake::NoBatchHost));
    }
}
