//! Routes through stations, arranged for speed: one list of all commands' stages, with branches by cumulated weight.

use crate::draw::AmountLaw;
use crate::spec::{Machine, Route};
use loadgo_core::random::RandomStream;

use super::process::NO_STAGE;

/// A visit to a station.
#[derive(Clone, Debug)]
pub(crate) struct RouteVisit {
    /// The store; `None`: the processors.
    pub store: Option<usize>,
    service: AmountLaw,
    /// Whether the stage has a service of its own.
    own: bool,
    /// Factor for spans at speed 1.
    scale: f64,
    /// The next stages, each up to a number drawn from [0, 1).
    branches: Vec<(f64, u32)>,
}

impl RouteVisit {
    /// The service drawn for a visit, in ns of this machine.
    #[inline]
    pub fn service_ns(&self, stream: &mut RandomStream) -> u64 {
        super::errand::whole(self.service.draw(stream) * self.scale)
    }

    /// The requested service of a store: drawn, or `None` if the store draws it.
    #[inline]
    pub(crate) fn asked_ns(&self, stream: &mut RandomStream) -> Option<u64> {
        if self.own { Some(self.service_ns(stream)) } else { None }
    }

    /// The station drawn next; [`NO_STAGE`]: the interaction is over.
    #[inline]
    pub fn next(&self, stream: &mut RandomStream) -> u32 {
        let (last, others) = self.branches.split_last().expect("a stage leads somewhere");
        if others.is_empty() {
            return last.1;
        }
        let drawn = stream.unit();
        others.iter().find(|(upto, _)| drawn < *upto).unwrap_or(last).1
    }
}

/// All stations of a machine's routes, and the index of the first for each command ([`NO_STAGE`] without a route).
pub fn stations(machine: &Machine) -> (Vec<RouteVisit>, Vec<u32>) {
    let mut stations = Vec::new();
    let mut first = Vec::new();
    for command in &machine.commands {
        let Some(route) = &command.route else {
            first.push(NO_STAGE);
            continue;
        };
        first.push(stations.len() as u32);
        lay(route, machine.processors.speed, &mut stations);
    }
    (stations, first)
}

fn lay(route: &Route, speed: f64, stations: &mut Vec<RouteVisit>) {
    let begin = stations.len() as u32;
    for stage in &route.stages {
        let mut upto = 0.0;
        let branches = stage.then.iter().filter(|(weight, _)| *weight > 0.0).map(|(weight, to)| {
            upto += weight;
            (upto, to.map_or(NO_STAGE, |to| begin + to as u32))
        });
        let branches: Vec<_> = branches.collect();
        let branches = if branches.is_empty() { vec![(1.0, NO_STAGE)] } else { branches };
        let scale = if stage.store.is_none() { 1.0 / speed } else { 1.0 };
        let own = !stage.service.is_zero();
        stations.push(RouteVisit { store: stage.store, service: stage.service.clone(), own, scale, branches });
    }
}
