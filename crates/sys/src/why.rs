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
        f.write_str(&text_with_remedy(&self.what, &self.remedy))
    }
}

impl std::error::Error for Why {}

/// The text of a refusal with its remedy, if one is known. The full stop of another program's message goes.
pub fn text_with_remedy(why_not: &str, remedy: &str) -> String {
    match remedy {
        "" => why_not.to_owned(),
        remedy => format!("{}; remedy: {remedy}", why_not.strip_suffix('.').unwrap_or(why_not)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remedy_follows_a_message_that_ends_in_a_full_stop() {
        assert_eq!(text_with_remedy("Permission denied.", "run as root"), "Permission denied; remedy: run as root");
        assert_eq!(Why::new("no TLS", "modprobe tls").to_string(), "no TLS; remedy: modprobe tls");
        assert_eq!(text_with_remedy("It ended.", ""), "It ended.");
    }
}
