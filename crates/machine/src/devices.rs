//! When a request to a storage device is done: the door to drums, disks, bulk stores and general servers.
//!
//! `service` says what every device does, `storage` is any of them.

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
pub use service::{Device, Due, Request};
pub use storage::Storage;
