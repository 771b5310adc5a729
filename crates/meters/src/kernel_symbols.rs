//! The kernel's own list of its symbols, `/proc/kallsyms`, line by line in the order of their addresses.

use std::fs;

/// Where the list is.
pub(crate) const PATH: &str = "/proc/kallsyms";

/// A symbol of the kernel or of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Symbol<'a> {
    /// Its address; 0 where the kernel hides it.
    pub address: u64,
    /// Its type, a letter as `nm` has it.
    pub kind: &'a str,
    /// Its name.
    pub name: &'a str,
}

impl Symbol<'_> {
    /// The symbol of a line; `None` when it is none.
    pub fn of_line(line: &str) -> Option<Symbol<'_>> {
        let mut words = line.split_ascii_whitespace();
        let (address, kind, name) = (words.next()?, words.next()?, words.next()?);
        Some(Symbol { address: u64::from_str_radix(address, 16).unwrap_or(0), kind, name })
    }

    /// Whether it is code.
    pub(crate) fn is_function(&self) -> bool {
        matches!(self.kind, "t" | "T" | "w" | "W" | "i")
    }
}

/// Why the addresses are zeros, and the remedy: at `kernel.kptr_restrict` 0 and 1 privilege decides, at 2 nobody sees them.
pub(crate) fn hidden_addresses_reason() -> String {
    hidden_at(fs::read_to_string("/proc/sys/kernel/kptr_restrict").unwrap_or_default().trim())
}

fn hidden_at(restrict: &str) -> String {
    match restrict {
        "0" | "1" => "the kernel tells the addresses of its functions to root only, or with CAP_SYSLOG".into(),
        _ => "the kernel hides the addresses of its functions: sysctl kernel.kptr_restrict=1".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sysctl_is_the_remedy_only_where_it_hides_from_root() {
        for restrict in ["0", "1"] {
            let why = hidden_at(restrict);
            assert!(why.contains("CAP_SYSLOG") && !why.contains("kptr_restrict"), "{why}");
        }
        assert!(hidden_at("2").ends_with("sysctl kernel.kptr_restrict=1"));
    }
}
