//! Records a person's session: sits between the person's terminal and a shell, and passes keys and output on.
//!
//! One thread does all with one poll. Keys that come while the shell's terminal has its echo off are passed on, and no event
//! has them. The person's own terminal is raw meanwhile, and gets its modes back however the recording ends.

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

/// Time for which bytes that may begin a mark are held back.
const MARK_HOLD_TIME: Duration = Duration::from_millis(20);
/// Time that a shell may take to end after it was hung up.
const HANG_UP_GRACE: Duration = Duration::from_secs(2);
/// Largest number of key bytes that wait for a shell that does not read. Further keys stay in the person's terminal.
const MOST_PENDING_BYTES: usize = 1 << 16;

/// A request to record a shell, with the terminal of the person.
pub struct RecordingRequest<'a> {
    /// The shell with its arguments.
    pub shell: &'a [String],
    /// Environment variables that are added for the shell.
    pub env: &'a [(String, String)],
    /// Descriptor that the person's keys come from.
    pub input: BorrowedFd<'a>,
    /// Descriptor of the person's screen.
    pub output: BorrowedFd<'a>,
    /// File for a cast of the session, in asciicast version 3.
    pub cast: Option<&'a Path>,
    /// Folder that is made for start-up files of the shell, if it needs some, and removed at the end.
    pub start_up_folder: &'a Path,
}

/// A session that is over.
pub struct RecordedSession {
    /// The lines of the session.
    pub dialogue: Dialogue,
    /// The kind of shell.
    pub shell: ShellKind,
    /// The reason why the cast ends early, if it does.
    pub cast_failure: Option<String>,
}

/// Records until the shell ends, the person's terminal goes away, or a signal asks to stop.
///
/// # Errors
/// The shell cannot be started, no terminal can be opened, or the cast cannot be created. Nothing was recorded then.
pub fn record(order: &RecordingRequest<'_>) -> io::Result<RecordedSession> {
    let id = random_id();
    let marked = MarkedShell::prepare(order.shell, &id, order.start_up_folder)?;
    let size = window_size(order.input);
    let cast = order.cast.map(create).transpose()?;
    let (master, slave) = pseudo_terminal(size)?;
    let signals = Signals::listen()?;
    let raw = RawTerminal::enter(order.input)?;
    let child = start(&marked, order.env, slave, raw.as_ref().map(RawTerminal::before))?;
    let mut log = SessionLog::new(&id, size.ws_col);
    if let Some(file) = cast {
        let unix_time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        log.write_cast(CastWriter::begin(size.ws_col, size.ws_row, unix_time, &order.shell.join(" ")), file);
    }
    let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
    let shell = RunningShell { child, pidfd };
    let mut relay = TerminalRelay {
        order,
        signals,
        shell,
        log,
        began: std::time::Instant::now(),
        pending: Vec::new(),
        listening: true,
        hides_lines: false,
    };
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
    /// Whether the shell's terminal had its echo off at the last look.
    hides_lines: bool,
}

/// Descriptors that one poll found ready.
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
            self.look_at_echo(&master);
            if due.signal
                && let Some(ending) = self.on_signals(&master)?
            {
                return self.hang_up(master, ending);
            }
            if due.input
                && let Some(ending) = self.on_keys(&master)?
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

    /// Notes that the echo has been turned off since the last look.
    fn look_at_echo(&mut self, master: &OwnedFd) {
        let hid_lines = std::mem::replace(&mut self.hides_lines, echo_is_off(master.as_fd()));
        if self.hides_lines && !hid_lines {
            self.log.event(&SessionEvent::EchoOff { at: self.now() });
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
        let hold = Timespec::try_from(MARK_HOLD_TIME).expect("it is short");
        match poll(&mut fds[..count], self.log.holds().then_some(&hold)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let is_due = |fd: &PollFd<'_>| !fd.revents().is_empty();
        Ok(PolledEvents { input: is_due(&fds[3]), master: fds[0].revents(), signal: is_due(&fds[1]), ended: is_due(&fds[2]) })
    }

    /// Handles signals: passes a new window size on, or returns how the session ends if a signal asks for that.
    fn on_signals(&mut self, master: &OwnedFd) -> io::Result<Option<SessionEnding>> {
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

    /// Reads keys, records them unless the echo is off, and passes them on. Returns how the session ends if the terminal is gone.
    fn on_keys(&mut self, master: &OwnedFd) -> io::Result<Option<SessionEnding>> {
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
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
            // No process has the terminal open any more; the next poll will see that the shell has ended.
            Err(rustix::io::Errno::IO) => self.pending.clear(),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Passes on the output of the shell. Returns whether there was any.
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
                // The person's terminal is gone. The next reading of keys finds its end of file, and ends the session.
                Err(rustix::io::Errno::IO | rustix::io::Errno::PIPE) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Waits for the shell's end, for at most `time`. Returns whether it has ended.
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

    /// Closes the shell's terminal, which hangs the shell up, and kills the shell if it does not end.
    fn hang_up(&mut self, master: OwnedFd, ending: SessionEnding) -> io::Result<SessionEnding> {
        drop(master);
        if !self.await_end(HANG_UP_GRACE)? {
            pidfd_send_signal(&self.shell.pidfd, Signal::KILL)?;
        }
        self.shell.child.wait()?;
        Ok(ending)
    }
}

/// The shell's process. It is killed when this is dropped, so that no error leaves it behind.
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
