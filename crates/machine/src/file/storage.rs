//! Reads `[storage.NAME]`: drums, bulk stores, disks and general servers.

use crate::devices::StoreKind;
use crate::draw::AmountLaw;
use crate::notation::choice::DecidingKey;
use crate::notation::law::AmountUnit;
use crate::notation::values::{self, FileReader, flag};
use crate::spec::Store;
use loadgo_core::notation::mistakes::{SyntaxMistake, list_names};
use loadgo_core::notation::shape::{ChoiceShape, MapShape, ValueShape, key};
use loadgo_core::notation::table::{KeyDescription, KeyedTable};

/// The key for the kind of a store, with the keys of each kind.
pub(super) const STORE_KIND_KEY: DecidingKey = DecidingKey {
    shape: &ChoiceShape {
        key: "kind",
        shared: &[key("interrupts", ValueShape::Flag)],
        options: StoreKind::OPTIONS,
        needed: true,
    },
    table: "a table under [storage]",
    noun: "kind of store",
};

/// All stores, by names other than that of the processors.
pub(super) const STORE_MAP_SHAPE: ValueShape = ValueShape::Map(&MapShape {
    names: r"^(?!processor$)(?=.*\S)[^\x00-\x1f\x7f-\x9f]+$",
    value: ValueShape::Chosen(STORE_KIND_KEY.shape),
    fewest: 0,
});
/// The number of requests to each store.
pub(super) const REQUEST_MAP_SHAPE: ValueShape =
    ValueShape::Map(&MapShape { names: "", value: values::NUMBER_LAW_VALUE, fewest: 0 });

/// The other host's time for a byte, by the store for which messages wait.
pub(super) const WAIT_MAP_SHAPE: ValueShape = ValueShape::Map(&MapShape { names: "", value: values::TIME_LAW_VALUE, fewest: 0 });

/// The names of the stores with their tables, in the order of the file.
pub(super) fn tables<'a>(stores: Option<KeyedTable<'a>>) -> Result<Vec<(String, KeyedTable<'a>)>, SyntaxMistake> {
    let mut tables = Vec::new();
    for (key, value) in stores.iter().flat_map(KeyedTable::in_order) {
        let (name, at) = (key.get_ref().as_ref(), key.span().start);
        if name == "processor" || name.trim().is_empty() || name.contains(char::is_control) {
            return Err(SyntaxMistake::new(at, format!("{name:?} cannot name a store: call it as in [storage.drum]")));
        }
        let wanted = KeyDescription { key: "storage", value: "a table for each store", example: "[storage.drum]" };
        let entries = value.get_ref().as_table().ok_or_else(|| wanted.wrong(value))?;
        tables.push((
            name.to_string(),
            KeyedTable::new(stores.as_ref().map_or("", |stores| stores.text), entries, value.span().start),
        ));
    }
    Ok(tables)
}

/// Reads the stores.
pub(super) fn read(tables: &[(String, KeyedTable<'_>)]) -> Result<Vec<Store>, SyntaxMistake> {
    let store = |(name, table): &(String, KeyedTable<'_>)| {
        Ok(Store { name: name.clone(), kind: kind(table)?, interrupts: flag(table, "interrupts")?.unwrap_or(true) })
    };
    tables.iter().map(store).collect()
}

fn kind(table: &KeyedTable<'_>) -> Result<StoreKind, SyntaxMistake> {
    let names: Vec<_> = StoreKind::OPTIONS.iter().map(|option| option.name).collect();
    let others = list_names(&names[1..]).replace(" and ", " or ");
    let missing = || format!("the store has no kind: add kind = {:?}, {others}", names[0]);
    let chosen = STORE_KIND_KEY.of(table)?.ok_or_else(|| SyntaxMistake::new(table.at, missing()))?;
    STORE_KIND_KEY.only(table, Some(chosen))?;
    StoreKind::read(chosen, table)
}

/// Reads the laws for the number of requests to each store.
pub(super) fn requests(table: &KeyedTable<'_>, reading: &FileReader) -> Result<Vec<(usize, AmountLaw)>, SyntaxMistake> {
    let requests = values::table(table, "requests", "requests = { disk = 3 }")?;
    requests.map_or(Ok(Vec::new()), |requests| laws_by_store(&requests, "requests", AmountUnit::Number, reading))
}

/// Reads the laws of the other host's time for a byte, by the store for which messages wait.
pub(super) fn network_wait(table: &KeyedTable<'_>, reading: &FileReader) -> Result<Vec<(usize, AmountLaw)>, SyntaxMistake> {
    let waits = values::table(table, "network_wait", "network_wait = { remote = \"exponential(2ms)\" }")?;
    waits.map_or(Ok(Vec::new()), |waits| laws_by_store(&waits, "network_wait", AmountUnit::Time, reading))
}

fn laws_by_store(
    laws: &KeyedTable<'_>,
    what: &'static str,
    unit: AmountUnit,
    reading: &FileReader,
) -> Result<Vec<(usize, AmountLaw)>, SyntaxMistake> {
    let law = |(key, value): (&toml::Spanned<toml::de::DeString<'_>>, _)| {
        let store =
            reading.store_named(key.get_ref()).map_err(|unknown| SyntaxMistake::new(key.span().start, unknown.to_string()))?;
        Ok((store, values::law_of(laws.text, value, what, unit)?))
    };
    laws.in_order().into_iter().map(law).collect()
}
