//! Loads kernel programs despite signals: the verifier gives up with EAGAIN when one is pending for the thread (the kernel's
//! kernel/bpf/verifier.c, `do_check`).

use aya::programs::ProgramError;
use loadgo_sys::held_signals::HeldSignals;
use std::io::ErrorKind;

/// Most attempts to load a program. Signals are held back meanwhile, so a further attempt is due to a debugger or to SIGSTOP alone.
const MOST_ATTEMPTS: u32 = 20;

/// Calls `load` with this thread's signals held back, and again if the verifier was interrupted all the same.
///
/// # Errors
/// The last one of `load`.
pub fn load_despite_signals(mut load: impl FnMut() -> Result<(), ProgramError>) -> Result<(), ProgramError> {
    let _held = HeldSignals::of_this_thread();
    for _ in 1..MOST_ATTEMPTS {
        match load() {
            Err(ProgramError::LoadError { io_error, .. }) if io_error.kind() == ErrorKind::WouldBlock => {}
            result => return result,
        }
    }
    load()
}
