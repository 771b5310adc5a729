//! `loadgo-agent meter`: where the processors' time of this host goes, as `loadgo meter` measures it.

use super::interrupts::Interrupts;
use super::statuses::{COULD_NOT_RUN_STATUS, status_of};
use super::typed::Typed;
use super::written::{share, span};
use loadgo_core::record::MeterRows;
use loadgo_core::script::parse_span;
use loadgo_host::conditions::{Description, describe};
use loadgo_host::leftovers::clear_stale;
use loadgo_run::{Decision, HostMeter, MeterOrder, MeteringResult, TierAsked, ToldLines};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::time::Duration;

const EXAMPLE: &str = "write loadgo-agent meter --for 10s [--meters none|cheap|exact], or loadgo-agent meter -- COMMAND…";
/// Number of processes that the report names.
const SHOWN_PROCESSES: usize = 5;
/// The owner in the records that stands for the threads that sample. Alone it tells nothing of the host.
const METERS_OWN: &str = "meters";
/// The line where no process's time is known.
const PROCESSES_UNKNOWN: &str = "only the kernel's meters tell which processes took it (see loadgo-agent doctor)";
/// Length of a span of the records.
const EVERY: Duration = Duration::from_secs(1);

/// Meters the host, or while the command runs, and prints the report; returns the command's exit status.
///
/// # Errors
/// The command line is wrong, or the host does not allow the meters.
pub(super) fn run(words: Vec<OsString>) -> Result<u8, String> {
    let typed = Typed::read(words, &["--for", "--meters"], &[])?;
    let length = typed.option("--for").map(parse_span).transpose().map_err(|mistake| format!("--for: {mistake}: {EXAMPLE}"))?;
    let tier = TierAsked::named(typed.option("--meters")).map_err(|refusal| refusal.to_string())?;
    if length.is_some_and(|span| span.0 == 0) {
        return Err(format!("--for takes a time longer than 0: {EXAMPLE}"));
    }
    let has_command = !typed.command.is_empty();
    if typed.ended_options && !has_command {
        return Err(format!("there is no command behind --: {EXAMPLE}"));
    }
    if length.is_some() && has_command {
        return Err(format!("a command is metered until it ends: leave --for out; {EXAMPLE}"));
    }
    clear_stale();
    let order = MeterOrder {
        id: format!("alone-{}", std::process::id()),
        address: None,
        folder: None,
        tier,
        every: EVERY,
        length: length.map(|span| Duration::from_nanos(span.0)),
        command: typed.command,
        command_line: Vec::new(),
        sessions: None,
        told_lines: ToldLines::default(),
    };
    let meter = HostMeter::begin(order).map_err(|failure| failure.refusal.to_string())?;
    let interrupts = Interrupts::listen(meter.running())?;
    let mut sums = Sums::default();
    let metered = meter.watch(|now| {
        sums.add(now.rows, now.lost.iter().map(|lost| lost.count).sum());
        if interrupts.stop.is_set() && !has_command { Decision::Stop } else { Decision::Continue }
    });
    let metering_end = metered.map_err(|failure| failure.refusal.to_string())?;
    // The report of a command goes where that of `ready` goes: what the command prints stays apart.
    let report = report(&sums, &metering_end, &describe());
    let written = if has_command { io::stderr().write_all(report.as_bytes()) } else { io::stdout().write_all(report.as_bytes()) };
    written.map_err(|error| format!("the report cannot be written: {error}"))?;
    Ok(status(&metering_end, &sums))
}

/// As `loadgo meter`: the command's own status, and 1 if records were lost.
fn status(metering_end: &MeteringResult, sums: &Sums) -> u8 {
    match metering_end.exit.as_ref().map_or(0, status_of) {
        0 if sums.time_ns.is_empty() => COULD_NOT_RUN_STATUS,
        0 => u8::from(sums.lost > 0),
        status => status,
    }
}

/// The sums over all spans.
#[derive(Default)]
struct Sums {
    /// Time of all processors by its category.
    time_ns: BTreeMap<&'static str, u64>,
    /// Processor time by process.
    process_ns: BTreeMap<String, u64>,
    /// Length of each span by its end.
    spans_ns: BTreeMap<u64, u64>,
    lost: u64,
}

impl Sums {
    fn add(&mut self, rows: Option<&MeterRows>, lost: u64) {
        self.lost += lost;
        let Some(rows) = rows else { return };
        for row in &rows.time {
            *self.time_ns.entry(row.category).or_default() += row.time_ns;
            self.spans_ns.insert(row.at.0, row.span_ns);
        }
        for row in &rows.processes {
            *self.process_ns.entry(row.who.to_string()).or_default() += row.cpu_ns;
        }
    }
}

/// The report: the host, the shares of its time, and the processes that took most of it.
fn report(sums: &Sums, metering_end: &MeteringResult, host: &Description) -> String {
    let (whole, length): (u64, u64) = (sums.time_ns.values().sum(), sums.spans_ns.values().sum());
    let processors = processors_in(whole, length);
    let mut lines = vec![format!("{} of {} ({}, {processors} processors)", span(length), host.hostname, host.kernel)];
    let shares = |parts: Vec<(String, u64)>, most: usize| {
        parts
            .into_iter()
            .take(most)
            .map(|(name, ns)| format!("  {:>7}  {name}", share(ns as f64, whole as f64)))
            .collect::<Vec<_>>()
    };
    lines.push(if whole == 0 { "nothing was metered: it ended before the first span" } else { "the processors' time:" }.into());
    lines.extend(shares(largest(sums.time_ns.iter().map(|(name, ns)| (in_words(name).to_owned(), *ns))), usize::MAX));
    let processes: Vec<_> = largest(sums.process_ns.clone()).into_iter().filter(|(name, _)| name != METERS_OWN).collect();
    let heading = if processes.is_empty() { PROCESSES_UNKNOWN } else { "of it, the busiest processes:" };
    lines.extend((whole > 0).then(|| heading.into()));
    lines.extend(shares(processes, SHOWN_PROCESSES));
    lines.extend((sums.lost > 0).then(|| format!("{} records were lost", sums.lost)));
    lines.extend(metering_end.notes.iter().map(|note| format!("note: {note}")));
    lines.join("\n") + "\n"
}

/// The number of processors whose times add up to `whole`. Times from the kernel's ticks may be a little short of it.
fn processors_in(whole: u64, length: u64) -> u64 {
    (whole as f64 / length.max(1) as f64).round() as u64
}

/// A category's name as `loadgo meter` prints it; the records keep the words of 1969 for some.
fn in_words(category: &'static str) -> &'static str {
    match category {
        "user" => "user mode",
        "primitive" => "system call",
        "getwork" => "context switch",
        "idle zero" => "idle: nothing to run",
        "idle page wait" => "idle: waiting for a page",
        "idle disk wait" => "idle: waiting for the disk",
        "idle dispatch" => "idle: wake-up delay",
        "idle governed" => "idle: throttled",
        "idle not eligible" => "idle: not eligible",
        "idle loading" => "idle: loading a program",
        "segment fault" => "page-table fault",
        "bound fault" => "memory growth",
        "uncharged" => "unaccounted",
        "meters" => "meter programs",
        other => other,
    }
}

fn largest(parts: impl IntoIterator<Item = (String, u64)>) -> Vec<(String, u64)> {
    let mut parts: Vec<_> = parts.into_iter().filter(|(_, ns)| *ns > 0).collect();
    parts.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_counted_although_ticks_are_a_little_short() {
        assert_eq!(processors_in(3_990_000_000, 1_000_000_000), 4);
        assert_eq!(processors_in(0, 0), 0);
    }
}
