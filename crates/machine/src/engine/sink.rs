//! What the engine tells of its own load, interaction by interaction, and whether it goes on.

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
