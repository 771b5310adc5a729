//! What the loader of kernel programs says when it fails: in words for a person, and whether a privilege is lacking.

use aya::programs::ProgramError;
use std::error::Error;
use std::fmt;
use std::io;

/// A refusal of the kernel, or of what loads programs into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    said: String,
    lacks_privilege: bool,
}

impl Refused {
    /// What a library's error says, with its causes.
    pub fn of(error: &(dyn Error + 'static)) -> Refused {
        Refused { said: words(error), lacks_privilege: lacks_privilege(error) }
    }

    /// Why a program did not load.
    pub(crate) fn of_program(error: &ProgramError) -> Refused {
        let lacks_privilege = match error {
            // The library shows this one in its own place, not as a cause.
            ProgramError::IOError(error) => lacks_privilege(error),
            error => lacks_privilege(error),
        };
        Refused { said: program_words(error), lacks_privilege }
    }

    /// The same, with what was tried in front.
    pub(crate) fn trying(self, what: &str) -> Refused {
        Refused { said: format!("{what}: {}", self.said), ..self }
    }

    /// Whether the kernel said that it is not permitted.
    pub fn lacks_privilege(&self) -> bool {
        self.lacks_privilege
    }
}

/// A reason of our own, which no privilege helps against.
impl<T: Into<String>> From<T> for Refused {
    fn from(said: T) -> Refused {
        Refused { said: said.into(), lacks_privilege: false }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.said)
    }
}

fn lacks_privilege(error: &(dyn Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |error| (**error).source());
    let of_system = causes.find_map(|cause| cause.downcast_ref::<io::Error>());
    of_system.is_some_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
}

/// Lines of the verifier's log that say nothing of why.
const STATISTICS: [&str; 3] = ["processed ", "verification time ", "stack depth "];

/// Why a program did not load: the kernel's answer, and the last lines that its verifier said.
pub fn program_words(error: &ProgramError) -> String {
    match error {
        ProgramError::LoadError { io_error, verifier_log } => {
            let log = verifier_log.to_string();
            let said: Vec<&str> = log
                .lines()
                .filter(|line| !line.is_empty())
                .filter(|line| !STATISTICS.iter().any(|start| line.starts_with(start)))
                .collect();
            format!("{io_error}: {}", said[said.len().saturating_sub(2)..].join("; "))
        }
        other => words(other),
    }
}

/// An error with its causes.
pub fn words(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| (**error).source());
    let mut said: Vec<String> = causes.map(ToString::to_string).collect();
    said.dedup();
    said.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_privilege_is_seen_through_the_librarys_errors() {
        let denied = |errno: i32| ProgramError::from(io::Error::from_raw_os_error(errno));
        let (not_permitted, no_space) = (1, 28);
        assert!(Refused::of_program(&denied(not_permitted)).lacks_privilege());
        assert!(!Refused::of_program(&denied(no_space)).lacks_privilege());
        assert!(!Refused::from("it is not in the object").lacks_privilege());
    }
}
