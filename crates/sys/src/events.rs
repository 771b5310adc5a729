//! What an event loop waits for: descriptors (epoll), an absolute deadline (timerfd), and other threads (eventfd).

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Descriptors that are waited for together.
///
/// Terminals are edge-triggered: a level-triggered one is asked again after each reading whether more is there, and a
/// terminal without input answers only after its kernel worker has run (10 us and two switches an interaction).
pub struct Epoll {
    fd: OwnedFd,
    events: Vec<Event>,
}

/// A descriptor that something has come to.
#[derive(Clone, Copy, Debug)]
pub struct Came {
    /// The name under which it was added.
    pub key: u64,
    /// The other side is closed.
    pub hung_up: bool,
    /// There is room to write.
    pub writable: bool,
}

impl std::fmt::Debug for Epoll {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Epoll({:?})", self.fd)
    }
}

impl Epoll {
    /// An empty set.
    ///
    /// # Errors
    /// When there is no descriptor left.
    pub fn new() -> io::Result<Epoll> {
        Ok(Epoll { fd: epoll::create(CreateFlags::CLOEXEC)?, events: Vec::with_capacity(256) })
    }

    /// Waits for what comes to `fd`, told once, under the name `key`.
    ///
    /// # Errors
    /// When the kernel has no memory for it.
    pub fn add(&self, fd: BorrowedFd<'_>, key: u64) -> io::Result<()> {
        Ok(epoll::add(&self.fd, fd, EventData::new_u64(key), EventFlags::IN | EventFlags::ET)?)
    }

    /// Waits for `fd` and tells of it until it was read.
    ///
    /// # Errors
    /// When the kernel has no memory for it.
    pub fn add_quiet(&self, fd: BorrowedFd<'_>, key: u64) -> io::Result<()> {
        Ok(epoll::add(&self.fd, fd, EventData::new_u64(key), EventFlags::IN)?)
    }

    /// Waits for room to write as well, or no longer.
    ///
    /// # Errors
    /// When `fd` was not added.
    pub fn also_for_writing(&self, fd: BorrowedFd<'_>, key: u64, writing: bool) -> io::Result<()> {
        let interest = if writing { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN | EventFlags::ET };
        Ok(epoll::modify(&self.fd, fd, EventData::new_u64(key), interest)?)
    }

    /// Waits for `fd` no longer.
    ///
    /// # Errors
    /// When `fd` was not added.
    pub fn remove(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        Ok(epoll::delete(&self.fd, fd)?)
    }

    /// Waits until something has come; how much. An interrupted wait brings nothing.
    pub fn wait(&mut self) -> usize {
        self.wait_for(None)
    }

    /// How much has come, without waiting.
    pub fn look(&mut self) -> usize {
        self.wait_for(Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))
    }

    fn wait_for(&mut self, time: Option<&Timespec>) -> usize {
        self.events.clear();
        // A wait that a signal interrupts has filled in nothing.
        let _ = epoll::wait(&self.fd, spare_capacity(&mut self.events), time);
        self.events.len()
    }

    /// What has come as number `index`.
    pub fn came(&self, index: usize) -> Came {
        let Event { flags, data, .. } = self.events[index];
        let hung_up = flags.intersects(EventFlags::HUP | EventFlags::ERR);
        Came { key: data.u64(), hung_up, writable: flags.contains(EventFlags::OUT) }
    }
}

/// A timer on the monotonic clock that goes off at an absolute instant.
#[derive(Debug)]
pub struct Timer {
    fd: OwnedFd,
    armed_ns: u64,
}

impl Timer {
    /// A timer that is not set.
    ///
    /// # Errors
    /// When there is no descriptor left.
    pub fn new() -> io::Result<Timer> {
        let fd = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        Ok(Timer { fd, armed_ns: 0 })
    }

    /// Lets the timer go off at `at_ns`; costs nothing when it is set for that already.
    pub fn set(&mut self, at_ns: u64) {
        if at_ns == self.armed_ns {
            return;
        }
        self.armed_ns = at_ns;
        let it_value = Timespec { tv_sec: (at_ns / 1_000_000_000) as i64, tv_nsec: (at_ns % 1_000_000_000) as i64 };
        let setting = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value };
        // It fails only for a time that is no time, or for a descriptor that is no timer.
        let _ = timerfd_settime(&self.fd, TimerfdTimerFlags::ABSTIME, &setting);
    }

    /// Takes note that it went off; it stays so, and is told again, until it is set again.
    pub fn acknowledge(&mut self) {
        self.armed_ns = 0;
    }

    /// The descriptor to wait for.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// A count of things to do: one thread adds to it, others wait until they may take one off.
#[derive(Debug)]
pub struct Semaphore(OwnedFd);

impl Semaphore {
    /// Nothing to do yet.
    ///
    /// # Errors
    /// When there is no descriptor left.
    pub fn new() -> io::Result<Semaphore> {
        Ok(Semaphore(eventfd(0, EventfdFlags::SEMAPHORE | EventfdFlags::CLOEXEC)?))
    }

    /// Adds `count`; it does not wait.
    pub fn add(&self, count: u64) {
        // It waits, or fails, only at a count of 2^64 - 1.
        let _ = rustix::io::write(&self.0, &count.to_ne_bytes());
    }

    /// Waits until the count is not 0, and takes one off.
    pub fn take(&self) {
        while let Err(rustix::io::Errno::INTR) = rustix::io::read(&self.0, &mut [0; 8]) {}
    }
}

/// A bell that any thread may ring to wake the event loop.
#[derive(Debug)]
pub struct Bell(OwnedFd);

impl Bell {
    /// A silent bell.
    ///
    /// # Errors
    /// When there is no descriptor left.
    pub fn new() -> io::Result<Bell> {
        Ok(Bell(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?))
    }

    /// Rings; it stays rung until it is heard.
    pub fn ring(&self) {
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }

    /// Whether it was rung since it was last heard.
    pub fn heard(&self) -> bool {
        rustix::io::read(&self.0, &mut [0; 8]).is_ok()
    }

    /// The descriptor to wait for.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
