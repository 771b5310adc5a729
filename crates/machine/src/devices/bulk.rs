//! A bulk store: the same short access to every page, on one or more channels.

use super::kind::{DeviceSpec, check_channels, check_rate};
use super::server::{FifoServers, Service};
use super::service::{DeviceRequest, transfer_ns};
use crate::notation::law::AmountUnit;
use crate::notation::values::{COUNT_VALUE, TIME_VALUE};
use crate::notation::values::{count32, positive, span};
use crate::notation::written::TomlText;
use loadgo_core::notation::mistakes::SyntaxMistake;
use loadgo_core::notation::shape::{KeyShape, POSITIVE_NUMBER, key, needed};
use loadgo_core::notation::table::KeyedTable;
use loadgo_core::random::RandomStream;

/// A bulk store: an access and `words_per_second`, and `channels` requests at once, in the order of arrival.
#[derive(Clone, Debug, PartialEq)]
pub struct BulkSpec {
    /// Time of an access, which includes the transfer if there is no rate.
    pub access_ns: u64,
    /// Rate of a transfer.
    pub words_per_second: Option<f64>,
    /// Requests that are served at once.
    pub channels: u32,
}

impl DeviceSpec for BulkSpec {
    type Device = FifoServers<Access>;
    const KIND: &'static str = "bulk";
    const KEYS: &'static [KeyShape] =
        &[needed("access", TIME_VALUE), key("words_per_second", POSITIVE_NUMBER), key("channels", COUNT_VALUE)];

    fn read(table: &KeyedTable<'_>) -> Result<BulkSpec, SyntaxMistake> {
        let access = span(table, "access", AmountUnit::Time)?;
        Ok(BulkSpec {
            access_ns: Self::needed(access, table, "the time of an access: add access = \"0.4ms\"")?,
            words_per_second: positive(table, "words_per_second")?,
            channels: count32(table, "channels", 1)?.unwrap_or(1),
        })
    }

    fn write(&self, rows: &mut TomlText) {
        rows.spans(&[("access", self.access_ns)]);
        rows.number("words_per_second", self.words_per_second);
        rows.key("channels", self.channels.to_string());
    }

    fn check(&self) -> Result<(), &'static str> {
        check_rate(self.words_per_second)?;
        check_channels(self.channels)
    }

    fn build(&self) -> FifoServers<Access> {
        let BulkSpec { access_ns, words_per_second, channels } = *self;
        FifoServers::new(Access { access_ns, words_per_second }, channels)
    }

    fn servers(&self) -> u32 {
        self.channels
    }
}

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
