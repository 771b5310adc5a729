//! Records a person's session: sits between the person's terminal and a shell, and passes everything on.
//!
//! One thread, one poll. Keys are looked at before they are passed on: while the shell's terminal has its echo off, no
//! event holds them. The person's own terminal is raw meanwhile and is given back on every way out.

mod log;
mod raw;
pub mod shell;

use crate::asciicast::CastWriter;
use crate::recording::{Dialogue, SessionEnding, SessionEvent};
use loadgo_core::time::Instant;
use loadgo_sys::child::lead_a_session;
use loadgo_sys::signals::{Signals, WINDOW_SIGNAL_ID};
use log::SessionLog;
use raw::{RawTerminal, echo_is_off, window_size};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, Termios, Winsize, tcsetattr, tcsetwinsize};
use shell::{MarkedShell, ShellKind, random_id};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Time for which bytes are held back that may begin a mark.
const HOLD: Duration = Duration::from_millis(20);
/// Time that a shell may take to end after it was hung up.
const GRACE: Duration = Duration::from_secs(2);
/// Most keys that wait for a shell which does not read; the person's terminal keeps further keys.
const MOST_PENDING_BYTES: usize = 1 << 16;

/// A request to record a shell, with the terminal of the person.
pub struct RecordingRequest<'a> {
    /// The shell with its arguments.
    pub shell: &'a [String],
    /// Environment variables that are added for the shell.
    pub env: &'a [(String, String)],
    /// Descriptor that the person's keys come from.
    pub input: BorrowedFd<'a>,
    /// Descriptor that the person's screen shows.
    pub output: BorrowedFd<'a>,
    /// A file that keeps the session as asciicast version 3.
    pub cast: Option<&'a Path>,
}

/// A session that is over.
pub struct RecordedSession {
    /// The lines of the session.
    pub dialogue: Dialogue,
    /// The kind of shell.
    pub shell: ShellKind,
    /// Why the cast ends early, if it does.
    pub cast_failure: Option<String>,
}

/// Records until the shell ends, the person's terminal goes away, or a signal asks to stop.
///
/// # Errors
/// The shell cannot be started, no terminal is to be had, or the cast cannot be created; nothing was recorded then.
pub fn record(order: &RecordingRequest<'_>) -> io::Result<RecordedSession> {
    let id = random_id();
    let marked = MarkedShell::prepare(order.shell, &id)?;
    let size = window_size(order.input);
    let cast = order.cast.map(create).transpose()?;
    let (master, slave) = pseudo_terminal(size)?;
    let signals = Signals::listen()?;
    let raw = RawTerminal::enter(order.input)?;
    let child = start(&marked, order.env, slave, raw.as_ref().map(RawTerminal::before))?;
    let mut log = SessionLog::new(&id, size.ws_col);
    if let Some(file) = cast {
        let unix_time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        log.keep(CastWriter::begin(size.ws_col, size.ws_row, unix_time, &order.shell.join(" ")), file);
    }
    let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
    let shell = RunningShell { child, pidfd };
    let mut relay =
        TerminalRelay { order, signals, shell, log, began: std::time::Instant::now(), pending: Vec::new(), listening: true };
    let ending = relay.run(master)?;
    relay.log.event(&SessionEvent::End { at: relay.now(), ending });
    drop(raw);
    Ok(RecordedSession { dialogue: relay.log.dialogue, shell: marked.shell, cast_failure: relay.log.cast_failure })
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// A master and its slave, with a window of this size.
fn pseudo_terminal(size: Winsize) -> io::Result<(OwnedFd, OwnedFd)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    tcsetwinsize(&master, size)?;
    let name = ptsname(&master, Vec::new())?;
    let slave = open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::ioctl_fionbio(&master, true)?;
    Ok((master, slave))
}

/// Starts the shell on `slave`, which has the modes that the person's terminal had.
fn start(marked: &MarkedShell, env: &[(String, String)], slave: OwnedFd, modes: Option<&Termios>) -> io::Result<Child> {
    if let Some(modes) = modes {
        tcsetattr(&slave, OptionalActions::Now, modes)?;
    }
    let mut command = Command::new(&marked.command[0]);
    command.args(&marked.command[1..]).envs(env.iter().cloned()).envs(marked.env.iter().cloned());
    command.stdin(slave.try_clone()?).stdout(slave.try_clone()?).stderr(slave);
    lead_a_session(&mut command);
    let tried =
        |error: io::Error| io::Error::new(error.kind(), format!("{} cannot be started: {error}", marked.command[0].display()));
    command.spawn().map_err(tried)
}

struct TerminalRelay<'a> {
    order: &'a RecordingRequest<'a>,
    signals: Signals,
    shell: RunningShell,
    log: SessionLog,
    began: std::time::Instant,
    /// Keys that the shell's terminal has not taken yet.
    pending: Vec<u8>,
    /// Whether the person's terminal may still send keys.
    listening: bool,
}

/// Events that one poll found.
struct PolledEvents {
    input: bool,
    master: PollFlags,
    signal: bool,
    ended: bool,
}

impl TerminalRelay<'_> {
    fn now(&self) -> Instant {
        Instant(u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn run(&mut self, master: OwnedFd) -> io::Result<SessionEnding> {
        loop {
            let due = self.wait(&master)?;
            if due.signal
                && let Some(ending) = self.signals_came(&master)?
            {
                return self.hang_up(master, ending);
            }
            if due.input
                && let Some(ending) = self.keys_came(&master)?
            {
                return self.hang_up(master, ending);
            }
            if due.master.contains(PollFlags::OUT) {
                self.pass_keys(&master)?;
            }
            if due.master.intersects(PollFlags::IN | PollFlags::HUP) {
                self.pass_output(&master)?;
            } else if !due.ended && self.log.holds() {
                let held = self.log.release(self.now());
                self.show(&held)?;
            }
            if due.ended {
                while self.pass_output(&master)? {}
                return self.shell_ending();
            }
        }
    }

    fn wait(&self, master: &OwnedFd) -> io::Result<PolledEvents> {
        let writes = if self.pending.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
        let reads = if self.listening && self.pending.len() < MOST_PENDING_BYTES { PollFlags::IN } else { PollFlags::empty() };
        let signals = self.signals.fd();
        let mut fds = [
            PollFd::new(master, PollFlags::IN | writes),
            PollFd::from_borrowed_fd(signals, PollFlags::IN),
            PollFd::new(&self.shell.pidfd, PollFlags::IN),
            PollFd::from_borrowed_fd(self.order.input, reads),
        ];
        let count = if self.listening { 4 } else { 3 };
        let hold = Timespec::try_from(HOLD).expect("it is short");
        match poll(&mut fds[..count], self.log.holds().then_some(&hold)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let is_due = |fd: &PollFd<'_>| !fd.revents().is_empty();
        Ok(PolledEvents { input: is_due(&fds[3]), master: fds[0].revents(), signal: is_due(&fds[1]), ended: is_due(&fds[2]) })
    }

    /// Passes a new window size on. Returns the session's end when a signal asks for it.
    fn signals_came(&mut self, master: &OwnedFd) -> io::Result<Option<SessionEnding>> {
        for signal in self.signals.take() {
            if signal != WINDOW_SIGNAL_ID {
                return Ok(Some(SessionEnding::Stopped(signal)));
            }
            let size = window_size(self.order.input);
            tcsetwinsize(master, size)?;
            self.log.event(&SessionEvent::Resize { at: self.now(), columns: size.ws_col, rows: size.ws_row });
        }
        Ok(None)
    }

    /// Reads keys, records them if they may be seen, and passes them on.
    fn keys_came(&mut self, master: &OwnedFd) -> io::Result<Option<SessionEnding>> {
        let mut bytes = [0; 4096];
        let count = match rustix::io::read(self.order.input, &mut bytes) {
            Ok(0) if !rustix::termios::isatty(self.order.input) => {
                self.listening = false;
                self.pending.push(4);
                self.pass_keys(master)?;
                return Ok(None);
            }
            Ok(0) | Err(rustix::io::Errno::IO) => return Ok(Some(SessionEnding::HungUp)),
            Ok(count) => count,
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let keys = &bytes[..count];
        let at = self.now();
        let is_interrupt = keys.iter().all(|key| matches!(key, 3 | 0x1a | 0x1c));
        if echo_is_off(master.as_fd()) && !is_interrupt {
            self.log.event(&SessionEvent::Hidden { at, entered: keys.contains(&b'\r') || keys.contains(&b'\n') });
        } else {
            self.log.event(&SessionEvent::Keys { at, bytes: keys.to_vec() });
        }
        self.pending.extend_from_slice(keys);
        bytes.fill(0);
        self.pass_keys(master)?;
        Ok(None)
    }

    fn pass_keys(&mut self, master: &OwnedFd) -> io::Result<()> {
        match rustix::io::write(master, &self.pending) {
            Ok(count) => drop(self.pending.drain(..count)),
            // EIO: nobody has the terminal open any more; the end of the shell is about to be seen.
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::IO) => self.pending.clear(),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Passes on what the shell has printed; whether there was anything.
    fn pass_output(&mut self, master: &OwnedFd) -> io::Result<bool> {
        let mut bytes = [0; 1 << 16];
        let count = match rustix::io::read(master, &mut bytes) {
            Ok(count) => count,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => 0,
            Err(rustix::io::Errno::IO) => {
                // All slaves are closed but the shell lives: do not spin until it ends.
                self.await_end(Duration::from_millis(10))?;
                0
            }
            Err(error) => return Err(error.into()),
        };
        if count > 0 {
            let shown = self.log.output(self.now(), &bytes[..count]);
            self.show(&shown)?;
        }
        Ok(count > 0)
    }

    fn show(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            match rustix::io::write(self.order.output, rest) {
                Ok(count) => rest = &rest[count..],
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => {
                    let mut fds = [PollFd::from_borrowed_fd(self.order.output, PollFlags::OUT)];
                    poll(&mut fds, None)?;
                }
                // The person's terminal is gone; its end of file tells the rest.
                Err(rustix::io::Errno::IO | rustix::io::Errno::PIPE) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Whether the shell has ended within `time`.
    fn await_end(&self, time: Duration) -> io::Result<bool> {
        let time = Timespec::try_from(time).expect("it is short");
        let mut fds = [PollFd::new(&self.shell.pidfd, PollFlags::IN)];
        Ok(poll(&mut fds, Some(&time))? > 0)
    }

    fn shell_ending(&mut self) -> io::Result<SessionEnding> {
        let held = self.log.release(self.now());
        self.show(&held)?;
        let status = self.shell.child.wait()?;
        Ok(match (status.code(), status.signal()) {
            (Some(code), _) => SessionEnding::Exited((code & 255) as u8),
            (None, signal) => SessionEnding::Killed(signal.unwrap_or(0)),
        })
    }

    /// Closes the shell's terminal, which hangs it up, and sees to it that it ends.
    fn hang_up(&mut self, master: OwnedFd, ending: SessionEnding) -> io::Result<SessionEnding> {
        drop(master);
        if !self.await_end(GRACE)? {
            pidfd_send_signal(&self.shell.pidfd, Signal::KILL)?;
        }
        self.shell.child.wait()?;
        Ok(ending)
    }
}

/// The shell's process; an error on the way must not leave it behind.
struct RunningShell {
    child: Child,
    pidfd: OwnedFd,
}

impl Drop for RunningShell {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
            let _ = self.child.wait();
        }
    }
}
