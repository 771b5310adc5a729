//! Records a person's session: sits between the person's terminal and a shell, and passes everything on.
//!
//! One thread, one poll. Keys are looked at before they are passed on: while the shell's terminal has its echo off, no
//! event holds them. The person's own terminal is raw meanwhile and is given back on every way out.

mod log;
mod raw;
pub mod shell;

use crate::asciicast::Writer;
use crate::recording::{Dialogue, Ending, Event};
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
use shell::{MarkedShell, Shell, random_id};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long the head of what may be a mark is held back.
const HOLD: Duration = Duration::from_millis(20);
/// How long a shell that was hung up may take to end.
const GRACE: Duration = Duration::from_secs(2);
/// Keys that wait for a shell which does not read; more are refused to the person's terminal.
const MOST_PENDING: usize = 1 << 16;

/// A request to record a shell, with the terminal of the person.
pub struct Order<'a> {
    /// The shell with its arguments.
    pub shell: &'a [String],
    /// Environment to add for it.
    pub env: &'a [(String, String)],
    /// Where the person's keys come from.
    pub input: BorrowedFd<'a>,
    /// Where the person looks.
    pub output: BorrowedFd<'a>,
    /// A file that keeps the session as asciicast version 3.
    pub cast: Option<&'a Path>,
}

/// A session that is over.
pub struct Session {
    /// The lines of the session.
    pub dialogue: Dialogue,
    /// The kind of shell.
    pub shell: Shell,
    /// Why the cast ends early, if it does.
    pub cast_failure: Option<String>,
}

/// Records until the shell ends, the person's terminal goes away, or a signal asks to stop.
///
/// # Errors
/// The shell cannot be started, no terminal is to be had, or the cast cannot be created; nothing was recorded then.
pub fn record(order: &Order<'_>) -> io::Result<Session> {
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
        log.keep(Writer::begin(size.ws_col, size.ws_row, unix_time, &order.shell.join(" ")), file);
    }
    let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
    let shell = RunningShell { child, pidfd };
    let mut relay = Relay { order, signals, shell, log, began: std::time::Instant::now(), pending: Vec::new(), listening: true };
    let ending = relay.run(master)?;
    relay.log.event(&Event::End { at: relay.now(), ending });
    drop(raw);
    Ok(Session { dialogue: relay.log.dialogue, shell: marked.shell, cast_failure: relay.log.cast_failure })
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

struct Relay<'a> {
    order: &'a Order<'a>,
    signals: Signals,
    shell: RunningShell,
    log: SessionLog,
    began: std::time::Instant,
    /// Keys that the shell's terminal has not taken yet.
    pending: Vec<u8>,
    /// The person's terminal may still send keys.
    listening: bool,
}

/// Events that one poll found.
struct Due {
    input: bool,
    master: PollFlags,
    signal: bool,
    ended: bool,
}

impl Relay<'_> {
    fn now(&self) -> Instant {
        Instant(u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn run(&mut self, master: OwnedFd) -> io::Result<Ending> {
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
                return self.ended();
            }
        }
    }

    fn wait(&self, master: &OwnedFd) -> io::Result<Due> {
        let writes = if self.pending.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
        let reads = if self.listening && self.pending.len() < MOST_PENDING { PollFlags::IN } else { PollFlags::empty() };
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
        Ok(Due { input: is_due(&fds[3]), master: fds[0].revents(), signal: is_due(&fds[1]), ended: is_due(&fds[2]) })
    }

    /// Passes a new window size on; how the session ends when a signal asks for that.
    fn signals_came(&mut self, master: &OwnedFd) -> io::Result<Option<Ending>> {
        for signal in self.signals.take() {
            if signal != WINDOW_SIGNAL_ID {
                return Ok(Some(Ending::Stopped(signal)));
            }
            let size = window_size(self.order.input);
            tcsetwinsize(master, size)?;
            self.log.event(&Event::Resize { at: self.now(), columns: size.ws_col, rows: size.ws_row });
        }
        Ok(None)
    }

    /// Reads keys, records them if they may be seen, and passes them on.
    fn keys_came(&mut self, master: &OwnedFd) -> io::Result<Option<Ending>> {
        let mut bytes = [0; 4096];
        let count = match rustix::io::read(self.order.input, &mut bytes) {
            Ok(0) if !rustix::termios::isatty(self.order.input) => {
                self.listening = false;
                self.pending.push(4);
                self.pass_keys(master)?;
                return Ok(None);
            }
            Ok(0) | Err(rustix::io::Errno::IO) => return Ok(Some(Ending::HungUp)),
            Ok(count) => count,
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let keys = &bytes[..count];
        let at = self.now();
        let is_interrupt = keys.iter().all(|key| matches!(key, 3 | 0x1a | 0x1c));
        if echo_is_off(master.as_fd()) && !is_interrupt {
            self.log.event(&Event::Hidden { at, entered: keys.contains(&b'\r') || keys.contains(&b'\n') });
        } else {
            self.log.event(&Event::Keys { at, bytes: keys.to_vec() });
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

    fn ended(&mut self) -> io::Result<Ending> {
        let held = self.log.release(self.now());
        self.show(&held)?;
        let status = self.shell.child.wait()?;
        Ok(match (status.code(), status.signal()) {
            (Some(code), _) => Ending::Exited((code & 255) as u8),
            (None, signal) => Ending::Killed(signal.unwrap_or(0)),
        })
    }

    /// Closes the shell's terminal, which hangs it up, and sees to it that it ends.
    fn hang_up(&mut self, master: OwnedFd, ending: Ending) -> io::Result<Ending> {
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
