//! One answer of the doctor: an ability of this host, how well it is available, and why not better.

use crate::refusal::Refusal;
use std::fs;

/// How well an ability is available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Exactly, or as asked.
    Exact,
    /// In part, or by estimate.
    Estimated,
    /// Not at all.
    Absent,
}

/// One ability of this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The ability, in a few words.
    pub ability: &'static str,
    /// How well the ability is available.
    pub state: State,
    /// The means by which it is available; empty when absent.
    pub how: String,
    /// The reason why it is not available exactly; empty when exact.
    pub why_not: String,
    /// The remedy that would improve it; empty when exact or when no remedy is known.
    pub remedy: String,
}

impl Answer {
    /// The answer about an ability that is available as asked, by the means `how`.
    pub(super) fn exact(ability: &'static str, how: impl Into<String>) -> Answer {
        Answer { ability, state: State::Exact, how: how.into(), why_not: String::new(), remedy: String::new() }
    }

    /// The answer about an ability that is not there.
    pub(super) fn absent(ability: &'static str, refusal: Refusal) -> Answer {
        Answer {
            ability,
            state: State::Absent,
            how: String::new(),
            why_not: refusal.why_not(),
            remedy: refusal.remedy().to_owned(),
        }
    }

    /// The answer about an ability that is available in part, and why not as a whole.
    pub(super) fn estimated(ability: &'static str, how: impl Into<String>, refusal: Refusal) -> Answer {
        Answer {
            ability,
            state: State::Estimated,
            how: how.into(),
            why_not: refusal.why_not(),
            remedy: refusal.remedy().to_owned(),
        }
    }
}

/// The text of a small file without blanks around it; empty if it cannot be read.
pub(super) fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}
