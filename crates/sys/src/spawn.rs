//! Starts a program on a new pseudo-terminal, cheaply enough for tens of thousands of them.
//!
//! The child is cloned, as by vfork, with the parent's memory and table of descriptors. It replaces the table with an empty
//! one at once. Copying the driver's table into each child would make 16,000 log-ins take 25 s instead of 10.
//! Between clone and exec the child only makes system calls on memory that was prepared before; it never allocates.

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::OwnedFd;
use std::ptr;

const STACK_BYTES: usize = 64 * 1024;
/// Rows of each session's terminal.
pub const TERMINAL_ROWS: u16 = 24;
/// Columns of each session's terminal.
pub const TERMINAL_COLUMNS: u16 = 80;
const DEFAULT_TIMER_SLACK_NS: libc::c_ulong = 50_000;

/// A program ready to be executed, with its arguments allocated beforehand.
#[derive(Debug)]
pub struct PreparedProgram {
    path: CString,
    arguments: Vec<CString>,
}

impl PreparedProgram {
    /// The program at `path` with `arguments`, the first of which is the program's own name.
    pub fn new(path: CString, arguments: Vec<CString>) -> PreparedProgram {
        PreparedProgram { path, arguments }
    }
}

/// The surroundings in which a program is started.
#[derive(Debug)]
pub struct LaunchSetup<'a> {
    /// The environment, `NAME=value` each.
    pub environment: &'a [CString],
    /// The working directory.
    pub directory: &'a CStr,
    /// The `cgroup.procs` files of control groups. The child joins each by writing "0" into it.
    pub join: &'a [CString],
    /// The nice value of the child and of all that it starts; `None`: this process's own.
    pub nice: Option<i32>,
}

/// Starts each program on a new terminal; it owns the stack that the children run on until they execute.
#[derive(Debug)]
pub struct Spawner {
    stack: *mut libc::c_void,
    /// The processors that children may use, whatever the driver's thread is bound to.
    affinity: libc::cpu_set_t,
}

// SAFETY: the stack belongs to this value alone and is used only inside `spawn`, which takes `&mut self`.
unsafe impl Send for Spawner {}

/// Instructions for the child: plain pointers into memory that the suspended parent keeps.
struct ChildOrders {
    slave: *const libc::c_char,
    path: *const libc::c_char,
    arguments: *const *const libc::c_char,
    environment: *const *const libc::c_char,
    directory: *const libc::c_char,
    join: *const *const libc::c_char,
    affinity: *const libc::cpu_set_t,
    nice: Option<libc::c_int>,
    /// The call that failed, written by the child; with its errno below.
    failed: &'static str,
    errno: libc::c_int,
}

impl Spawner {
    /// A spawner whose children may use the processors in the calling thread's present affinity.
    ///
    /// # Errors
    /// There is no memory for the children's stack.
    pub fn new() -> io::Result<Spawner> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK;
        // SAFETY: an anonymous mapping at any address.
        let stack = unsafe { libc::mmap(ptr::null_mut(), STACK_BYTES, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if stack == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a cpu_set_t is a plain bit set; the kernel fills it.
        let mut affinity = unsafe { std::mem::zeroed::<libc::cpu_set_t>() };
        // SAFETY: the set is valid for writing.
        if unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut affinity) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Spawner { stack, affinity })
    }

    /// Starts `program` as the leader of a session on a new controlling terminal. Returns the terminal's master side, which does
    /// not block, and the leader's process id. The caller must reap the process.
    ///
    /// # Errors
    /// The step that failed, for which terminal or program, with the kernel's reason.
    pub fn spawn(&mut self, program: &PreparedProgram, setup: &LaunchSetup<'_>) -> io::Result<(OwnedFd, i32)> {
        let (master, slave) = open_terminal()?;
        let arguments = pointers(&program.arguments);
        let environment = pointers(setup.environment);
        let join = pointers(setup.join);
        let mut orders = ChildOrders {
            slave: slave.as_ptr(),
            path: program.path.as_ptr(),
            arguments: arguments.as_ptr(),
            environment: environment.as_ptr(),
            directory: setup.directory.as_ptr(),
            join: join.as_ptr(),
            affinity: &self.affinity,
            nice: setup.nice,
            failed: "",
            errno: 0,
        };
        let pid = self.clone_child(&mut orders)?;
        if orders.errno != 0 {
            // SAFETY: the child has exited and is ours; no status is asked for.
            unsafe { libc::waitpid(pid, ptr::null_mut(), 0) };
            let reason = io::Error::from_raw_os_error(orders.errno);
            let path = program.path.to_string_lossy();
            return Err(io::Error::new(reason.kind(), format!("{path}: {} failed: {reason}", orders.failed)));
        }
        Ok((master, pid))
    }

    fn clone_child(&mut self, orders: &mut ChildOrders) -> io::Result<i32> {
        // A handler must not run in the child, whose memory is ours: all signals wait until the child has executed.
        // SAFETY: the sets are valid; the child's own mask is cleared in `child`.
        unsafe {
            let mut all = std::mem::zeroed::<libc::sigset_t>();
            let mut before = std::mem::zeroed::<libc::sigset_t>();
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
            let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_FILES | libc::SIGCHLD;
            let top = self.stack.byte_add(STACK_BYTES);
            let pid = libc::clone(child, top, flags, ptr::from_mut(orders).cast());
            let result = if pid < 0 { Err(io::Error::last_os_error()) } else { Ok(pid) };
            libc::pthread_sigmask(libc::SIG_SETMASK, &before, ptr::null_mut());
            result
        }
    }
}

impl Drop for Spawner {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, of this length, and no child runs on it.
        unsafe { libc::munmap(self.stack, STACK_BYTES) };
    }
}

/// The child, between clone and exec. Returns only when something failed.
extern "C" fn child(orders: *mut libc::c_void) -> libc::c_int {
    // SAFETY: the parent is suspended and keeps the orders alive; every pointer in them is to a terminated string or
    // array; only system calls are made, nothing is allocated, and _exit runs no handlers.
    unsafe {
        let orders = &mut *orders.cast::<ChildOrders>();
        orders.failed = execute(orders);
        orders.errno = *libc::__errno_location();
        libc::_exit(127)
    }
}

/// Executes the program with all its surroundings. Returns the name of the step that failed.
///
/// # Safety
/// Only in a freshly cloned child, with pointers as in [`child`].
unsafe fn execute(orders: &ChildOrders) -> &'static str {
    // SAFETY: see `child`.
    unsafe {
        if libc::setsid() < 0 {
            return "setsid";
        }
        if libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_UNSHARE) < 0 {
            return "close_range";
        }
        // The first terminal that a session's leader opens becomes its controlling terminal.
        let slave = libc::open(orders.slave, libc::O_RDWR);
        if slave < 0 {
            return "opening the terminal";
        }
        for standard in 0..3 {
            if libc::dup2(slave, standard) < 0 {
                return "dup2";
            }
        }
        if slave > 2 {
            libc::close(slave);
        }
        if !join_groups(orders.join) {
            return "joining the control group";
        }
        reset_inherited_settings(orders.affinity);
        if let Some(nice) = orders.nice
            && libc::setpriority(libc::PRIO_PROCESS, 0, nice) < 0
        {
            return "setting the nice value";
        }
        if libc::chdir(orders.directory) < 0 {
            return "entering the home directory";
        }
        libc::execve(orders.path, orders.arguments, orders.environment);
        "executing it"
    }
}

/// # Safety
/// As for [`execute`].
unsafe fn join_groups(mut join: *const *const libc::c_char) -> bool {
    // SAFETY: see `child`; the array ends with a null pointer.
    unsafe {
        while !(*join).is_null() {
            let group = libc::open(*join, libc::O_WRONLY);
            if group < 0 || libc::write(group, c"0".as_ptr().cast(), 1) < 0 {
                return false;
            }
            libc::close(group);
            join = join.add(1);
        }
        true
    }
}

/// Sets signals, affinity and timer slack as for a program that a person starts.
///
/// # Safety
/// As for [`execute`].
unsafe fn reset_inherited_settings(affinity: *const libc::cpu_set_t) {
    // SAFETY: see `child`; the handlers changed are the child's own copy (no CLONE_SIGHAND).
    unsafe {
        let ignorable = [
            libc::SIGPIPE,
            libc::SIGXFSZ,
            libc::SIGHUP,
            libc::SIGINT,
            libc::SIGQUIT,
            libc::SIGTSTP,
            libc::SIGTTIN,
            libc::SIGTTOU,
            libc::SIGCHLD,
        ];
        for signal in ignorable {
            libc::signal(signal, libc::SIG_DFL);
        }
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), affinity);
        libc::prctl(libc::PR_SET_TIMERSLACK, DEFAULT_TIMER_SLACK_NS);
        let mut none = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, ptr::null_mut());
    }
}

/// Opens a terminal of 24 lines by 80 columns. Returns its master side and the path of its slave side.
fn open_terminal() -> io::Result<(OwnedFd, CString)> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let master = open(c"/dev/ptmx", flags, Mode::empty()).map_err(|reason| {
        let reason = io::Error::from(reason);
        io::Error::new(reason.kind(), format!("no terminal can be opened: {reason}"))
    })?;
    unlockpt(&master)?;
    tcsetwinsize(&master, Winsize { ws_row: TERMINAL_ROWS, ws_col: TERMINAL_COLUMNS, ws_xpixel: 0, ws_ypixel: 0 })?;
    let slave = ptsname(&master, Vec::new())?;
    Ok((master, slave))
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect()
}
