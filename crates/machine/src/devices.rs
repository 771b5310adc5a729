//! Storage devices, which say when a request is done: drums, disks, bulk stores and general servers.
//!
//! A device is one file here: what a machine file says of it, and how it serves requests. The list below names all of them.
//! `service` has the interface of a device at work, and `kind` that of its description.

pub mod bulk;
pub mod disk;
pub mod drum;
pub mod kind;
pub mod server;
pub mod service;

pub use bulk::BulkSpec;
pub use disk::DiskSpec;
pub use drum::DrumSpec;
pub use kind::DeviceSpec;
pub use server::ServerSpec;
pub use service::{Completion, Device, DeviceRequest};

use crate::notation::written::{TomlText, quoted};
use kind::{devices, one_of_devices};
use loadgo_core::notation::mistakes::SyntaxMistake;
use loadgo_core::notation::shape::OptionShape;
use loadgo_core::notation::table::KeyedTable;
use loadgo_core::random::RandomStream;

devices! {
    /// A general server: one queue in the order of arrival.
    Server(ServerSpec),
    /// A drum, with or without sectors.
    Drum(DrumSpec),
    /// A bulk store, with the same access to every page.
    Bulk(BulkSpec),
    /// Disk units behind channels.
    Disk(DiskSpec),
}

#[cfg(test)]
mod tests {
    use super::StoreKind;

    #[test]
    fn every_kind_of_store_and_each_of_its_keys_stands_in_the_reference() {
        let page = include_str!("../../../docs/machines.md");
        let keys = StoreKind::OPTIONS.iter().flat_map(|option| option.keys.iter().map(|shape| (option.name, shape.key)));
        let missing: Vec<_> =
            keys.filter(|(kind, key)| !page.contains(&format!("`{key}`")) || !page.contains(&format!("`\"{kind}\"`"))).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
