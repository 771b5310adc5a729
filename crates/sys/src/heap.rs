//! The heap of this process: how freed memory returns to the kernel.

/// Returns freed memory to the kernel, if the allocator can: with glibc, not elsewhere. This takes some milliseconds, so it is
/// called only after work that needed much memory.
pub fn release_freed_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the call touches only memory that the allocator holds as free, under the allocator's own locks.
    unsafe {
        libc::malloc_trim(0);
    }
}
