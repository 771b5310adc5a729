//! The interface of all storage devices: requests, and the times at which they are done.

use loadgo_core::random::RandomStream;

/// A request to a storage device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceRequest {
    /// The id of the request, which the device returns when the request is done.
    pub id: u32,
    /// Words to move.
    pub words: u64,
    /// Service time in nanoseconds, if it is drawn already. `None`: the device draws it.
    pub service_ns: Option<u64>,
    /// Whether it is a write, for which no process waits.
    pub write: bool,
}

/// A future completion. The engine enters it in the calendar, and calls [`Device::complete`] at its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The server of the device.
    pub server: u32,
    /// The time of completion.
    pub at: u64,
}

/// A storage device with its queues. A returned completion never changes.
pub trait Device {
    /// Takes a request, and returns its completion if a server is free for it.
    fn submit(&mut self, request: DeviceRequest, now: u64, stream: &mut RandomStream) -> Option<Completion>;
    /// Completes the service of `server`, and returns the finished request and the next completion.
    ///
    /// After a part of a request, such as a disk's seek, no request is returned.
    fn complete(&mut self, server: u32, now: u64, stream: &mut RandomStream) -> (Option<DeviceRequest>, Option<Completion>);
    /// Number of requests in service and in queues.
    fn load(&self) -> usize;
    /// Service of all servers together until `now`, in nanoseconds: the time in which data moves.
    ///
    /// For a drum with sectors, these are the transfers without latency, and for a disk the times of held channels.
    fn busy_ns(&self, now: u64) -> u64;
    /// Number of servers that can be busy at once; `u32::MAX`: a delay. Utilisation is `busy_ns` / (time × servers).
    fn servers(&self) -> u32;
}

/// A drawn or computed span in whole nanoseconds, at most 2^63 - 1, which is beyond a machine's time.
pub(crate) fn whole_ns(span_ns: f64) -> u64 {
    (span_ns.max(0.0) + 0.5) as i64 as u64
}

/// The time of a transfer of `words` at a rate, in nanoseconds; 0 without a rate.
pub(crate) fn transfer_ns(words: u64, words_per_second: Option<f64>) -> u64 {
    words_per_second.map_or(0, |rate| whole_ns(words as f64 * 1e9 / rate))
}
