//! Reads and checks machine files: TOML, over the machines that they are like, and under the settings of a command line.
//!
//! `sources` joins all texts, `merge` makes one table of them, and one file for each table reads it. `print` writes a machine as
//! TOML. Offsets become line and column at the end, so that every mistake names its text.

mod command_keys;
mod commands;
mod exclusive;
mod fit;
mod load;
mod memory;
mod merge;
mod print;
mod processors;
mod route;
mod sources;
mod storage;
mod supervisor;
mod tariff;

pub use crate::notation::law::parse as parse_law;
pub use print::print;
pub use sources::{MachineMistake, Origin, Resolve, key_and_value};

use super::spec::Machine;
use crate::notation::values::{FileReader, positive, required, table as table_under, text};
use loadgo_core::notation::mistakes::SyntaxMistake;
use loadgo_core::notation::shape::{FileShape, TableShape, ValueShape, key, key_names, needed};
use loadgo_core::notation::table::KeyedTable;
use merge::{TableKind, merged};
use sources::MachineTexts;
use toml::de::DeTable;

/// The shape of a machine file.
pub const MACHINE_SHAPE: FileShape = FileShape { root: &MACHINE, parts: &[], like: Some("like") };

const MACHINE: TableShape = TableShape {
    keys: &[
        needed("title", ValueShape::Text("words")),
        needed("source", ValueShape::Text("words")),
        key("like", ValueShape::Text("name of a machine")),
        key("processors", ValueShape::Chosen(&processors::PROCESSORS_SHAPE)),
        key("memory", ValueShape::Chosen(&memory::MEMORY_SHAPE)),
        key("multiprogramming", ValueShape::Chosen(&memory::MULTIPROGRAMMING_SHAPE)),
        key("storage", storage::STORE_MAP_SHAPE),
        key("supervisor", ValueShape::Table(&supervisor::SUPERVISOR_SHAPE)),
        key("tariff", ValueShape::Table(&tariff::TARIFF_SHAPE)),
        needed("commands", command_keys::COMMAND_MAP_SHAPE),
        key("load", load::CLASS_LIST_SHAPE),
        key("fit", ValueShape::Table(&fit::FIT_SHAPE)),
    ],
    rules: &[],
};

/// Reads a machine file; `resolve` gives the text of a machine that it is `like`.
///
/// # Errors
/// The first mistake, with its place.
pub fn parse(text: &str, resolve: Resolve<'_>) -> Result<Machine, MachineMistake> {
    parse_with(text, &[], resolve)
}

/// Reads a machine file with settings. Each is a dotted key, and a value in TOML's notation or a bare string.
///
/// # Errors
/// The first mistake, with its place.
pub fn parse_with(text: &str, sets: &[(String, String)], resolve: Resolve<'_>) -> Result<Machine, MachineMistake> {
    let sources = MachineTexts::gather(text, sets, resolve)?;
    read(&sources).map_err(|mistake| sources.place(mistake))
}

fn read(sources: &MachineTexts) -> Result<Machine, SyntaxMistake> {
    let mut merged_table = DeTable::new();
    for mut table in sources.tables()? {
        table.remove("like");
        merged_table = merged(merged_table, table, TableKind::Machine)?;
    }
    machine(&KeyedTable::new(&sources.joined, &merged_table, sources.main()))
}

fn machine(table: &KeyedTable<'_>) -> Result<Machine, SyntaxMistake> {
    let keys = key_names(MACHINE.keys);
    table.only(&keys, &keys, "a machine")?;
    let processors = table_under(table, "processors", "[processors]")?;
    let stores = storage::tables(table_under(table, "storage", "[storage.drum]")?)?;
    let reading = FileReader {
        instructions_per_second: processors.as_ref().map_or(Ok(None), |table| positive(table, "instructions_per_second"))?,
        stores: stores.iter().map(|(name, _)| name.clone()).collect(),
    };
    let memory = table_under(table, "memory", "[memory]")?;
    let residence = memory::read(memory.as_ref(), &reading)?;
    let limit = memory::limit(table_under(table, "multiprogramming", "[multiprogramming]")?.as_ref(), &residence, &reading)?;
    memory::fits(&residence, &limit, memory.as_ref())?;
    let (tariff, paging_wait_hour) = tariff::read(table_under(table, "tariff", "[tariff]")?.as_ref())?;
    let commands = commands::read(table, &residence, &reading)?;
    Ok(Machine {
        title: words(table, "title", "a machine needs a title for reports: add title = \"Multics on the GE-645\"")?,
        source: words(table, "source", "the source of the figures is missing: add source = \"…\" in words")?,
        processors: processors::read(processors.as_ref(), &reading)?,
        residence,
        limit,
        stores: storage::read(&stores)?,
        supervisor: supervisor::read(table_under(table, "supervisor", "[supervisor]")?.as_ref(), &reading)?,
        tariff,
        paging_wait_hour,
        any_command: commands.iter().position(|command| command.name == commands::ANY_COMMAND),
        load: load::read(table, &commands)?,
        commands,
        fit: fit::read(table)?,
    })
}

/// Reads a text that must be there and not be empty.
fn words(table: &KeyedTable<'_>, key: &'static str, missing: &str) -> Result<String, SyntaxMistake> {
    let read = required(text(table, key, "title = \"Multics on the GE-645\"")?, table, missing)?;
    if read.value.trim().is_empty() {
        return Err(read.wrong_whole(format!("`{key}` is empty: say it in words")));
    }
    Ok(read.value.into())
}
