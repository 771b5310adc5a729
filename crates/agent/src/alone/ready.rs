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
    let notes = [oneshot.no_groups().map(str::to_owned).into_iter().collect(), oneshot.sources().notes.clone()].concat();
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

    #[test]
    fn the_median_of_an_even_number_of_values_lies_between_the_two_in_the_middle() {
        assert_eq!(
            (median(vec![]), median(vec![3]), median(vec![9, 1, 5]), median(vec![4, 1, 9, 2])),
            (None, Some(3), Some(5), Some(3))
        );
    }
}
