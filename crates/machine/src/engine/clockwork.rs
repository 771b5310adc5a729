//! All that moves in a simulated machine, and the calendar that moves it, event by event.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Told;
use super::costs::Costs;
use super::own_load::OwnLoad;
use super::paging::Paged;
use super::process::{Process, State};
use super::processor::{NOBODY, Processor};
use super::route::{Station, stations};
use super::sharing::Shared;
use super::storage::Storing;
use super::tallies::Tallies;
use crate::admission::Admission;
use crate::calendar::{Calendar, PAYLOAD_BITS};
use crate::core_memory::CoreMemory;
use crate::disciplines::{Job, ReadyList};
use crate::meters::{Category, Level};
use crate::spec::{Discipline, Machine, Residence};
use crate::table::Table;
use loadgo_core::random::{Purpose, Stream};

/// What a payload of the calendar means: a kind above an entity's number.
const ENTITY_BITS: u32 = 22;
const ENTITY_MASK: u32 = (1 << ENTITY_BITS) - 1;
/// The most users, and the most requests in one store at once.
pub(crate) const MOST_JOBS: usize = 1 << ENTITY_BITS;
/// The most stores.
pub(crate) const MOST_STORES: usize = (1 << (PAYLOAD_BITS - ENTITY_BITS)) - Kind::Store as usize;
/// An entity that is a processor has its epoch above its number.
const PROCESSOR_BITS: u32 = 10;
/// The most processors.
pub(crate) const MOST_PROCESSORS: usize = 1 << PROCESSOR_BITS;
/// So many events that no longer hold stay in the calendar at most; fewer than there are epochs.
const MOST_STALE: u32 = 2_000;

/// Kinds of events; those of the stores' follow in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// What a processor does is over.
    Segment,
    /// A user of the machine's own load has thought.
    Thought,
    /// A user of an open class comes.
    Arrival,
    /// The control of the multiprogramming limit looks at its device.
    Look,
    /// The first store has served.
    Store,
}

/// A machine in motion under one discipline.
#[derive(Clone, Debug)]
pub(crate) struct Clockwork<L> {
    pub(super) machine: Arc<Machine>,
    pub(super) seed: u64,
    pub(super) costs: Costs,
    pub(super) stations: Vec<Station>,
    /// By command, the first of its stations.
    pub(super) first_station: Vec<u32>,
    /// By command, its program: the first command that is the same one.
    pub(super) programs: Vec<u32>,
    pub(super) calendar: Calendar,
    pub(super) now: u64,
    pub(super) list: L,
    pub(super) processes: Vec<Process>,
    pub(super) processors: Vec<Processor>,
    pub(super) idle: Vec<u16>,
    /// Why those that idle did when it was last looked at: up to which place of `idle` the causes reach, in their order.
    pub(super) idle_causes: [u64; 3],
    /// A processor is free at this moment, and gives itself to who is next as soon as all is in its place.
    pub(super) in_hand: bool,
    pub(super) next_interrupted: usize,
    pub(super) stale: u32,
    pub(super) shared: Option<Shared>,
    pub(super) stores: Vec<Storing>,
    pub(super) paged: Option<Paged>,
    pub(super) core: Option<CoreMemory>,
    pub(super) table: Option<Table>,
    pub(super) admission: Admission,
    /// Every process that asks is admitted at once.
    pub(super) unlimited: bool,
    pub(super) looking: bool,
    pub(super) eligible_jobs: Vec<Job>,
    pub(super) page_waiting: u32,
    pub(super) disk_waiting: u32,
    /// Moves of a program still to be made: words, whether from where commands are kept, whether out.
    pub(super) moving: VecDeque<(u64, bool, bool)>,
    /// Of each command, its priority and its nice value.
    pub(super) ranks: Vec<(u32, i32)>,
    pub(super) ready: Level,
    pub(super) eligible: Level,
    pub(super) asking: Level,
    pub(super) active: Level,
    pub(super) tallies: Box<Tallies>,
    pub(super) events: u64,
    pub(super) dispatches: u64,
    pub(super) preemptions: u64,
    pub(super) interactions: u64,
    pub(super) told: VecDeque<Told>,
    pub(super) own: Option<Box<OwnLoad>>,
    /// Why the machine cannot go on, if it cannot.
    pub(super) trouble: Option<String>,
    /// What is over by the event in hand, of the machine's own load: class and response time.
    pub(super) finished: Option<(usize, u64)>,
}

impl<L: ReadyList> Clockwork<L> {
    /// The machine with nobody on it; it has been looked at for what cannot work.
    pub fn new(machine: &Arc<Machine>, seed: u64, list: L) -> Clockwork<L> {
        let count = machine.processors.count as usize;
        let sharing = machine.processors.discipline == Discipline::Sharing;
        let (stations, first_station) = stations(machine);
        let admission = Admission::new(&machine.limit);
        Clockwork {
            machine: machine.clone(),
            seed,
            costs: Costs::of(machine),
            stations,
            first_station,
            programs: machine.programs(),
            calendar: Calendar::default(),
            now: 0,
            list,
            processes: Vec::new(),
            processors: vec![Processor::new(); count],
            idle: (0..count as u16).rev().collect(),
            idle_causes: [0; 3],
            in_hand: false,
            next_interrupted: 0,
            stale: 0,
            shared: sharing.then(|| Shared::new(count)),
            stores: Storing::all(machine, seed),
            paged: Paged::of(machine, admission.level(), seed),
            core: match &machine.residence {
                Residence::Swapping(swapping) => Some(CoreMemory::new(swapping)),
                _ => None,
            },
            table: machine.supervisor.table.as_ref().map(Table::new),
            unlimited: machine.limit == crate::spec::Limit::None,
            admission,
            looking: false,
            eligible_jobs: Vec::new(),
            page_waiting: 0,
            disk_waiting: 0,
            moving: VecDeque::new(),
            ranks: machine.commands.iter().map(|command| (command.priority, command.nice)).collect(),
            ready: Level::default(),
            eligible: Level::default(),
            asking: Level::default(),
            active: Level::default(),
            tallies: Box::new(Tallies::new(machine.commands.len())),
            events: 0,
            dispatches: 0,
            preemptions: 0,
            interactions: 0,
            told: VecDeque::new(),
            own: None,
            trouble: None,
            finished: None,
        }
    }

    /// When the next event comes; `None`: nothing will ever happen.
    #[inline]
    pub(crate) fn next_at(&mut self) -> Option<u64> {
        let entered = self.calendar.next_at();
        match self.shared.as_ref().and_then(|shared| shared.due) {
            Some(due) => Some(entered.map_or(due, |at| at.min(due))),
            None => entered,
        }
    }

    /// Lets the next event come, if it comes at `until` or before; whether there was one.
    #[inline]
    pub fn step(&mut self, until: u64) -> bool {
        if self.shared.is_some() && self.share_is_due(until) {
            return true;
        }
        let Some((at, payload)) = self.calendar.take_next_until(until) else { return false };
        debug_assert!(at >= self.now, "time goes back");
        self.now = at;
        let (kind, entity) = (payload >> ENTITY_BITS, payload & ENTITY_MASK);
        if kind == Kind::Segment as u32 {
            let (processor, epoch) = (entity & (MOST_PROCESSORS as u32 - 1), entity >> PROCESSOR_BITS);
            if self.processors[processor as usize].epoch == epoch {
                self.segment_over(processor as usize);
            } else {
                self.stale -= 1;
            }
        } else if kind >= Kind::Store as u32 {
            self.store_served((kind - Kind::Store as u32) as usize, entity);
        } else if kind == Kind::Thought as u32 {
            self.events += 1;
            self.thought(entity);
        } else if kind == Kind::Arrival as u32 {
            self.events += 1;
            self.arrives(entity as usize);
        } else {
            self.look();
        }
        self.look_why_idle();
        true
    }

    /// Enters the end of what processor `p` does.
    #[inline]
    pub(super) fn enter_segment(&mut self, p: usize, length_ns: u64) {
        let entity = self.processors[p].epoch << PROCESSOR_BITS | p as u32;
        self.calendar.enter_soon(self.now.saturating_add(length_ns), entity);
    }

    /// The end of what processor `p` does, which is in the calendar, no longer holds.
    pub(super) fn cancel_segment(&mut self, p: usize) {
        let processor = &mut self.processors[p];
        processor.epoch = (processor.epoch + 1) & (ENTITY_MASK >> PROCESSOR_BITS);
        self.stale += 1;
        if self.stale > MOST_STALE {
            self.stale = 0;
            let processors = &self.processors;
            self.calendar.retain(|payload| {
                let processor = payload & (MOST_PROCESSORS as u32 - 1);
                payload >> ENTITY_BITS != Kind::Segment as u32
                    || processors[processor as usize].epoch == payload >> PROCESSOR_BITS
            });
        }
    }

    pub(super) fn enter_thought(&mut self, job: Job, think_ns: u64) {
        self.calendar.enter(self.now.saturating_add(think_ns), (Kind::Thought as u32) << ENTITY_BITS | job);
    }

    pub(super) fn enter_arrival(&mut self, class: usize, gap_ns: u64) {
        self.calendar.enter(self.now.saturating_add(gap_ns), (Kind::Arrival as u32) << ENTITY_BITS | class as u32);
    }

    pub(super) fn enter_look(&mut self, every_ns: u64) {
        self.calendar.enter(self.now.saturating_add(every_ns), (Kind::Look as u32) << ENTITY_BITS);
    }

    #[inline]
    pub(super) fn enter_served(&mut self, store: usize, server: u32, at: u64) {
        self.calendar.enter_soon(at, (Kind::Store as u32 + store as u32) << ENTITY_BITS | server);
    }

    /// Looks whether those that idle still do so for the same causes; where one does not, a new span begins.
    ///
    /// Each idle processor has a cause of its own: as many are not eligible as ask, then as many wait for a page or a disk as processes
    /// do, and the rest have nobody. The source of the order is the Multics idle process, which asks itself when it is dispatched. A
    /// processor whose program is being brought in is none of these: it has that process.
    #[inline]
    pub(super) fn look_why_idle(&mut self) {
        if self.idle.is_empty() {
            return;
        }
        let idle = self.idle.len() as u64;
        let asking = self.asking.now();
        let for_pages = asking + u64::from(self.page_waiting);
        let for_disks = for_pages + u64::from(self.disk_waiting);
        let causes = [asking.min(idle), for_pages.min(idle), for_disks.min(idle)];
        if causes != self.idle_causes {
            self.idle_causes_change(causes);
        }
    }

    /// Begins new spans on the places where one cause ended and another does now.
    fn idle_causes_change(&mut self, causes: [u64; 3]) {
        let before = std::mem::replace(&mut self.idle_causes, causes);
        for (old, new) in before.into_iter().zip(causes) {
            let end = old.max(new).min(self.idle.len() as u64);
            for place in old.min(new)..end {
                let cause = self.idle_cause(place);
                let processor = &mut self.processors[self.idle[place as usize] as usize];
                if processor.category != cause {
                    processor.close(self.now);
                    processor.category = cause;
                }
            }
        }
    }

    /// Why the processor on this place of `idle` idles.
    #[inline]
    pub(super) fn idle_cause(&self, place: u64) -> Category {
        let [asking, for_pages, for_disks] = self.idle_causes;
        if place < asking {
            Category::IdleNotEligible
        } else if place < for_pages {
            Category::IdlePageWait
        } else if place < for_disks {
            Category::IdleDiskWait
        } else {
            Category::IdleZero
        }
    }

    /// Processes with the numbers up to `job`.
    pub(super) fn make_room(&mut self, job: Job) {
        for number in self.processes.len()..=job as usize {
            let stream = Stream::new(self.seed, number as u32 + 1, Purpose::Work);
            self.processes.push(Process::new(stream));
        }
    }

    /// Takes the process from its processor, if it has one; the list hears of it from the caller.
    pub(super) fn free_processor(&mut self, p: usize) {
        let processor = &mut self.processors[p];
        processor.last = processor.job;
        processor.job = NOBODY;
        processor.preempted = false;
        processor.getwork = false;
    }

    /// Puts the process where it is from now on.
    #[inline]
    pub(super) fn place(&mut self, job: Job, state: State) -> u64 {
        let process = &mut self.processes[job as usize];
        let stayed_ns = self.now - process.since;
        process.since = self.now;
        process.state = state;
        stayed_ns
    }
}
