//! Where some of the kernel's functions are, by which its programs know them on a stack.

use crate::kernel_symbols::{PATH, Symbol};
use std::fs::File;
use std::io::{BufRead, BufReader};

/// From its first byte to the next function's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Range {
    /// 0: not known.
    pub begins: u64,
    /// 0: not known.
    pub ends: u64,
}

/// What tells a wait for a page from one for storage, and one for memory from both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Addresses {
    /// Every page fault goes through it.
    pub fault: Range,
    /// Whoever is over `memory.high` sleeps in it.
    pub high: Range,
}

const FAULT: &str = "handle_mm_fault";
const HIGH: [&str; 2] = ["mem_cgroup_handle_over_high", "__mem_cgroup_handle_over_high"]; // since 6.9 the second

impl Addresses {
    /// From `/proc/kallsyms`; nothing where the kernel hides them.
    pub fn read() -> Addresses {
        File::open(PATH).map_or_else(|_| Addresses::default(), |file| Addresses::find(BufReader::new(file)))
    }

    fn find(symbols: impl BufRead) -> Addresses {
        let mut found = Addresses::default();
        for line in symbols.lines().map_while(Result::ok) {
            let Some(Symbol { address, name, .. }) = Symbol::of_line(&line) else { continue };
            found.fault.meets(address, name == FAULT);
            found.high.meets(address, HIGH.contains(&name));
            if found.fault.ends != 0 && found.high.ends != 0 {
                break;
            }
        }
        found
    }
}

impl Range {
    /// The symbols come in the order of their addresses.
    fn meets(&mut self, address: u64, is_it: bool) {
        if is_it {
            self.begins = address;
        } else if self.begins != 0 && self.ends == 0 && address > self.begins {
            self.ends = address;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_ends_where_the_next_begins() {
        let symbols = "ffff10 T a\nffff20 T handle_mm_fault\nffff20 T an_alias\nffff90 t b\nffffa0 T __mem_cgroup_handle_over_high\nffffb0 T c\nffffc0 T d\n";
        let found = Addresses::find(symbols.as_bytes());
        assert_eq!(
            found,
            Addresses { fault: Range { begins: 0xffff20, ends: 0xffff90 }, high: Range { begins: 0xffffa0, ends: 0xffffb0 } }
        );
    }

    #[test]
    fn hidden_addresses_are_not_known() {
        assert_eq!(Addresses::find("0 T handle_mm_fault\n0 T next\n".as_bytes()), Addresses::default());
    }
}
