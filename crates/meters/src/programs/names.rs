//! Names of this processor's system calls, by number.

use std::sync::Arc;
use syscalls::Sysno;

/// Number of system calls that the kernel programs distinguish (`PRIMITIVES` in `bpf/meters/calls.h`). The last one stands for all
/// calls without a number of their own.
pub const SYSTEM_CALL_NUMBERS: usize = 512;

/// Number of the call that grows the heap.
pub(crate) const BRK_CALL_INDEX: u32 = Sysno::brk as u32;

/// Number of the call that returns from a signal's handler.
pub(crate) const SIGRETURN_CALL_INDEX: u32 = Sysno::rt_sigreturn as u32;

/// The names of all system calls. A call that is newer than loadgo is `call 500`. The last one is `other`, which includes all calls of
/// 32-bit programs.
pub fn call_names() -> Vec<Arc<str>> {
    let last = SYSTEM_CALL_NUMBERS - 1;
    (0..last)
        .map(|number| Sysno::new(number).map_or(format!("call {number}").into(), |call| call.name().into()))
        .chain(["other".into()])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_name() {
        assert_eq!(call_names().len(), SYSTEM_CALL_NUMBERS);
        assert_eq!(&*call_names()[Sysno::getppid as usize], "getppid");
        assert_eq!(&*call_names()[510], "call 510");
        assert_eq!(&*call_names()[511], "other");
    }

    #[test]
    fn two_numbers_never_share_a_name() {
        let mut sorted = call_names();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), SYSTEM_CALL_NUMBERS);
    }
}
