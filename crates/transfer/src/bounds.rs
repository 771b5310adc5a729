//! The limits of a server: transfers at once, bytes, and times.

use std::time::Duration;

/// The limits of a server; nothing goes on without one.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Transfers at once; more are refused in words.
    pub connections: usize,
    /// Bytes of one transfer.
    pub bytes: u64,
    /// Bytes of all files together that are kept of what came.
    pub kept: u64,
    /// From the request to the end.
    pub time: Duration,
    /// A transfer in which nothing moves for so long breaks off.
    pub stalled: Duration,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            connections: 16,
            bytes: 64 << 30,
            kept: 64 << 30,
            time: Duration::from_secs(600),
            stalled: Duration::from_secs(20),
        }
    }
}

/// Who speaks on the control connection says something within this time, or is left.
pub const TO_SAY_SOMETHING: Duration = Duration::from_secs(5);
/// So long a call on a data connection waits before it looks whether it should go on.
pub const TO_LOOK_UP: Duration = Duration::from_millis(100);
/// No call moves more.
pub(crate) const LONGEST_MESSAGE: u32 = 16 << 20;
