//! A bulk store: the same short access to every page, on one or more channels.

use super::server::{FifoServers, Service};
use super::service::{DeviceRequest, transfer_ns};
use loadgo_core::random::RandomStream;

/// A bulk store, whose channels take requests in the order of arrival.
pub type Bulk = FifoServers<Access>;

/// The time of a request: a fixed access, and a transfer at a rate.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    access_ns: u64,
    words_per_second: Option<f64>,
}

impl Service for Access {
    fn service_ns(&self, request: &DeviceRequest, _stream: &mut RandomStream) -> u64 {
        self.access_ns.saturating_add(transfer_ns(request.words, self.words_per_second))
    }
}

impl Bulk {
    /// An idle bulk store. Without a rate, the access includes the transfer.
    pub fn of(access_ns: u64, words_per_second: Option<f64>, channels: u32) -> Bulk {
        FifoServers::new(Access { access_ns, words_per_second }, channels)
    }
}
