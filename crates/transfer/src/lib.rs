//! What it costs a host to take data from its disk and send it to another host (seed 002, RFC 392).
//!
//! Two ends: [`server::serve`] waits on a port, [`client::transfer`] sends to it or receives from it. On a control
//! connection they say, in lines of JSON, what is to be moved and how (`protocol`); on a data connection of its own
//! there is nothing but the data (`moving`). Each end measures the one thread that moves them (`measuring`) and tells its
//! [`measuring::row::End`]. What transfers of jobs come to, a [`batch_host::BatchHost`] says.

mod accept;
pub mod batch_host;
pub mod bounds;
pub mod client;
mod end;
pub mod measuring;
mod mover;
pub mod moving;
pub mod news;
pub mod protocol;
pub mod server;
mod shares;
pub mod tickets;
mod words;
