//! The parts of an event loop: descriptors (epoll), an absolute deadline (timerfd), and wake-ups by other threads (eventfd).

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// No time to wait.
const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
/// Most descriptors that one wait reports. Few, because a line that falls due meanwhile waits until all were read.
const MOST_READY_DESCRIPTORS: usize = 64;

/// Descriptors that are waited for together.
///
/// Terminals are edge-triggered. A level-triggered terminal would be polled again after each reading, and without input it
/// answers only after its kernel worker has run. That would cost 10 us and two context switches for each interaction.
pub struct Epoll {
    fd: OwnedFd,
    events: Vec<Event>,
}

/// A descriptor that has become ready.
#[derive(Clone, Copy, Debug)]
pub struct ReadyDescriptor {
    /// The key with which the descriptor was added.
    pub key: u64,
    /// Whether the other side is closed.
    pub hung_up: bool,
    /// Whether there is room to write.
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
        Ok(Epoll { fd: epoll::create(CreateFlags::CLOEXEC)?, events: Vec::with_capacity(MOST_READY_DESCRIPTORS) })
    }

    /// A handle by which other threads add descriptors.
    ///
    /// # Errors
    /// When there is no descriptor left.
    pub fn adder(&self) -> io::Result<EpollAdder> {
        Ok(EpollAdder(self.fd.try_clone()?))
    }

    /// Adds `fd` under `key`; it is reported until its data were read.
    ///
    /// # Errors
    /// When the kernel has no memory for it.
    pub fn add_level_triggered(&self, fd: BorrowedFd<'_>, key: u64) -> io::Result<()> {
        Ok(epoll::add(&self.fd, fd, EventData::new_u64(key), EventFlags::IN)?)
    }

    /// Sets whether [`Epoll::wait`] also reports room to write in `fd`.
    ///
    /// # Errors
    /// When `fd` was not added.
    pub fn set_write_interest(&self, fd: BorrowedFd<'_>, key: u64, writing: bool) -> io::Result<()> {
        let interest = if writing { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN | EventFlags::ET };
        Ok(epoll::modify(&self.fd, fd, EventData::new_u64(key), interest)?)
    }

    /// Stops waiting for `fd`.
    ///
    /// # Errors
    /// When `fd` was not added.
    pub fn remove(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        Ok(epoll::delete(&self.fd, fd)?)
    }

    /// Waits until descriptors are ready and returns their number; 0 after an interrupted wait.
    pub fn wait(&mut self) -> usize {
        self.wait_for(None)
    }

    /// Returns the number of descriptors that are ready now, without waiting.
    pub fn poll(&mut self) -> usize {
        self.wait_for(Some(&AT_ONCE))
    }

    fn wait_for(&mut self, time: Option<&Timespec>) -> usize {
        self.events.clear();
        // A wait that a signal interrupts has filled in nothing.
        let _ = epoll::wait(&self.fd, spare_capacity(&mut self.events), time);
        self.events.len()
    }

    /// The ready descriptor at `index`, from 0, among those of the last wait.
    pub fn ready_descriptor(&self, index: usize) -> ReadyDescriptor {
        let Event { flags, data, .. } = self.events[index];
        let hung_up = flags.intersects(EventFlags::HUP | EventFlags::ERR);
        ReadyDescriptor { key: data.u64(), hung_up, writable: flags.contains(EventFlags::OUT) }
    }
}

/// Adds descriptors to an [`Epoll`]. The kernel may let the caller wait until its own threads have delivered a terminal's data.
#[derive(Debug)]
pub struct EpollAdder(OwnedFd);

impl EpollAdder {
    /// Adds `fd` under `key`; each arrival of data is reported once.
    ///
    /// # Errors
    /// When the kernel has no memory for it.
    pub fn add(&self, fd: BorrowedFd<'_>, key: u64) -> io::Result<()> {
        // Pending data are waited for here, because epoll would hold its lock meanwhile, for which the event loop would wait.
        let _ = poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], Some(&AT_ONCE));
        Ok(epoll::add(&self.0, fd, EventData::new_u64(key), EventFlags::IN | EventFlags::ET)?)
    }
}

/// A timer on the monotonic clock that expires at an absolute instant.
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

    /// Lets the timer expire at `deadline_ns`. No system call is made if it is set for that already.
    pub fn set(&mut self, deadline_ns: u64) {
        if deadline_ns == self.armed_ns {
            return;
        }
        self.armed_ns = deadline_ns;
        let it_value = Timespec { tv_sec: (deadline_ns / 1_000_000_000) as i64, tv_nsec: (deadline_ns % 1_000_000_000) as i64 };
        let setting = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value };
        // This fails only for an invalid time, or for a descriptor that is no timer.
        let _ = timerfd_settime(&self.fd, TimerfdTimerFlags::ABSTIME, &setting);
    }

    /// Notes that the timer has expired. It stays ready until it is set again.
    pub fn acknowledge(&mut self) {
        self.armed_ns = 0;
    }

    /// The descriptor to wait for.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// A count of tasks. One thread adds to it; others wait until they can take one.
#[derive(Debug)]
pub struct Semaphore(OwnedFd);

impl Semaphore {
    /// A semaphore with count 0.
    ///
    /// # Errors
    /// When there is no descriptor left.
    pub fn new() -> io::Result<Semaphore> {
        Ok(Semaphore(eventfd(0, EventfdFlags::SEMAPHORE | EventfdFlags::CLOEXEC)?))
    }

    /// Adds `count` without waiting.
    pub fn add(&self, count: u64) {
        // This waits, or fails, only at a count of 2^64 - 1.
        let _ = rustix::io::write(&self.0, &count.to_ne_bytes());
    }

    /// Waits until the count is not 0, and subtracts 1.
    pub fn take(&self) {
        while let Err(rustix::io::Errno::INTR) = rustix::io::read(&self.0, &mut [0; 8]) {}
    }
}

/// A bell that any thread may ring to wake the event loop.
#[derive(Debug)]
pub struct Bell(OwnedFd);

impl Bell {
    /// A bell that has not been rung.
    ///
    /// # Errors
    /// When there is no descriptor left.
    pub fn new() -> io::Result<Bell> {
        Ok(Bell(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?))
    }

    /// Rings the bell, which stays rung until it is reset.
    pub fn ring(&self) {
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }

    /// Resets the bell and returns whether it was rung.
    pub fn take_ring(&self) -> bool {
        rustix::io::read(&self.0, &mut [0; 8]).is_ok()
    }

    /// The descriptor to wait for.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
