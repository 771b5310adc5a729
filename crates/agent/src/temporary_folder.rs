//! The folder of records that are being sent.

use crate::refusals::refused;
use loadgo_agent::message::RefusalAnswer;
use loadgo_host::leftovers::{Leftovers, Thing, state_directory};
use loadgo_host::refusal::Refusal;
use std::fs::DirBuilder;
use std::hash::{BuildHasher as _, RandomState};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

/// The directory for records that are being sent. It is on a disk: the state directory lies in memory.
const RECORDS_DIRECTORY: &str = "/var/tmp";

/// A path for a directory of this process, with `ending` at its end.
pub(crate) fn temporary_path(ending: &str) -> PathBuf {
    let place = Some(PathBuf::from(RECORDS_DIRECTORY)).filter(|place| place.is_dir()).unwrap_or_else(state_directory);
    // Others may write there, so they must not be able to make this name before us.
    place.join(format!("loadgo-agent-{}-{:016x}{ending}", std::process::id(), RandomState::new().hash_one(0)))
}

/// A folder of this process alone on a disk. The next loadgo on this host removes it if this agent is killed.
pub(crate) struct TemporaryFolder {
    path: PathBuf,
    leftovers: Leftovers,
}

impl TemporaryFolder {
    /// Makes it for the run or the metering with this id.
    ///
    /// # Errors
    /// There is no room, or no permission.
    pub(crate) fn make(id: &str) -> Result<TemporaryFolder, RefusalAnswer> {
        let path = temporary_path("");
        let made = Leftovers::begin(id).and_then(|mut leftovers| {
            leftovers.note(Thing::Home(path.clone()))?;
            DirBuilder::new().mode(0o700).create(&path)?;
            Ok(leftovers)
        });
        let cannot = |error| Refusal::new(format!("the folder {} cannot be made", path.display())).because(error);
        let leftovers = made.map_err(|error| {
            refused(cannot(error).with_remedy("make room there, and see that this account may write there").to_string())
        })?;
        Ok(TemporaryFolder { path, leftovers })
    }

    /// The run folder in it.
    pub(crate) fn folder(&self) -> PathBuf {
        self.path.join("records")
    }

    /// Removes it. Returns sentences about what stays.
    pub(crate) fn remove(&mut self) -> Vec<String> {
        self.leftovers.finish().iter().map(ToString::to_string).collect()
    }
}
