//! Refusals of the kernel or of the loader of kernel programs, in words for a person.

use aya::programs::ProgramError;
use std::error::Error;
use std::fmt;
use std::io;

/// A refusal of the kernel or of the loader of kernel programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    reason: String,
    lacks_privilege: bool,
}

impl Refused {
    /// A refusal from a library's error, with its causes.
    pub fn from_error(error: &(dyn Error + 'static)) -> Refused {
        Refused { reason: words(error), lacks_privilege: lacks_privilege(error) }
    }

    /// A refusal to load a program.
    pub fn from_program(error: &ProgramError) -> Refused {
        let lacks_privilege = match error {
            // The library does not show this error as a cause.
            ProgramError::IOError(error) => lacks_privilege(error),
            error => lacks_privilege(error),
        };
        Refused { reason: program_words(error), lacks_privilege }
    }

    /// The same refusal with the attempted `action` in front.
    pub fn trying(self, action: &str) -> Refused {
        Refused { reason: format!("{action}: {}", self.reason), ..self }
    }

    /// Whether this process lacks a privilege.
    pub fn lacks_privilege(&self) -> bool {
        self.lacks_privilege
    }
}

/// A reason of loadgo's own, which no privilege removes.
impl<T: Into<String>> From<T> for Refused {
    fn from(reason: T) -> Refused {
        Refused { reason: reason.into(), lacks_privilege: false }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.reason)
    }
}

impl Error for Refused {}

fn lacks_privilege(error: &(dyn Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |error| (**error).source());
    let system_error = causes.find_map(|cause| cause.downcast_ref::<io::Error>());
    system_error.is_some_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
}

/// Beginnings of lines in the verifier's log that give no reason.
const STATISTICS_PREFIXES: [&str; 3] = ["processed ", "verification time ", "stack depth "];

/// Why a program did not load: the kernel's answer, and the last lines of its verifier.
pub fn program_words(error: &ProgramError) -> String {
    match error {
        ProgramError::LoadError { io_error, verifier_log } => {
            let log = verifier_log.to_string();
            let lines: Vec<&str> = log
                .lines()
                .filter(|line| !line.is_empty())
                .filter(|line| !STATISTICS_PREFIXES.iter().any(|start| line.starts_with(start)))
                .collect();
            format!("{io_error}: {}", lines[lines.len().saturating_sub(2)..].join("; "))
        }
        other => words(other),
    }
}

/// The words of an error with its causes.
pub fn words(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| (**error).source());
    let mut sentences: Vec<String> = causes.map(ToString::to_string).collect();
    sentences.dedup();
    sentences.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_privilege_is_seen_through_the_librarys_errors() {
        let denied = |errno: i32| ProgramError::from(io::Error::from_raw_os_error(errno));
        let (not_permitted, no_space) = (1, 28);
        assert!(Refused::from_program(&denied(not_permitted)).lacks_privilege());
        assert!(!Refused::from_program(&denied(no_space)).lacks_privilege());
        assert!(!Refused::from("it is not in the object").lacks_privilege());
    }
}
