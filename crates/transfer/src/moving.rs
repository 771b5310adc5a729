//! Moves the data: from a source to a socket by each method, and from the socket to a destination.

mod amount;
mod block;
pub mod method;
pub mod place;
mod receive;
pub mod records;
mod send;
mod shared;
pub mod socket;
pub mod source;
pub mod tls;
mod uring;

pub use receive::receive;
pub use send::send;
pub use shared::wait_for_bytes;
