//! The kernel's meters of transfers: interrupt time of their ends (`ends`), and one command's sockets (`sockets`).
//!
//! [`interrupt_meter_for_ends`] gives `loadgo-transfer` its meter. [`CommandTransfer`] runs a command and follows its
//! sockets. Both read the counters of the programs in `loadgo-bpf`, through `programs` and `sums`.

mod charge;
mod command;
mod ends;
mod programs;
pub mod sockets;
pub mod sums;

pub use charge::InterruptCharge;
pub use command::{CommandTransfer, CommandTransferred};
pub use ends::interrupt_meter_for_ends;
