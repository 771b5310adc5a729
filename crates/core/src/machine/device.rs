//! When a request to a storage device is done: the door to drums, disks, bulk stores and general servers.

use crate::random::Stream;

/// What a device is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Whose: given back when it is done.
    pub id: u32,
    /// Words to move.
    pub words: u64,
    /// Service in nanoseconds that the asker has drawn already; `None`: the device's own law.
    pub service_ns: Option<u64>,
    /// A write that nobody waits for.
    pub write: bool,
}

/// A completion to come: the engine enters it in the calendar and calls [`Device::complete`] with it when the time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Which server of the device.
    pub server: u32,
    /// When.
    pub at: u64,
}

/// A storage device with its queues. A server's completion, once told, never moves.
pub trait Device {
    /// Takes a request; what becomes due by it, if a server was free for it.
    fn submit(&mut self, request: Request, now: u64, stream: &mut Stream) -> Option<Due>;
    /// The request that `server` has done now, and what becomes due next.
    fn complete(&mut self, server: u32, now: u64, stream: &mut Stream) -> (Request, Option<Due>);
    /// Requests in service and queued.
    fn load(&self) -> usize;
    /// Nanoseconds of service, all servers together, that have been given until `now`.
    fn busy_ns(&self, now: u64) -> u64;
}
