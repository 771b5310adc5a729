//! The programs that a script's `beside` names. They run during the whole run, and the users' environment has their addresses.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use loadgo_core::script::Script;
use loadgo_host::commands::beside::Beside;

use crate::refusal::RunRefusal;
use crate::request::Request;

/// The programs that run beside the users of one run. They end when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct BesidePrograms {
    programs: Vec<Beside>,
    /// Environment variables of the users, by name.
    values: BTreeMap<String, String>,
    notes: Vec<String>,
}

impl BesidePrograms {
    /// Starts the script's programs in the run's folder. If our own environment has a program's variable already, the program is
    /// not started, and users get that value.
    pub(crate) fn start(request: &Request, folder: &Path) -> Result<BesidePrograms, RunRefusal> {
        let mut beside_programs = BesidePrograms::default();
        for (name, command) in &request.spec.script.beside {
            let set = std::env::var(name).ok().filter(|value| !value.is_empty());
            let value = match set {
                Some(value) => {
                    beside_programs
                        .notes
                        .push(format!("{name} is {value} in the environment already: `{command}` was not started"));
                    value
                }
                None => beside_programs.begin(name, command, request, folder)?,
            };
            beside_programs.values.insert(name.clone(), value);
        }
        if !beside_programs.values.is_empty() && request.login()?.is_elsewhere() {
            let names = beside_programs.values.keys().cloned().collect::<Vec<_>>().join(", ");
            let login = &request.spec.script.login;
            let note = format!("{names} may not be known to users who log in with {login:?}: write the value into the lines");
            beside_programs.notes.push(note);
        }
        Ok(beside_programs)
    }

    fn begin(&mut self, name: &str, command: &str, request: &Request, folder: &Path) -> Result<String, RunRefusal> {
        let beside = Beside::start(name, command, &request.search_path, folder)?;
        let value = beside.value().to_owned();
        self.programs.push(beside);
        Ok(value)
    }

    /// Returns `request` with the programs' addresses added to the users' environment.
    pub(crate) fn add_to_environment(&self, request: &Request) -> Request {
        let mut request = request.clone();
        if !self.values.is_empty() {
            let mut script = Script::clone(&request.spec.script);
            script.env.extend(self.values.clone());
            request.spec.script = Arc::new(script);
        }
        request
    }

    /// Reaps the programs that have ended by themselves.
    pub(crate) fn reap_ended(&mut self) {
        self.programs.iter_mut().for_each(|program| _ = program.has_ended());
    }

    /// Ends all programs, and returns the notes about them.
    pub(crate) fn finish(self) -> Vec<String> {
        self.notes.into_iter().chain(self.programs.into_iter().map(Beside::finish)).collect()
    }
}
