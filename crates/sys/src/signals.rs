//! Receives signals as bytes in a pipe, while a session is recorded. Afterwards the former handlers are in place again.

use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::io;
use rustix::pipe::{PipeFlags, pipe_with};
use std::sync::atomic::{AtomicI32, Ordering};

/// The signal for a new size of the terminal's window.
pub const WINDOW_SIGNAL_ID: i32 = libc::SIGWINCH;

/// The signals that are listened to: the window's size, and those that ask a process to end.
const SIGNALS: [i32; 5] = [WINDOW_SIGNAL_ID, libc::SIGTERM, libc::SIGHUP, libc::SIGINT, libc::SIGQUIT];

/// Descriptor to which the handler writes; -1 while no recording listens.
static PIPE_FD: AtomicI32 = AtomicI32::new(-1);

extern "C" fn write_signal(signal: libc::c_int) {
    let byte = signal as u8;
    // SAFETY: write and errno are safe in a handler, the pipe is not blocking, and errno is given back.
    unsafe {
        let errno = *libc::__errno_location();
        libc::write(PIPE_FD.load(Ordering::Relaxed), (&raw const byte).cast(), 1);
        *libc::__errno_location() = errno;
    }
}

/// Receives the signals until it is dropped. A process can have only one value of this type at a time.
pub struct Signals {
    reader: OwnedFd,
    _writer: OwnedFd,
    before: [libc::sigaction; SIGNALS.len()],
}

impl Signals {
    /// Begins to listen.
    ///
    /// # Errors
    /// No pipe can be made, or another recording already listens.
    pub fn listen() -> io::Result<Signals> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        if PIPE_FD.compare_exchange(-1, writer.as_raw_fd(), Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return Err(io::Errno::BUSY);
        }
        let before = SIGNALS.map(|signal| replace(signal, &writing_action()));
        Ok(Signals { reader, _writer: writer, before })
    }

    /// Descriptor that is readable when a signal has arrived.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }

    /// Removes and returns the signals that have arrived.
    pub fn take(&self) -> Vec<i32> {
        let mut bytes = [0u8; 64];
        let count = io::read(&self.reader, &mut bytes).unwrap_or(0);
        bytes[..count].iter().map(|byte| i32::from(*byte)).collect()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for (signal, action) in SIGNALS.iter().zip(&self.before) {
            replace(*signal, action);
        }
        PIPE_FD.store(-1, Ordering::Release);
    }
}

fn writing_action() -> libc::sigaction {
    // SAFETY: all zeroes is a valid sigaction: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = write_signal as *const () as usize;
    action.sa_flags = libc::SA_RESTART;
    action
}

/// Sets the action of `signal` and returns the previous one.
fn replace(signal: i32, action: &libc::sigaction) -> libc::sigaction {
    // SAFETY: both pointers are to valid sigactions; the handler touches only what a handler may.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        let answer = libc::sigaction(signal, action, &raw mut before);
        assert_eq!(answer, 0, "the signal exists and may be handled");
        before
    }
}
