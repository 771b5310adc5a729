//! The machine's command for a line of the script, and the numbers on the line.

use crate::spec::{Amount, Machine};
use loadgo_core::script::Script;
use std::collections::HashMap;

/// The machine's commands by name.
pub(super) struct CommandIndex {
    by_name: HashMap<String, usize>,
    any: Option<usize>,
    /// For each command, whether it reads numbers from its line.
    reads: Vec<bool>,
}

impl CommandIndex {
    pub(super) fn of(machine: &Machine) -> CommandIndex {
        let by_name = machine.commands.iter().enumerate().map(|(number, command)| (command.name.clone(), number));
        let reads = machine.commands.iter().map(|command| matches!(command.network_bytes, Amount::Argument(_)));
        CommandIndex { by_name: by_name.collect(), any: machine.any_command, reads: reads.collect() }
    }

    /// The number of the command called `name`, which the machine has.
    pub(super) fn named(&self, name: &str) -> usize {
        let known = self.by_name.get(name).copied().or(self.any);
        known.expect("the script's commands were looked up before anybody logged in")
    }

    pub(super) fn reads_arguments(&self, command: usize) -> bool {
        self.reads[command]
    }
}

/// The message for commands of the script that the machine does not have, with the remedy; `None` if it has all.
pub fn unknown_commands(script: &Script, machine: &Machine) -> Option<String> {
    if machine.any_command.is_some() {
        return None;
    }
    let known: Vec<&str> = machine.commands.iter().map(|command| command.name.as_str()).collect();
    let mut unknown: Vec<&str> = script.lines().map(|line| line.name.as_str()).filter(|name| !known.contains(name)).collect();
    unknown.sort_unstable();
    unknown.dedup();
    (!unknown.is_empty()).then(|| {
        format!(
            "{} does not know {}: it knows {}; give what they need in its file, as [commands.NAME] or [commands.\"*\"] for all others",
            machine.title,
            unknown.join(", "),
            known.join(", ")
        )
    })
}

/// Appends the numbers of a line's words after the first to `numbers`. A word that is not a number becomes NaN.
pub(super) fn numbers(line: &[u8], numbers: &mut Vec<f64>) {
    let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).skip(1);
    numbers.extend(words.map(|word| std::str::from_utf8(word).ok().and_then(|word| word.parse().ok()).unwrap_or(f64::NAN)));
}
