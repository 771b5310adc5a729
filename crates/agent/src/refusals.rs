//! The refusals of the agent's work, as its controller tells them.

use loadgo_agent::message::RefusalAnswer;
use loadgo_host::refusal::Refusal;
use loadgo_run::{Failure, RunRefusal};
use loadgo_store::Error as StoreError;
use std::path::Path;

/// The refusal of work that has failed.
pub(crate) fn of_failure(failure: Failure) -> RefusalAnswer {
    let reason = match failure.refusal {
        // The folder is the agent's own, so the remedy for a folder of the user's would be wrong.
        RunRefusal::Folder(StoreError::Refused(action, path, error))
        | RunRefusal::CutOff { error: StoreError::Refused(action, path, error), .. } => {
            let place = path.parent().and_then(Path::parent).and_then(Path::parent).unwrap_or(&path);
            Refusal::new(format!("the agent there cannot {action} its last records ({})", path.display()))
                .because(error)
                .with_remedy(format!("make room on that host in {}", place.display()))
                .to_string()
        }
        refusal => refusal.to_string(),
    };
    RefusalAnswer { reason, left_behind: failure.left_behind }
}

/// A refusal for this reason, after which nothing stays behind.
pub(crate) fn refused(reason: String) -> RefusalAnswer {
    RefusalAnswer { reason, left_behind: Vec::new() }
}
