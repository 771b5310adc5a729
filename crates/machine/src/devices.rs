//! Storage devices, which say when a request is done: drums, disks, bulk stores and general servers.
//!
//! `service` has the interface of all devices, and `storage` any of them.

pub mod bulk;
pub mod disk;
pub mod drum;
pub mod server;
pub mod service;
pub mod storage;

pub use bulk::Bulk;
pub use disk::Disk;
pub use drum::{Drum, SectorDrum};
pub use server::Server;
pub use service::{Completion, Device, DeviceRequest};
pub use storage::Storage;
