//! Reads the kernel's own counts of interrupts by source and processor, from `/proc/interrupts` and `/proc/softirqs`.

use crate::refusal::MeterRefusal;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A source of interrupts: a kind of the table `faults`, and a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct InterruptSource {
    pub kind: &'static str,
    pub name: Arc<str>,
}

/// Names of soft interrupts, in the order of the kernel's `softirq_to_name`.
pub(crate) const SOFT_INTERRUPT_NAMES: [&str; 16] =
    ["high", "timer", "net-tx", "net-rx", "block", "poll", "tasklet", "sched", "hrtimer", "rcu", "", "", "", "", "", ""];

/// Numbers of interrupts of each source, by processor. They wrap at 2^32, like the kernel's own.
pub(crate) type CountsBySource = BTreeMap<InterruptSource, Vec<u32>>;

/// The kernel's labels of metered interrupts without a device, with the meters' names. The kernel has one label for function calls to
/// one processor and to several.
const VECTOR_LABELS: &[(&str, &str)] = if cfg!(target_arch = "x86_64") {
    &[("LOC", "local timer"), ("RES", "rescheduling"), ("CAL", "function call"), ("IWI", "work")]
} else {
    &[("IPI", "between processors")] // IPI0, IPI1 …: one for each reason
};

/// The kernel's labels of soft interrupts, in the order of [`SOFT_INTERRUPT_NAMES`].
const SOFT_LABELS: [&str; 10] = ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];

/// The kernel's source for the meters' `source`.
pub(crate) fn kernel_source(source: &InterruptSource) -> InterruptSource {
    match &*source.name {
        "single function call" => InterruptSource { kind: source.kind, name: "function call".into() },
        _ => source.clone(),
    }
}

/// File with the kernel's counts of interrupts.
pub(crate) const INTERRUPTS_PATH: &str = "/proc/interrupts";

/// Whether the kernel shows its counts, which containers may hide.
pub(crate) fn are_shown() -> bool {
    std::fs::read_to_string(INTERRUPTS_PATH).is_ok_and(|table| !table.is_empty())
}

/// Reads both tables; `name_of` gives the device's name of an interrupt's number.
///
/// # Errors
/// A table cannot be read.
pub(crate) fn read(processors: u32, name_of: impl FnMut(u32) -> Arc<str>) -> Result<CountsBySource, MeterRefusal> {
    let text = |path| std::fs::read_to_string(path).map_err(|error| MeterRefusal::from((path, error)));
    let mut counts = CountsBySource::new();
    add_hard(&text(INTERRUPTS_PATH)?, processors, name_of, &mut counts);
    add_soft(&text("/proc/softirqs")?, processors, &mut counts);
    Ok(counts)
}

fn add_hard(table: &str, processors: u32, mut name_of: impl FnMut(u32) -> Arc<str>, counts: &mut CountsBySource) {
    add_lines(table, processors, counts, |label| {
        let name = match label.parse() {
            Ok(number) => name_of(number),
            Err(_) => {
                let kind =
                    if cfg!(target_arch = "x86_64") { label } else { label.trim_end_matches(|c: char| c.is_ascii_digit()) };
                VECTOR_LABELS.iter().find(|(kernel_label, _)| *kernel_label == kind)?.1.into()
            }
        };
        Some(InterruptSource { kind: "interrupt", name })
    });
}

fn add_soft(table: &str, processors: u32, counts: &mut CountsBySource) {
    add_lines(table, processors, counts, |label| {
        let index = SOFT_LABELS.iter().position(|kernel_label| *kernel_label == label)?;
        Some(InterruptSource { kind: "soft interrupt", name: SOFT_INTERRUPT_NAMES[index].into() })
    });
}

/// Adds the lines of a table whose labels have a source. The table's head names the online processors.
fn add_lines(
    table: &str,
    processors: u32,
    counts: &mut CountsBySource,
    mut source_of: impl FnMut(&str) -> Option<InterruptSource>,
) {
    let mut lines = table.lines();
    let head = lines.next().unwrap_or_default().split_whitespace();
    let online: Vec<usize> = head.filter_map(|word| word.strip_prefix("CPU")?.parse().ok()).collect();
    for line in lines {
        let mut words = line.split_whitespace();
        let Some(source) = words.next().and_then(|label| source_of(label.trim_end_matches(':'))) else { continue };
        let sums = counts.entry(source).or_insert_with(|| vec![0; processors as usize]);
        for (processor, count) in online.iter().zip(words.map_while(|word| word.parse::<u32>().ok())) {
            if let Some(sum) = sums.get_mut(*processor) {
                *sum = sum.wrapping_add(count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(kind: &'static str, name: &str) -> InterruptSource {
        InterruptSource { kind, name: name.into() }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_line_is_counted_on_the_processors_that_the_head_names() {
        let table = "           CPU0       CPU2       \n 24:  1  7  IO-APIC   5-edge      ACPI:Ged\n 25:  2  0  IO-APIC\n\
                     LOC:    1575832    4294967295   Local timer interrupts\nNMI: 1 1 Non-maskable\nERR:          0\n";
        let mut counts = CountsBySource::new();
        add_hard(table, 3, |_| "disk".into(), &mut counts);
        assert_eq!(
            counts,
            CountsBySource::from([
                (source("interrupt", "disk"), vec![3, 0, 7]),
                (source("interrupt", "local timer"), vec![1_575_832, 0, u32::MAX])
            ])
        );
    }

    #[test]
    fn soft_interrupts_have_the_meters_names() {
        let mut counts = CountsBySource::new();
        add_soft("  CPU0  CPU1\n   IRQ_POLL:  3  4\n  RCU: 5 6\n  NEW: 1 1\n", 2, &mut counts);
        assert_eq!(
            counts,
            CountsBySource::from([(source("soft interrupt", "poll"), vec![3, 4]), (source("soft interrupt", "rcu"), vec![5, 6])])
        );
    }

    #[test]
    fn this_kernel_shows_its_clock_or_its_interrupts_between_processors() {
        let counts =
            read(aya::util::nr_cpus().expect("the kernel tells") as u32, |number| number.to_string().into()).expect("read");
        assert!(VECTOR_LABELS.iter().any(|(_, name)| counts.contains_key(&source("interrupt", name))), "{counts:?}");
        assert!(counts.contains_key(&source("soft interrupt", "timer")), "{counts:?}");
    }
}
