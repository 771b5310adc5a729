//! Reads `[[load]]`: the machine's own users, for runs without a script.

use super::commands::covered;
use crate::draw::AmountLaw;
use crate::notation::law::{AmountUnit, most};
use crate::notation::values::COUNT_VALUE;
use crate::notation::values::{count32, law, text, value_at};
use crate::spec::{Command, Population, UserClass};
use loadgo_core::notation::mistakes::SyntaxMistake;
use loadgo_core::notation::rates::number_and_period;
use loadgo_core::notation::shape::{KeyRule, TableShape, ValueShape, key, key_names};
use loadgo_core::notation::table::{KeyDescription, KeyedTable, PlacedText, PlacedValue, string};

/// The classes of users.
pub(super) const CLASS_LIST_SHAPE: ValueShape = ValueShape::List(&ValueShape::Table(&CLASS_SHAPE), 0);
const CLASS_SHAPE: TableShape = TableShape {
    keys: &[
        key("name", ValueShape::Text("name")),
        key("users", COUNT_VALUE),
        key("arrivals", ValueShape::Text("rate of arrivals")),
        key("think", ValueShape::Text("law of think times")),
        key("commands", ValueShape::List(&ValueShape::Text("name of a command"), 1)),
    ],
    rules: &[KeyRule::ExactlyOne(&["users", "arrivals"]), KeyRule::AtMostOne(&["arrivals", "think"])],
};

/// Reads the classes of users.
pub(super) fn read(machine: &KeyedTable<'_>, commands: &[Command]) -> Result<Vec<UserClass>, SyntaxMistake> {
    let wanted = KeyDescription { key: "load", value: "a list of tables", example: "[[load]] users = 50" };
    let mut classes: Vec<UserClass> = Vec::new();
    for value in machine.list(wanted)?.into_iter().flatten() {
        let entries = value.get_ref().as_table().ok_or_else(|| wanted.wrong(value))?;
        let table = KeyedTable::new(machine.text, entries, value.span().start);
        let class = class(&table, commands)?;
        if classes.iter().any(|other| other.name == class.name) {
            let message = format!("two classes are called {:?}: give each a name of its own", class.name);
            return Err(SyntaxMistake::new(value_at(&table, "name"), message));
        }
        classes.push(class);
    }
    Ok(classes)
}

fn class(table: &KeyedTable<'_>, commands: &[Command]) -> Result<UserClass, SyntaxMistake> {
    let keys = key_names(CLASS_SHAPE.keys);
    table.only(&keys, &keys, "a class of users")?;
    let name = match text(table, "name", "name = \"terminals\"")? {
        Some(name) if name.value.trim().is_empty() => {
            return Err(name.wrong_whole("a name is empty: write what reports should call this class"));
        }
        name => name.map_or("users".into(), |name| name.value.into()),
    };
    let population = population(table)?;
    let class = UserClass { name, population, think: think(table)?, commands: given(table, commands)? };
    let passes = |command: &usize| takes_time(&commands[*command]);
    if matches!(population, Population::Closed(_)) && most(&class.think) == 0.0 && !class.commands.iter().any(passes) {
        let message =
            "time would never pass: these users do not think and their commands take no time; add think = \"exponential(10s)\"";
        return Err(SyntaxMistake::new(table.at, message));
    }
    Ok(class)
}

/// Whether `command` can take time.
fn takes_time(command: &Command) -> bool {
    match &command.route {
        Some(route) => route.stages.iter().any(|stage| most(&stage.service) > 0.0),
        None => most(&command.cpu) > 0.0 || !command.requests.is_empty(),
    }
}

fn population(table: &KeyedTable<'_>) -> Result<Population, SyntaxMistake> {
    let (users, arrivals) = (count32(table, "users", 1)?, text(table, "arrivals", "arrivals = \"2/s\"")?);
    match (users, arrivals) {
        (Some(users), None) => Ok(Population::Closed(users)),
        (None, Some(_)) if table.get("think").is_some() => Err(SyntaxMistake::new(
            value_at(table, "think"),
            "users who come for one interaction do not think: leave `think` out",
        )),
        (None, Some(arrivals)) => rate(&arrivals).map(Population::Open),
        (Some(_), Some(arrivals)) => Err(arrivals.wrong_whole("`users` and `arrivals` exclude each other: keep one")),
        (None, None) => {
            Err(SyntaxMistake::new(table.at, "the number of users is missing: add users = 50, or arrivals = \"2/s\""))
        }
    }
}

/// Reads a rate of arrivals, such as `2/s`, as arrivals a second.
fn rate(text: &PlacedText<'_>) -> Result<f64, SyntaxMistake> {
    match number_and_period(text.value) {
        Some((number, seconds)) if number > 0.0 && number / seconds <= 1e9 => Ok(number / seconds),
        Some(_) => Err(text.wrong_whole("users come at a rate over 0 and at most 1000000000/s")),
        None => Err(text
            .wrong_whole(format!("{:?} is not a rate: write it as in arrivals = \"2/s\", \"30/min\" or \"100/h\"", text.value))),
    }
}

fn think(table: &KeyedTable<'_>) -> Result<AmountLaw, SyntaxMistake> {
    let none = table.get("think").is_some_and(|value| value.get_ref().as_str() == Some("none"));
    if none { Ok(AmountLaw::ZERO) } else { Ok(law(table, "think", AmountUnit::Time)?.unwrap_or(AmountLaw::ZERO)) }
}

/// Reads the commands that the users type. Without the key, they type all in the order of the file.
fn given(table: &KeyedTable<'_>, commands: &[Command]) -> Result<Vec<usize>, SyntaxMistake> {
    let wanted = KeyDescription { key: "commands", value: "a list of commands", example: "commands = [\"transaction\"]" };
    let Some(list) = table.list(wanted)? else { return Ok((0..commands.len()).collect()) };
    if list.is_empty() {
        return Err(SyntaxMistake::new(
            value_at(table, "commands"),
            "these users give no commands: leave `commands` out for all",
        ));
    }
    let command = |value: &PlacedValue<'_>| {
        let name = string(table.text, value).ok_or_else(|| wanted.wrong(value))?;
        covered(commands, name.value).map_err(|unknown| name.wrong_whole(unknown.to_string()))
    };
    list.iter().map(command).collect()
}
