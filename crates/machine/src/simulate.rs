//! Runs a machine under its own load, without a driver and without records of single lines.

use std::sync::Arc;

pub use super::engine::sink::InteractionSink;

use super::engine::{Engine, EngineError};
use super::meters::MachineMeters;
use super::spec::Machine;

/// Runs the machine's own load until the sink has enough, and returns the meters at that moment.
///
/// # Errors
/// The machine cannot be simulated (see [`Engine::new`]) or has no load of its own. Or an open load asks for more than the
/// machine can serve, or no event can come any more.
pub fn run(machine: &Arc<Machine>, seed: u64, sink: &mut impl InteractionSink) -> Result<MachineMeters, EngineError> {
    Engine::with_own_load(machine, seed)?.run(sink)
}
