//! The commands of a script as the kernel meters know them: by number.

use loadgo_core::script::Script;
use std::sync::Arc;

/// The commands of a script, each once, in the order of its lines; a command's number in the kernel is its place plus 1.
pub(crate) fn commands(script: &Script) -> Vec<Arc<str>> {
    let mut commands: Vec<Arc<str>> = Vec::new();
    for line in script.lines() {
        if !commands.iter().any(|known| **known == *line.name) {
            commands.push(line.name.as_str().into());
        }
    }
    commands
}
