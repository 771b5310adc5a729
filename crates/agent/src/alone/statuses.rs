//! Exit statuses that are not the command's own: those of loadgo, and a shell's.

use loadgo_sys::child::Exit;

/// The work could not be done.
pub(super) const COULD_NOT_RUN_STATUS: u8 = 2;
/// The program does not exist.
pub(super) const MISSING_STATUS: u8 = 127;
/// The program may not be run.
pub(super) const NOT_RUN_STATUS: u8 = 126;
/// The number that a shell adds to the signal that has ended a command.
pub(super) const SIGNAL_STATUS: i32 = 128;

/// The exit status of a command that has ended.
pub(super) fn status_of(exit: &Exit) -> u8 {
    match exit {
        Exit::Status(status) => *status as u8,
        Exit::Signal(signal) => (SIGNAL_STATUS + signal) as u8,
    }
}
