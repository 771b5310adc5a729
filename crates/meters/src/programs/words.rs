//! What the loader of kernel programs says when it fails, in words for a person.

use aya::programs::ProgramError;

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
    let causes = std::iter::successors(Some(error), |error| error.source());
    let mut said: Vec<String> = causes.map(ToString::to_string).collect();
    said.dedup();
    said.join(": ")
}
