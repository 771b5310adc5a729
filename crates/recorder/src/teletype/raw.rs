//! The person's own terminal in raw mode, restored at the end.

use rustix::fd::BorrowedFd;
use rustix::io;
use rustix::termios::{self, LocalModes, OptionalActions, Termios, Winsize};

/// A terminal in raw mode. It gets its former modes back when this is dropped, also by a panic.
pub(crate) struct RawTerminal<'a> {
    terminal: BorrowedFd<'a>,
    before: Termios,
}

impl<'a> RawTerminal<'a> {
    /// Makes `terminal` raw; `None` when it is no terminal.
    ///
    /// # Errors
    /// The terminal refuses.
    pub fn enter(terminal: BorrowedFd<'a>) -> io::Result<Option<RawTerminal<'a>>> {
        if !termios::isatty(terminal) {
            return Ok(None);
        }
        let before = termios::tcgetattr(terminal)?;
        let mut raw = before.clone();
        raw.make_raw();
        let guard = RawTerminal { terminal, before };
        termios::tcsetattr(terminal, OptionalActions::Drain, &raw)?;
        Ok(Some(guard))
    }

    /// The modes that the terminal had before.
    pub fn before(&self) -> &Termios {
        &self.before
    }
}

impl Drop for RawTerminal<'_> {
    fn drop(&mut self) {
        // This fails only for a terminal that is gone.
        let _ = termios::tcsetattr(self.terminal, OptionalActions::Now, &self.before);
    }
}

/// The size of the window of `terminal`; 80 columns by 24 rows if it has none.
pub(crate) fn window_size(terminal: BorrowedFd<'_>) -> Winsize {
    let size = termios::tcgetwinsize(terminal).ok().filter(|size| size.ws_col > 1 && size.ws_row > 0);
    size.unwrap_or(Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 })
}

/// Whether a program reads a line without echo, as for a password.
///
/// Programs that edit lines (readline, editors) switch the line mode off as well, and echo by themselves.
pub(crate) fn echo_is_off(master: BorrowedFd<'_>) -> bool {
    termios::tcgetattr(master)
        .is_ok_and(|modes| modes.local_modes.contains(LocalModes::ICANON) && !modes.local_modes.contains(LocalModes::ECHO))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fd::AsFd;
    use rustix::fs::{Mode, OFlags, open};
    use rustix::pty::{OpenptFlags, openpt, ptsname, unlockpt};

    #[test]
    fn a_panic_gives_the_terminal_back() {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal is to be had");
        unlockpt(&master).expect("it is ours");
        let name = ptsname(&master, Vec::new()).expect("it has a name");
        let slave = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("it opens");
        let is_canonical = || termios::tcgetattr(&slave).expect("a terminal").local_modes.contains(LocalModes::ICANON);
        let panicked = std::panic::catch_unwind(|| {
            let _raw = RawTerminal::enter(slave.as_fd()).expect("it becomes raw");
            assert!(!is_canonical(), "raw while recording");
            panic!("on purpose");
        });
        let message = panicked.expect_err("it panicked");
        assert_eq!(message.downcast_ref::<&str>(), Some(&"on purpose"));
        assert!(is_canonical());
    }

    #[test]
    fn a_descriptor_that_is_no_terminal_is_not_changed() {
        let (reader, _writer) = rustix::pipe::pipe().expect("a pipe is to be had");
        assert!(RawTerminal::enter(reader.as_fd()).expect("no error").is_none());
    }
}
