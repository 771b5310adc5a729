//! The programs that a script wants beside its users: started for a run, and known to the users by their environment.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use loadgo_core::script::Script;
use loadgo_host::commands::beside::Beside;

use crate::refusal::RunRefusal;
use crate::request::Request;

/// Programs that run beside the users of one run; dropping the company ends them.
#[derive(Debug, Default)]
pub(crate) struct Company {
    programs: Vec<Beside>,
    /// Environment variables of the users, by name.
    values: BTreeMap<String, String>,
    notes: Vec<String>,
}

impl Company {
    /// Starts the programs that the script asks for, in the run's folder. No program is started for a variable that our own
    /// environment has already: the variable then names a server of somebody else.
    pub(crate) fn start(request: &Request, folder: &Path) -> Result<Company, RunRefusal> {
        let mut company = Company::default();
        for (name, command) in &request.asked.script.beside {
            let set = std::env::var(name).ok().filter(|value| !value.is_empty());
            let value = match set {
                Some(value) => {
                    company.notes.push(format!("{name} is {value}, as the environment says: `{command}` was not started"));
                    value
                }
                None => company.begin(name, command, request, folder)?,
            };
            company.values.insert(name.clone(), value);
        }
        if !company.values.is_empty() && request.login()?.is_elsewhere() {
            let names = company.values.keys().cloned().collect::<Vec<_>>().join(", ");
            let login = &request.asked.script.login;
            let note = format!("{names} may not be known to users who log in with {login:?}: write the value into the lines");
            company.notes.push(note);
        }
        Ok(company)
    }

    fn begin(&mut self, name: &str, command: &str, request: &Request, folder: &Path) -> Result<String, RunRefusal> {
        let beside = Beside::start(name, command, &request.search_path, folder)?;
        let value = beside.value().to_owned();
        self.programs.push(beside);
        Ok(value)
    }

    /// Copies `request` with the programs' addresses in the users' environment.
    pub(crate) fn known_to_users(&self, request: &Request) -> Request {
        let mut request = request.clone();
        if !self.values.is_empty() {
            let mut script = Script::clone(&request.asked.script);
            script.env.extend(self.values.clone());
            request.asked.script = Arc::new(script);
        }
        request
    }

    /// Reaps the programs that have ended by themselves.
    pub(crate) fn look(&mut self) {
        self.programs.iter_mut().for_each(|program| _ = program.has_ended());
    }

    /// Ends all programs, and returns the notes about them.
    pub(crate) fn finish(self) -> Vec<String> {
        self.notes.into_iter().chain(self.programs.into_iter().map(Beside::finish)).collect()
    }
}
