//! A general server: one queue in the order of arrival, with one server, several, or as many as there are requests (a delay).

use crate::notation::values::{COUNT_VALUE, TIME_LAW_VALUE};
use loadgo_core::notation::shape::{KeyShape, ValueShape, key, needed};
use std::collections::VecDeque;

use super::kind::{DeviceSpec, check_times};
use super::service::{Completion, Device, DeviceRequest, whole_ns};
use crate::draw::AmountLaw;
use crate::notation::law::AmountUnit;
use crate::notation::values::{count32, law};
use crate::notation::written::{TomlText, law as written_law, quoted};
use loadgo_core::notation::mistakes::SyntaxMistake;
use loadgo_core::notation::table::KeyedTable;
use loadgo_core::random::RandomStream;

/// A general server: one queue in the order of arrival.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerSpec {
    /// Service time of a request.
    pub service: AmountLaw,
    /// Requests that are served at once; `u32::MAX`: a delay.
    pub servers: u32,
}

impl DeviceSpec for ServerSpec {
    type Device = FifoServers<AmountLaw>;
    const KIND: &'static str = "server";
    const KEYS: &'static [KeyShape] =
        &[needed("service", TIME_LAW_VALUE), key("servers", ValueShape::Any(&[ValueShape::OneOf(&["any"]), COUNT_VALUE]))];

    fn read(table: &KeyedTable<'_>) -> Result<ServerSpec, SyntaxMistake> {
        let service = law(table, "service", AmountUnit::Time)?;
        let service = Self::needed(service, table, "a service: add service = \"exponential(0.2s)\"")?;
        let any = table.get("servers").is_some_and(|value| value.get_ref().as_str() == Some("any"));
        Ok(ServerSpec { service, servers: if any { u32::MAX } else { count32(table, "servers", 1)?.unwrap_or(1) } })
    }

    fn write(&self, rows: &mut TomlText) {
        rows.key("service", written_law(&self.service, AmountUnit::Time));
        rows.key("servers", if self.servers == u32::MAX { quoted("any") } else { self.servers.to_string() });
    }

    fn check(&self) -> Result<(), &'static str> {
        match self.servers {
            0 => Err("has no servers: `servers` is 1 or more"),
            _ => check_times(&self.service),
        }
    }

    fn build(&self) -> FifoServers<AmountLaw> {
        FifoServers::new(self.service.clone(), self.servers)
    }

    fn servers(&self) -> u32 {
        self.servers
    }
}

/// The service time of a request.
pub trait Service {
    /// The service time of `request`, in nanoseconds.
    fn service_ns(&self, request: &DeviceRequest, stream: &mut RandomStream) -> u64;
}

impl Service for AmountLaw {
    #[inline]
    fn service_ns(&self, _request: &DeviceRequest, stream: &mut RandomStream) -> u64 {
        whole_ns(self.draw(stream))
    }
}

/// Servers that take requests in the order of arrival. A queue allocates only when it is longer than ever before.
#[derive(Clone, Debug)]
pub struct FifoServers<S> {
    service: S,
    servers: u32,
    free: Vec<u32>,
    served: Vec<DeviceRequest>,
    queue: VecDeque<DeviceRequest>,
    busy: BusyIntegral,
}

impl<S: Service> FifoServers<S> {
    /// This number of idle servers. With `u32::MAX`, no request ever waits.
    pub fn new(service: S, servers: u32) -> FifoServers<S> {
        assert!(servers > 0, "a device has at least one server");
        FifoServers {
            service,
            servers,
            free: Vec::new(),
            served: Vec::new(),
            queue: VecDeque::new(),
            busy: BusyIntegral::default(),
        }
    }

    #[inline]
    fn start(&mut self, server: u32, request: DeviceRequest, now: u64, stream: &mut RandomStream) -> Completion {
        let service_ns = request.service_ns.unwrap_or_else(|| self.service.service_ns(&request, stream));
        self.served[server as usize] = request;
        Completion { server, at: now.saturating_add(service_ns) }
    }

    /// A free server, which is created if it has never been needed.
    fn free_server(&mut self, request: &DeviceRequest) -> Option<u32> {
        self.free.pop().or_else(|| {
            let next = self.served.len() as u32;
            (next < self.servers).then(|| self.served.push(*request)).map(|()| next)
        })
    }
}

impl<S: Service> Device for FifoServers<S> {
    #[inline]
    fn submit(&mut self, request: DeviceRequest, now: u64, stream: &mut RandomStream) -> Option<Completion> {
        let Some(server) = self.free_server(&request) else {
            self.queue.push_back(request);
            return None;
        };
        self.busy.change(now, 1);
        Some(self.start(server, request, now, stream))
    }

    #[inline]
    fn complete(&mut self, server: u32, now: u64, stream: &mut RandomStream) -> (Option<DeviceRequest>, Option<Completion>) {
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

/// The integral of the number of busy servers over time.
#[derive(Clone, Copy, Debug, Default)]
struct BusyIntegral {
    count: i64,
    sum_ns: u64,
    since: u64,
}

impl BusyIntegral {
    fn change(&mut self, now: u64, by: i64) {
        self.sum_ns = self.until(now);
        self.since = now;
        self.count += by;
    }

    fn until(&self, now: u64) -> u64 {
        self.sum_ns + (now - self.since) * self.count as u64
    }
}
