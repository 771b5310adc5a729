//! The heap of this process: how much of it is in use, and how freed memory returns to the kernel.

/// Returns freed memory to the kernel, if the allocator can: with glibc, not elsewhere. This takes some milliseconds, so it is
/// called only after work that needed much memory.
pub fn release_freed_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the call touches only memory that the allocator holds as free, under the allocator's own locks.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Bytes that are allocated now, with what the allocator adds to each; `None` where the allocator does not say, as without glibc.
///
/// For tests alone: what is shipped runs with glibc 2.28, and `mallinfo2` came with 2.33.
pub fn allocated_bytes() -> Option<usize> {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: the call reads the allocator's own counts, under its own locks.
        let counts = unsafe { libc::mallinfo2() };
        Some(counts.uordblks + counts.hblkhd)
    }
    #[cfg(not(target_env = "gnu"))]
    None
}
