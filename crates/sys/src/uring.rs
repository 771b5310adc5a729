//! Rings of calls to the kernel (io_uring): many sends, or many receipts, for one system call.
//!
//! A chain of calls is handed over at once, and each begins when the one before it is done whole; what comes after one
//! that failed is cancelled. The memory that they read and write belongs to the ring: where calls are still under way
//! when it is dropped, they are cancelled and waited for; only where the kernel does not end them does the memory stay
//! for ever, because it may still write there.

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

use io_uring::squeue::{Entry, Flags};
use io_uring::types::{CancelBuilder, Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode};

use crate::mapped_file::MappedFile;
use crate::why::Why;

/// No chain is longer.
pub const LONGEST_CHAIN: usize = 16;

/// Calls that were cancelled end within this time, or are left.
const TO_END: Duration = Duration::from_secs(2);
/// So long one try to cancel waits.
const TO_CANCEL: Duration = Duration::from_millis(20);

/// A ring, and the memory that its calls read or write.
pub struct Ring<M> {
    ring: IoUring,
    memory: ManuallyDrop<M>,
    under_way: usize,
    results: [i32; LONGEST_CHAIN],
}

/// Why there can be no ring here; None when there can. Tried in a thread of its own: a ring that is closed still interrupts
/// calls of whoever opened it.
pub fn why_not() -> Option<Why> {
    let tried = std::thread::spawn(|| opened().map(drop)).join().expect("the thread does not panic");
    tried.err().map(|error| {
        let disabled = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").unwrap_or_default();
        match (error.raw_os_error(), disabled.trim()) {
            (Some(libc::ENOSYS), _) => Why::new("this kernel has no io_uring", "a kernel with CONFIG_IO_URING"),
            (Some(libc::EPERM), "1" | "2") => {
                let what = format!("io_uring may not be used: kernel.io_uring_disabled is {}", disabled.trim());
                Why::new(what, "sysctl kernel.io_uring_disabled=0")
            }
            (Some(libc::EPERM | libc::EACCES), _) => {
                Why::new("io_uring may not be used: a filter of system calls (seccomp) forbids it", "run outside of that sandbox")
            }
            _ => Why::new(format!("io_uring_setup: {error}"), ""),
        }
    })
}

/// The flags are of Linux 6.1: completions wait until they are asked for. Older kernels do without them.
fn opened() -> io::Result<IoUring> {
    let entries = LONGEST_CHAIN as u32;
    let ring = match IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(entries) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => IoUring::new(entries)?,
        made => made?,
    };
    if ring.params().is_feature_ext_arg() {
        return Ok(ring);
    }
    Err(io::Error::new(io::ErrorKind::Unsupported, "this kernel's io_uring cannot wait for a time: Linux 5.11 can"))
}

impl<M> Ring<M> {
    /// A ring of the calling thread, which alone may use it.
    ///
    /// # Errors
    /// In words, as [`why_not`] says them.
    pub fn over(memory: M) -> io::Result<Ring<M>> {
        let ring = opened().map_err(|error| why_not().map_or(error, |why| io::Error::other(why.to_string())))?;
        Ok(Ring { ring, memory: ManuallyDrop::new(memory), under_way: 0, results: [0; LONGEST_CHAIN] })
    }

    /// Hands over what was queued and waits until it is done, for at most `time`: true when all of it is. One system call.
    ///
    /// # Errors
    /// The kernel's.
    pub fn wait(&mut self, time: Duration) -> io::Result<bool> {
        let time = Timespec::from(time);
        let told = self.ring.submitter().submit_with_args(self.under_way, &SubmitArgs::new().timespec(&time));
        for done in self.ring.completion() {
            self.results[done.user_data() as usize] = done.result();
            self.under_way -= 1;
        }
        match told {
            Err(error) if !matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR)) => Err(error),
            _ => Ok(self.under_way == 0),
        }
    }

    /// Cancels what is under way and waits until it has ended, for at most [`TO_END`]; whether all of it has.
    pub fn end(&mut self) -> bool {
        let until = Instant::now() + TO_END;
        while self.under_way > 0 && Instant::now() < until {
            // Before Linux 6.0 nothing is cancelled so; what a socket that was shut was asked for ends by itself.
            let _ = self.ring.submitter().register_sync_cancel(Some(TO_CANCEL.into()), CancelBuilder::any());
            let _ = self.wait(TO_CANCEL);
        }
        self.under_way == 0
    }

    /// What each call of the last chain came to: bytes, or an error's number below nothing.
    pub fn results(&self) -> &[i32] {
        &self.results
    }

    /// What the calls read or write, when none is under way.
    pub fn memory(&self) -> Option<&M> {
        (self.under_way == 0).then_some(&self.memory)
    }

    fn queue(&mut self, entry: Entry, last: bool) {
        let flags = if last { Flags::empty() } else { Flags::IO_LINK };
        let entry = entry.flags(flags).user_data(self.under_way as u64);
        // SAFETY: whoever queues points into `memory`, which is not touched or freed while anything is under way.
        let room = unsafe { self.ring.submission().push(&entry) };
        assert!(room.is_ok(), "a chain is no longer than the ring");
        self.under_way += 1;
    }

    fn begin(&self, chain: usize) {
        assert!(self.under_way == 0, "a chain begins when the one before it is done");
        assert!((1..=LONGEST_CHAIN).contains(&chain), "a chain of {chain}");
    }
}

impl Ring<MappedFile> {
    /// Queues sends of `pieces`, each a place in the file and a length, whole.
    pub fn send(&mut self, onto: BorrowedFd<'_>, pieces: &[(usize, usize)]) {
        self.begin(pieces.len());
        for (at, (place, length)) in pieces.iter().enumerate() {
            let (start, length) = self.memory.piece(*place, *length);
            let call = opcode::Send::new(Fd(onto.as_raw_fd()), start, length as u32);
            self.queue(call.flags(libc::MSG_WAITALL | libc::MSG_NOSIGNAL).build(), at + 1 == pieces.len());
        }
    }
}

impl Ring<Vec<u8>> {
    /// Queues receipts of so many bytes each, whole, one after the other into the memory.
    pub fn receive(&mut self, from: BorrowedFd<'_>, lengths: &[usize]) {
        self.begin(lengths.len());
        let mut place = 0;
        for (at, length) in lengths.iter().enumerate() {
            let start = self.memory[place..place + length].as_mut_ptr();
            place += length;
            let call = opcode::Recv::new(Fd(from.as_raw_fd()), start, *length as u32);
            self.queue(call.flags(libc::MSG_WAITALL).build(), at + 1 == lengths.len());
        }
    }
}

impl<M> Drop for Ring<M> {
    fn drop(&mut self) {
        if self.end() {
            // SAFETY: it is dropped here alone, and nothing uses it any more.
            unsafe { ManuallyDrop::drop(&mut self.memory) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    const LONG: Duration = Duration::from_secs(60);

    /// Whether this host has it; if not, says why past the capture of a test that passes.
    fn is_here() -> bool {
        let why = why_not();
        if let Some(why) = &why {
            writeln!(std::io::stderr(), "not tried: {why}").expect("said");
        }
        why.is_none()
    }

    #[test]
    fn a_chain_goes_out_in_its_order_and_comes_in_whole() {
        if !is_here() {
            return;
        }
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(b"0123456789").expect("written");
        let mut out = Ring::over(MappedFile::map(file.as_fd(), 10).expect("mapped")).expect("a ring");
        let (near, far) = UnixStream::pair().expect("a pair");
        out.send(near.as_fd(), &[(5, 5), (0, 3)]);
        assert!(out.wait(LONG).expect("sent"));
        assert_eq!(out.results()[..2], [5, 3]);
        let mut into = Ring::over(vec![0; 8]).expect("a ring");
        into.receive(far.as_fd(), &[6, 2]);
        assert!(into.wait(LONG).expect("received"));
        assert_eq!(into.memory().expect("it is done"), b"56789012");
    }

    #[test]
    fn what_is_under_way_ends_when_it_is_told_to_and_gives_its_memory_back() {
        if !is_here() {
            return;
        }
        let (near, far) = UnixStream::pair().expect("a pair");
        let mut into = Ring::over(vec![0; 8]).expect("a ring");
        into.receive(far.as_fd(), &[6, 2]);
        assert!(!into.wait(Duration::from_millis(1)).expect("it waits"));
        assert!(into.end());
        assert_eq!(into.memory(), Some(&vec![0; 8]));
        assert_eq!(into.results()[..2], [-libc::ECANCELED, -libc::ECANCELED]);
        drop(near);
    }

    #[test]
    fn what_follows_a_short_receipt_is_cancelled_and_a_wait_ends_in_time() {
        if !is_here() {
            return;
        }
        let (mut near, far) = UnixStream::pair().expect("a pair");
        let mut into = Ring::over(vec![0; 8]).expect("a ring");
        into.receive(far.as_fd(), &[6, 2]);
        assert!(!into.wait(Duration::from_millis(1)).expect("it waits"));
        assert!(into.memory().is_none());
        near.write_all(b"abc").expect("written");
        near.shutdown(std::net::Shutdown::Both).expect("ended");
        assert!(into.wait(LONG).expect("it ends"));
        assert_eq!(into.results()[..2], [3, -libc::ECANCELED]);
        assert_eq!(near.read(&mut [0]).expect("nothing"), 0);
    }
}
