//! The stores of a machine: each with its queue, its own random numbers and its meters.

use super::events::EventQueue;
use crate::devices::{Device, DeviceRequest, Storage};
use crate::meters::{StoreMeter, TimedCount};
use crate::spec::{self, Machine};
use loadgo_core::random::{RandomStream, StreamPurpose};

/// All stores, in the order of the machine's file.
#[derive(Clone, Debug)]
pub(super) struct Stores(Vec<StoreQueue>);

/// A store and its meters.
#[derive(Clone, Debug)]
struct StoreQueue {
    device: Storage,
    stream: RandomStream,
    interrupts: bool,
    requests: u64,
    length: TimedCount,
}

/// A request that a store has finished.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServedRequest {
    /// The request's id.
    pub id: u32,
    /// Whether its end interrupts a processor.
    pub interrupts: bool,
}

impl Stores {
    /// The stores of `machine`, idle.
    pub fn new(machine: &Machine, seed: u64) -> Stores {
        let store = |(number, store): (usize, &spec::Store)| StoreQueue {
            device: Storage::new(&store.kind),
            stream: RandomStream::new(seed, number as u32 + 1, StreamPurpose::Machine),
            interrupts: store.interrupts,
            requests: 0,
            length: TimedCount::default(),
        };
        Stores(machine.stores.iter().enumerate().map(store).collect())
    }

    /// Gives `store` a request.
    #[inline]
    pub fn submit(&mut self, store: usize, request: DeviceRequest, events: &mut EventQueue) {
        let queue = &mut self.0[store];
        queue.requests += 1;
        queue.length.rise(events.now);
        if let Some(due) = queue.device.submit(request, events.now, &mut queue.stream) {
            events.schedule_service_end(store, due.server, due.at);
        }
    }

    /// Ends a service at `server` of `store`, and begins the next one. None if only a part of a request is finished.
    #[inline]
    pub fn end_service(&mut self, store: usize, server: u32, events: &mut EventQueue) -> Option<ServedRequest> {
        let queue = &mut self.0[store];
        let (request, due) = queue.device.complete(server, events.now, &mut queue.stream);
        if request.is_some() {
            queue.length.fall(events.now);
        }
        if let Some(due) = due {
            events.schedule_service_end(store, due.server, due.at);
        }
        request.map(|request| ServedRequest { id: request.id, interrupts: queue.interrupts })
    }

    /// The service that `store` has given until `now`, in ns, and its number of servers.
    pub fn service_and_servers(&self, store: usize, now: u64) -> (u64, u32) {
        let device = &self.0[store].device;
        (device.busy_ns(now), device.servers())
    }

    /// The meters of all stores at `now`.
    pub fn meters(&self, now: u64) -> Vec<StoreMeter> {
        self.0.iter().map(|queue| queue.meter(now)).collect()
    }
}

impl StoreQueue {
    fn meter(&self, now: u64) -> StoreMeter {
        let length = self.length.at(now);
        StoreMeter {
            requests: self.requests,
            busy_ns: self.device.busy_ns(now),
            servers: self.device.servers(),
            length: length.now,
            length_ns: length.integral_ns,
        }
    }
}
