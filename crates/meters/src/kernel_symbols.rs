//! Parses the kernel's list of its symbols, `/proc/kallsyms`, whose lines are in the order of their addresses.

use crate::refusal::MeterRefusal;
use std::fs;

/// File with the list.
pub(crate) const KALLSYMS_PATH: &str = "/proc/kallsyms";

/// A symbol of the kernel or of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Symbol<'a> {
    /// The address; 0 if the kernel hides it.
    pub address: u64,
    /// The type's letter, as of `nm`.
    pub kind: &'a str,
    /// The name.
    pub name: &'a str,
}

impl Symbol<'_> {
    /// Parses a line; None if it holds no symbol.
    pub fn from_line(line: &str) -> Option<Symbol<'_>> {
        let mut words = line.split_ascii_whitespace();
        let (address, kind, name) = (words.next()?, words.next()?, words.next()?);
        Some(Symbol { address: u64::from_str_radix(address, 16).unwrap_or(0), kind, name })
    }

    /// Whether the symbol is code.
    pub(crate) fn is_function(&self) -> bool {
        matches!(self.kind, "t" | "T" | "w" | "W" | "i")
    }
}

/// Why the kernel hides its addresses, with the remedy. With `kernel.kptr_restrict` 0 and 1 root sees them, with 2 no process does.
pub(crate) fn hidden_addresses() -> MeterRefusal {
    hidden_at(fs::read_to_string("/proc/sys/kernel/kptr_restrict").unwrap_or_default().trim())
}

fn hidden_at(restrict: &str) -> MeterRefusal {
    match restrict {
        "0" | "1" => "the kernel tells the addresses of its functions to root only, or with CAP_SYSLOG".into(),
        _ => MeterRefusal::new("the kernel hides the addresses of its functions").with_remedy("sysctl kernel.kptr_restrict=1"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sysctl_is_the_remedy_only_where_it_hides_from_root() {
        for restrict in ["0", "1"] {
            let reason = hidden_at(restrict).to_string();
            assert!(reason.contains("CAP_SYSLOG") && !reason.contains("kptr_restrict"), "{reason}");
        }
        assert!(hidden_at("2").to_string().ends_with("sysctl kernel.kptr_restrict=1"));
    }
}
