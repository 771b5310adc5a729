//! Addresses of kernel functions that the kernel programs recognise on a stack.

use crate::kernel_symbols::{KALLSYMS_PATH, Symbol};
use std::fs::File;
use std::io::{BufRead, BufReader};

/// The addresses of a function, up to the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AddressRange {
    /// The first address; 0 if not known.
    pub begins: u64,
    /// The next function's address; 0 if not known.
    pub ends: u64,
}

/// Functions that distinguish waits: for a page, for memory, or otherwise for storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Addresses {
    /// The function of every page fault.
    pub fault: AddressRange,
    /// The function in which processes over `memory.high` sleep.
    pub high: AddressRange,
    /// The functions that sleep for a lock, and the scheduler's.
    pub sleeping: AddressRange,
}

const FAULT_FUNCTION: &str = "handle_mm_fault";
const HIGH_FUNCTIONS: [&str; 2] = ["mem_cgroup_handle_over_high", "__mem_cgroup_handle_over_high"]; // the second since Linux 6.9

impl Addresses {
    /// Reads `/proc/kallsyms`; 0 where the kernel hides addresses.
    pub fn read() -> Addresses {
        File::open(KALLSYMS_PATH).map_or_else(|_| Addresses::default(), |file| Addresses::find(BufReader::new(file)))
    }

    fn find(symbols: impl BufRead) -> Addresses {
        let mut addresses = Addresses::default();
        for line in symbols.lines().map_while(Result::ok) {
            let Some(Symbol { address, name, .. }) = Symbol::from_line(&line) else { continue };
            addresses.fault.add_symbol(address, name == FAULT_FUNCTION);
            addresses.high.add_symbol(address, HIGH_FUNCTIONS.contains(&name));
            addresses.sleeping.add_bound(address, name, "__sched_text");
            if addresses.all().iter().all(|range| range.ends != 0) {
                break;
            }
        }
        addresses
    }

    fn all(&self) -> [AddressRange; 3] {
        [self.fault, self.high, self.sleeping]
    }
}

impl AddressRange {
    /// Notes the symbol `name` if it bounds the section of functions called `section`.
    fn add_bound(&mut self, address: u64, name: &str, section: &str) {
        match name.strip_prefix(section) {
            Some("_start") => self.begins = address,
            Some("_end") => self.ends = address,
            _ => {}
        }
    }

    /// Notes the next symbol in the order of addresses; `is_function` if it is the function itself.
    fn add_symbol(&mut self, address: u64, is_function: bool) {
        if is_function {
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
        let addresses = Addresses::find(symbols.as_bytes());
        assert_eq!(
            addresses,
            Addresses {
                fault: AddressRange { begins: 0xffff20, ends: 0xffff90 },
                high: AddressRange { begins: 0xffffa0, ends: 0xffffb0 },
                ..Addresses::default()
            }
        );
    }

    #[test]
    fn a_section_of_functions_ends_where_its_last_symbol_says() {
        let symbols = "ff10 T __sched_text_start\nff10 T mutex_lock\nff50 T __sched_text_end\nff60 T next\n";
        let addresses = Addresses::find(symbols.as_bytes());
        assert_eq!(addresses.sleeping, AddressRange { begins: 0xff10, ends: 0xff50 });
    }

    #[test]
    fn hidden_addresses_are_not_known() {
        assert_eq!(Addresses::find("0 T handle_mm_fault\n0 T next\n".as_bytes()), Addresses::default());
    }
}
