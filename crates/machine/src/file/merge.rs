//! Merges a newer table into an older one, key by key. A newer key removes the older keys that it excludes.

use super::exclusive::{keeps_in_class, keeps_in_command, keeps_in_groups};
use super::{memory, processors, storage, tariff};
use crate::devices::drum::DRUM_RATE_KEYS;
use loadgo_core::notation::mistakes::{SyntaxMistake, list_names};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// A kind of table in a machine file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TableKind {
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
    /// A table that keeps the order of its keys: the steps of a page fault, the shifts of a tariff.
    Ordered,
    Other,
}

impl TableKind {
    fn inside(self, key: &str) -> TableKind {
        match (self, key) {
            (TableKind::Machine, "processors") => TableKind::Processors,
            (TableKind::Machine, "memory") => TableKind::Memory,
            (TableKind::Machine, "multiprogramming") => TableKind::Multiprogramming,
            (TableKind::Machine, "storage") => TableKind::Stores,
            (TableKind::Machine, "tariff") => TableKind::Tariff,
            (TableKind::Machine, "supervisor") => TableKind::Supervisor,
            (TableKind::Machine, "commands") => TableKind::Commands,
            (TableKind::Machine, "load") => TableKind::Load,
            (TableKind::Stores, _) => TableKind::Store,
            (TableKind::Commands, _) => TableKind::Command,
            (TableKind::Load, _) => TableKind::Class,
            (TableKind::Supervisor, "page_fault") | (TableKind::Tariff, "shifts") => TableKind::Ordered,
            _ => TableKind::Other,
        }
    }

    /// Whether `key` of the older table stays under the table `newer`.
    fn keeps(self, newer: &DeTable<'_>, key: &str) -> bool {
        match self {
            TableKind::Processors => processors::DISCIPLINE_KEY.keeps(newer, key),
            TableKind::Memory => memory::RESIDENCE_KEY.keeps(newer, key) && keeps_in_groups(newer, key, &[&memory::HEADWAY_KEYS]),
            TableKind::Multiprogramming => memory::CONTROL_KEY.keeps(newer, key) && memory::keeps_limit(newer, key),
            TableKind::Store => storage::STORE_KIND_KEY.keeps(newer, key) && keeps_in_groups(newer, key, &[&DRUM_RATE_KEYS]),
            TableKind::Tariff => keeps_in_groups(newer, key, &[&tariff::CPU_PRICE_KEYS]),
            TableKind::Command => keeps_in_command(newer, key),
            TableKind::Class => keeps_in_class(newer, key),
            _ => true,
        }
    }
}

/// Merges `newer` into `older`.
pub(super) fn merged<'a>(older: DeTable<'a>, newer: DeTable<'a>, kind: TableKind) -> Result<DeTable<'a>, SyntaxMistake> {
    let mut table = older;
    let excluded: Vec<_> =
        table.keys().filter(|key| !kind.keeps(&newer, key.get_ref())).map(|key| key.get_ref().clone()).collect();
    excluded.iter().filter(|key| !newer.contains_key(key.as_ref())).for_each(|key| drop(table.remove(key.as_ref())));
    for (key, value) in newer {
        lay(&mut table, key, value, kind)?;
    }
    Ok(table)
}

fn lay<'a>(
    table: &mut DeTable<'a>,
    key: Spanned<DeString<'a>>,
    value: Spanned<DeValue<'a>>,
    kind: TableKind,
) -> Result<(), SyntaxMistake> {
    let Some((old_key, older)) = table.remove_entry(key.get_ref().as_ref()) else {
        table.insert(key, value);
        return Ok(());
    };
    let inside = kind.inside(key.get_ref());
    let both = older.get_ref().is_table() && value.get_ref().is_table();
    let kept = if both || kind == TableKind::Ordered || older.get_ref().is_array() { old_key } else { key };
    table.insert(kept, over(older, value, inside)?);
    Ok(())
}

/// Merges a newer value into an older one. Tables are merged; entries of a list are named by their `name` or their index from 0.
fn over<'a>(
    older: Spanned<DeValue<'a>>,
    newer: Spanned<DeValue<'a>>,
    kind: TableKind,
) -> Result<Spanned<DeValue<'a>>, SyntaxMistake> {
    let (older_span, span) = (older.span(), newer.span());
    match (older.into_inner(), newer.into_inner()) {
        (DeValue::Table(older), DeValue::Table(newer)) => Ok(Spanned::new(span, DeValue::Table(merged(older, newer, kind)?))),
        (DeValue::Array(mut list), DeValue::Table(newer)) => {
            for (key, value) in newer {
                let index = entry(&list, &key)?;
                let entry = &mut list.as_mut()[index];
                *entry = over(entry.clone(), value, kind.inside(key.get_ref()))?;
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
        let present = if names.is_empty() { format!("0 to {}", list.len().saturating_sub(1)) } else { list_names(&names) };
        SyntaxMistake::new(key.span().start, format!("there is no `{name}` in this list; it has {present}"))
    })
}
