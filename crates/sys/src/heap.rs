//! The heap of this process: what the allocator keeps of memory that was freed.

/// Gives freed memory back to the kernel, as far as the allocator can (glibc; elsewhere it does nothing). It takes some
/// milliseconds: for after a part of the work that needed much and is over.
pub fn give_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it touches only what the allocator itself holds as free, under the allocator's own locks.
    unsafe {
        libc::malloc_trim(0);
    }
}
