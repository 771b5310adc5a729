//! The kernel's functions by address, with the activity that each shows on a stack.

use crate::kernel_symbols::{KALLSYMS_PATH, Symbol, hidden_addresses};
use crate::refusal::MeterRefusal;
use crate::shares::SampledActivity;
use std::fs::File;
use std::io::{self, BufRead, BufReader};

/// The kernel's functions, in the order of their addresses.
#[derive(Default)]
pub(crate) struct Kallsyms {
    /// The activity that the functions from each address on show, if any. There is an entry only where the activity changes.
    activities: Vec<(u64, Option<SampledActivity>)>,
    /// Each function's address, and the offset of its name in `names`; empty if names are not wanted.
    functions: Vec<(u64, u32)>,
    names: String,
}

impl Kallsyms {
    /// Reads `/proc/kallsyms`: about 200 000 lines in a twentieth of a second. With `names`, keeps the names too, which take 6 MB.
    ///
    /// # Errors
    /// The kernel hides its addresses.
    pub fn read(names: bool) -> Result<Kallsyms, MeterRefusal> {
        let refused = |error: io::Error| MeterRefusal::from((KALLSYMS_PATH, error));
        let lines = BufReader::new(File::open(KALLSYMS_PATH).map_err(refused)?).lines();
        let kallsyms = Kallsyms::parse(lines, names).map_err(refused)?;
        if kallsyms.activities.is_empty() {
            return Err(hidden_addresses());
        }
        Ok(kallsyms)
    }

    fn parse(lines: impl Iterator<Item = io::Result<String>>, names: bool) -> io::Result<Kallsyms> {
        let mut kallsyms = Kallsyms::default();
        for line in lines {
            let line = line?;
            let Some(symbol) = Symbol::from_line(&line).filter(|symbol| symbol.address != 0 && symbol.is_function()) else {
                continue;
            };
            kallsyms.activities.push((symbol.address, activity_of(symbol.name)));
            if names {
                kallsyms.functions.push((symbol.address, kallsyms.names.len() as u32));
                kallsyms.names.push_str(symbol.name);
                kallsyms.names.push('\n');
            }
        }
        kallsyms.functions.sort_by_key(|function| function.0);
        kallsyms.activities.sort_by_key(|activity| activity.0);
        kallsyms.activities.dedup_by_key(|activity| activity.1);
        kallsyms.activities.shrink_to_fit();
        Ok(kallsyms)
    }

    /// The activities by address, as the kernel programs search them: see `struct functions`.
    pub fn activity_words(&self) -> impl Iterator<Item = u64> {
        self.activities.iter().map(|(address, activity)| address << 8 | activity.map_or(0, SampledActivity::number))
    }

    /// The address of the function that contains `address`.
    pub(crate) fn function(&self, address: u64) -> Option<u64> {
        Some(last_before(&self.functions, address)?.0)
    }

    /// The name of the function that contains `address`.
    pub fn name(&self, address: u64) -> Option<&str> {
        let start = last_before(&self.functions, address)?.1 as usize;
        self.names[start..].split('\n').next()
    }

    /// The activity of a processor with the function at `address` on its stack; None if the function shows none.
    pub fn activity(&self, address: u64) -> Option<SampledActivity> {
        last_before(&self.activities, address)?.1
    }
}

/// The last entry at an address or before it.
fn last_before<T>(entries: &[(u64, T)], address: u64) -> Option<&(u64, T)> {
    let after = entries.partition_point(|entry| entry.0 <= address);
    entries[..after].last()
}

/// The activity that a function's name shows, on x86-64 and arm64, in kernels 5.15 to 6.18.
fn activity_of(name: &str) -> Option<SampledActivity> {
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    Some(match name {
        "schedule" | "schedule_idle" | "schedule_tail" => SampledActivity::Getwork,
        _ if begins(&["__schedule", "preempt_schedule", "finish_task_switch"]) => SampledActivity::Getwork,
        "exc_page_fault" | "asm_exc_page_fault" | "do_user_addr_fault" | "handle_mm_fault" => SampledActivity::PageFault,
        "do_page_fault" | "do_mem_abort" | "el0_da" | "el0_ia" | "el1_abort" => SampledActivity::PageFault,
        "__do_softirq" | "handle_softirqs" | "do_softirq" | "run_ksoftirqd" => SampledActivity::SoftInterrupt,
        "common_interrupt" | "asm_common_interrupt" | "irq_exit_rcu" | "__irq_exit_rcu" => SampledActivity::Interrupt,
        "el0_interrupt" | "el1_interrupt" | "gic_handle_irq" | "handle_irq_event" => SampledActivity::Interrupt,
        _ if begins(&["sysvec_", "asm_sysvec_", "__sysvec_"]) => SampledActivity::Interrupt,
        "do_syscall_64" | "x64_sys_call" | "el0_svc" | "do_el0_svc" | "invoke_syscall" => SampledActivity::Primitive,
        _ if begins(&["entry_SYSCALL_", "__x64_sys_", "__arm64_sys_", "__ia32_sys_", "do_int80", "do_fast_syscall"]) => {
            SampledActivity::Primitive
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str, names: bool) -> Kallsyms {
        Kallsyms::parse(text.lines().map(|line| Ok(line.to_string())), names).expect("lines")
    }

    const LIST: &str = "ffffffff81000100 T do_syscall_64\nffffffff81000000 t schedule\nffffffff81000050 D jiffies\n\
                        ffffffffc0000000 t bpf_prog_1\t[bpf]\n";

    #[test]
    fn an_address_is_in_the_function_that_begins_last_before_it() {
        let kallsyms = parsed(LIST, true);
        assert_eq!(kallsyms.name(0xffffffff81000060), Some("schedule"));
        assert_eq!(kallsyms.name(0xffffffff81000100), Some("do_syscall_64"));
        assert_eq!(kallsyms.name(0xffffffffc0000010), Some("bpf_prog_1"));
        assert_eq!(kallsyms.name(0xffffffff80000000), None);
    }

    #[test]
    fn functions_show_activities_with_names_and_without() {
        for names in [true, false] {
            let kallsyms = parsed(LIST, names);
            assert_eq!(kallsyms.activity(0xffffffff81000001), Some(SampledActivity::Getwork));
            assert_eq!(kallsyms.activity(0xffffffff81000101), Some(SampledActivity::Primitive));
            assert_eq!(kallsyms.activity(0xffffffffc0000010), None);
        }
    }

    #[test]
    fn addresses_that_are_hidden_are_no_functions() {
        assert!(parsed("0000000000000000 T do_syscall_64\n", true).activities.is_empty());
    }
}
