//! The run folder: its rows are appended, read back, and followed while they come.
//!
//! `docs/run-folder.md` is the format. While a run lasts, every table is an Arrow IPC stream that grows by complete batches.
//! When the run ends, these rows become Parquet. The driver's thread must never wait for a disk, so a [`Recording`] has a
//! thread of its own that writes.

mod arrival;
mod checksum;
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

pub use arrival::{ArrivingStream, MOST_MESSAGE_BYTES, StreamDamage};
pub use checksum::{file_checksum, text_checksum};
pub use columns::Column;
pub use convert::{complete, finish, without_manifest};
pub use disk::{Disk, DiskFile};
pub use error::{Error, Result};
pub use folder::{Folder, SHARING_VARIABLE};
pub use follow::{Follower, WholePart, has_rows, whole_part};
pub use record::{Recording, RowSender, StoppedRecording};
pub use rows::{DriverRecorder, WhenFull};
pub use table::Table;
