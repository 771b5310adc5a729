//! Interrupts as the kernel itself counts them, by source and processor: `/proc/interrupts` and `/proc/softirqs`.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Which source: a kind of the table `faults`, and a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Source {
    pub kind: &'static str,
    pub name: Arc<str>,
}

/// Soft interrupts, in the order of the kernel's `softirq_to_name`.
pub(crate) const SOFT: [&str; 16] =
    ["high", "timer", "net-tx", "net-rx", "block", "poll", "tasklet", "sched", "hrtimer", "rcu", "", "", "", "", "", ""];

/// Interrupts of each source by the number of the processor that took them; counts wrap at 2^32, as the kernel's own do.
pub(crate) type Counts = BTreeMap<Source, Vec<u32>>;

/// The kernel's labels of interrupts without a device that the meters have programs for. It does not tell one kind of function
/// call from the other.
const LABELS: &[(&str, &str)] = if cfg!(target_arch = "x86_64") {
    &[("LOC", "local timer"), ("RES", "rescheduling"), ("CAL", "function call"), ("IWI", "work")]
} else {
    &[("IPI", "between processors")] // IPI0, IPI1 …: one for each reason
};

/// Soft interrupts in the kernel's words, in the order of [`SOFT`].
const SOFT_LABELS: [&str; 10] = ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];

/// The source under which the kernel counts what the meters call `source`.
pub(crate) fn source_of(source: &Source) -> Source {
    match &*source.name {
        "single function call" => Source { kind: source.kind, name: "function call".into() },
        _ => source.clone(),
    }
}

/// Where the kernel shows its interrupts.
pub(crate) const HARD: &str = "/proc/interrupts";

/// Whether it does: containers may hide them.
pub(crate) fn are_shown() -> bool {
    std::fs::read_to_string(HARD).is_ok_and(|table| !table.is_empty())
}

/// Reads both tables; `name_of` names the device of an interrupt's number.
///
/// # Errors
/// In words, when the kernel does not show them.
pub(crate) fn read(processors: u32, name_of: impl FnMut(u32) -> Arc<str>) -> Result<Counts, String> {
    let text = |path| std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"));
    let mut counts = Counts::new();
    add_hard(&text(HARD)?, processors, name_of, &mut counts);
    add_soft(&text("/proc/softirqs")?, processors, &mut counts);
    Ok(counts)
}

fn add_hard(table: &str, processors: u32, mut name_of: impl FnMut(u32) -> Arc<str>, counts: &mut Counts) {
    add_lines(table, processors, counts, |label| {
        let name = match label.parse() {
            Ok(number) => name_of(number),
            Err(_) => {
                let kind =
                    if cfg!(target_arch = "x86_64") { label } else { label.trim_end_matches(|c: char| c.is_ascii_digit()) };
                LABELS.iter().find(|(kernels, _)| *kernels == kind)?.1.into()
            }
        };
        Some(Source { kind: "interrupt", name })
    });
}

fn add_soft(table: &str, processors: u32, counts: &mut Counts) {
    add_lines(table, processors, counts, |label| {
        let place = SOFT_LABELS.iter().position(|kernels| *kernels == label)?;
        Some(Source { kind: "soft interrupt", name: SOFT[place].into() })
    });
}

/// Adds the lines of a table whose label is of a source. The head names the processors that are online.
fn add_lines(table: &str, processors: u32, counts: &mut Counts, mut source_of: impl FnMut(&str) -> Option<Source>) {
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

    fn source(kind: &'static str, name: &str) -> Source {
        Source { kind, name: name.into() }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_line_is_counted_on_the_processors_that_the_head_names() {
        let table = "           CPU0       CPU2       \n 24:  1  7  IO-APIC   5-edge      ACPI:Ged\n 25:  2  0  IO-APIC\n\
                     LOC:    1575832    4294967295   Local timer interrupts\nNMI: 1 1 Non-maskable\nERR:          0\n";
        let mut counts = Counts::new();
        add_hard(table, 3, |_| "disk".into(), &mut counts);
        assert_eq!(
            counts,
            Counts::from([
                (source("interrupt", "disk"), vec![3, 0, 7]),
                (source("interrupt", "local timer"), vec![1_575_832, 0, u32::MAX])
            ])
        );
    }

    #[test]
    fn soft_interrupts_have_the_meters_names() {
        let mut counts = Counts::new();
        add_soft("  CPU0  CPU1\n   IRQ_POLL:  3  4\n  RCU: 5 6\n  NEW: 1 1\n", 2, &mut counts);
        assert_eq!(
            counts,
            Counts::from([(source("soft interrupt", "poll"), vec![3, 4]), (source("soft interrupt", "rcu"), vec![5, 6])])
        );
    }

    #[test]
    fn this_kernel_shows_its_clock_or_its_interrupts_between_processors() {
        let counts =
            read(aya::util::nr_cpus().expect("the kernel tells") as u32, |number| number.to_string().into()).expect("read");
        assert!(LABELS.iter().any(|(_, name)| counts.contains_key(&source("interrupt", name))), "{counts:?}");
        assert!(counts.contains_key(&source("soft interrupt", "timer")), "{counts:?}");
    }
}
