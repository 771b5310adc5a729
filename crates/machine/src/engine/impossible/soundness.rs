//! The condition that every store that a machine names exists.

use super::super::error::EngineError;
use crate::spec::Machine;

/// Checks that the machine has this store; `use_of_store` completes "there is no storage that …".
///
/// # Errors
/// The machine has fewer stores.
pub(super) fn check_store(machine: &Machine, store: usize, use_of_store: &str) -> Result<(), EngineError> {
    if store < machine.stores.len() {
        return Ok(());
    }
    Err(EngineError::impossible(format!(
        "there is no storage that {use_of_store}: name one of its [storage] tables as the `device`"
    )))
}
