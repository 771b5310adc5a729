//! The system calls that the event loop lives on, each behind a safe function: clock, epoll, timer, event counter.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// The monotonic clock, in nanoseconds.
pub fn monotonic_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// A clock of this process or thread, in nanoseconds.
pub fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the answer.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The result of a system call, as Rust has it.
pub fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// The calling thread's id.
pub fn thread_id() -> libc::pid_t {
    // SAFETY: gettid has no arguments and cannot fail.
    unsafe { libc::gettid() }
}

/// Reads what is there; 0 at the end of the file.
pub fn read(fd: RawFd, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the buffer is valid for writing over its whole length.
    let count = unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) };
    if count < 0 { Err(io::Error::last_os_error()) } else { Ok(count as usize) }
}

/// Writes as much as fits.
pub fn write(fd: RawFd, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: the bytes are valid for reading over their whole length.
    let count = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
    if count < 0 { Err(io::Error::last_os_error()) } else { Ok(count as usize) }
}

fn owned(fd: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: the descriptor was just made and nobody else has it.
    checked(fd).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Descriptors that are waited for together.
///
/// Terminals are edge-triggered: a level-triggered one is asked again after each reading whether more is there, and a
/// terminal without input answers only after its kernel worker has run (10 us and two switches an interaction).
#[derive(Debug)]
pub struct Epoll {
    fd: OwnedFd,
    events: Vec<libc::epoll_event>,
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

impl Epoll {
    /// An empty set.
    ///
    /// # Errors
    /// When there is no descriptor left.
    pub fn new() -> io::Result<Epoll> {
        // SAFETY: no pointers are passed.
        let fd = owned(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        Ok(Epoll { fd, events: Vec::with_capacity(256) })
    }

    /// Waits for what comes to `fd`, told once, under the name `key`.
    ///
    /// # Errors
    /// When the kernel has no memory for it.
    pub fn add(&self, fd: BorrowedFd<'_>, key: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, key, libc::EPOLLIN | libc::EPOLLET)
    }

    /// Waits for `fd` and tells of it until it was read.
    ///
    /// # Errors
    /// When the kernel has no memory for it.
    pub fn add_quiet(&self, fd: BorrowedFd<'_>, key: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, key, libc::EPOLLIN)
    }

    /// Waits for room to write as well, or no longer.
    ///
    /// # Errors
    /// When `fd` was not added.
    pub fn also_for_writing(&self, fd: BorrowedFd<'_>, key: u64, writing: bool) -> io::Result<()> {
        let interest = if writing { libc::EPOLLIN | libc::EPOLLOUT } else { libc::EPOLLIN | libc::EPOLLET };
        self.control(libc::EPOLL_CTL_MOD, fd, key, interest)
    }

    fn control(&self, operation: libc::c_int, fd: BorrowedFd<'_>, key: u64, interest: libc::c_int) -> io::Result<()> {
        let mut event = libc::epoll_event { events: interest as u32, u64: key };
        // SAFETY: `event` is valid for the call; the kernel copies it.
        checked(unsafe { libc::epoll_ctl(self.fd.as_raw_fd(), operation, fd.as_raw_fd(), &mut event) }).map(drop)
    }

    /// Waits until something has come; how much. An interrupted wait brings nothing.
    pub fn wait(&mut self) -> usize {
        self.wait_for(-1)
    }

    /// How much has come, without waiting.
    pub fn look(&mut self) -> usize {
        self.wait_for(0)
    }

    fn wait_for(&mut self, milliseconds: libc::c_int) -> usize {
        let capacity = self.events.capacity() as libc::c_int;
        // SAFETY: the vector's memory holds `capacity` events; the kernel fills `count` of them.
        let count = unsafe { libc::epoll_wait(self.fd.as_raw_fd(), self.events.as_mut_ptr(), capacity, milliseconds) };
        // SAFETY: the kernel has filled as many as it says.
        unsafe { self.events.set_len(count.max(0) as usize) };
        self.events.len()
    }

    /// What has come as number `index`.
    pub fn came(&self, index: usize) -> Came {
        let event = self.events[index];
        let has = |flags: libc::c_int| event.events & flags as u32 != 0;
        Came { key: event.u64, hung_up: has(libc::EPOLLHUP | libc::EPOLLERR), writable: has(libc::EPOLLOUT) }
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
        // SAFETY: no pointers are passed.
        let fd = owned(unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC) })?;
        Ok(Timer { fd, armed_ns: 0 })
    }

    /// Lets the timer go off at `at_ns`; costs nothing when it is set for that already.
    pub fn set(&mut self, at_ns: u64) {
        if at_ns == self.armed_ns {
            return;
        }
        self.armed_ns = at_ns;
        let value = libc::timespec { tv_sec: (at_ns / 1_000_000_000) as _, tv_nsec: (at_ns % 1_000_000_000) as _ };
        let setting = libc::itimerspec { it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        // SAFETY: `setting` is valid for the call; the old one is not asked for.
        unsafe { libc::timerfd_settime(self.fd.as_raw_fd(), libc::TFD_TIMER_ABSTIME, &setting, std::ptr::null_mut()) };
    }

    /// Takes note that it went off; it stays so, and is told again, until it is set again.
    pub fn acknowledge(&mut self) {
        self.armed_ns = 0;
    }

    /// The descriptor to wait for.
    pub fn fd(&self) -> BorrowedFd<'_> {
        std::os::fd::AsFd::as_fd(&self.fd)
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
        // SAFETY: no pointers are passed.
        owned(unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) }).map(Bell)
    }

    /// Rings; it stays rung until it is heard.
    pub fn ring(&self) {
        let _ = write(self.0.as_raw_fd(), &1u64.to_ne_bytes());
    }

    /// Whether it was rung since it was last heard.
    pub fn heard(&self) -> bool {
        read(self.0.as_raw_fd(), &mut [0; 8]).is_ok()
    }

    /// The descriptor to wait for.
    pub fn fd(&self) -> BorrowedFd<'_> {
        std::os::fd::AsFd::as_fd(&self.0)
    }
}
