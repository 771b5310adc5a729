//! A bulk store: the same short access to every page, on one or more channels.

use super::server::{InTurn, Service};
use super::service::{Request, transfer_ns};
use loadgo_core::random::RandomStream;

/// A bulk store; its channels take requests in the order of coming.
pub type Bulk = InTurn<Access>;

/// The time of an access: fixed, and a transfer at a rate.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    access_ns: u64,
    words_per_second: Option<f64>,
}

impl Service for Access {
    fn service_ns(&self, request: &Request, _stream: &mut RandomStream) -> u64 {
        self.access_ns.saturating_add(transfer_ns(request.words, self.words_per_second))
    }
}

impl Bulk {
    /// A bulk store, idle; without a rate, the access holds the transfer.
    pub fn of(access_ns: u64, words_per_second: Option<f64>, channels: u32) -> Bulk {
        InTurn::new(Access { access_ns, words_per_second }, channels)
    }
}
