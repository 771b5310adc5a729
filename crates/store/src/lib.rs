//! The run folder: append rows, read them back, follow them while they grow.
//!
//! `docs/run-folder.md` is the format. While a run lasts, every table is an Arrow IPC stream that grows by whole batches.
//! When the run ends, these rows become Parquet. The driver's thread must never wait for a disk: [`Recording`] stands between
//! it and the writer.

mod columns;
mod convert;
mod disk;
mod error;
mod folder;
mod follow;
mod record;
mod rows;
mod stream;
mod table;
mod writer;

pub use columns::Column;
pub use convert::{complete, finish};
pub use disk::{Disk, DiskFile};
pub use error::{Error, Result};
pub use folder::Folder;
pub use follow::{Follower, WholePart, whole_part};
pub use record::{Recording, RowSender, StoppedRecording};
pub use rows::{DriverRecorder, WhenFull};
pub use table::Table;
