//! One stream of a study: an engine, with windows of its interactions and meters.

use crate::engine::{Engine, EngineError};
use crate::meters::{Category, MachineMeters};
use crate::simulate::InteractionSink;
use crate::spec::Machine;
use loadgo_core::stop::StopRequest;
use loadgo_statistics::RunWindows;
use std::sync::Arc;

/// Number of first interactions, whose time sets the length of the windows. Chosen by hand.
const PILOT_INTERACTIONS: usize = 100;
/// Number of windows that the first interactions fill. Chosen by hand.
const PILOT_WINDOWS: u64 = 5;

/// Positions of the running totals in a window's gains.
pub(super) mod meter {
    use crate::meters::Category;

    /// The machine's time, in nanoseconds.
    pub(crate) const CLOCK: usize = 0;
    /// Integral of the number of users whose command is not answered.
    pub(crate) const ACTIVE: usize = 1;
    /// Processor time that was not idle.
    pub const BUSY: usize = 2;
    /// Integral of the number of processes that run or are ready.
    pub(crate) const AT_PROCESSORS: usize = 3;
    /// Integral of the number of processes that ask to be eligible.
    pub(crate) const ASKING: usize = 4;
    /// The first category of processor time.
    pub const CATEGORIES: usize = 5;
    /// The first store.
    pub const STORES: usize = CATEGORIES + Category::COUNT;
    /// Number of totals for each store: requests, service, and the integral of the number of requests.
    pub(crate) const EACH_STORE: usize = 3;
}

/// A run of the engine.
pub(super) struct StudyStream {
    engine: Engine,
    tap: InteractionTap,
    meters: MachineMeters,
}

/// The receiver of the engine's interactions, which puts them into windows.
struct InteractionTap {
    windows: Option<RunWindows>,
    pilot: Vec<(usize, u64, u64)>,
    /// An interaction after the open window's end, kept until the meters are read.
    late: Option<(usize, u64, u64)>,
    interactions: u64,
    target: u64,
    time_ns: u64,
}

/// A tap with the request to stop the study.
struct Stoppable<'a> {
    tap: &'a mut InteractionTap,
    stop: &'a StopRequest,
}

impl StudyStream {
    /// A run of the machine's own load from its beginning.
    pub fn new(machine: &Arc<Machine>, seed: u64) -> Result<StudyStream, EngineError> {
        let engine = Engine::with_own_load(machine, seed)?;
        let meters = engine.meters();
        let tap = InteractionTap {
            windows: None,
            pilot: Vec::with_capacity(PILOT_INTERACTIONS),
            late: None,
            interactions: 0,
            target: 0,
            time_ns: u64::MAX,
        };
        Ok(StudyStream { engine, tap, meters })
    }

    /// Runs on until `target` interactions have ended, or until the time `time_ns`.
    pub fn advance(&mut self, target: u64, time_ns: u64, stop: &StopRequest) -> Result<(), EngineError> {
        (self.tap.target, self.tap.time_ns) = (target, time_ns);
        loop {
            self.meters = self.engine.run(&mut Stoppable { tap: &mut self.tap, stop })?;
            self.tap.read(&self.meters);
            if !self.tap.goes_on(self.meters.at) || stop.is_set() {
                return Ok(());
            }
        }
    }

    /// The recorded windows.
    pub fn windows(&self) -> &RunWindows {
        self.tap.windows.as_ref().expect("a stream that has advanced has windows")
    }

    /// Number of interactions.
    pub fn interactions(&self) -> u64 {
        self.tap.interactions
    }

    /// The machine's time.
    pub fn now(&self) -> u64 {
        self.meters.at
    }

    /// The meters at the end.
    pub fn meters(&self) -> &MachineMeters {
        &self.meters
    }
}

impl InteractionSink for Stoppable<'_> {
    fn finished(&mut self, class: usize, at: u64, response_ns: u64) -> bool {
        self.tap.finished(class, at, response_ns)
    }

    fn ends_at(&self) -> Option<u64> {
        (self.tap.time_ns < u64::MAX).then_some(self.tap.time_ns)
    }

    fn goes_on(&mut self, at: u64) -> bool {
        self.tap.goes_on(at) && !self.stop.is_set()
    }
}

impl InteractionTap {
    fn finished(&mut self, class: usize, at: u64, response_ns: u64) -> bool {
        self.interactions += 1;
        match &mut self.windows {
            None => {
                self.pilot.push((class, at, response_ns));
                self.pilot.len() < PILOT_INTERACTIONS && self.goes_on(at)
            }
            Some(windows) if at < windows.next_reading() => {
                windows.add(class, at, response_ns);
                self.goes_on(at)
            }
            Some(_) => {
                self.late = Some((class, at, response_ns));
                false
            }
        }
    }

    fn goes_on(&self, at: u64) -> bool {
        self.interactions < self.target && at < self.time_ns
    }

    /// Closes the windows that have ended. A window's gains, also of the clock, are those between two readings.
    fn read(&mut self, meters: &MachineMeters) {
        let totals = totals(meters);
        if self.windows.is_none() {
            let width = (meters.at / PILOT_WINDOWS).max(1);
            let windows = self.windows.insert(RunWindows::new(totals.len(), width));
            for (class, at, response_ns) in std::mem::take(&mut self.pilot) {
                while at >= windows.next_reading() {
                    windows.meter(&vec![0.0; totals.len()]);
                }
                windows.add(class, at, response_ns);
            }
        }
        let windows = self.windows.as_mut().expect("the windows have been created above");
        while meters.at >= windows.next_reading() {
            windows.meter(&totals);
        }
        if let Some((class, at, response_ns)) = self.late.take() {
            windows.add(class, at, response_ns);
        }
    }
}

fn totals(meters: &MachineMeters) -> Vec<f64> {
    let categories = Category::ALL.map(|category| meters.total_ns(category));
    let busy: u64 = Category::ALL.iter().zip(categories).filter(|(category, _)| !category.is_idle()).map(|(_, ns)| ns).sum();
    let mut totals = vec![
        meters.at as f64,
        meters.active.integral_ns as f64,
        busy as f64,
        meters.ready.integral_ns as f64 + busy as f64,
        meters.asking.integral_ns as f64,
    ];
    totals.extend(categories.iter().map(|ns| *ns as f64));
    for store in &meters.stores {
        totals.extend([store.requests as f64, store.busy_ns as f64, store.length_ns as f64]);
    }
    totals
}
