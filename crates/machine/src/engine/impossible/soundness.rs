//! Conditions that a machine's numbers must meet: rates above 0, laws with a mean, and stores that exist.

use crate::draw::AmountLaw;
use crate::spec::Machine;

/// Whether `number` is above 0, and not infinite.
pub(super) fn is_positive(number: f64) -> bool {
    number > 0.0 && number.is_finite()
}

/// Whether the numbers that `law` gives can be times or counts.
pub(super) fn is_sound(law: &AmountLaw) -> bool {
    law.mean() >= 0.0 && law.mean().is_finite()
}

/// Checks that the machine has this store; `use_of_store` completes "there is no storage that …".
///
/// # Errors
/// The machine has fewer stores.
pub(super) fn check_store(machine: &Machine, store: usize, use_of_store: &str) -> Result<(), String> {
    if store < machine.stores.len() {
        return Ok(());
    }
    Err(format!("there is no storage that {use_of_store}: name one of its [storage] tables as the `device`"))
}
