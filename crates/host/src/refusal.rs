//! A refusal of this host: the attempt, the reason, the remedy, and the arguments of a run that it concerns.

use loadgo_sys::why::{Why, text_with_remedy};
use std::fmt;
use std::io;
use std::sync::Arc;

/// An attempt that came to nothing.
#[derive(Clone, Debug)]
pub struct Refusal {
    attempt: String,
    reason: Option<Reason>,
    remedy: String,
    arguments: Vec<&'static str>,
}

/// The answer to an attempt.
#[derive(Clone, Debug)]
enum Reason {
    System(Arc<io::Error>),
    Text(String),
}

impl Refusal {
    /// A refusal whose reason stands in the sentence about the `attempt`, or is given by [`Refusal::because`].
    pub fn new(attempt: impl Into<String>) -> Refusal {
        Refusal { attempt: attempt.into(), reason: None, remedy: String::new(), arguments: Vec::new() }
    }

    /// The refusal with the system's answer.
    pub fn because(self, error: io::Error) -> Refusal {
        Refusal { reason: Some(Reason::System(Arc::new(error))), ..self }
    }

    /// The refusal with a reason in words.
    pub fn because_of(self, text: impl Into<String>) -> Refusal {
        Refusal { reason: Some(Reason::Text(text.into())), ..self }
    }

    /// The refusal with a change that would help.
    pub fn with_remedy(self, remedy: impl Into<String>) -> Refusal {
        Refusal { remedy: remedy.into(), ..self }
    }

    /// The refusal as one that concerns this argument of a run, by its name in the library. Texts have the name in backquotes.
    pub fn about(mut self, argument: &'static str) -> Refusal {
        self.arguments.push(argument);
        self
    }

    /// The attempt and the reason, without the remedy.
    pub fn why_not(&self) -> String {
        match &self.reason {
            None => self.attempt.clone(),
            Some(Reason::System(error)) => format!("{}: {error}", self.attempt),
            Some(Reason::Text(text)) => format!("{}: {text}", self.attempt),
        }
    }

    /// A change that would help; empty if none is known.
    pub fn remedy(&self) -> &str {
        &self.remedy
    }

    /// The arguments of a run that the refusal concerns.
    pub fn arguments(&self) -> &[&'static str] {
        &self.arguments
    }

    /// The system's answer, where it is the reason.
    pub fn system_error(&self) -> Option<&io::Error> {
        match &self.reason {
            Some(Reason::System(error)) => Some(error),
            _ => None,
        }
    }
}

impl From<Why> for Refusal {
    fn from(why: Why) -> Refusal {
        Refusal::new(why.what).with_remedy(why.remedy)
    }
}

impl From<String> for Refusal {
    fn from(attempt: String) -> Refusal {
        Refusal::new(attempt)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text_with_remedy(&self.why_not(), &self.remedy))
    }
}

impl std::error::Error for Refusal {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.system_error().map(|error| error as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_with_its_reason_and_its_remedy() {
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        let refusal = Refusal::new("cannot make a group").because(denied).with_remedy("run as root").about("limit");
        assert_eq!(refusal.to_string(), "cannot make a group: permission denied; remedy: run as root");
        assert_eq!((refusal.why_not().as_str(), refusal.remedy()), ("cannot make a group: permission denied", "run as root"));
        assert_eq!(refusal.arguments(), ["limit"]);
        assert_eq!(refusal.system_error().map(io::Error::kind), Some(io::ErrorKind::PermissionDenied));
        assert_eq!(Refusal::new("no terminal is free").to_string(), "no terminal is free");
    }
}
