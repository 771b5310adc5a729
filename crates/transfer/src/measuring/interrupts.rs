//! The interrupt work of an end: exact where kernel programs measure it (`loadgo-transfer-meters`), else from clock ticks.

use std::fmt;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// Follows the interrupt work of ends, each apart; a server's are many at once.
pub trait Interrupts: Send + Sync + fmt::Debug {
    /// Begins to follow `socket`, before anything moves on it; None for an end without a network.
    ///
    /// # Errors
    /// Why it cannot, in words.
    fn follow(&self, socket: Option<BorrowedFd<'_>>) -> Result<Box<dyn Followed>, String>;
}

/// One end that is followed, until it is dropped.
pub trait Followed: Send + fmt::Debug {
    /// The thread that calls is from now on the end's.
    ///
    /// # Errors
    /// In words, when the kernel no longer answers.
    fn enter(&self) -> Result<(), String>;

    /// The thread that calls is the end's no more.
    ///
    /// # Errors
    /// In words, when the kernel no longer answers.
    fn leave(&self) -> Result<(), String>;

    /// What there was since it was followed, when the interrupts that are under way have ended.
    ///
    /// # Errors
    /// In words, when the kernel no longer answers.
    fn settled(&self) -> Result<Work, String>;

    /// What is in doubt about it, in words.
    fn doubt(&self) -> Option<String>;
}

/// Interrupt work, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Work {
    /// Soft interrupts for the end's socket, on any processor.
    pub soft_ns: u64,
    /// Devices' interrupts for it: shared as the soft ones are, an estimate.
    pub hard_ns: u64,
    /// Of both kinds, whomever for, that came upon the end's thread and are in its processor time.
    pub upon_ns: u64,
    /// Which part of its time was clocked; 1 is all, and the figures are exact.
    pub clocked: f64,
    /// The standard error of what is for it less what came upon it; None where they are exact, or nobody can tell.
    pub error_ns: Option<u64>,
}

/// Who tells the interrupt work; why nobody does, in words.
pub type Meter = Result<Arc<dyn Interrupts>, String>;

/// How the interrupt work of one end is told.
#[derive(Debug)]
pub enum Account {
    /// By who follows it.
    Exact(Box<dyn Followed>),
    /// By the ticks of the whole host, because, in words.
    Ticks(String),
}

impl Account {
    /// The account of an end on `socket`; None for one without a network.
    pub fn of(meter: &Meter, socket: Option<BorrowedFd<'_>>) -> Account {
        let followed = meter.as_ref().map_err(Clone::clone).and_then(|meter| meter.follow(socket));
        followed.map_or_else(Account::Ticks, Account::Exact)
    }

    /// Whether it is exact.
    pub(crate) fn is_exact(&self) -> bool {
        matches!(self, Account::Exact(_))
    }
}
