//! The kernel's meters of transfers: interrupts that work for their ends (`ends`), and one command's sockets (`sockets`).
//!
//! [`meter_of_ends`] is what `loadgo-transfer` asks for an end's interrupt work. [`CommandTransfer`] runs a command and
//! follows its sockets. Both read what the programs of `loadgo-bpf` count, through `programs` and `sums`.

mod charge;
mod command;
pub mod ends;
mod followed;
mod programs;
pub mod sockets;
pub mod sums;

pub use charge::Charge;
pub use command::{CommandTransfer, CommandTransferred};
pub use followed::meter_of_ends;
