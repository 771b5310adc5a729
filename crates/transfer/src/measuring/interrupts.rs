//! The interface of meters for the interrupts of an end. Kernel programs implement it (`loadgo-transfer-meters`); otherwise clock
//! ticks count.

use std::error::Error;
use std::fmt;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// Why no meter measures an end's interrupts, so that clock ticks count them.
#[derive(Clone, Debug)]
pub struct UnmeteredReason(Arc<dyn Error + Send + Sync>);

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for UnmeteredReason {
    fn from(error: E) -> UnmeteredReason {
        UnmeteredReason(error.into().into())
    }
}

impl fmt::Display for UnmeteredReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// Measures the interrupt work of each of many ends.
pub trait InterruptMeter: Send + Sync + fmt::Debug {
    /// Begins to follow `socket`, before data move on it. An end without a network has no socket.
    ///
    /// # Errors
    /// The end cannot be followed.
    fn follow(&self, socket: Option<BorrowedFd<'_>>) -> Result<Box<dyn FollowedEnd>, UnmeteredReason>;
}

/// One end that is followed, until it is dropped.
pub trait FollowedEnd: Send + fmt::Debug {
    /// Makes the calling thread the one that moves the end's data.
    ///
    /// # Errors
    /// The kernel refuses it.
    fn attach_thread(&self) -> Result<(), UnmeteredReason>;

    /// Ends the calling thread's work for the end.
    ///
    /// # Errors
    /// The kernel refuses it.
    fn detach_thread(&self) -> Result<(), UnmeteredReason>;

    /// The interrupt work since [`InterruptMeter::follow`]. Waits until the present interrupts have ended.
    ///
    /// # Errors
    /// The kernel's counters cannot be read.
    fn final_work(&self) -> Result<InterruptWork, UnmeteredReason>;

    /// A note if a figure is in doubt.
    fn accuracy_note(&self) -> Option<String>;
}

/// Time of interrupts for one end.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct InterruptWork {
    /// Soft interrupts for the end's socket, on any processor.
    pub soft_ns: u64,
    /// Estimated device interrupts for the socket, in proportion to the soft interrupts.
    pub hard_ns: u64,
    /// Interrupts of both kinds, for any socket, that are in the processor time of the end's thread.
    pub upon_ns: u64,
    /// Measured part of the end's time, 0 to 1. With 1 the figures are exact.
    pub clocked: f64,
    /// Standard error of `soft_ns + hard_ns - upon_ns`; None if the figures are exact, or if it is unknown.
    pub error_ns: Option<u64>,
}

/// The meter of interrupt work, or why there is none.
pub type MeterOrReason = Result<Arc<dyn InterruptMeter>, UnmeteredReason>;

/// How the interrupt work of one end is measured.
#[derive(Debug)]
pub enum InterruptAccount {
    /// By a meter that follows the end.
    Exact(Box<dyn FollowedEnd>),
    /// By clock ticks of the whole host; with the reason.
    Ticks(UnmeteredReason),
}

impl InterruptAccount {
    /// Begins the account of an end on `socket`; an end without a network has none.
    pub fn begin(meter: &MeterOrReason, socket: Option<BorrowedFd<'_>>) -> InterruptAccount {
        let followed = meter.as_ref().map_err(Clone::clone).and_then(|meter| meter.follow(socket));
        followed.map_or_else(InterruptAccount::Ticks, InterruptAccount::Exact)
    }

    /// The account after a `call` to the end that is followed. If the call fails, ticks count instead.
    pub(crate) fn after(self, call: fn(&dyn FollowedEnd) -> Result<(), UnmeteredReason>) -> InterruptAccount {
        match self {
            InterruptAccount::Exact(followed) => match call(&*followed) {
                Ok(()) => InterruptAccount::Exact(followed),
                Err(reason) => InterruptAccount::Ticks(reason),
            },
            ticks => ticks,
        }
    }

    /// Whether a meter follows the end.
    pub(crate) fn is_exact(&self) -> bool {
        matches!(self, InterruptAccount::Exact(_))
    }
}
