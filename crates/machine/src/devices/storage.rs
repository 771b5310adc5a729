//! All storage devices of machine files, as one type.

use super::bulk::Bulk;
use super::disk::Disk;
use super::drum::{Drum, SectorDrum};
use super::server::Server;
use super::service::{Completion, Device, DeviceRequest};
use crate::spec::StoreKind;
use loadgo_core::random::RandomStream;

/// A storage device of any kind.
#[derive(Clone, Debug)]
pub enum Storage {
    /// A general server.
    Server(Server),
    /// A drum with a latency and a rate.
    Drum(Drum),
    /// A drum with a queue for each sector.
    SectorDrum(SectorDrum),
    /// A bulk store.
    Bulk(Bulk),
    /// Disk units behind channels.
    Disk(Disk),
}

impl Storage {
    /// An idle device of this kind.
    pub fn new(kind: &StoreKind) -> Storage {
        match *kind {
            StoreKind::Server { ref service, servers } => Storage::Server(Server::new(service.clone(), servers)),
            StoreKind::Drum { revolution_ns, sectors: Some(sectors), .. } => {
                Storage::SectorDrum(SectorDrum::new(revolution_ns, sectors))
            }
            StoreKind::Drum { revolution_ns, sectors: None, words_per_second } => {
                Storage::Drum(Drum::of(revolution_ns, words_per_second))
            }
            StoreKind::Bulk { access_ns, words_per_second, channels } => {
                Storage::Bulk(Bulk::of(access_ns, words_per_second, channels))
            }
            StoreKind::Disk { .. } => Storage::Disk(Disk::new(kind)),
        }
    }
}

/// The same of whichever device it is.
macro_rules! of_each {
    ($storage:expr, $device:ident => $asked:expr) => {
        match $storage {
            Storage::Server($device) => $asked,
            Storage::Drum($device) => $asked,
            Storage::SectorDrum($device) => $asked,
            Storage::Bulk($device) => $asked,
            Storage::Disk($device) => $asked,
        }
    };
}

impl Device for Storage {
    fn submit(&mut self, request: DeviceRequest, now: u64, stream: &mut RandomStream) -> Option<Completion> {
        of_each!(self, device => device.submit(request, now, stream))
    }

    fn complete(&mut self, server: u32, now: u64, stream: &mut RandomStream) -> (Option<DeviceRequest>, Option<Completion>) {
        of_each!(self, device => device.complete(server, now, stream))
    }

    fn load(&self) -> usize {
        of_each!(self, device => device.load())
    }

    fn busy_ns(&self, now: u64) -> u64 {
        of_each!(self, device => device.busy_ns(now))
    }

    fn servers(&self) -> u32 {
        of_each!(self, device => device.servers())
    }
}
