//! The limits of a server: transfers at once, bytes, and times.

use std::time::Duration;

use rustix::event::Timespec;

/// The limits of a server. A client uses the times, and the size of a print file.
#[derive(Debug, Clone, Copy)]
pub struct TransferLimits {
    /// Largest number of transfers at once; further ones are refused.
    pub connections: usize,
    /// Largest number of bytes in one transfer.
    pub bytes: u64,
    /// Largest number of bytes in all kept files together.
    pub kept: u64,
    /// Longest time of a transfer, from the request to the end.
    pub time: Duration,
    /// Time without any movement of data after which a transfer breaks off.
    pub stalled: Duration,
}

impl Default for TransferLimits {
    fn default() -> TransferLimits {
        TransferLimits {
            connections: 16,
            bytes: 64 << 30,
            kept: 64 << 30,
            time: Duration::from_secs(600),
            stalled: Duration::from_secs(20),
        }
    }
}

/// Time in which the other end must send its next line on the control connection.
pub const CONTROL_TIMEOUT: Duration = Duration::from_secs(5);
/// Time between two checks whether a waiting call should stop.
pub const STOP_POLL_PERIOD: Duration = Duration::from_millis(100);
/// [`STOP_POLL_PERIOD`] for `poll`.
pub(crate) const STOP_POLL_TIMEOUT: Timespec = Timespec { tv_sec: 0, tv_nsec: STOP_POLL_PERIOD.subsec_nanos() as i64 };
/// Largest number of bytes that one call moves.
pub(crate) const MOST_MESSAGE_BYTES: u32 = 16 << 20;
