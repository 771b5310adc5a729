//! Rows of the tables, made of what the kernel programs count; each file is a part (`crate::part`) or serves some.

pub(crate) mod by_user;
pub(crate) mod calls;
pub(crate) mod faults;
pub(crate) mod freed_accounts;
pub mod histogram;
mod idle;
pub(crate) mod interrupts;
pub(crate) mod kernel_interrupts;
pub(crate) mod processes;
mod processors;
pub(crate) mod queue;
mod shown;
pub(crate) mod time;
mod unclocked_interrupts;
mod who;
