//! Orders to the driver while a run goes on: users whose host is lost are given up, and barriers are opened.

use loadgo_core::system::{Barrier, UserId};
use loadgo_core::time::Span;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

/// A range of users who are given up, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenUp {
    /// The users.
    pub users: RangeInclusive<UserId>,
    /// Why, in words.
    pub reason: String,
}

/// One order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriverOrder {
    /// End the sessions of users, and log those of them in no more who are not logged in yet.
    GiveUp(GivenUp),
    /// Pass a barrier at an instant on the monotonic clock, in nanoseconds, or at once if that has passed.
    Open {
        /// The barrier.
        barrier: Barrier,
        /// The instant.
        at_ns: u64,
    },
    /// Stop at once: there is no controller any more.
    Stop,
}

/// The terms of a controller on another host, without whose orders this driver passes no barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControllerTerms {
    /// A driver that has not run for longer than this has been given up by its controller, and types no more.
    pub most_standstill: Span,
}

/// Orders to a driver, which all clones share.
///
/// The driver's thread tries the lock and never waits for it. An order rings after its lock is free, and the driver's thread tries
/// again.
#[derive(Clone, Default)]
pub struct DriverOrders(Arc<WaitingOrders>);

#[derive(Default)]
struct WaitingOrders {
    waiting: Mutex<Vec<DriverOrder>>,
    wake: Mutex<Option<Box<dyn Fn() + Send>>>,
}

impl DriverOrders {
    /// Gives an order.
    pub fn give(&self, order: DriverOrder) {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(order);
        if let Some(wake) = &*self.0.wake.lock().unwrap_or_else(PoisonError::into_inner) {
            wake();
        }
    }

    /// The orders since the last call, if their lock is free.
    pub fn take(&self) -> Vec<DriverOrder> {
        match self.0.waiting.try_lock() {
            Ok(mut waiting) => std::mem::take(&mut waiting),
            Err(TryLockError::Poisoned(waiting)) => std::mem::take(&mut waiting.into_inner()),
            Err(TryLockError::WouldBlock) => Vec::new(),
        }
    }

    /// Registers `wake`, which an order calls. Calls it at once, since an order may have been given already.
    pub(crate) fn wake_by(&self, wake: impl Fn() + Send + 'static) {
        let mut waker = self.0.wake.lock().unwrap_or_else(PoisonError::into_inner);
        wake();
        *waker = Some(Box::new(wake));
    }
}

impl fmt::Debug for DriverOrders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DriverOrders")
    }
}
