//! A ring of bytes in memory that two processes share: one fills it from a file, the other empties it into one.
//!
//! The memory is a sealed memfd, so that neither can take it away from under the other; the bytes in it are touched by the
//! kernel alone, in `pread` and `write`, and never by a reference. Whoever finds it full, or empty, waits on a futex; the
//! other wakes him only where he said that he waits.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::thread::futex;
use rustix::time::Timespec;

/// So many bytes are in the ring at most.
pub const CAPACITY: u32 = 1 << 20;
/// The first page holds the marks, the bytes follow.
const BYTES_AT: usize = 4096;
const MAPPED: usize = BYTES_AT + CAPACITY as usize;

/// Each in a line of the processor's cache of its own.
#[repr(C, align(64))]
struct Mark(AtomicU32);

/// How far each has come, as sums that begin again behind the last number, and whether he waits for the other.
#[repr(C)]
struct Marks {
    filled: Mark,
    emptied: Mark,
    filler_waits: Mark,
    emptier_waits: Mark,
}

/// One end of the ring.
pub struct SharedRing {
    start: NonNull<u8>,
    memory: OwnedFd,
}

// SAFETY: what is mapped stays where it is until the drop; the marks are atomic, and the bytes are touched by the kernel alone.
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
        ftruncate(&memory, MAPPED as u64)?;
        fcntl_add_seals(&memory, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        SharedRing::map(memory)
    }

    /// The ring that another process made.
    ///
    /// # Errors
    /// When it is none, or can be taken away.
    pub fn open(memory: OwnedFd) -> io::Result<SharedRing> {
        let sealed = fcntl_get_seals(&memory).is_ok_and(|seals| seals.contains(SealFlags::SHRINK));
        if !sealed || fstat(&memory)?.st_size != MAPPED as i64 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "what came is no memory to be shared"));
        }
        SharedRing::map(memory)
    }

    fn map(memory: OwnedFd) -> io::Result<SharedRing> {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at a place of the kernel's choice touches none of our memory.
        let start = unsafe { libc::mmap(ptr::null_mut(), MAPPED, rights, libc::MAP_SHARED, memory.as_raw_fd(), 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(SharedRing { start: NonNull::new(start.cast()).expect("mmap gives a mapping or fails"), memory })
    }

    /// The memory, to be handed to the other process.
    pub fn memory(&self) -> BorrowedFd<'_> {
        self.memory.as_fd()
    }

    fn marks(&self) -> &Marks {
        // SAFETY: the mapping begins with the marks, is aligned to a page, cannot shrink, and they are all atomic.
        unsafe { self.start.cast().as_ref() }
    }

    /// How many bytes are in it.
    ///
    /// # Errors
    /// When the other end has put nonsense there.
    pub fn held(&self) -> io::Result<u32> {
        let marks = self.marks();
        let held = marks.filled.0.load(Ordering::SeqCst).wrapping_sub(marks.emptied.0.load(Ordering::SeqCst));
        if held > CAPACITY {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the other end has spoilt the shared memory"));
        }
        Ok(held)
    }

    /// Fills it with up to `length` bytes of `from` from the place `at` on, as far as there is room in one piece: how many came.
    ///
    /// # Errors
    /// The file's.
    pub fn fill(&self, from: BorrowedFd<'_>, at: u64, length: usize) -> io::Result<usize> {
        let (mark, room) = (&self.marks().filled.0, CAPACITY - self.held()?);
        let (place, length) = piece(mark.load(Ordering::SeqCst), room, length);
        // SAFETY: so many bytes are mapped from there on, and the kernel alone writes them.
        let came = unsafe { libc::pread(from.as_raw_fd(), self.at(place), length, at as libc::off_t) };
        let came = usize::try_from(came).map_err(|_| io::Error::last_os_error())?;
        self.moved_on(mark, came, &self.marks().emptier_waits.0);
        Ok(came)
    }

    /// Empties up to `length` bytes of it into `into`, as far as they are there in one piece: how many went.
    ///
    /// # Errors
    /// The file's.
    pub fn empty(&self, into: BorrowedFd<'_>, length: usize) -> io::Result<usize> {
        let mark = &self.marks().emptied.0;
        let (place, length) = piece(mark.load(Ordering::SeqCst), self.held()?, length);
        // SAFETY: so many bytes are mapped from there on, and the kernel alone reads them.
        let went = unsafe { libc::write(into.as_raw_fd(), self.at(place), length) };
        let went = usize::try_from(went).map_err(|_| io::Error::last_os_error())?;
        self.moved_on(mark, went, &self.marks().filler_waits.0);
        Ok(went)
    }

    fn at(&self, place: usize) -> *mut libc::c_void {
        // SAFETY: the place is below the capacity, so it is in the mapping.
        unsafe { self.start.as_ptr().add(BYTES_AT + place).cast() }
    }

    /// The other is woken where he waits for this mark.
    fn moved_on(&self, mark: &AtomicU32, by: usize, other_waits: &AtomicU32) {
        mark.fetch_add(by as u32, Ordering::SeqCst);
        if by > 0 && other_waits.swap(0, Ordering::SeqCst) != 0 {
            let _ = futex::wake(mark, futex::Flags::empty(), 1);
        }
    }

    /// Waits until the other end has made room, where there are not yet `needed` bytes of it, for at most `time`.
    ///
    /// # Errors
    /// As with [`SharedRing::held`].
    pub fn wait_for_room(&self, needed: u32, time: Duration) -> io::Result<()> {
        let marks = self.marks();
        self.wait(&marks.emptied.0, &marks.filler_waits.0, |held| CAPACITY - held < needed, time)
    }

    /// Waits until there are bytes, for at most `time`; it may end without.
    ///
    /// # Errors
    /// As with [`SharedRing::held`].
    pub fn wait_for_bytes(&self, time: Duration) -> io::Result<()> {
        let marks = self.marks();
        self.wait(&marks.filled.0, &marks.emptier_waits.0, |held| held == 0, time)
    }

    /// Waits on the other's mark, while what the ring holds is of no use.
    fn wait(&self, mark: &AtomicU32, waits: &AtomicU32, useless: impl Fn(u32) -> bool, time: Duration) -> io::Result<()> {
        let seen = mark.load(Ordering::SeqCst);
        waits.store(1, Ordering::SeqCst);
        if !useless(self.held()?) {
            return Ok(());
        }
        let time = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() };
        match futex::wait(mark, futex::Flags::empty(), seen, Some(&time)) {
            Ok(()) | Err(Errno::AGAIN | Errno::TIMEDOUT | Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Where the next byte is, and how many of `wanted` there are in one piece, of `there`.
fn piece(mark: u32, there: u32, wanted: usize) -> (usize, usize) {
    let place = (mark % CAPACITY) as usize;
    (place, wanted.min(there as usize).min(CAPACITY as usize - place))
}

impl Drop for SharedRing {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nobody has a reference into it.
        unsafe { libc::munmap(self.start.as_ptr().cast(), MAPPED) };
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
                        came => done += came,
                    }
                }
            }
        });
        let mut done = 0;
        while done < SIZE {
            match far.empty(into.as_fd(), 70_001).expect("emptied") {
                0 => far.wait_for_bytes(Duration::from_secs(60)).expect("it waits"),
                went => done += went,
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
    fn memory_that_could_be_taken_away_is_refused_and_so_is_nonsense_in_it() {
        let plain = tempfile::tempfile().expect("a file");
        plain.set_len(MAPPED as u64).expect("long");
        SharedRing::open(plain.into()).expect_err("it has no seals");
        let ring = SharedRing::create().expect("a ring");
        ring.marks().filled.0.store(CAPACITY + 1, Ordering::SeqCst);
        assert!(ring.held().expect_err("it is too much").to_string().contains("spoilt"));
    }
}
