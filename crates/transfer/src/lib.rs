//! Measures what a host spends to send data from its disk to another host, as RFC 392 did.
//!
//! There are two ends: [`server::serve`] waits on a port, and [`client::transfer`] sends to it or receives from it. On a control
//! connection they agree on the data and the method, in lines of JSON (`protocol`). A separate data connection carries only the data
//! (`moving`). Each end measures the thread that moves its data (`measuring`) and sends its [`measuring::row::EndRow`].
//! A [`batch_host::BatchHost`] handles the transfers that belong to jobs.

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
pub mod refusal;
pub mod server;
mod shares;
mod strangers;
pub mod tickets;
mod words;
