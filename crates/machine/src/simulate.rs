//! A machine under its own load, run without a driver: no record a line, memory that does not grow with the interactions.

use std::sync::Arc;

use super::engine::Engine;
use super::meters::Meters;
use super::spec::Machine;

/// Takes what happens in a simulation, interaction by interaction.
pub trait Sink {
    /// A user of `class` has had an answer at `at`, `response_ns` after the command. Whether to go on.
    fn finished(&mut self, class: usize, at: u64, response_ns: u64) -> bool;

    /// When the run is over at the latest, whatever has been finished; asked once.
    fn ends_at(&self) -> Option<u64> {
        None
    }

    /// Whether to go on at `at`, when for a long stretch of events nothing was finished. As long as nothing forbids it.
    fn goes_on(&mut self, _at: u64) -> bool {
        true
    }
}

/// Runs the machine's own load until the sink has enough; the meters at that moment.
///
/// # Errors
/// The machine cannot be simulated (see [`Engine::new`]), has no load of its own, its store or processors are asked for more than they
/// can ever give by an open load, or nothing can happen any more, in words.
pub fn run(machine: &Arc<Machine>, seed: u64, sink: &mut impl Sink) -> Result<Meters, String> {
    Engine::with_own_load(machine, seed)?.run(sink)
}
