//! The kernel's functions by address, and what each says of a stack that it is on.

use crate::kernel_symbols::{PATH, Symbol, hidden};
use crate::shares::Doing;
use std::fs;

/// The kernel's functions, in the order of their addresses.
pub(crate) struct Kallsyms {
    symbols: Vec<(u64, u32, Option<Doing>)>,
    names: String,
}

impl Kallsyms {
    /// Reads `/proc/kallsyms`: about 200 000 lines, a twentieth of a second.
    ///
    /// # Errors
    /// In words, where the kernel hides its addresses.
    pub fn read() -> Result<Kallsyms, String> {
        let text = fs::read_to_string(PATH).map_err(|error| format!("{PATH}: {error}"))?;
        let kallsyms = Kallsyms::parse(&text);
        if kallsyms.symbols.is_empty() {
            return Err(hidden());
        }
        Ok(kallsyms)
    }

    fn parse(text: &str) -> Kallsyms {
        let mut kallsyms = Kallsyms { symbols: Vec::new(), names: String::new() };
        for symbol in text.lines().filter_map(Symbol::of_line) {
            if symbol.address != 0 && symbol.is_function() {
                kallsyms.symbols.push((symbol.address, kallsyms.names.len() as u32, doing_in(symbol.name)));
                kallsyms.names.push_str(symbol.name);
                kallsyms.names.push('\n');
            }
        }
        kallsyms.symbols.sort_by_key(|symbol| symbol.0);
        kallsyms
    }

    /// The function that an address is in: its own address, which names it from then on.
    pub(crate) fn function(&self, address: u64) -> Option<u64> {
        self.at(address).map(|symbol| symbol.0)
    }

    /// The name of the function that an address is in.
    pub fn name(&self, address: u64) -> Option<&str> {
        let start = self.at(address)?.1 as usize;
        self.names[start..].split('\n').next()
    }

    /// What a processor does that has the function at this address on its stack, where the function says it.
    pub fn doing(&self, address: u64) -> Option<Doing> {
        self.at(address)?.2
    }

    fn at(&self, address: u64) -> Option<&(u64, u32, Option<Doing>)> {
        let after = self.symbols.partition_point(|symbol| symbol.0 <= address);
        self.symbols.get(after.checked_sub(1)?)
    }
}

/// By name, on x86-64 and arm64, kernels 5.15 to 6.18. The innermost function that says something decides for a stack.
fn doing_in(name: &str) -> Option<Doing> {
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    Some(match name {
        "schedule" | "schedule_idle" | "schedule_tail" => Doing::Getwork,
        _ if begins(&["__schedule", "preempt_schedule", "finish_task_switch"]) => Doing::Getwork,
        "exc_page_fault" | "asm_exc_page_fault" | "do_user_addr_fault" | "handle_mm_fault" => Doing::PageFault,
        "do_page_fault" | "do_mem_abort" | "el0_da" | "el0_ia" | "el1_abort" => Doing::PageFault,
        "__do_softirq" | "handle_softirqs" | "do_softirq" | "run_ksoftirqd" => Doing::SoftInterrupt,
        "common_interrupt" | "asm_common_interrupt" | "irq_exit_rcu" | "__irq_exit_rcu" => Doing::Interrupt,
        "el0_interrupt" | "el1_interrupt" | "gic_handle_irq" | "handle_irq_event" => Doing::Interrupt,
        _ if begins(&["sysvec_", "asm_sysvec_", "__sysvec_"]) => Doing::Interrupt,
        "do_syscall_64" | "x64_sys_call" | "el0_svc" | "do_el0_svc" | "invoke_syscall" => Doing::Primitive,
        _ if begins(&["entry_SYSCALL_", "__x64_sys_", "__arm64_sys_", "__ia32_sys_", "do_int80", "do_fast_syscall"]) => {
            Doing::Primitive
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_in_the_function_that_begins_last_before_it() {
        let kallsyms = Kallsyms::parse(
            "ffffffff81000100 T do_syscall_64\nffffffff81000000 t schedule\nffffffff81000050 D jiffies\n\
             ffffffffc0000000 t bpf_prog_1\t[bpf]\n",
        );
        assert_eq!(kallsyms.name(0xffffffff81000060), Some("schedule"));
        assert_eq!(kallsyms.name(0xffffffff81000100), Some("do_syscall_64"));
        assert_eq!(kallsyms.name(0xffffffffc0000010), Some("bpf_prog_1"));
        assert_eq!(kallsyms.name(0xffffffff80000000), None);
        assert_eq!(kallsyms.doing(0xffffffff81000001), Some(Doing::Getwork));
        assert_eq!(kallsyms.doing(0xffffffff81000101), Some(Doing::Primitive));
    }

    #[test]
    fn addresses_that_are_hidden_are_no_functions() {
        assert!(Kallsyms::parse("0000000000000000 T do_syscall_64\n").symbols.is_empty());
    }
}
