//! Users who are given up while the run goes on: the host that they log in to is lost.

use loadgo_core::system::UserId;
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

/// Requests to give users up, which all clones share.
///
/// The driver's thread tries the lock and never waits for it. A request rings after its lock is free, and the driver's thread tries
/// again.
#[derive(Clone, Default)]
pub struct GivenUpUsers(Arc<WaitingRequests>);

#[derive(Default)]
struct WaitingRequests {
    waiting: Mutex<Vec<GivenUp>>,
    wake: Mutex<Option<Box<dyn Fn() + Send>>>,
}

impl GivenUpUsers {
    /// Gives the users up: their sessions are ended, and those who are not logged in yet will not be.
    pub fn add(&self, given_up: GivenUp) {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(given_up);
        if let Some(wake) = &*self.0.wake.lock().unwrap_or_else(PoisonError::into_inner) {
            wake();
        }
    }

    /// The requests since the last call, if their lock is free.
    pub(crate) fn take(&self) -> Vec<GivenUp> {
        match self.0.waiting.try_lock() {
            Ok(mut waiting) => std::mem::take(&mut waiting),
            Err(TryLockError::Poisoned(waiting)) => std::mem::take(&mut waiting.into_inner()),
            Err(TryLockError::WouldBlock) => Vec::new(),
        }
    }

    /// Registers `wake`, which a request calls. Calls it at once, since a request may have been made already.
    pub(crate) fn wake_by(&self, wake: impl Fn() + Send + 'static) {
        let mut waker = self.0.wake.lock().unwrap_or_else(PoisonError::into_inner);
        wake();
        *waker = Some(Box::new(wake));
    }
}

impl fmt::Debug for GivenUpUsers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GivenUpUsers")
    }
}
