//! A request to a storage device, and when it is done: what every device does.

use loadgo_core::random::RandomStream;

/// What a device is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Whose: given back when it is done.
    pub id: u32,
    /// Words to move.
    pub words: u64,
    /// Service in nanoseconds that the asker has drawn already, in place of all that the device would have drawn; `None`: the
    /// device's own law.
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
    fn submit(&mut self, request: Request, now: u64, stream: &mut RandomStream) -> Option<Due>;
    /// The request that `server` has done now, and what becomes due next. No request where only a part of one was done (a disk's
    /// seek): nobody is told of that.
    fn complete(&mut self, server: u32, now: u64, stream: &mut RandomStream) -> (Option<Request>, Option<Due>);
    /// Requests in service and queued.
    fn load(&self) -> usize;
    /// Nanoseconds of service, all servers together, that have been given until `now`: what moves data, so of a drum with sectors
    /// the transfers without the latency, and of a disk the time that channels are held.
    fn busy_ns(&self, now: u64) -> u64;
    /// How many can be busy at once: the device's utilisation is `busy_ns` over the time and this. `u32::MAX`: a delay.
    fn servers(&self) -> u32;
}

/// The nanoseconds of a span that was drawn or computed, to the nearest; at most 2^63 - 1, which is beyond a machine's time.
pub(crate) fn whole_ns(span_ns: f64) -> u64 {
    (span_ns.max(0.0) + 0.5) as i64 as u64
}

/// The nanoseconds that `words` take at so many words a second; none where no rate is known.
pub(crate) fn transfer_ns(words: u64, words_per_second: Option<f64>) -> u64 {
    words_per_second.map_or(0, |rate| whole_ns(words as f64 * 1e9 / rate))
}
