//! `loadgo-agent ready`: what one command used, as `loadgo ready` meters it.

use super::interrupts::Interrupts;
use super::statuses::{MISSING_STATUS, NOT_RUN_STATUS, status_of};
use super::typed::Typed;
use super::written::{bytes, share, span};
use loadgo_core::system::Usage;
use loadgo_host::commands::oneshot::{Oneshot, Run, Streams, Warmth};
use loadgo_sys::child::own_peak_bytes;
use std::ffi::OsString;
use std::io::{self, Write as _};

const EXAMPLE: &str = "write loadgo-agent ready [-n RUNS] [--quiet-output] -- COMMAND…";

/// Runs the command and prints on the standard error what it used; returns its exit status.
///
/// # Errors
/// The command line is wrong, or this host can meter no command.
pub(super) fn run(words: Vec<OsString>) -> Result<u8, String> {
    let typed = Typed::read(words, &["-n"], &["--quiet-output"])?;
    if typed.command.is_empty() {
        return Err(format!("there is no command: {EXAMPLE}"));
    }
    let count = typed.option("-n").map_or(Some(1), |number| number.parse().ok().filter(|runs| *runs > 0_usize));
    let count = count.ok_or_else(|| format!("-n takes a number of runs from 1: {EXAMPLE}"))?;
    let mut oneshot = Oneshot::open_on_cleared_host().map_err(|error| format!("the command cannot be metered: {error}"))?;
    let interrupts = Interrupts::listen(Some(oneshot.running()))?;
    let (mut runs, mut not_run) = (Vec::new(), None);
    while runs.len() < count && not_run.is_none() && !interrupts.stop.is_set() {
        let streams = if typed.option("--quiet-output").is_some() { Streams::NoOutput } else { Streams::Inherited };
        match oneshot.run(&typed.command, streams, Warmth::AsItIs) {
            Ok(run) => runs.push(run),
            Err(error) => not_run = Some(error),
        }
    }
    let by_wait4 = oneshot.groups().is_none();
    for run in &mut runs {
        run.usage = known_usage(run, by_wait4, oneshot.sources().faults);
    }
    let sources = if by_wait4 { notes_of_wait4(&oneshot.sources().notes) } else { oneshot.sources().notes.clone() };
    let notes = [oneshot.no_groups().map(str::to_owned).into_iter().collect(), sources].concat();
    let left_behind = oneshot.close().iter().map(ToString::to_string).collect::<Vec<_>>();
    let name = words_of(&typed.command);
    if !runs.is_empty() {
        let report = report(&name, &runs, &[notes, left_behind].concat());
        io::stderr().write_all(report.as_bytes()).map_err(|error| format!("the report cannot be written: {error}"))?;
    }
    if let Some(error) = not_run {
        let which = if runs.is_empty() { String::new() } else { format!("run {} of {count}: ", runs.len() + 1) };
        let _ = writeln!(io::stderr(), "loadgo-agent: {which}{name} cannot be run: {error}");
        return Ok(if error.kind() == io::ErrorKind::NotFound { MISSING_STATUS } else { NOT_RUN_STATUS });
    }
    let failed = runs.iter().map(|run| status_of(&run.exit)).find(|status| *status != 0);
    Ok(failed.or(interrupts.status().filter(|_| runs.len() < count)).unwrap_or(0))
}

/// Usage of the run. Without a control group wait4 tells it: `/proc` counts in ticks, and not what has ended between two looks at it.
/// Where taskstats was silent, as in a network namespace of its own, wait4 tells the faults, and waits are not known.
fn known_usage(run: &Run, by_wait4: bool, faults_source: &str) -> Usage {
    let (mut usage, waited) = (run.usage, &run.waited);
    let is_silent = usage.faults_minor.is_none_or(|count| count == 0)
        && usage.faults_major.is_none_or(|count| count == 0)
        && waited.faults_minor > 0;
    if by_wait4 {
        (usage.cpu_user_ns, usage.cpu_system_ns) = (Some(waited.user_ns), Some(waited.system_ns));
    }
    if is_silent || (by_wait4 && faults_source == "/proc") {
        (usage.faults_minor, usage.faults_major) = (Some(waited.faults_minor), Some(waited.faults_major));
    }
    if is_silent {
        (usage.ready_wait_ns, usage.paging_wait_ns, usage.io_wait_ns) = (None, None, None);
    }
    usage
}

/// The notes on the sources where wait4 stands for those that count in clock ticks.
fn notes_of_wait4(notes: &[String]) -> Vec<String> {
    let mut kept: Vec<_> = notes.iter().filter(|note| !note.ends_with("in clock ticks")).cloned().collect();
    kept.push("by wait4: counted from the process's creation on, without children that the command did not wait for".into());
    kept
}

fn words_of(command: &[OsString]) -> String {
    command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// The ready message: of several runs, the median of each figure.
fn report(name: &str, runs: &[Run], notes: &[String]) -> String {
    let median_figure = |figure: &dyn Fn(&Run) -> Option<u64>| median(runs.iter().filter_map(figure).collect());
    let usage = |figure: fn(&Usage) -> Option<u64>| median_figure(&|run| figure(&run.usage));
    let cpu = |usage: &Usage| Some(usage.cpu_user_ns? + usage.cpu_system_ns?);
    let figure_text = |value: Option<u64>, write: fn(u64) -> String| value.map_or_else(|| "–".into(), write);
    let real = median_figure(&|run| Some(run.real_ns)).unwrap_or(0);
    let medians = if runs.len() > 1 { format!(", medians of {} runs", runs.len()) } else { String::new() };
    let peak = median_figure(&|run| Some(run.waited.max_resident_bytes)).unwrap_or(0);
    let bound = if peak <= own_peak_bytes() { "≤ " } else { "" };
    let mut lines = vec![
        format!(
            "{name}: real {}, CPU {} ({}), faults {} minor, {} major{medians}",
            span(real),
            figure_text(usage(cpu), span),
            usage(cpu).map_or_else(|| "–".into(), |cpu| share(cpu as f64, real as f64)),
            figure_text(usage(|usage| usage.faults_minor), |count| count.to_string()),
            figure_text(usage(|usage| usage.faults_major), |count| count.to_string()),
        ),
        format!(
            "  CPU: user {}, system {}; memory, most {bound}{}",
            figure_text(usage(|usage| usage.cpu_user_ns), span),
            figure_text(usage(|usage| usage.cpu_system_ns), span),
            bytes(peak.max(own_peak_bytes()))
        ),
        format!(
            "  waits: processor {}, pages {}, disk {}",
            figure_text(usage(|usage| usage.ready_wait_ns), span),
            figure_text(usage(|usage| usage.paging_wait_ns), span),
            figure_text(usage(|usage| usage.io_wait_ns), span),
        ),
    ];
    let left = runs.iter().map(|run| run.left_running).sum::<usize>();
    lines.extend(
        (left > 0).then(|| format!("  {left} of its processes still ran at its end; what they use later is not counted")),
    );
    lines.extend(notes.iter().map(|note| format!("  note: {note}")));
    lines.join("\n") + "\n"
}

fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    let middle = values.len().checked_sub(1)? / 2;
    Some(u64::midpoint(values[middle], values[values.len() / 2]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadgo_sys::child::{Exit, Wait4Usage};

    #[test]
    fn without_a_group_wait4_tells_what_was_used() {
        let waited = Wait4Usage { user_ns: 300, system_ns: 40, faults_minor: 89, ..Wait4Usage::default() };
        let unseen = Usage { cpu_user_ns: Some(0), cpu_system_ns: Some(0), ready_wait_ns: Some(7), ..Usage::default() };
        let run = Run { usage: unseen, waited, ..run_of_nothing() };
        let known = known_usage(&run, true, "/proc");
        assert_eq!((known.cpu_user_ns, known.cpu_system_ns), (Some(300), Some(40)));
        assert_eq!((known.faults_minor, known.faults_major), (Some(89), Some(0)));
        assert_eq!(known.ready_wait_ns, None, "who saw no fault saw no wait");
        let grouped = Usage { cpu_user_ns: Some(9), faults_minor: Some(88), ready_wait_ns: Some(7), ..unseen };
        assert_eq!(known_usage(&Run { usage: grouped, ..run }, false, "taskstats"), grouped);
    }

    fn run_of_nothing() -> Run {
        Run {
            real_ns: 0,
            usage: Usage::default(),
            exit: Exit::Status(0),
            waited: Wait4Usage::default(),
            left_running: 0,
            let_go: 0,
            cold: None,
            lost: 0,
        }
    }

    #[test]
    fn the_median_of_an_even_number_of_values_lies_between_the_two_in_the_middle() {
        assert_eq!(
            (median(vec![]), median(vec![3]), median(vec![9, 1, 5]), median(vec![4, 1, 9, 2])),
            (None, Some(3), Some(5), Some(3))
        );
    }
}
