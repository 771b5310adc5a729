//! A machine under its own load, run without a driver: no record a line, memory that does not grow with the interactions.

use std::sync::Arc;

pub use super::engine::sink::Sink;

use super::engine::Engine;
use super::meters::Meters;
use super::spec::Machine;

/// Runs the machine's own load until the sink has enough; the meters at that moment.
///
/// # Errors
/// The machine cannot be simulated (see [`Engine::new`]), has no load of its own, its store or processors are asked for more than they
/// can ever give by an open load, or nothing can happen any more, in words.
pub fn run(machine: &Arc<Machine>, seed: u64, sink: &mut impl Sink) -> Result<Meters, String> {
    Engine::with_own_load(machine, seed)?.run(sink)
}
