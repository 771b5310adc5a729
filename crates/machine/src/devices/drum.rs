//! Drums of two kinds: with a latency and a rate, or with one page and one queue for each sector.
//!
//! The sectors of a drum pass under its heads one after the other, again and again. With a queue for each sector, a request waits
//! until its own sector comes by. A full drum then moves a page each sector time, and wastes no revolution. If programs lie
//! anywhere on a drum, a request waits for the beginning of its program, half a revolution on average, and then reads on.

use crate::notation::values::{COUNT_VALUE, POSITIVE_TIME_VALUE};
use loadgo_core::notation::shape::{KeyRule, KeyShape, POSITIVE_NUMBER, key, needed};
use std::collections::VecDeque;

use super::kind::{DeviceSpec, REVOLUTION_IS_MISSING, check_rate, one_of_devices};
use super::server::{FifoServers, Service};
use super::service::{Completion, Device, DeviceRequest, transfer_ns, whole_ns};
use crate::notation::law::AmountUnit;
use crate::notation::values::{count32, positive, positive_span, value_at};
use crate::notation::written::TomlText;
use loadgo_core::notation::mistakes::SyntaxMistake;
use loadgo_core::notation::table::KeyedTable;
use loadgo_core::random::RandomStream;

/// A drum: with `sectors`, one page and one queue for each; otherwise a latency and `words_per_second`.
#[derive(Clone, Debug, PartialEq)]
pub struct DrumSpec {
    /// Time of a revolution.
    pub revolution_ns: u64,
    /// Sectors, if each has a page and a queue.
    pub sectors: Option<u32>,
    /// Rate of a transfer on a drum without sectors; `None`: the latency includes the transfer.
    pub words_per_second: Option<f64>,
}

/// The two keys for the speed of a drum.
pub(crate) const DRUM_RATE_KEYS: [&str; 2] = ["sectors", "words_per_second"];

impl DeviceSpec for DrumSpec {
    type Device = Drum;
    const KIND: &'static str = "drum";
    const KEYS: &'static [KeyShape] =
        &[needed("revolution", POSITIVE_TIME_VALUE), key("sectors", COUNT_VALUE), key("words_per_second", POSITIVE_NUMBER)];
    const RULES: &'static [KeyRule] = &[KeyRule::AtMostOne(&DRUM_RATE_KEYS)];

    fn read(table: &KeyedTable<'_>) -> Result<DrumSpec, SyntaxMistake> {
        let revolution = positive_span(table, "revolution", AmountUnit::Time)?;
        let revolution_ns = Self::needed(revolution, table, REVOLUTION_IS_MISSING)?;
        let (sectors, words_per_second) = (count32(table, "sectors", 1)?, positive(table, "words_per_second")?);
        if sectors.is_some() && words_per_second.is_some() {
            let message = "with sectors a drum gives a page a sector: leave `words_per_second` out, or `sectors`";
            return Err(SyntaxMistake::new(value_at(table, "words_per_second"), message));
        }
        if sectors.is_some_and(|sectors| u64::from(sectors) > revolution_ns) {
            return Err(SyntaxMistake::new(value_at(table, "sectors"), "so many sectors would pass in no time: lower `sectors`"));
        }
        Ok(DrumSpec { revolution_ns, sectors, words_per_second })
    }

    fn write(&self, rows: &mut TomlText) {
        rows.spans(&[("revolution", self.revolution_ns)]);
        self.sectors.iter().for_each(|sectors| rows.key("sectors", sectors.to_string()));
        rows.number("words_per_second", self.words_per_second);
    }

    fn check(&self) -> Result<(), &'static str> {
        match (self.revolution_ns, self.sectors) {
            (0, _) => Err("does not turn: `revolution` is above 0"),
            (_, Some(0)) => Err("has no sectors: `sectors` is 1 or more"),
            _ => check_rate(self.words_per_second),
        }
    }

    fn build(&self) -> Drum {
        let DrumSpec { revolution_ns, sectors, words_per_second } = *self;
        match sectors {
            Some(sectors) => Drum::Sectors(SectorDrum::new(revolution_ns, sectors)),
            None => Drum::Latency(FifoServers::new(Latency { revolution_ns, words_per_second }, 1)),
        }
    }

    fn servers(&self) -> u32 {
        1
    }
}

/// A drum of either kind.
#[derive(Clone, Debug)]
pub enum Drum {
    /// Serves one request at a time: a latency drawn evenly from a revolution, then the transfer.
    Latency(FifoServers<Latency>),
    /// Has a queue for each sector.
    Sectors(SectorDrum),
}

one_of_devices! { Drum: Latency, Sectors, }

/// The time of a request: the latency until its place comes by, and a transfer at a rate.
#[derive(Clone, Copy, Debug)]
pub struct Latency {
    revolution_ns: u64,
    words_per_second: Option<f64>,
}

impl Service for Latency {
    fn service_ns(&self, request: &DeviceRequest, stream: &mut RandomStream) -> u64 {
        whole_ns(stream.unit() * self.revolution_ns as f64).saturating_add(transfer_ns(request.words, self.words_per_second))
    }
}

/// A drum with one page and one queue for each sector. Each sector is drawn with the same probability for a request.
///
/// The beginning of sector 0 is under the heads at time 0.
#[derive(Clone, Debug)]
pub struct SectorDrum {
    revolution_ns: u64,
    sectors: Vec<Sector>,
    /// Time of finished transfers, in nanoseconds.
    moved_ns: u64,
    load: usize,
}

/// A sector with its place on the drum, and the requests for its pages, of which the first is being served.
#[derive(Clone, Debug)]
struct Sector {
    begins_ns: u64,
    ends_ns: u64,
    queue: VecDeque<DeviceRequest>,
    due: u64,
}

impl SectorDrum {
    /// An idle drum with this number of sectors.
    pub fn new(revolution_ns: u64, sectors: u32) -> SectorDrum {
        assert!(sectors > 0 && u64::from(sectors) <= revolution_ns, "a drum has sectors, and each takes time");
        let place = |sector: u32| (u128::from(revolution_ns) * u128::from(sector) / u128::from(sectors)) as u64;
        let sector = |n| Sector { begins_ns: place(n), ends_ns: place(n + 1), queue: VecDeque::new(), due: 0 };
        SectorDrum { revolution_ns, sectors: (0..sectors).map(sector).collect(), moved_ns: 0, load: 0 }
    }

    /// Begins the service of the first request of `sector`, for which the heads are free from `now` on.
    fn start(&mut self, sector: u32, now: u64) -> Completion {
        let revolution_ns = self.revolution_ns;
        let place = &mut self.sectors[sector as usize];
        let wait_ns = (place.begins_ns + revolution_ns - now % revolution_ns) % revolution_ns;
        place.due = match place.queue[0].service_ns {
            Some(service_ns) => now + service_ns,
            None => now + wait_ns + place.transfer_ns(),
        };
        Completion { server: sector, at: place.due }
    }
}

impl Sector {
    fn transfer_ns(&self) -> u64 {
        self.ends_ns - self.begins_ns
    }

    /// Elapsed time of the current transfer.
    fn moving_ns(&self, now: u64) -> u64 {
        let transfer_ns = self.queue.front().map_or(0, |request| request.service_ns.unwrap_or(self.transfer_ns()));
        transfer_ns.saturating_sub(self.due.saturating_sub(now))
    }
}

impl Device for SectorDrum {
    fn submit(&mut self, request: DeviceRequest, now: u64, stream: &mut RandomStream) -> Option<Completion> {
        let sector = stream.index(self.sectors.len()) as u32;
        let queue = &mut self.sectors[sector as usize].queue;
        queue.push_back(request);
        self.load += 1;
        (queue.len() == 1).then(|| self.start(sector, now))
    }

    fn complete(&mut self, server: u32, now: u64, _stream: &mut RandomStream) -> (Option<DeviceRequest>, Option<Completion>) {
        let sector = &mut self.sectors[server as usize];
        assert!(sector.due == now, "a sector's transfer ends at its planned time");
        self.moved_ns += sector.moving_ns(now);
        self.load -= 1;
        let done = sector.queue.pop_front();
        let is_waiting = !sector.queue.is_empty();
        (done, is_waiting.then(|| self.start(server, now)))
    }

    fn load(&self) -> usize {
        self.load
    }

    fn busy_ns(&self, now: u64) -> u64 {
        self.moved_ns + self.sectors.iter().map(|sector| sector.moving_ns(now)).sum::<u64>()
    }

    fn servers(&self) -> u32 {
        1
    }
}
