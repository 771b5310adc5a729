//! A general server: one queue in the order of coming before one server, several, or as many as are asked for (a delay).

use std::collections::VecDeque;

use super::service::{Device, Due, Request, whole_ns};
use crate::draw::Draw;
use loadgo_core::random::RandomStream;

/// How long a request takes once its turn has come.
pub trait Service {
    /// Nanoseconds that `request` takes.
    fn service_ns(&self, request: &Request, stream: &mut RandomStream) -> u64;
}

impl Service for Draw {
    #[inline]
    fn service_ns(&self, _request: &Request, stream: &mut RandomStream) -> u64 {
        whole_ns(self.draw(stream))
    }
}

/// A server whose requests take times from a law.
pub type Server = InTurn<Draw>;

/// Servers that take requests in the order of coming. Nothing is allocated once the longest queue has been seen.
#[derive(Clone, Debug)]
pub struct InTurn<S> {
    service: S,
    servers: u32,
    free: Vec<u32>,
    served: Vec<Request>,
    queue: VecDeque<Request>,
    busy: Busy,
}

impl<S: Service> InTurn<S> {
    /// So many servers, idle; with `u32::MAX` nobody ever queues.
    pub fn new(service: S, servers: u32) -> InTurn<S> {
        assert!(servers > 0, "a device has at least one server");
        InTurn { service, servers, free: Vec::new(), served: Vec::new(), queue: VecDeque::new(), busy: Busy::default() }
    }

    #[inline]
    fn start(&mut self, server: u32, request: Request, now: u64, stream: &mut RandomStream) -> Due {
        let service_ns = request.service_ns.unwrap_or_else(|| self.service.service_ns(&request, stream));
        self.served[server as usize] = request;
        Due { server, at: now.saturating_add(service_ns) }
    }

    /// A server that is free, made if it has never been needed.
    fn free_server(&mut self, request: &Request) -> Option<u32> {
        self.free.pop().or_else(|| {
            let next = self.served.len() as u32;
            (next < self.servers).then(|| self.served.push(*request)).map(|()| next)
        })
    }
}

impl<S: Service> Device for InTurn<S> {
    #[inline]
    fn submit(&mut self, request: Request, now: u64, stream: &mut RandomStream) -> Option<Due> {
        let Some(server) = self.free_server(&request) else {
            self.queue.push_back(request);
            return None;
        };
        self.busy.change(now, 1);
        Some(self.start(server, request, now, stream))
    }

    #[inline]
    fn complete(&mut self, server: u32, now: u64, stream: &mut RandomStream) -> (Option<Request>, Option<Due>) {
        let done = self.served[server as usize];
        let due = match self.queue.pop_front() {
            Some(next) => Some(self.start(server, next, now, stream)),
            None => {
                self.busy.change(now, -1);
                self.free.push(server);
                None
            }
        };
        (Some(done), due)
    }

    fn load(&self) -> usize {
        self.served.len() - self.free.len() + self.queue.len()
    }

    fn busy_ns(&self, now: u64) -> u64 {
        self.busy.until(now)
    }

    fn servers(&self) -> u32 {
        self.servers
    }
}

/// The integral over time of how many are busy.
#[derive(Clone, Copy, Debug, Default)]
struct Busy {
    count: i64,
    sum_ns: u64,
    since: u64,
}

impl Busy {
    fn change(&mut self, now: u64, by: i64) {
        self.sum_ns = self.until(now);
        self.since = now;
        self.count += by;
    }

    fn until(&self, now: u64) -> u64 {
        self.sum_ns + (now - self.since) * self.count as u64
    }
}
