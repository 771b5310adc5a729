//! A child that begins in its parent's memory, as vfork's does: nothing is copied for it, and nothing is charged to it for letting
//! a copy go.
//!
//! The calling thread stands still until the child executes a program or exits; other threads go on.

use crate::kernel::checked;
use std::io;
use std::ptr;

const LENGTH: usize = 64 * 1024;

/// What a child does: it makes system calls on memory that was prepared before, allocates nothing, and comes back only when it failed.
pub(crate) type Child = extern "C" fn(*mut libc::c_void) -> libc::c_int;

/// The stack that children begin on, one after the other.
#[derive(Debug)]
pub(crate) struct Stack(*mut libc::c_void);

// SAFETY: the stack belongs to this value alone and is used only inside `start`, which takes `&mut self`.
unsafe impl Send for Stack {}

impl Stack {
    /// A stack for children. It fails when there is no memory for it.
    pub(crate) fn new() -> io::Result<Stack> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK;
        // SAFETY: an anonymous mapping at any address.
        let stack = unsafe { libc::mmap(ptr::null_mut(), LENGTH, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if stack == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(Stack(stack)) }
    }

    /// Starts `child` on `orders`; its id when it has executed a program or has exited. `share` are clone's flags beside those
    /// of vfork, such as `CLONE_FILES`.
    ///
    /// # Safety
    /// `child` must keep to what [`Child`] says, and `orders` must point to what it expects. It begins with all signals blocked.
    pub(crate) unsafe fn start<T>(&mut self, child: Child, orders: &mut T, share: libc::c_int) -> io::Result<libc::pid_t> {
        // A handler must not run in the child, whose memory is ours: all signals wait until the child has executed.
        // SAFETY: the sets are valid; the stack is ours and nobody else's at this moment; the rest is the caller's promise.
        unsafe {
            let mut all = std::mem::zeroed::<libc::sigset_t>();
            let mut before = std::mem::zeroed::<libc::sigset_t>();
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
            let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD | share;
            let pid = libc::clone(child, self.0.byte_add(LENGTH), flags, ptr::from_mut(orders).cast());
            let result = checked(pid);
            libc::pthread_sigmask(libc::SIG_SETMASK, &before, ptr::null_mut());
            result
        }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, of this length, and no child runs on it.
        unsafe { libc::munmap(self.0, LENGTH) };
    }
}
