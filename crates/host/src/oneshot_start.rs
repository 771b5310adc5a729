//! How a metered command is started: held in its group just before its program is loaded, while the meter takes its first reading.
//!
//! It begins as a child of vfork, so that letting go of a copy of loadgo's memory is not charged to it.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::{ptr, thread};

use crate::vfork::Stack;

/// A command ready to be started.
#[derive(Debug)]
pub(crate) struct Command<'a> {
    /// Where its program is.
    pub program: &'a Path,
    /// Its arguments, of which the first is the name that it was called by.
    pub arguments: &'a [OsString],
    /// It has nothing to read.
    pub no_input: bool,
    /// What it writes is lost.
    pub no_output: bool,
    /// Files into which it writes "0" to join a control group.
    pub join: &'a [CString],
}

/// What the child reads: plain values and pointers into memory that the suspended parent keeps.
struct Orders {
    path: *const libc::c_char,
    arguments: *const *const libc::c_char,
    join: *const *const libc::c_char,
    input: RawFd,
    output: RawFd,
    told: RawFd,
    held: RawFd,
    errno: libc::c_int,
}

const NO_FILE: RawFd = -1;

/// Starts the command. `reading` is called in a thread of its own with the process's id when it is in its groups; the program is
/// loaded when it comes back. The process's id, and what `reading` gave.
///
/// # Errors
/// What the kernel refuses, that of executing the program included.
pub(crate) fn start<T: Send>(command: &Command<'_>, reading: impl FnOnce(u32) -> T + Send) -> io::Result<(i32, T)> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    let (joined, told) = io::pipe()?;
    let (held, release) = io::pipe()?;
    let text = |text: &OsStr| CString::new(text.as_bytes()).map_err(io::Error::from);
    let path = text(command.program.as_os_str())?;
    let arguments: Vec<CString> = command.arguments.iter().map(|word| text(word)).collect::<io::Result<_>>()?;
    let (arguments, join) = (pointers(&arguments), pointers(command.join));
    let mut orders = Orders {
        path: path.as_ptr(),
        arguments: arguments.as_ptr(),
        join: join.as_ptr(),
        input: if command.no_input { null.as_raw_fd() } else { NO_FILE },
        output: if command.no_output { null.as_raw_fd() } else { NO_FILE },
        told: told.as_raw_fd(),
        held: held.as_raw_fd(),
        errno: 0,
    };
    let mut stack = Stack::new()?;
    thread::scope(|scope| {
        let reader = scope.spawn(move || read_and_release(joined, release, reading));
        // SAFETY: `child` only follows these orders, which live until it has executed or exited.
        let pid = unsafe { stack.start(child, &mut orders, 0) };
        // Should the child never have told, its end of the pipe and ours are now closed, and the thread ends.
        drop((told, held));
        let read = reader.join().expect("the first reading does not panic");
        let pid = pid?;
        if orders.errno != 0 {
            // SAFETY: the child has exited and is ours; no status is asked for.
            unsafe { libc::waitpid(pid, ptr::null_mut(), 0) };
            return Err(io::Error::from_raw_os_error(orders.errno));
        }
        Ok((pid, read?))
    })
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect()
}

fn read_and_release<T>(mut joined: PipeReader, mut release: PipeWriter, reading: impl FnOnce(u32) -> T) -> io::Result<T> {
    let mut pid = [0; 4];
    joined.read_exact(&mut pid)?;
    let read = reading(u32::from_ne_bytes(pid));
    release.write_all(&[1])?;
    Ok(read)
}

/// The child, between clone and exec. Returns only when something failed.
extern "C" fn child(orders: *mut libc::c_void) -> libc::c_int {
    // SAFETY: the parent's thread is suspended and keeps the orders alive; every pointer in them is to a terminated string or array;
    // only system calls are made, nothing is allocated (execvp builds paths on the stack), and _exit runs no handlers.
    unsafe {
        let orders = &mut *orders.cast::<Orders>();
        follow(orders);
        orders.errno = *libc::__errno_location();
        libc::_exit(127)
    }
}

/// Does everything in turn; comes back when something failed, with errno set.
///
/// # Safety
/// Only in a freshly cloned child, with pointers as in [`child`].
unsafe fn follow(orders: &Orders) {
    // SAFETY: see `child`.
    unsafe {
        let standard = [(orders.input, 0), (orders.output, 1), (orders.output, 2)];
        for (from, to) in standard.into_iter().filter(|(from, _)| *from != NO_FILE) {
            if libc::dup2(from, to) < 0 {
                return;
            }
        }
        if !join_groups(orders.join) {
            return;
        }
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        let mut none = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, ptr::null_mut());
        let (pid, mut byte) = (libc::getpid(), 0u8);
        libc::write(orders.told, (&raw const pid).cast(), size_of_val(&pid));
        libc::read(orders.held, (&raw mut byte).cast(), 1);
        libc::execvp(orders.path, orders.arguments);
    }
}

/// # Safety
/// As [`follow`].
unsafe fn join_groups(mut join: *const *const libc::c_char) -> bool {
    // SAFETY: see `child`; the array ends with a null pointer.
    unsafe {
        while !(*join).is_null() {
            let group = libc::open(*join, libc::O_WRONLY | libc::O_CLOEXEC);
            if group < 0 || libc::write(group, c"0".as_ptr().cast(), 1) != 1 {
                return false;
            }
            libc::close(group);
            join = join.add(1);
        }
        true
    }
}
