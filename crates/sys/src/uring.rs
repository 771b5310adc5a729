//! Rings of calls to the kernel (io_uring): many sends, or many receipts, for one system call.
//!
//! A chain of calls is submitted at once. Each call begins when the one before it has completed in full, and a call that fails
//! cancels those after it. The memory that the calls read and write belongs to the ring. When a ring is dropped, its calls are
//! cancelled and waited for. If the kernel does not end them, the memory is never freed, because the kernel may still write
//! there.

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

use io_uring::squeue::{Entry, Flags};
use io_uring::types::{CancelBuilder, Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode};

use crate::mapped_file::MappedFile;
use crate::why::Why;

/// Largest number of calls in a chain.
pub const MOST_CHAINED_CALLS: usize = 16;

/// Time in which cancelled calls must end.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(2);
/// Waiting time of one attempt to cancel.
const CANCEL_TRY_TIME: Duration = Duration::from_millis(20);

/// A ring, and the memory that its calls read or write.
pub struct CallRing<M> {
    ring: IoUring,
    memory: ManuallyDrop<M>,
    under_way: usize,
    results: [i32; MOST_CHAINED_CALLS],
}

/// The reason why this process can have no ring; None if it can. A separate thread tries it, because closing a ring interrupts
/// calls of the thread that opened it.
pub fn unavailable_reason() -> Option<Why> {
    let attempt = std::thread::Builder::new().spawn(|| open_ring().map(drop));
    let opened = attempt.and_then(|attempt| attempt.join().expect("the thread does not panic"));
    opened.err().map(|error| {
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

/// Opens a ring. On Linux 6.1 and later, the kernel delivers its completions only when this thread asks for them.
fn open_ring() -> io::Result<IoUring> {
    let entries = MOST_CHAINED_CALLS as u32;
    let ring = match IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(entries) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => IoUring::new(entries)?,
        ring => ring?,
    };
    if ring.params().is_feature_ext_arg() {
        return Ok(ring);
    }
    Err(io::Error::new(io::ErrorKind::Unsupported, "this kernel's io_uring cannot wait for a time: Linux 5.11 can"))
}

impl<M> CallRing<M> {
    /// Opens a ring for the calling thread; no other thread may use it.
    ///
    /// # Errors
    /// The reason that [`unavailable_reason`] gives.
    pub fn new(memory: M) -> io::Result<CallRing<M>> {
        let ring = open_ring().map_err(|error| unavailable_reason().map_or(error, |why| io::Error::other(why.to_string())))?;
        Ok(CallRing { ring, memory: ManuallyDrop::new(memory), under_way: 0, results: [0; MOST_CHAINED_CALLS] })
    }

    /// Submits the queued calls and waits for at most `time` until they are done, in one system call. Returns whether all are
    /// done.
    ///
    /// # Errors
    /// The kernel's.
    pub fn wait(&mut self, time: Duration) -> io::Result<bool> {
        let time = Timespec::from(time);
        let submitted = self.ring.submitter().submit_with_args(self.under_way, &SubmitArgs::new().timespec(&time));
        for completion in self.ring.completion() {
            self.results[completion.user_data() as usize] = completion.result();
            self.under_way -= 1;
        }
        match submitted {
            Err(error) if !matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR)) => Err(error),
            _ => Ok(self.under_way == 0),
        }
    }

    /// Cancels the calls under way and waits for at most [`CANCEL_TIMEOUT`]. Returns whether all have ended.
    pub fn cancel(&mut self) -> bool {
        let until = Instant::now() + CANCEL_TIMEOUT;
        while self.under_way > 0 && Instant::now() < until {
            // Linux before 6.0 cannot cancel; there, calls on a socket end when the socket is shut down.
            let _ = self.ring.submitter().register_sync_cancel(Some(CANCEL_TRY_TIME.into()), CancelBuilder::any());
            let _ = self.wait(CANCEL_TRY_TIME);
        }
        self.under_way == 0
    }

    /// Result of each call of the last chain: a number of bytes, or a negative error number.
    pub fn results(&self) -> &[i32] {
        &self.results
    }

    /// The memory that the calls read or write; None while a call is under way.
    pub fn memory(&self) -> Option<&M> {
        (self.under_way == 0).then_some(&self.memory)
    }

    fn queue(&mut self, entry: Entry, last: bool) {
        let flags = if last { Flags::empty() } else { Flags::IO_LINK };
        let entry = entry.flags(flags).user_data(self.under_way as u64);
        // SAFETY: every queued call points into `memory`, which is not touched or freed while anything is under way.
        let room = unsafe { self.ring.submission().push(&entry) };
        assert!(room.is_ok(), "a chain is no longer than the ring");
        self.under_way += 1;
    }

    fn check_chain(&self, calls: usize) {
        assert!(self.under_way == 0, "a chain begins when the one before it is done");
        assert!((1..=MOST_CHAINED_CALLS).contains(&calls), "a chain of {calls}");
    }
}

impl CallRing<MappedFile> {
    /// Queues sends of whole `pieces`, each an offset in the file and a length in bytes.
    pub fn send(&mut self, onto: BorrowedFd<'_>, pieces: &[(usize, usize)]) {
        self.check_chain(pieces.len());
        for (number, (offset, length)) in pieces.iter().enumerate() {
            let (start, length) = self.memory.piece(*offset, *length);
            let call = opcode::Send::new(Fd(onto.as_raw_fd()), start, length as u32);
            self.queue(call.flags(libc::MSG_WAITALL | libc::MSG_NOSIGNAL).build(), number + 1 == pieces.len());
        }
    }
}

impl CallRing<Vec<u8>> {
    /// Queues receipts of whole pieces with these lengths in bytes, one after the other into the memory.
    pub fn receive(&mut self, from: BorrowedFd<'_>, lengths: &[usize]) {
        self.check_chain(lengths.len());
        let mut offset = 0;
        for (number, length) in lengths.iter().enumerate() {
            let start = self.memory[offset..offset + length].as_mut_ptr();
            offset += length;
            let call = opcode::Recv::new(Fd(from.as_raw_fd()), start, *length as u32);
            self.queue(call.flags(libc::MSG_WAITALL).build(), number + 1 == lengths.len());
        }
    }
}

impl<M> Drop for CallRing<M> {
    fn drop(&mut self) {
        if self.cancel() {
            // SAFETY: the memory is dropped only here, and no call uses it any more.
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

    /// Whether this host has io_uring. If not, the reason is printed even if the test passes.
    fn is_available() -> bool {
        let reason = unavailable_reason();
        if let Some(reason) = &reason {
            writeln!(std::io::stderr(), "not tried: {reason}").expect("printed");
        }
        reason.is_none()
    }

    #[test]
    fn a_chain_goes_out_in_its_order_and_comes_in_whole() {
        if !is_available() {
            return;
        }
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(b"0123456789").expect("written");
        let mut out = CallRing::new(MappedFile::map(file.as_fd(), 10).expect("mapped")).expect("a ring");
        let (near, far) = UnixStream::pair().expect("a pair");
        out.send(near.as_fd(), &[(5, 5), (0, 3)]);
        assert!(out.wait(LONG).expect("sent"));
        assert_eq!(out.results()[..2], [5, 3]);
        let mut into = CallRing::new(vec![0; 8]).expect("a ring");
        into.receive(far.as_fd(), &[6, 2]);
        assert!(into.wait(LONG).expect("received"));
        assert_eq!(into.memory().expect("it is done"), b"56789012");
    }

    #[test]
    fn cancelled_calls_end_and_give_their_memory_back() {
        if !is_available() {
            return;
        }
        let (near, far) = UnixStream::pair().expect("a pair");
        let mut into = CallRing::new(vec![0; 8]).expect("a ring");
        into.receive(far.as_fd(), &[6, 2]);
        assert!(!into.wait(Duration::from_millis(1)).expect("it waits"));
        assert!(into.cancel());
        assert_eq!(into.memory(), Some(&vec![0; 8]));
        assert_eq!(into.results()[..2], [-libc::ECANCELED, -libc::ECANCELED]);
        drop(near);
    }

    #[test]
    fn what_follows_a_short_receipt_is_cancelled_and_a_wait_ends_in_time() {
        if !is_available() {
            return;
        }
        let (mut near, far) = UnixStream::pair().expect("a pair");
        let mut into = CallRing::new(vec![0; 8]).expect("a ring");
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
