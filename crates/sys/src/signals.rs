//! Signals as bytes in a pipe, while a person's session is recorded; afterwards they are handled as before.

use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::io;
use rustix::pipe::{PipeFlags, pipe_with};
use std::sync::atomic::{AtomicI32, Ordering};

/// The signal that tells of a new size of the terminal's window.
pub const WINDOW_CHANGED: i32 = libc::SIGWINCH;

/// The signals that matter: the window's size, and whatever asks a process to end.
const SIGNALS: [i32; 5] = [WINDOW_CHANGED, libc::SIGTERM, libc::SIGHUP, libc::SIGINT, libc::SIGQUIT];

/// Where the handler writes; -1 while nobody listens.
static PIPE: AtomicI32 = AtomicI32::new(-1);

extern "C" fn tell(signal: libc::c_int) {
    let byte = signal as u8;
    // SAFETY: write and errno are safe in a handler, the pipe is not blocking, and errno is given back.
    unsafe {
        let errno = *libc::__errno_location();
        libc::write(PIPE.load(Ordering::Relaxed), (&raw const byte).cast(), 1);
        *libc::__errno_location() = errno;
    }
}

/// Listens to the signals until it is dropped. One at a time in a process.
pub struct Signals {
    reader: OwnedFd,
    _writer: OwnedFd,
    before: [libc::sigaction; SIGNALS.len()],
}

impl Signals {
    /// Begins to listen.
    ///
    /// # Errors
    /// No pipe is to be had, or another recording already listens.
    pub fn listen() -> io::Result<Signals> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        if PIPE.compare_exchange(-1, writer.as_raw_fd(), Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return Err(io::Errno::BUSY);
        }
        let before = SIGNALS.map(|signal| replace(signal, &telling()));
        Ok(Signals { reader, _writer: writer, before })
    }

    /// Readable when a signal has come.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }

    /// The signals that have come since.
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
        PIPE.store(-1, Ordering::Release);
    }
}

fn telling() -> libc::sigaction {
    // SAFETY: all zeroes is a valid sigaction: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = tell as *const () as usize;
    action.sa_flags = libc::SA_RESTART;
    action
}

/// Handles `signal` by `action`; how it was handled before.
fn replace(signal: i32, action: &libc::sigaction) -> libc::sigaction {
    // SAFETY: both pointers are to valid sigactions; the handler touches only what a handler may.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        let answer = libc::sigaction(signal, action, &raw mut before);
        assert_eq!(answer, 0, "the signal exists and may be handled");
        before
    }
}
