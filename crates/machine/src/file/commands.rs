//! Reads `[commands.NAME]`: the work of each command, from the processor to the network, or its route.

use super::command_keys::{COMMAND_KEYS, WORK_KEYS};
use super::merge::{TableKind, merged};
use super::{processors, route, storage};
use crate::draw::AmountLaw;
use crate::notation::law::{self, AmountUnit};
use crate::notation::values::{
    FileReader, UnknownName, correlation, count, count32, law as law_under, law_of, positive, required, share,
    table as table_under, text, value_at,
};
use crate::spec::{Amount, Command, Residence};
use loadgo_core::notation::mistakes::{SyntaxMistake, list_names, nearest};
use loadgo_core::notation::shape::key_names;
use loadgo_core::notation::table::{KeyDescription, KeyedTable, PlacedValue, string};
use toml::de::{DeTable, DeValue};

/// The name of the command for all other names.
pub(super) const ANY_COMMAND: &str = "*";

/// Reads the commands in the order of the file.
pub(super) fn read(machine: &KeyedTable<'_>, residence: &Residence, reading: &FileReader) -> Result<Vec<Command>, SyntaxMistake> {
    let missing = "there are no commands: add a table [commands.\"*\"] with cpu = \"100ms\"";
    let commands = required(table_under(machine, "commands", "[commands.edit]")?, machine, missing)?;
    if commands.in_order().is_empty() {
        return Err(SyntaxMistake::new(commands.at, missing));
    }
    let commands = &commands;
    let mut read = Vec::new();
    for (key, value) in commands.in_order() {
        let name = key.get_ref().as_ref();
        if name.trim().is_empty() || name.contains(char::is_control) {
            return Err(SyntaxMistake::new(
                key.span().start,
                format!("{name:?} cannot name a command: call it as in [commands.edit]"),
            ));
        }
        let entries = resolved(commands, name, &mut Vec::new())?;
        let table = KeyedTable::new(commands.text, &entries, value.span().start);
        read.push(command(&table, name, residence, reading)?);
    }
    Ok(read)
}

/// The table of the command `name`, merged into the command that it is like; `chain` has the commands on the way.
fn resolved<'a>(commands: &KeyedTable<'a>, name: &'a str, chain: &mut Vec<&'a str>) -> Result<DeTable<'a>, SyntaxMistake> {
    let value = commands.get(name).expect("the caller has looked up the command");
    let wanted = KeyDescription { key: "commands", value: "a table for each command", example: "[commands.edit]" };
    let mut own_table = value.get_ref().as_table().ok_or_else(|| wanted.wrong(value))?.clone();
    let Some(like) = own_table.remove("like") else { return Ok(own_table) };
    chain.push(name);
    let at = like.span().start;
    let Some(other) = like.get_ref().as_str() else {
        return Err(SyntaxMistake::new(at, "`like` takes the name of another command, as in like = \"edit\""));
    };
    let Some((other, _)) = commands.in_order().into_iter().find(|(key, _)| key.get_ref() == other) else {
        let right = match nearest(other, commands.in_order().iter().map(|(key, _)| key.get_ref().as_ref())) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("add a table [commands.{other}]"),
        };
        return Err(SyntaxMistake::new(at, format!("there is no command `{other}`; {right}")));
    };
    let other = other.get_ref().as_ref();
    if chain.contains(&other) {
        let circle = [chain.as_slice(), &[other]].concat().join(" is like ");
        return Err(SyntaxMistake::new(at, format!("this goes in a circle: {circle}; take one `like` out")));
    }
    merged(resolved(commands, other, chain)?, own_table, TableKind::Command)
}

fn command(table: &KeyedTable<'_>, name: &str, residence: &Residence, reading: &FileReader) -> Result<Command, SyntaxMistake> {
    let known = key_names(&COMMAND_KEYS);
    table.only(&known, &known, "a command")?;
    if let Some(command) = route::read(table, reading)?.map(|route| Command { route: Some(route), ..Command::without_work(name) })
    {
        let other = WORK_KEYS.into_iter().filter(|key| *key != "route").find(|key| table.get(key).is_some());
        return match other {
            Some(key) => {
                let message = format!("a `route` replaces `{key}`: keep one of the two");
                Err(SyntaxMistake::new(value_at(table, key), message))
            }
            None => with_ranks(command, table),
        };
    }
    let number = |key| Ok(law_under(table, key, AmountUnit::Number)?.unwrap_or(AmountLaw::ZERO));
    let missing = "the command has no processor time: add cpu = \"exponential(100ms)\", or a route";
    let command = Command {
        program: program(table)?,
        cpu: required(law_under(table, "cpu", reading.processor())?, table, missing)?,
        cpu_when_busy: processors::cpu_when_busy(table)?,
        pages: number("pages")?,
        common: share(table, "common")?.unwrap_or(0.0),
        headway_factor: positive(table, "headway_factor")?,
        image_words: image(table, residence)?,
        segment_faults: number("segment_faults")?,
        bound_faults: number("bound_faults")?,
        wall_crossings: number("wall_crossings")?,
        processes: number("processes")?,
        lines_out: number("lines_out")?,
        line_bytes: number("line_bytes")?,
        line_cpu: law_under(table, "line_cpu", reading.processor())?.unwrap_or(AmountLaw::ZERO),
        line_faults: number("line_faults")?,
        line_walls: number("line_walls")?,
        network_bytes: table
            .get("network_bytes")
            .map_or(Ok(Amount::Drawn(AmountLaw::ZERO)), |value| amount(table.text, value))?,
        network_byte_cpu: law_under(table, "network_byte_cpu", reading.processor())?.unwrap_or(AmountLaw::ZERO),
        network_wait: storage::network_wait(table, reading)?,
        requests: storage::requests(table, reading)?,
        request_correlation: request_correlation(table)?,
        ..Command::without_work(name)
    };
    with_ranks(command, table)
}

/// Reads the correlation of processor time and requests, which the command must have.
fn request_correlation(table: &KeyedTable<'_>) -> Result<Option<f64>, SyntaxMistake> {
    let read = correlation(table, "request_correlation")?;
    let requests = table.get("requests").and_then(|value| value.get_ref().as_table());
    if read.is_none() || requests.is_some_and(|requests| !requests.is_empty()) {
        return Ok(read);
    }
    let message = "`request_correlation` joins processor time and requests, and this command makes none: add \
                   requests = { disk = \"geometric(3)\" }, or take it out";
    Err(SyntaxMistake::new(value_at(table, "request_correlation"), message))
}

/// Adds the priority, nice value and exit status, which any command may have.
fn with_ranks(command: Command, table: &KeyedTable<'_>) -> Result<Command, SyntaxMistake> {
    let exit_status = count(table, "status", 0..256)?.map(|status| status as u8);
    Ok(Command { priority: count32(table, "priority", 0)?.unwrap_or(0), nice: nice(table)?, exit_status, ..command })
}

/// Reads the program's name; empty if the key is missing.
fn program(table: &KeyedTable<'_>) -> Result<String, SyntaxMistake> {
    let Some(read) = text(table, "program", "program = \"calculator\"")? else { return Ok(String::new()) };
    if read.value.trim().is_empty() || read.value.contains(char::is_control) {
        let message = format!("{:?} cannot name a program: call it as in program = \"calculator\"", read.value);
        return Err(read.wrong_whole(message));
    }
    Ok(read.value.into())
}

/// Reads the words of the image, which must fit into core memory if programs are swapped.
fn image(table: &KeyedTable<'_>, residence: &Residence) -> Result<AmountLaw, SyntaxMistake> {
    let image = law_under(table, "image_words", AmountUnit::Number)?.unwrap_or(AmountLaw::ZERO);
    let Residence::Swapping(swapping) = residence else { return Ok(image) };
    let (most, words) = (law::most(&image), swapping.words);
    if most <= words as f64 {
        return Ok(image);
    }
    let message = match most {
        f64::INFINITY => {
            format!("this law has no end, and core has {words} words: bound it, as in exponential(3000, max {words})")
        }
        most => {
            format!("a program of {most} words is larger than core, which has {words}: make it smaller, or [memory] words larger")
        }
    };
    Err(SyntaxMistake::new(value_at(table, "image_words"), message))
}

fn nice(table: &KeyedTable<'_>) -> Result<i32, SyntaxMistake> {
    let Some(value) = table.get("nice") else { return Ok(0) };
    let nice = match value.get_ref() {
        DeValue::Integer(number) => i32::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    };
    let wrong = || SyntaxMistake::new(value.span().start, "`nice` takes a whole number from -20 to 19, as in nice = 10");
    nice.filter(|nice| (-20..20).contains(nice)).ok_or_else(wrong)
}

/// Reads a law of numbers, or `argument(1)`.
fn amount<'a>(text: &'a str, value: &'a PlacedValue<'a>) -> Result<Amount, SyntaxMistake> {
    let Some(read) = string(text, value).filter(|read| read.value.trim_start().starts_with("argument")) else {
        return law_of(text, value, "network_bytes", AmountUnit::Number).map(Amount::Drawn);
    };
    let inner = read.value.trim().strip_prefix("argument").and_then(|rest| rest.trim().strip_prefix('(')?.strip_suffix(')'));
    match inner.and_then(|number| number.trim().parse().ok()) {
        Some(number @ 1..=1000) => Ok(Amount::Argument(number)),
        _ => Err(read.wrong_whole("write argument(1) for the number that is the first word after the command's name")),
    }
}

/// The index of the command with this name, or of the command for all others. The error says what would be right.
pub(super) fn covered(commands: &[Command], name: &str) -> Result<usize, UnknownName> {
    let index = |name: &str| commands.iter().position(|command| command.name == name);
    index(name).or_else(|| index(ANY_COMMAND)).ok_or_else(|| {
        let names: Vec<_> = commands.iter().map(|command| command.name.as_str()).collect();
        let right = match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}; add [commands.\"*\"] for all others", list_names(&names)),
        };
        UnknownName { problem: format!("no entry covers the command `{name}`"), remedy: right }
    })
}
