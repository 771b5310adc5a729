//! The run folder: append, read back, follow while it grows.
//!
//! `docs/run-folder.md` is the format. While a run lasts, every table is an Arrow IPC stream that grows by whole batches;
//! when it ends, the same rows become Parquet. [`Recording`] stands between the driver's thread, which must never wait
//! for a disk, and the writer.

mod columns;
mod convert;
mod error;
mod folder;
mod follow;
mod message;
mod record;
mod rows;
mod stream;
mod table;
mod writer;

pub use convert::{complete, finish};
pub use error::Error;
pub use folder::Folder;
pub use follow::{Follower, Whole, whole};
pub use record::{Recording, Sampler, Stopped, WhenFull};
pub use rows::Front;
pub use table::Table;

/// What the functions of this crate return.
pub type Result<T> = std::result::Result<T, Error>;
