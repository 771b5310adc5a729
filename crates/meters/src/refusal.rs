//! Refusals of the meters: the attempt, the reason and the remedy.

use aya::maps::MapError;
use aya::programs::ProgramError;
use loadgo_sys::why::text_with_remedy;
use std::error::Error;
use std::fmt;
use std::io;

/// A refusal of the kernel, or of the loader of kernel programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeterRefusal {
    /// The attempts, the outermost first; each ends with `: `.
    attempts: String,
    reason: String,
    remedy: String,
    lacks_privilege: bool,
}

impl MeterRefusal {
    /// A refusal for a reason of loadgo's own, which no privilege removes.
    pub fn new(reason: impl Into<String>) -> MeterRefusal {
        MeterRefusal { reason: reason.into(), ..MeterRefusal::default() }
    }

    /// A refusal from a library's error, with its causes.
    pub fn from_error(error: &(dyn Error + 'static)) -> MeterRefusal {
        let causes = || std::iter::successors(Some(error), |error| (**error).source());
        let system_error = causes().find_map(|cause| cause.downcast_ref::<io::Error>());
        let lacks_privilege = system_error.is_some_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
        let mut sentences: Vec<String> = causes().map(ToString::to_string).collect();
        sentences.dedup();
        MeterRefusal { lacks_privilege, ..MeterRefusal::new(sentences.join(": ")) }
    }

    /// The refusal with the attempt that it ended.
    pub fn trying(self, attempt: impl fmt::Display) -> MeterRefusal {
        MeterRefusal { attempts: format!("{attempt}: {}", self.attempts), ..self }
    }

    /// The refusal with a change that would help.
    pub fn with_remedy(self, remedy: impl Into<String>) -> MeterRefusal {
        MeterRefusal { remedy: remedy.into(), ..self }
    }

    /// The attempts and the reason, without the remedy.
    pub fn why_not(&self) -> String {
        format!("{}{}", self.attempts, self.reason)
    }

    /// A change that would help; empty if none is known.
    pub fn remedy(&self) -> &str {
        &self.remedy
    }

    /// Whether this process lacks a privilege.
    pub fn lacks_privilege(&self) -> bool {
        self.lacks_privilege
    }
}

impl From<String> for MeterRefusal {
    fn from(reason: String) -> MeterRefusal {
        MeterRefusal::new(reason)
    }
}

impl From<&str> for MeterRefusal {
    fn from(reason: &str) -> MeterRefusal {
        MeterRefusal::new(reason)
    }
}

impl From<io::Error> for MeterRefusal {
    fn from(error: io::Error) -> MeterRefusal {
        MeterRefusal::from_error(&error)
    }
}

/// An action of the library that the system refused.
impl From<(&str, io::Error)> for MeterRefusal {
    fn from((action, error): (&str, io::Error)) -> MeterRefusal {
        MeterRefusal::from(error).trying(action)
    }
}

impl From<MapError> for MeterRefusal {
    fn from(error: MapError) -> MeterRefusal {
        MeterRefusal::from_error(&error)
    }
}

/// A program that did not load: the kernel's answer, and the last lines of its verifier.
impl From<ProgramError> for MeterRefusal {
    fn from(error: ProgramError) -> MeterRefusal {
        match &error {
            ProgramError::LoadError { io_error, verifier_log } => {
                let reason = format!("{io_error}: {}", last_lines(&verifier_log.to_string()));
                MeterRefusal { reason, ..MeterRefusal::from_error(&error) }
            }
            ProgramError::IOError(error) => MeterRefusal::from_error(error), // the library does not show it as a cause
            error => MeterRefusal::from_error(error),
        }
    }
}

/// Beginnings of lines in the verifier's log that give no reason.
const STATISTICS_PREFIXES: [&str; 3] = ["processed ", "verification time ", "stack depth "];

fn last_lines(log: &str) -> String {
    let is_reason = |line: &&str| !line.is_empty() && !STATISTICS_PREFIXES.iter().any(|start| line.starts_with(start));
    let lines: Vec<&str> = log.lines().filter(is_reason).collect();
    lines[lines.len().saturating_sub(2)..].join("; ")
}

impl fmt::Display for MeterRefusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&text_with_remedy(&self.why_not(), &self.remedy))
    }
}

impl Error for MeterRefusal {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_privilege_is_seen_through_the_librarys_errors() {
        let denied = |errno: i32| ProgramError::from(io::Error::from_raw_os_error(errno));
        let (not_permitted, no_space) = (1, 28);
        assert!(MeterRefusal::from(denied(not_permitted)).lacks_privilege());
        assert!(!MeterRefusal::from(denied(no_space)).lacks_privilege());
        assert!(!MeterRefusal::from("it is not in the object").lacks_privilege());
    }

    #[test]
    fn a_refusal_names_its_attempts_its_reason_and_its_remedy() {
        let refusal = MeterRefusal::new("the kernel hides it").trying("inner").trying("outer").with_remedy("show it");
        assert_eq!(refusal.to_string(), "outer: inner: the kernel hides it; remedy: show it");
        assert_eq!((refusal.why_not().as_str(), refusal.remedy()), ("outer: inner: the kernel hides it", "show it"));
        assert_eq!(MeterRefusal::from("no room").to_string(), "no room");
    }

    #[test]
    fn a_program_that_is_refused_has_the_verifiers_last_reasons() {
        assert_eq!(last_lines("a\nb\n\nR1 invalid\nprocessed 9 insns\nstack depth 8\n"), "b; R1 invalid");
    }
}
