//! The request to stop: one type for all work that can be ended early.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A request to stop, which all clones share. It is never taken back.
///
/// The owner of a run makes it for the driver, the sampler and the writer. Python makes it at a signal, or when its caller stops
/// a transfer. An end of a transfer makes it for the thread that moves the data. The work reads the request between two steps.
/// Work that sleeps registers beforehand how it is woken.
#[derive(Clone, Default)]
pub struct StopRequest(Arc<Shared>);

#[derive(Default)]
struct Shared {
    is_set: AtomicBool,
    wake: Mutex<Option<Box<dyn Fn() + Send>>>,
}

impl StopRequest {
    /// Requests the stop, and wakes the work.
    pub fn set(&self) {
        let wake = self.0.wake.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.is_set.store(true, Ordering::Release);
        if let Some(wake) = &*wake {
            wake();
        }
    }

    /// Whether the work is to stop.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.0.is_set.load(Ordering::Acquire)
    }

    /// Registers `wake`, which wakes the work at the request. Calls it at once if the request has been made already.
    pub fn wake_by(&self, wake: impl Fn() + Send + 'static) {
        let mut waker = self.0.wake.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_set() {
            wake();
        }
        *waker = Some(Box::new(wake));
    }

    /// Lets the request unpark the calling thread.
    pub fn unparks_this_thread(&self) {
        let thread = std::thread::current();
        self.wake_by(move || thread.unpark());
    }
}

impl fmt::Debug for StopRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StopRequest({})", self.is_set())
    }
}

#[cfg(test)]
mod tests {
    use super::StopRequest;
    use std::sync::mpsc::channel;

    #[test]
    fn a_request_reaches_work_that_sleeps_whichever_of_the_two_comes_first() {
        for set_first in [false, true] {
            let (stop, (sender, woken)) = (StopRequest::default(), channel());
            if set_first {
                stop.clone().set();
            }
            stop.wake_by(move || sender.send(()).expect("the receiver exists"));
            if !set_first {
                assert!(!stop.is_set() && woken.try_recv().is_err());
                stop.clone().set();
            }
            woken.try_recv().expect("the work is woken");
            assert!(stop.is_set());
        }
    }

    #[test]
    fn a_parked_thread_is_woken() {
        let stop = StopRequest::default();
        let asked = stop.clone();
        let thread = std::thread::spawn(move || {
            asked.unparks_this_thread();
            while !asked.is_set() {
                std::thread::park();
            }
        });
        stop.set();
        thread.join().expect("the thread ends");
    }
}
