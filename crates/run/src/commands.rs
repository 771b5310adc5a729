//! Numbers of a script's commands, by which the kernel meters know them.

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

/// The commands' numbers in the kernel by the number of the line; 0 is none.
pub(crate) fn numbers_by_line(script: &Script) -> Vec<u32> {
    let commands = commands(script);
    let mut numbers = vec![0; script.lines().map(|line| line.number as usize + 1).max().unwrap_or(0)];
    for line in script.lines() {
        let place = commands.iter().position(|command| **command == *line.name).expect("it is one of them");
        numbers[line.number as usize] = place as u32 + 1;
    }
    numbers
}
