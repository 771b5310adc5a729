//! The ground of all sessions of a run: how they are started and prepared, by the run's settings.

use crate::groups::Groups;
use crate::terminals::destinations::Destination;
use crate::terminals::farewells::Farewells;
use crate::terminals::login;
use crate::terminals::setting::Setting;
use crate::terminals::starting::Ground;
use crate::terminals::typed_files::Preparations;
use crate::usage::meter::UsageMeter;
use loadgo_core::script::{ReadyRule, ScriptStep};
use loadgo_sys::events::Epoll;
use std::io;
use std::sync::Arc;

/// The kind of terminal of a script that watches screens. Other scripts have one that draws nothing.
const SCREEN_TERMINAL: &str = "xterm";

impl Setting {
    /// The lines that prepare each session, by its destination.
    pub(super) fn preparations(&self) -> Vec<Preparations> {
        self.destinations.iter().map(|destination| self.preparations_at(destination)).collect()
    }

    /// The lines that prepare each session at `destination`: none on this host, where homes are laid from outside.
    fn preparations_at(&self, destination: &Destination) -> Preparations {
        let login = &destination.login;
        if !login.is_elsewhere() {
            return Preparations::none();
        }
        let (has_marks, asks_place) = (self.script.until == ReadyRule::Mark, login.is_out_of_reach());
        let preparations = Preparations::elsewhere(&self.script, &self.run_id, has_marks, asks_place);
        let preparations = if self.own_directories && has_marks { preparations.with_directory() } else { preparations };
        match &destination.announced_in {
            Some(directory) => preparations.with_announcement(directory),
            None => preparations,
        }
    }

    pub(super) fn ground(&self, groups: Option<Arc<Groups>>, meter: &UsageMeter, epoll: &Epoll) -> io::Result<Ground> {
        Ok(Ground {
            script: Arc::clone(&self.script),
            destinations: self.destinations.clone(),
            environment: self.environment(),
            homes: self.homes.clone(),
            groups,
            accounts: meter.account_opener(),
            terminals: epoll.adder()?,
            farewells: self.preparations().iter().any(Preparations::has_directory).then(Farewells::default),
        })
    }

    fn environment(&self) -> Vec<(String, String)> {
        let mut shared = login::shared_environment(&self.search_path, &self.run_id, self.destinations.login(), self.of_account);
        if self.script.watches_screens() {
            shared.iter_mut().filter(|(name, _)| name == "TERM").for_each(|(_, value)| *value = SCREEN_TERMINAL.into());
        }
        shared
    }

    /// All rules of the script by which the system is ready.
    pub(super) fn ready_rules(&self) -> Vec<&ReadyRule> {
        let mut found = vec![&self.script.until];
        let mut rest: Vec<&ScriptStep> = self.script.steps.iter().collect();
        while let Some(step) = rest.pop() {
            match step {
                ScriptStep::Line(line) => found.extend(line.until.as_ref()),
                ScriptStep::Choose(alternatives) => rest.extend(alternatives.iter().flat_map(|each| &each.steps)),
                ScriptStep::Repeat(_, steps) => rest.extend(steps),
            }
        }
        found
    }
}
