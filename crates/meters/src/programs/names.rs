//! What primitives are called: the names of this processor's system calls, by number.

use std::sync::Arc;
use syscalls::Sysno;

/// How many numbers the kernel's half tells apart, `PRIMITIVES` in `bpf/meters/calls.h`; the last stands for all that are higher.
pub const PRIMITIVES: usize = 512;

/// The call that grows the heap.
pub(crate) const BRK: u32 = Sysno::brk as u32;

/// The call that returns from a signal's handler.
pub(crate) const SIGRETURN: u32 = Sysno::rt_sigreturn as u32;

/// The names of all numbers: `call 500` where the call is younger than this program; the last is `other`, which is what
/// 32-bit programs call too.
pub fn names() -> Vec<Arc<str>> {
    let last = PRIMITIVES - 1;
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
        assert_eq!(names().len(), PRIMITIVES);
        assert_eq!(&*names()[Sysno::getppid as usize], "getppid");
        assert_eq!(&*names()[510], "call 510");
        assert_eq!(&*names()[511], "other");
    }

    #[test]
    fn two_numbers_never_share_a_name() {
        let mut sorted = names();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), PRIMITIVES);
    }
}
