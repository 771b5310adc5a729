//! The command line of `loadgo-rjs`, read; nothing is opened or connected here.

use std::path::PathBuf;
use std::time::Duration;

use crate::jobs::JobBounds;
use loadgo_transfer::bounds::Bounds;

/// How it is used.
pub const USAGE: &str = "\
usage: loadgo-rjs submit NAME.deck     send a deck to the batch host; NAME.job then names the job
       loadgo-rjs print NAME.job       fetch its print file into NAME.print
       loadgo-rjs store FILE           send a file for later
         [--to HOST:PORT]              the batch host; else what BATCH_HOST says
         [--token-file FILE]           its token, where it has one
         [--into FILE]                 with print: into this file
       loadgo-rjs serve                be a batch host on this host, until killed; its address is the first line
         [--listen ADDRESS:PORT] [--connections NUMBER] [--jobs NUMBER] [--job-time SECONDS] [--rows FILE.csv]";

/// The variable that says where the batch host is.
const BATCH_HOST: &str = "BATCH_HOST";

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// How it is used.
    Help,
    /// A job, at this end.
    Entry(Order),
    /// The batch host.
    Batch(Host),
}

/// Which way a job goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// A deck is sent.
    Submit,
    /// A print file is fetched.
    Print,
    /// A file is sent for later.
    Store,
}

/// One job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Which way.
    pub verb: Verb,
    /// The deck, the file that names the job, or what is stored.
    pub file: PathBuf,
    /// HOST:PORT of the batch host.
    pub to: String,
    /// Where its token is.
    pub token_file: Option<PathBuf>,
    /// Where a print file goes; NAME.print by default.
    pub into: Option<PathBuf>,
}

/// A batch host on this host.
#[derive(Debug, Clone, PartialEq)]
pub struct Host {
    /// ADDRESS:PORT, loopback.
    pub listen: String,
    /// Its limits.
    pub bounds: Limits,
    /// Where the rows of its transfers go.
    pub rows: Option<PathBuf>,
}

/// What a batch host may be given of its [`Bounds`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Transfers at once.
    pub connections: usize,
    /// Jobs that wait to be printed.
    pub jobs: usize,
    /// So long a job takes.
    pub job_time: Duration,
}

/// Reads the words of the command line, of which `variable` knows the environment.
///
/// # Errors
/// In words, what is wrong.
pub fn read(words: &[String], variable: &dyn Fn(&str) -> Option<String>) -> Result<Asked, String> {
    let (verb, rest) = words.split_first().ok_or("what is to be done?")?;
    match verb.as_str() {
        "-h" | "--help" | "help" => Ok(Asked::Help),
        "submit" => order(Verb::Submit, rest, variable).map(Asked::Entry),
        "print" => order(Verb::Print, rest, variable).map(Asked::Entry),
        "store" => order(Verb::Store, rest, variable).map(Asked::Entry),
        "serve" => host(rest).map(Asked::Batch),
        other => Err(format!("{other:?} is not understood: submit, print, store or serve")),
    }
}

fn order(verb: Verb, words: &[String], variable: &dyn Fn(&str) -> Option<String>) -> Result<Order, String> {
    let (mut file, mut to, mut token_file, mut into) = (None, None, None, None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let slot = match word.as_str() {
            "--to" => &mut to,
            "--token-file" => &mut token_file,
            "--into" if verb == Verb::Print => &mut into,
            option if option.starts_with('-') => return Err(format!("{option} is not understood")),
            _ => {
                filled(&mut file, word, "a file")?;
                continue;
            }
        };
        filled(slot, words.next().ok_or_else(|| format!("{word} of what?"))?, word)?;
    }
    let to = to.or_else(|| variable(BATCH_HOST)).filter(|to| !to.is_empty());
    Ok(Order {
        verb,
        file: file.ok_or("which file?")?.into(),
        to: to.ok_or_else(|| format!("where is the batch host? --to HOST:PORT, or set {BATCH_HOST}"))?,
        token_file: token_file.map(Into::into),
        into: into.map(Into::into),
    })
}

fn host(words: &[String]) -> Result<Host, String> {
    let (mut listen, mut connections, mut jobs, mut job_time, mut rows) = (None, None, None, None, None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let slot = match word.as_str() {
            "--listen" => &mut listen,
            "--connections" => &mut connections,
            "--jobs" => &mut jobs,
            "--job-time" => &mut job_time,
            "--rows" => &mut rows,
            other => return Err(format!("{other} is not understood")),
        };
        filled(slot, words.next().ok_or_else(|| format!("{word} of what?"))?, word)?;
    }
    let usual = Bounds::default();
    let of_jobs = JobBounds::of(&usual);
    let bounds = Limits {
        connections: number("--connections", connections, usual.connections)?,
        jobs: number("--jobs", jobs, of_jobs.jobs)?,
        job_time: job_time.map_or(Ok(of_jobs.job_time), |text| seconds(&text))?,
    };
    Ok(Host { listen: listen.unwrap_or_else(|| "127.0.0.1:3920".into()), bounds, rows: rows.map(Into::into) })
}

fn filled(slot: &mut Option<String>, word: &str, what: &str) -> Result<(), String> {
    match slot.replace(word.to_owned()) {
        None => Ok(()),
        Some(before) => Err(format!("{what} is given twice: {before} and {word}")),
    }
}

fn number(option: &str, text: Option<String>, usual: usize) -> Result<usize, String> {
    let Some(text) = text else { return Ok(usual) };
    let read = text.parse().ok().filter(|number| (1..=1_000_000).contains(number));
    read.ok_or_else(|| format!("{option} takes a number from 1 to 1000000, not {text:?}"))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let read = text.parse::<f64>().ok().filter(|seconds| (0.0..=86_400.0).contains(seconds));
    let read = read.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    read.ok_or_else(|| format!("--job-time takes seconds from 0 to 86400, not {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Result<Asked, String> {
        let words: Vec<String> = line.split_whitespace().map(Into::into).collect();
        read(&words, &|name| (name == BATCH_HOST).then(|| "there:1".into()))
    }

    #[test]
    fn a_job_goes_where_it_is_told_to_and_else_where_the_environment_says() {
        for (line, to) in [("submit a.deck", "there:1"), ("submit --to here:2 a.deck", "here:2")] {
            let Ok(Asked::Entry(order)) = asked(line) else { panic!("{line}") };
            assert_eq!((order.verb, order.file, order.to), (Verb::Submit, "a.deck".into(), to.to_owned()));
        }
    }

    #[test]
    fn a_line_with_a_mistake_is_refused_in_words() {
        for (line, told) in [
            ("", "what is to be done"),
            ("sbumit a", "not understood"),
            ("submit", "which file"),
            ("submit a b", "twice"),
            ("submit a --to", "of what"),
            ("store a --into b", "not understood"),
            ("serve --jobs 0", "from 1"),
            ("serve --job-time -1", "from 0"),
            ("serve --job-time nan", "from 0"),
        ] {
            assert!(asked(line).expect_err(line).contains(told), "{line}");
        }
        let nowhere = read(&["submit".into(), "a".into()], &|_| None);
        assert!(nowhere.expect_err("it is refused").contains("BATCH_HOST"));
    }
}
