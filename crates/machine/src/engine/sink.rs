//! The receiver of a machine's interactions under its own load, which says whether the simulation goes on.

/// Receives each interaction of a simulation.
pub trait InteractionSink {
    /// Takes an interaction of a user of `class` that ended at `at` after `response_ns`, and says whether to go on.
    fn finished(&mut self, class: usize, at: u64, response_ns: u64) -> bool;

    /// The end of the run at the latest, whatever has been finished. The engine asks once.
    fn ends_at(&self) -> Option<u64> {
        None
    }

    /// Whether to go on at `at`, after many events without a finished interaction.
    fn goes_on(&mut self, _at: u64) -> bool {
        true
    }
}
