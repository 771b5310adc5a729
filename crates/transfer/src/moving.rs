//! Moves the data: from a source to a socket by each method, and from the socket to a destination.

mod amount;
mod block;
pub mod destination;
pub mod method;
mod receive;
pub mod records;
mod send;
mod shared;
pub(crate) mod socket;
pub mod source;
pub(crate) mod tls;
mod uring;

pub(crate) use receive::receive;
pub(crate) use send::send;
pub(crate) use shared::wait_for_bytes;
