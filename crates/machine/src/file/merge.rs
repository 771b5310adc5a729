//! Lays a newer table over an older one, table by table and key by key; what the newer one decides takes with it what it excludes.

use super::exclusive::{excluded, keeps_in_class, keeps_in_command};
use super::{memory, processors, storage, tariff};
use loadgo_core::notation::mistakes::{SyntaxMistake, list_names};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// Which table of a machine file it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Machine,
    Processors,
    Memory,
    Multiprogramming,
    Stores,
    Store,
    Tariff,
    Supervisor,
    Commands,
    Command,
    Load,
    Class,
    /// A table whose keys have an order that stays: the steps of a page fault, the shifts of a tariff.
    Ordered,
    Other,
}

impl Place {
    fn inside(self, key: &str) -> Place {
        match (self, key) {
            (Place::Machine, "processors") => Place::Processors,
            (Place::Machine, "memory") => Place::Memory,
            (Place::Machine, "multiprogramming") => Place::Multiprogramming,
            (Place::Machine, "storage") => Place::Stores,
            (Place::Machine, "tariff") => Place::Tariff,
            (Place::Machine, "supervisor") => Place::Supervisor,
            (Place::Machine, "commands") => Place::Commands,
            (Place::Machine, "load") => Place::Load,
            (Place::Stores, _) => Place::Store,
            (Place::Commands, _) => Place::Command,
            (Place::Load, _) => Place::Class,
            (Place::Supervisor, "page_fault") | (Place::Tariff, "shifts") => Place::Ordered,
            _ => Place::Other,
        }
    }

    /// Whether the older table's `key` stays under what `newer` says.
    fn keeps(self, newer: &DeTable<'_>, key: &str) -> bool {
        match self {
            Place::Processors => processors::DISCIPLINE.keeps(newer, key),
            Place::Memory => memory::RESIDENCE.keeps(newer, key) && excluded(newer, key, &[&memory::HEADWAYS]),
            Place::Multiprogramming => memory::CONTROL.keeps(newer, key) && memory::keeps_limit(newer, key),
            Place::Store => storage::KIND.keeps(newer, key) && excluded(newer, key, &[&storage::RATES]),
            Place::Tariff => excluded(newer, key, &[&tariff::PRICES]),
            Place::Command => keeps_in_command(newer, key),
            Place::Class => keeps_in_class(newer, key),
            _ => true,
        }
    }
}

/// `older` with `newer` laid over it.
pub(super) fn merged<'a>(older: DeTable<'a>, newer: DeTable<'a>, place: Place) -> Result<DeTable<'a>, SyntaxMistake> {
    let mut table = older;
    let gone: Vec<_> = table.keys().filter(|key| !place.keeps(&newer, key.get_ref())).map(|key| key.get_ref().clone()).collect();
    gone.iter().filter(|key| !newer.contains_key(key.as_ref())).for_each(|key| drop(table.remove(key.as_ref())));
    for (key, value) in newer {
        lay(&mut table, key, value, place)?;
    }
    Ok(table)
}

fn lay<'a>(
    table: &mut DeTable<'a>,
    key: Spanned<DeString<'a>>,
    value: Spanned<DeValue<'a>>,
    place: Place,
) -> Result<(), SyntaxMistake> {
    let Some((old_key, older)) = table.remove_entry(key.get_ref().as_ref()) else {
        table.insert(key, value);
        return Ok(());
    };
    let inside = place.inside(key.get_ref());
    let both = older.get_ref().is_table() && value.get_ref().is_table();
    let kept = if both || place == Place::Ordered || older.get_ref().is_array() { old_key } else { key };
    table.insert(kept, over(older, value, inside)?);
    Ok(())
}

/// A newer value over an older one: tables are merged, entries of a list are found by their `name` or their index from 0.
fn over<'a>(
    older: Spanned<DeValue<'a>>,
    newer: Spanned<DeValue<'a>>,
    place: Place,
) -> Result<Spanned<DeValue<'a>>, SyntaxMistake> {
    let (older_span, span) = (older.span(), newer.span());
    match (older.into_inner(), newer.into_inner()) {
        (DeValue::Table(older), DeValue::Table(newer)) => Ok(Spanned::new(span, DeValue::Table(merged(older, newer, place)?))),
        (DeValue::Array(mut list), DeValue::Table(newer)) => {
            for (key, value) in newer {
                let index = entry(&list, &key)?;
                let entry = &mut list.as_mut()[index];
                *entry = over(entry.clone(), value, place.inside(key.get_ref()))?;
            }
            Ok(Spanned::new(older_span, DeValue::Array(list)))
        }
        (_, newer) => Ok(Spanned::new(span, newer)),
    }
}

fn entry(list: &[Spanned<DeValue<'_>>], key: &Spanned<DeString<'_>>) -> Result<usize, SyntaxMistake> {
    let name = key.get_ref().as_ref();
    let names: Vec<_> = list.iter().filter_map(|entry| entry.get_ref().as_table()?.get("name")?.get_ref().as_str()).collect();
    let named = |entry: &Spanned<DeValue<'_>>| {
        entry.get_ref().as_table().and_then(|table| table.get("name")).and_then(|value| value.get_ref().as_str()) == Some(name)
    };
    let index = name.parse().ok().filter(|index| *index < list.len());
    list.iter().position(named).or(index).ok_or_else(|| {
        let there = if names.is_empty() { format!("0 to {}", list.len().saturating_sub(1)) } else { list_names(&names) };
        SyntaxMistake::new(key.span().start, format!("there is no `{name}` in this list; it has {there}"))
    })
}
