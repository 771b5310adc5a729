//! Why this host refuses something, and the remedy.

use std::fmt;

/// A refusal of the host, in words for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// The attempt, and the host's answer.
    pub what: String,
    /// A change that would make it possible; empty if none is known.
    pub remedy: String,
}

impl Why {
    /// A refusal with its remedy.
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Why {
        Why { what: what.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.remedy.as_str() {
            "" => write!(f, "{}", self.what),
            remedy => write!(f, "{}; {remedy}", self.what),
        }
    }
}

impl std::error::Error for Why {}
