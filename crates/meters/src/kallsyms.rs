//! The kernel's functions by address, and what each says of a stack that it is on.

use std::fs;

/// What a function on a stack says of what the processor is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Nothing.
    Nothing,
    /// Another task is being chosen or switched to.
    Getwork,
    /// A page fault is handled.
    PageFault,
    /// A device's interrupt is handled.
    Interrupt,
    /// What an interrupt left to be done.
    SoftInterrupt,
    /// A user's program asked for something.
    Primitive,
}

/// The kernel's functions, in the order of their addresses.
pub(crate) struct Kallsyms {
    symbols: Vec<(u64, u32, Mark)>,
    names: String,
}

impl Kallsyms {
    /// Reads `/proc/kallsyms`: about 200 000 lines, a twentieth of a second.
    ///
    /// # Errors
    /// In words, where the kernel hides its addresses.
    pub fn read() -> Result<Kallsyms, String> {
        let text = fs::read_to_string("/proc/kallsyms").map_err(|error| format!("/proc/kallsyms: {error}"))?;
        let kallsyms = Kallsyms::parse(&text);
        if kallsyms.symbols.is_empty() {
            return Err(hidden());
        }
        Ok(kallsyms)
    }

    fn parse(text: &str) -> Kallsyms {
        let mut kallsyms = Kallsyms { symbols: Vec::new(), names: String::new() };
        for line in text.lines() {
            let mut words = line.split_ascii_whitespace();
            let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next()) else { continue };
            let address = u64::from_str_radix(address, 16).unwrap_or(0);
            if address != 0 && matches!(kind, "t" | "T" | "w" | "W" | "i") {
                kallsyms.symbols.push((address, kallsyms.names.len() as u32, mark_of(name)));
                kallsyms.names.push_str(name);
                kallsyms.names.push('\n');
            }
        }
        kallsyms.symbols.sort_by_key(|symbol| symbol.0);
        kallsyms
    }

    /// The function that an address is in: its own address, which names it from then on.
    pub fn function(&self, address: u64) -> Option<u64> {
        self.at(address).map(|symbol| symbol.0)
    }

    /// The name of the function that an address is in.
    pub fn name(&self, address: u64) -> Option<&str> {
        let start = self.at(address)?.1 as usize;
        self.names[start..].split('\n').next()
    }

    /// What the function that an address is in says.
    pub fn mark(&self, address: u64) -> Mark {
        self.at(address).map_or(Mark::Nothing, |symbol| symbol.2)
    }

    fn at(&self, address: u64) -> Option<&(u64, u32, Mark)> {
        let after = self.symbols.partition_point(|symbol| symbol.0 <= address);
        self.symbols.get(after.checked_sub(1)?)
    }
}

/// Why the addresses are zeros, and the remedy: at `kernel.kptr_restrict` 0 and 1 privilege decides, at 2 nobody sees them.
pub(crate) fn hidden() -> String {
    hidden_at(fs::read_to_string("/proc/sys/kernel/kptr_restrict").unwrap_or_default().trim())
}

fn hidden_at(restrict: &str) -> String {
    match restrict {
        "0" | "1" => "the kernel tells the addresses of its functions to root only, or with CAP_SYSLOG".into(),
        _ => "the kernel hides the addresses of its functions: sysctl kernel.kptr_restrict=1".into(),
    }
}

/// By name, on x86-64 and arm64, kernels 5.15 to 6.18. The innermost function with a mark decides for a stack.
fn mark_of(name: &str) -> Mark {
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    match name {
        "schedule" | "schedule_idle" | "schedule_tail" => Mark::Getwork,
        _ if begins(&["__schedule", "preempt_schedule", "finish_task_switch"]) => Mark::Getwork,
        "exc_page_fault" | "asm_exc_page_fault" | "do_user_addr_fault" | "handle_mm_fault" => Mark::PageFault,
        "do_page_fault" | "do_mem_abort" | "el0_da" | "el0_ia" | "el1_abort" => Mark::PageFault,
        "__do_softirq" | "handle_softirqs" | "do_softirq" | "run_ksoftirqd" => Mark::SoftInterrupt,
        "common_interrupt" | "asm_common_interrupt" | "irq_exit_rcu" | "__irq_exit_rcu" => Mark::Interrupt,
        "el0_interrupt" | "el1_interrupt" | "gic_handle_irq" | "handle_irq_event" => Mark::Interrupt,
        _ if begins(&["sysvec_", "asm_sysvec_", "__sysvec_"]) => Mark::Interrupt,
        "do_syscall_64" | "x64_sys_call" | "el0_svc" | "do_el0_svc" | "invoke_syscall" => Mark::Primitive,
        _ if begins(&["entry_SYSCALL_", "__x64_sys_", "__arm64_sys_", "__ia32_sys_", "do_int80", "do_fast_syscall"]) => {
            Mark::Primitive
        }
        _ => Mark::Nothing,
    }
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
        assert_eq!(kallsyms.mark(0xffffffff81000001), Mark::Getwork);
        assert_eq!(kallsyms.mark(0xffffffff81000101), Mark::Primitive);
    }

    #[test]
    fn the_sysctl_is_the_remedy_only_where_it_hides_from_root() {
        for restrict in ["0", "1"] {
            let why = hidden_at(restrict);
            assert!(why.contains("CAP_SYSLOG") && !why.contains("kptr_restrict"), "{why}");
        }
        assert!(hidden_at("2").ends_with("sysctl kernel.kptr_restrict=1"));
    }

    #[test]
    fn addresses_that_are_hidden_are_no_functions() {
        assert!(Kallsyms::parse("0000000000000000 T do_syscall_64\n").symbols.is_empty());
    }
}
