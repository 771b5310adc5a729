//! Holds back a thread's signals for a while: those that come meanwhile are delivered afterwards.

/// While this lives, no signal is delivered to the thread that made it, except those that nothing can block.
pub struct HeldSignals {
    before: libc::sigset_t,
    /// The mask belongs to one thread, so this stays there.
    _of_one_thread: std::marker::PhantomData<*const ()>,
}

impl HeldSignals {
    /// Begins to hold back the signals of this thread.
    pub fn of_this_thread() -> HeldSignals {
        // SAFETY: both sets are valid and belong to this frame; the call changes this thread's mask only.
        let before = unsafe {
            let (mut every, mut before): (libc::sigset_t, libc::sigset_t) = (std::mem::zeroed(), std::mem::zeroed());
            libc::sigfillset(&raw mut every);
            let answer = libc::pthread_sigmask(libc::SIG_SETMASK, &raw const every, &raw mut before);
            assert_eq!(answer, 0, "the mask is valid");
            before
        };
        HeldSignals { before, _of_one_thread: std::marker::PhantomData }
    }
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        // SAFETY: the set is the thread's former mask.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut()) };
    }
}
