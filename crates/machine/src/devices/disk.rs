//! Disk units behind channels: a seek on the unit, then rotation and transfer with a channel held.
//!
//! Each unit has a queue in the order of coming, and serves one request at a time. While it seeks it needs no channel, so units
//! seek at once; channels then go to units in the order in which their seeks end. A channel's end is known when it is given, so
//! the next unit's time on it is known too when its seek ends, and no event is needed for a channel that becomes free.

use std::collections::VecDeque;

use super::service::{Device, Due, Request, transfer_ns, whole_ns};
use crate::draw::Draw;
use crate::spec::StoreKind;
use loadgo_core::random::RandomStream;

/// Disk units behind channels; a request's unit is drawn evenly.
#[derive(Clone, Debug)]
pub struct Disk {
    seek: Draw,
    revolution_ns: u64,
    words_per_second: f64,
    units: Vec<Unit>,
    /// For each channel, until when it is given away.
    channels: Vec<u64>,
    /// Time for which channels were held by requests that are done.
    held_ns: u64,
    load: usize,
}

/// A unit: its requests, of which the first is being served, and what the unit does for it.
#[derive(Clone, Debug)]
struct Unit {
    queue: VecDeque<Request>,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Idle, or seeking.
    Seeks,
    /// A channel is held, or will be, from `begins` to `ends`.
    Moves { begins: u64, ends: u64 },
}

impl Disk {
    /// The units of a [`StoreKind::Disk`], idle; another kind is a bug.
    pub fn new(kind: &StoreKind) -> Disk {
        let StoreKind::Disk { seek, revolution_ns, words_per_second, units, channels } = kind else {
            panic!("a disk is made from a disk: {kind:?}");
        };
        assert!(*units > 0 && *channels > 0, "a disk has units and channels");
        let unit = Unit { queue: VecDeque::new(), state: State::Seeks };
        Disk {
            seek: seek.clone(),
            revolution_ns: *revolution_ns,
            words_per_second: *words_per_second,
            units: vec![unit; *units as usize],
            channels: vec![0; *channels as usize],
            held_ns: 0,
            load: 0,
        }
    }

    /// The unit begins to seek for the first of its requests; one with a service of its own asks for a channel at once.
    fn start(&mut self, unit: u32, now: u64, stream: &mut RandomStream) -> Due {
        if self.units[unit as usize].queue[0].service_ns.is_some() {
            return self.take_channel(unit, now, stream);
        }
        self.units[unit as usize].state = State::Seeks;
        Due { server: unit, at: now.saturating_add(whole_ns(self.seek.draw(stream))) }
    }

    /// The unit takes the channel that is free first, for the rotation and the transfer.
    fn take_channel(&mut self, unit: u32, now: u64, stream: &mut RandomStream) -> Due {
        let channel = self.channels.iter_mut().min().expect("a disk has channels");
        let place = &mut self.units[unit as usize];
        let request = place.queue[0];
        let held_ns = request.service_ns.unwrap_or_else(|| {
            whole_ns(stream.unit() * self.revolution_ns as f64)
                .saturating_add(transfer_ns(request.words, Some(self.words_per_second)))
        });
        let begins = now.max(*channel);
        *channel = begins.saturating_add(held_ns);
        place.state = State::Moves { begins, ends: *channel };
        Due { server: unit, at: *channel }
    }
}

impl Unit {
    /// For how long a channel has been held for the request that is being served.
    fn held_ns(&self, now: u64) -> u64 {
        match self.state {
            State::Moves { begins, ends } => now.min(ends).saturating_sub(begins),
            State::Seeks => 0,
        }
    }
}

impl Device for Disk {
    fn submit(&mut self, request: Request, now: u64, stream: &mut RandomStream) -> Option<Due> {
        let unit = stream.index(self.units.len()) as u32;
        let queue = &mut self.units[unit as usize].queue;
        queue.push_back(request);
        self.load += 1;
        (queue.len() == 1).then(|| self.start(unit, now, stream))
    }

    fn complete(&mut self, server: u32, now: u64, stream: &mut RandomStream) -> (Option<Request>, Option<Due>) {
        let unit = &mut self.units[server as usize];
        let State::Moves { ends, .. } = unit.state else {
            return (None, Some(self.take_channel(server, now, stream)));
        };
        assert!(ends == now, "a disk's transfer is over when it was said to be");
        self.held_ns += unit.held_ns(now);
        unit.state = State::Seeks;
        self.load -= 1;
        let done = unit.queue.pop_front();
        let more = !unit.queue.is_empty();
        (done, more.then(|| self.start(server, now, stream)))
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
