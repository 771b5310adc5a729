//! Numbers of a script's commands, by which the kernel meters know them.

use loadgo_core::script::Script;
use std::sync::Arc;

/// The command's name of each line of a script, by the line's number; empty for numbers without a line.
pub(crate) fn names_by_line(script: &Script) -> Vec<String> {
    let mut names = vec![String::new(); script.lines().map(|line| line.number as usize + 1).max().unwrap_or(0)];
    for line in script.lines() {
        names[line.number as usize].clone_from(&line.name);
    }
    names
}

/// The commands of `names_by_line`, each once, in the order of the lines; a command's number in the kernel is its place plus 1.
pub(crate) fn commands(names_by_line: &[String]) -> Vec<Arc<str>> {
    let mut commands: Vec<Arc<str>> = Vec::new();
    for name in names_by_line.iter().filter(|name| !name.is_empty()) {
        if !commands.iter().any(|known| **known == **name) {
            commands.push(name.as_str().into());
        }
    }
    commands
}

/// The commands' numbers in the kernel by the number of the line; 0 is none.
pub(crate) fn numbers_by_line(names_by_line: &[String]) -> Vec<u32> {
    let commands = commands(names_by_line);
    let number = |name: &String| commands.iter().position(|command| **command == **name).map_or(0, |place| place as u32 + 1);
    names_by_line.iter().map(number).collect()
}
