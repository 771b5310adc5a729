//! Reads `[supervisor]`: the processor times of its operations, and the table whose entries all users share.

use crate::notation::choice::one_of;
use crate::notation::values::{COUNT_VALUE, TIME_VALUE};
use crate::notation::values::{FileReader, count32, required, span, span_of, table as table_under, text, value_at};
use crate::spec::{GetworkCharge, InterruptCharge, LockedPath, Supervisor, SystemTable, WhenTableFull};
use loadgo_core::notation::mistakes::SyntaxMistake;
use loadgo_core::notation::shape::{MapShape, TableShape, ValueShape, key, key_names, needed};
use loadgo_core::notation::table::{KeyedTable, PlacedValue};

/// The keys of the supervisor.
pub(super) const SUPERVISOR_SHAPE: TableShape = TableShape {
    keys: &[
        key("page_fault", ValueShape::Any(&[TIME_VALUE, ValueShape::Map(&MapShape { names: "", value: TIME_VALUE, fewest: 1 })])),
        key("segment_fault", TIME_VALUE),
        key("bound_fault", TIME_VALUE),
        key("device_interrupt", TIME_VALUE),
        key("getwork", TIME_VALUE),
        key("wall_crossing", TIME_VALUE),
        key("line_in", TIME_VALUE),
        key("line_out", TIME_VALUE),
        key("process_creation", TIME_VALUE),
        key("network_byte", TIME_VALUE),
        key("network_message", TIME_VALUE),
        key("message_bytes", COUNT_VALUE),
        key("table", ValueShape::Table(&ENTRY_TABLE)),
        key("locks", ValueShape::Table(&LOCKS_TABLE)),
        key("charge_interrupt", ValueShape::OneOf(&INTERRUPT_CHARGES)),
        key("charge_getwork", ValueShape::OneOf(&GETWORK_CHARGES)),
    ],
    rules: &[],
};
/// The keys of the table whose entries all users share.
const ENTRY_TABLE: TableShape = TableShape {
    keys: &[needed("entries", COUNT_VALUE), needed("per_user", COUNT_VALUE), key("full", ValueShape::OneOf(&WAYS_WHEN_FULL))],
    rules: &[],
};
/// The paths that a lock may protect, each with the name of its lock.
const LOCKS_TABLE: TableShape = TableShape {
    keys: &[
        key(LockedPath::ALL[0].0, LOCK_NAME),
        key(LockedPath::ALL[1].0, LOCK_NAME),
        key(LockedPath::ALL[2].0, LOCK_NAME),
        key(LockedPath::ALL[3].0, LOCK_NAME),
        key(LockedPath::ALL[4].0, LOCK_NAME),
        key(LockedPath::ALL[5].0, LOCK_NAME),
    ],
    rules: &[],
};
const LOCK_NAME: ValueShape = ValueShape::Text("name");
const WAYS_WHEN_FULL: [&str; 2] = ["refuse", "take"];
const INTERRUPT_CHARGES: [&str; 2] = ["nobody", "interrupted"];
const GETWORK_CHARGES: [&str; 2] = ["next", "nobody"];

/// The name of the only step of a page fault without named steps.
pub(super) const SINGLE_STEP: &str = "page fault";

/// Reads the supervisor's costs; without a table, it costs nothing.
pub(super) fn read(table: Option<&KeyedTable<'_>>, reading: &FileReader) -> Result<Supervisor, SyntaxMistake> {
    let Some(table) = table else { return Ok(Supervisor::default()) };
    let keys = key_names(SUPERVISOR_SHAPE.keys);
    table.only(&keys, &keys, "[supervisor]")?;
    let cost = |key| Ok(span(table, key, reading.processor())?.unwrap_or(0));
    let supervisor = Supervisor {
        page_fault: table.get("page_fault").map_or(Ok(Vec::new()), |value| steps(table.text, value, reading))?,
        segment_fault_ns: cost("segment_fault")?,
        bound_fault_ns: cost("bound_fault")?,
        device_interrupt_ns: cost("device_interrupt")?,
        getwork_ns: cost("getwork")?,
        wall_crossing_ns: cost("wall_crossing")?,
        line_in_ns: cost("line_in")?,
        line_out_ns: cost("line_out")?,
        process_creation_ns: cost("process_creation")?,
        network_byte_ns: cost("network_byte")?,
        network_message_ns: cost("network_message")?,
        message_bytes: count32(table, "message_bytes", 1)?.unwrap_or(0),
        table: system_table(table)?,
        locks: locks(table)?,
        interrupt_charge: interrupt_charge(table)?,
        getwork_charge: getwork_charge(table)?,
    };
    if supervisor.network_message_ns > 0 && supervisor.message_bytes == 0 {
        let message = "the size of a network message is missing: add message_bytes = 1000";
        return Err(SyntaxMistake::new(value_at(table, "network_message"), message));
    }
    Ok(supervisor)
}

fn interrupt_charge(supervisor: &KeyedTable<'_>) -> Result<InterruptCharge, SyntaxMistake> {
    Ok(match text(supervisor, "charge_interrupt", "charge_interrupt = \"interrupted\"")? {
        Some(name) if one_of(&name, &INTERRUPT_CHARGES, "payer of an interrupt")? == "interrupted" => {
            InterruptCharge::Interrupted
        }
        _ => InterruptCharge::Nobody,
    })
}

fn getwork_charge(supervisor: &KeyedTable<'_>) -> Result<GetworkCharge, SyntaxMistake> {
    Ok(match text(supervisor, "charge_getwork", "charge_getwork = \"nobody\"")? {
        Some(name) if one_of(&name, &GETWORK_CHARGES, "payer of getwork")? == "nobody" => GetworkCharge::Nobody,
        _ => GetworkCharge::Next,
    })
}

/// Reads a page fault as one time, or as a table of its steps.
fn steps<'a>(text: &'a str, placed: &'a PlacedValue<'a>, reading: &FileReader) -> Result<Vec<(String, u64)>, SyntaxMistake> {
    let time = |placed| span_of(text, placed, "page_fault", reading.processor());
    let Some(entries) = placed.get_ref().as_table() else { return Ok(vec![(SINGLE_STEP.into(), time(placed)?)]) };
    let steps = KeyedTable::new(text, entries, placed.span().start).in_order();
    if steps.is_empty() {
        return Err(SyntaxMistake::new(
            placed.span().start,
            "there are no steps: write page_fault = \"3ms\", or name them with their times",
        ));
    }
    steps.into_iter().map(|(key, placed)| Ok((key.get_ref().to_string(), time(placed)?))).collect()
}

fn system_table(supervisor: &KeyedTable<'_>) -> Result<Option<SystemTable>, SyntaxMistake> {
    let Some(table) = table_under(supervisor, "table", EXAMPLE)? else { return Ok(None) };
    let keys = key_names(ENTRY_TABLE.keys);
    table.only(&keys, &keys, "`table`")?;
    let missing = |key| format!("the table needs `{key}`: write {EXAMPLE}");
    let entries = required(count32(&table, "entries", 1)?, &table, &missing("entries"))?;
    let per_user = required(count32(&table, "per_user", 1)?, &table, &missing("per_user"))?;
    if per_user > entries {
        let message = format!("a user needs {per_user} entries and the table has {entries}: nobody could log in; add entries");
        return Err(SyntaxMistake::new(value_at(&table, "per_user"), message));
    }
    let full = match text(&table, "full", "full = \"take\"")? {
        Some(name) if one_of(&name, &WAYS_WHEN_FULL, "way to go on")? == "take" => WhenTableFull::Take,
        _ => WhenTableFull::Refuse,
    };
    Ok(Some(SystemTable { entries, per_user, full }))
}

fn locks(supervisor: &KeyedTable<'_>) -> Result<Vec<(LockedPath, String)>, SyntaxMistake> {
    let example = "locks = { page_fault = \"paging\" }";
    let Some(table) = table_under(supervisor, "locks", example)? else { return Ok(Vec::new()) };
    let keys = key_names(LOCKS_TABLE.keys);
    table.only(&keys, &keys, "`locks`")?;
    let mut locks = Vec::new();
    for (key, path) in LockedPath::ALL {
        if let Some(name) = text(&table, key, "page_fault = \"paging\"")? {
            locks.push((path, name.value.to_string()));
        }
    }
    Ok(locks)
}

const EXAMPLE: &str = "table = { entries = 400, per_user = 20, full = \"refuse\" }";
