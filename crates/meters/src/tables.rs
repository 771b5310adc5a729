//! Makes the rows of the tables from the kernel programs' counts. Each file is a part (`crate::part`), or serves parts.

pub(crate) mod by_user;
pub(crate) mod calls;
pub(crate) mod faults;
pub(crate) mod freed_accounts;
pub mod histogram;
mod idle;
pub(crate) mod interrupts;
pub(crate) mod kernel_interrupts;
pub(crate) mod locks;
pub(crate) mod processes;
pub(crate) mod processors;
pub(crate) mod queue;
mod shown;
pub(crate) mod time;
mod unclocked_interrupts;
pub(crate) mod who;
