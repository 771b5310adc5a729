//! Disk units behind channels: a seek on the unit, then rotation and transfer with a channel held.
//!
//! Each unit has a queue in the order of arrival, and serves one request at a time. A seek needs no channel, so several units may
//! seek at once. Channels then go to units in the order in which their seeks end. The end of a unit's time on a channel is known
//! when it begins. So is the beginning of the next unit's time, and a channel that becomes free needs no event.

use crate::notation::values::{COUNT_VALUE, POSITIVE_TIME_VALUE, TIME_LAW_VALUE};
use loadgo_core::notation::shape::{KeyShape, POSITIVE_NUMBER, key, needed};
use std::collections::VecDeque;

use super::kind::{DeviceSpec, REVOLUTION_IS_MISSING, check_channels, check_rate, check_times};
use super::service::{Completion, Device, DeviceRequest, transfer_ns, whole_ns};
use crate::draw::AmountLaw;
use crate::notation::law::AmountUnit;
use crate::notation::values::{count32, law, positive, positive_span};
use crate::notation::written::{TomlText, law as written_law};
use loadgo_core::notation::mistakes::SyntaxMistake;
use loadgo_core::notation::table::KeyedTable;
use loadgo_core::random::RandomStream;

/// Disk units behind channels: a seek on the unit, then rotation and transfer on a channel.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskSpec {
    /// Time of a seek.
    pub seek: AmountLaw,
    /// Time of a revolution.
    pub revolution_ns: u64,
    /// Rate of a transfer.
    pub words_per_second: f64,
    /// Number of units.
    pub units: u32,
    /// Transfers at once.
    pub channels: u32,
}

impl DeviceSpec for DiskSpec {
    type Device = Disk;
    const KIND: &'static str = "disk";
    const KEYS: &'static [KeyShape] = &[
        needed("seek", TIME_LAW_VALUE),
        needed("revolution", POSITIVE_TIME_VALUE),
        needed("words_per_second", POSITIVE_NUMBER),
        key("units", COUNT_VALUE),
        key("channels", COUNT_VALUE),
    ];

    fn read(table: &KeyedTable<'_>) -> Result<DiskSpec, SyntaxMistake> {
        let seek = law(table, "seek", AmountUnit::Time)?;
        let seek = Self::needed(seek, table, "a law of seeks: add seek = \"uniform(15ms, 45ms)\"")?;
        let revolution = positive_span(table, "revolution", AmountUnit::Time)?;
        let revolution_ns = Self::needed(revolution, table, REVOLUTION_IS_MISSING)?;
        let rate = positive(table, "words_per_second")?;
        let words_per_second = Self::needed(rate, table, "the rate of a transfer: add words_per_second = 41000")?;
        let units = count32(table, "units", 1)?.unwrap_or(1);
        Ok(DiskSpec { seek, revolution_ns, words_per_second, units, channels: count32(table, "channels", 1)?.unwrap_or(1) })
    }

    fn write(&self, rows: &mut TomlText) {
        rows.key("seek", written_law(&self.seek, AmountUnit::Time));
        rows.spans(&[("revolution", self.revolution_ns)]);
        rows.number("words_per_second", Some(self.words_per_second));
        rows.key("units", self.units.to_string());
        rows.key("channels", self.channels.to_string());
    }

    fn check(&self) -> Result<(), &'static str> {
        check_channels(self.channels)?;
        if self.units == 0 {
            return Err("has no unit: `units` is 1 or more");
        }
        check_times(&self.seek)?;
        check_rate(Some(self.words_per_second))
    }

    fn build(&self) -> Disk {
        assert!(self.units > 0 && self.channels > 0, "a disk has units and channels");
        let unit = DiskUnit { queue: VecDeque::new(), state: UnitState::Seeks };
        Disk {
            seek: self.seek.clone(),
            revolution_ns: self.revolution_ns,
            words_per_second: self.words_per_second,
            units: vec![unit; self.units as usize],
            channels: vec![0; self.channels as usize],
            held_ns: 0,
            load: 0,
        }
    }

    fn servers(&self) -> u32 {
        self.units
    }
}

/// Disk units behind channels. Each unit is drawn with the same probability for a request.
#[derive(Clone, Debug)]
pub struct Disk {
    seek: AmountLaw,
    revolution_ns: u64,
    words_per_second: f64,
    units: Vec<DiskUnit>,
    /// For each channel, the time until which it is given to units.
    channels: Vec<u64>,
    /// Time for which finished requests held channels.
    held_ns: u64,
    load: usize,
}

/// A unit with its requests, of which the first is being served, and the state of that service.
#[derive(Clone, Debug)]
struct DiskUnit {
    queue: VecDeque<DeviceRequest>,
    state: UnitState,
}

#[derive(Clone, Copy, Debug)]
enum UnitState {
    /// The unit is idle, or seeks.
    Seeks,
    /// The unit holds a channel, or will hold one, from `begins` to `ends`.
    Moves { begins: u64, ends: u64 },
}

impl Disk {
    /// Begins the seek for the unit's first request. A request with a service of its own takes a channel at once.
    fn start(&mut self, unit: u32, now: u64, stream: &mut RandomStream) -> Completion {
        if self.units[unit as usize].queue[0].service_ns.is_some() {
            return self.take_channel(unit, now, stream);
        }
        self.units[unit as usize].state = UnitState::Seeks;
        Completion { server: unit, at: now.saturating_add(whole_ns(self.seek.draw(stream))) }
    }

    /// Gives the unit the channel that is free first, for the rotation and the transfer.
    fn take_channel(&mut self, unit: u32, now: u64, stream: &mut RandomStream) -> Completion {
        let channel = self.channels.iter_mut().min().expect("a disk has channels");
        let disk_unit = &mut self.units[unit as usize];
        let request = disk_unit.queue[0];
        let held_ns = request.service_ns.unwrap_or_else(|| {
            whole_ns(stream.unit() * self.revolution_ns as f64)
                .saturating_add(transfer_ns(request.words, Some(self.words_per_second)))
        });
        let begins = now.max(*channel);
        *channel = begins.saturating_add(held_ns);
        disk_unit.state = UnitState::Moves { begins, ends: *channel };
        Completion { server: unit, at: *channel }
    }
}

impl DiskUnit {
    /// Time for which the current request has held a channel.
    fn held_ns(&self, now: u64) -> u64 {
        match self.state {
            UnitState::Moves { begins, ends } => now.min(ends).saturating_sub(begins),
            UnitState::Seeks => 0,
        }
    }
}

impl Device for Disk {
    fn submit(&mut self, request: DeviceRequest, now: u64, stream: &mut RandomStream) -> Option<Completion> {
        let unit = stream.index(self.units.len()) as u32;
        let queue = &mut self.units[unit as usize].queue;
        queue.push_back(request);
        self.load += 1;
        (queue.len() == 1).then(|| self.start(unit, now, stream))
    }

    fn complete(&mut self, server: u32, now: u64, stream: &mut RandomStream) -> (Option<DeviceRequest>, Option<Completion>) {
        let unit = &mut self.units[server as usize];
        let UnitState::Moves { ends, .. } = unit.state else {
            return (None, Some(self.take_channel(server, now, stream)));
        };
        assert!(ends == now, "a disk's transfer ends at its planned time");
        self.held_ns += unit.held_ns(now);
        unit.state = UnitState::Seeks;
        self.load -= 1;
        let done = unit.queue.pop_front();
        let is_waiting = !unit.queue.is_empty();
        (done, is_waiting.then(|| self.start(server, now, stream)))
    }

    fn load(&self) -> usize {
        self.load
    }

    fn busy_ns(&self, now: u64) -> u64 {
        self.held_ns + self.units.iter().map(|unit| unit.held_ns(now)).sum::<u64>()
    }

    fn servers(&self) -> u32 {
        self.channels.len() as u32
    }
}
