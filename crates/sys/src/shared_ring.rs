//! A ring of bytes in memory that two processes share. The *filler* copies bytes of a file into it; the *emptier* writes them to
//! another file.
//!
//! The memory is a sealed memfd, which neither process can shrink under the other. Only the kernel touches the bytes, in
//! `pread` and `write`; no reference points to them. A filler that finds the ring full, or an emptier that finds it empty,
//! sets a flag and waits on a futex. The other process wakes it only if the flag is set.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::thread::futex;
use rustix::time::Timespec;

/// Size of the ring.
pub const RING_BYTES: u32 = 1 << 20;
/// Size of the first page, which holds the indices; the ring's bytes follow.
const INDEX_PAGE_BYTES: usize = 4096;
const MAPPED_BYTES: usize = INDEX_PAGE_BYTES + RING_BYTES as usize;

/// A number in a cache line of its own.
#[repr(C, align(64))]
struct RingIndex(AtomicU32);

/// Total bytes that each process has moved, modulo 2^32, and whether it waits for the other.
#[repr(C)]
struct RingIndices {
    filled: RingIndex,
    emptied: RingIndex,
    filler_waits: RingIndex,
    emptier_waits: RingIndex,
}

/// One end of the ring.
pub struct SharedRing {
    start: NonNull<u8>,
    memory: OwnedFd,
}

// SAFETY: what is mapped stays where it is until the drop; the indices are atomic, and the bytes are touched by the kernel alone.
unsafe impl Send for SharedRing {}

impl std::fmt::Debug for SharedRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SharedRing({:?})", self.memory)
    }
}

impl SharedRing {
    /// An empty ring.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn create() -> io::Result<SharedRing> {
        let memory = memfd_create("loadgo-ring", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&memory, MAPPED_BYTES as u64)?;
        fcntl_add_seals(&memory, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        SharedRing::map(memory)
    }

    /// Maps the ring that another process made.
    ///
    /// # Errors
    /// The memory is no ring, or can be shrunk.
    pub fn open(memory: OwnedFd) -> io::Result<SharedRing> {
        let sealed = fcntl_get_seals(&memory).is_ok_and(|seals| seals.contains(SealFlags::SHRINK));
        if !sealed || fstat(&memory)?.st_size != MAPPED_BYTES as i64 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the received descriptor is no shared memory"));
        }
        SharedRing::map(memory)
    }

    fn map(memory: OwnedFd) -> io::Result<SharedRing> {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at a place of the kernel's choice touches none of our memory.
        let start = unsafe { libc::mmap(ptr::null_mut(), MAPPED_BYTES, rights, libc::MAP_SHARED, memory.as_raw_fd(), 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(SharedRing { start: NonNull::new(start.cast()).expect("mmap gives a mapping or fails"), memory })
    }

    /// The memory's descriptor, for the other process.
    pub fn memory(&self) -> BorrowedFd<'_> {
        self.memory.as_fd()
    }

    fn indices(&self) -> &RingIndices {
        // SAFETY: the mapping begins with the indices, is aligned to a page, cannot shrink, and they are all atomic.
        unsafe { self.start.cast().as_ref() }
    }

    /// Number of bytes in the ring.
    ///
    /// # Errors
    /// The other end has written impossible indices.
    pub fn held(&self) -> io::Result<u32> {
        let indices = self.indices();
        let held = indices.filled.0.load(Ordering::SeqCst).wrapping_sub(indices.emptied.0.load(Ordering::SeqCst));
        if held > RING_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the other end has spoilt the shared memory"));
        }
        Ok(held)
    }

    /// Copies up to `length` bytes at `offset` of the file `from` into the ring, up to the ring's end. Returns their number.
    ///
    /// # Errors
    /// The file's error.
    pub fn fill(&self, from: BorrowedFd<'_>, offset: u64, length: usize) -> io::Result<usize> {
        let (index, room) = (&self.indices().filled.0, RING_BYTES - self.held()?);
        let (position, length) = piece(index.load(Ordering::SeqCst), room, length);
        // SAFETY: `length` bytes are mapped from there on, and only the kernel writes them.
        let count = unsafe { libc::pread(from.as_raw_fd(), self.address(position), length, offset as libc::off_t) };
        let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
        self.advance(index, count, &self.indices().emptier_waits.0);
        Ok(count)
    }

    /// Writes up to `length` bytes of the ring to the file `into`, up to the ring's end, and removes them. Returns their number.
    ///
    /// # Errors
    /// The file's error.
    pub fn empty(&self, into: BorrowedFd<'_>, length: usize) -> io::Result<usize> {
        let index = &self.indices().emptied.0;
        let (position, length) = piece(index.load(Ordering::SeqCst), self.held()?, length);
        // SAFETY: `length` bytes are mapped from there on, and only the kernel reads them.
        let count = unsafe { libc::write(into.as_raw_fd(), self.address(position), length) };
        let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
        self.advance(index, count, &self.indices().filler_waits.0);
        Ok(count)
    }

    fn address(&self, position: usize) -> *mut libc::c_void {
        // SAFETY: the position is below the ring's size, so it is in the mapping.
        unsafe { self.start.as_ptr().add(INDEX_PAGE_BYTES + position).cast() }
    }

    /// Adds `count` to an index, and wakes the other process if it waits for this index.
    fn advance(&self, index: &AtomicU32, count: usize, other_waits: &AtomicU32) {
        index.fetch_add(count as u32, Ordering::SeqCst);
        if count > 0 && other_waits.swap(0, Ordering::SeqCst) != 0 {
            let _ = futex::wake(index, futex::Flags::empty(), 1);
        }
    }

    /// Waits until the ring has room for `needed` bytes, for at most `time`. It may return earlier.
    ///
    /// # Errors
    /// As with [`SharedRing::held`].
    pub fn wait_for_room(&self, needed: u32, time: Duration) -> io::Result<()> {
        let indices = self.indices();
        self.wait(&indices.emptied.0, &indices.filler_waits.0, |held| RING_BYTES - held < needed, time)
    }

    /// Waits until the ring has bytes, for at most `time`. It may return earlier.
    ///
    /// # Errors
    /// As with [`SharedRing::held`].
    pub fn wait_for_bytes(&self, time: Duration) -> io::Result<()> {
        let indices = self.indices();
        self.wait(&indices.filled.0, &indices.emptier_waits.0, |held| held == 0, time)
    }

    /// Waits until the other process changes `index`, unless `must_wait` is false for the number of bytes in the ring.
    fn wait(&self, index: &AtomicU32, waits: &AtomicU32, must_wait: impl Fn(u32) -> bool, time: Duration) -> io::Result<()> {
        let before = index.load(Ordering::SeqCst);
        waits.store(1, Ordering::SeqCst);
        if !must_wait(self.held()?) {
            return Ok(());
        }
        let time = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() };
        match futex::wait(index, futex::Flags::empty(), before, Some(&time)) {
            Ok(()) | Err(Errno::AGAIN | Errno::TIMEDOUT | Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Position of the next byte, and how many of `wanted` bytes lie there in one piece if the ring has `available`.
fn piece(index: u32, available: u32, wanted: usize) -> (usize, usize) {
    let position = (index % RING_BYTES) as usize;
    (position, wanted.min(available as usize).min(RING_BYTES as usize - position))
}

impl Drop for SharedRing {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nobody has a reference into it.
        unsafe { libc::munmap(self.start.as_ptr().cast(), MAPPED_BYTES) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{Read, Seek};
    use std::os::unix::fs::FileExt;
    use std::thread;

    const SIZE: usize = 5_000_011;

    fn source() -> File {
        let file = tempfile::tempfile().expect("a file");
        let text: Vec<u8> = (0..SIZE).map(|at| ((at * 31) >> 3) as u8).collect();
        file.write_all_at(&text, 0).expect("written");
        file
    }

    #[test]
    fn what_goes_in_comes_out_in_its_order_though_both_wait_for_each_other() {
        let near = SharedRing::create().expect("a ring");
        let far = SharedRing::open(near.memory().try_clone_to_owned().expect("again")).expect("the same");
        let (from, mut into) = (source(), tempfile::tempfile().expect("a file"));
        let sends = thread::spawn({
            let from = from.try_clone().expect("again");
            move || {
                let mut done = 0;
                while done < SIZE {
                    match near.fill(from.as_fd(), done as u64, 65_521).expect("filled") {
                        0 => near.wait_for_room(1, Duration::from_secs(60)).expect("it waits"),
                        filled => done += filled,
                    }
                }
            }
        });
        let mut done = 0;
        while done < SIZE {
            match far.empty(into.as_fd(), 70_001).expect("emptied") {
                0 => far.wait_for_bytes(Duration::from_secs(60)).expect("it waits"),
                emptied => done += emptied,
            }
        }
        sends.join().expect("it ends");
        let (mut sent, mut got) = (vec![0; SIZE], Vec::new());
        from.read_exact_at(&mut sent, 0).expect("read");
        into.rewind().expect("from the beginning");
        into.read_to_end(&mut got).expect("read");
        assert!(got == sent);
    }

    #[test]
    fn memory_that_could_shrink_is_refused_and_so_are_impossible_indices() {
        let plain = tempfile::tempfile().expect("a file");
        plain.set_len(MAPPED_BYTES as u64).expect("long");
        SharedRing::open(plain.into()).expect_err("it has no seals");
        let ring = SharedRing::create().expect("a ring");
        ring.indices().filled.0.store(RING_BYTES + 1, Ordering::SeqCst);
        assert!(ring.held().expect_err("it is too much").to_string().contains("spoilt"));
    }
}
