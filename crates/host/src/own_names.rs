//! Names of what a run makes outside its folder: no other run has them.

use std::hash::{BuildHasher as _, RandomState};

/// `loadgo-RUN-PROCESS-` and random digits. Process ids alone recur: each container counts its own, and may share directories and
/// control groups with others. Other users cannot take a name beforehand, since they cannot guess it.
pub fn own_name(run_id: &str) -> String {
    format!("loadgo-{run_id}-{}-{:08x}", std::process::id(), RandomState::new().hash_one(0) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_runs_of_one_name_and_process_share_a_name() {
        let names = [own_name("kept"), own_name("kept"), own_name("kept")];
        assert!(names.iter().all(|name| name.starts_with(&format!("loadgo-kept-{}-", std::process::id()))));
        assert!(names[0] != names[1] && names[1] != names[2] && names[0] != names[2], "{names:?}");
    }
}
