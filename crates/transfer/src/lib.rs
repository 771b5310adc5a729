//! What it costs a host to take data from its disk and send it to another host (seed 002, RFC 392).
//!
//! Two ends: [`server::serve`] waits on a port, [`client::transfer`] sends to it or receives from it. On a control
//! connection they say, in lines of JSON, what is to be moved and how ([`wire`]); on a data connection of its own
//! there is nothing but the data. Each end measures the one thread that moves them ([`measure`]) and tells its [`row::End`].

pub mod accept;
pub mod block;
pub mod bounds;
pub mod client;
pub mod control;
pub mod deck;
pub mod end;
pub mod host_load;
pub mod interrupts;
pub mod jobs;
pub mod measure;
pub mod meeting;
pub mod method;
pub mod news;
pub mod place;
pub mod receive;
pub mod records;
pub mod row;
pub mod rows;
pub mod send;
pub mod server;
pub mod shared;
pub mod shares;
pub mod socket;
pub mod source;
pub mod tls;
pub mod uring;
pub mod wire;
pub mod words;
