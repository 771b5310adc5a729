//! Reads `[storage.NAME]`: drums, bulk stores, disks and general servers.

use super::choice::DecidingKey;
use super::law::AmountUnit;
use super::values::{FileReader, count32, flag, law, positive, positive_span, required, span, value_at};
use crate::draw::AmountLaw;
use crate::spec::{Store, StoreKind};
use loadgo_core::notation::mistakes::SyntaxMistake;
use loadgo_core::notation::table::{KeyDescription, KeyedTable};

/// The key for the kind of a store, with the keys of each kind.
pub(super) const STORE_KIND_KEY: DecidingKey = DecidingKey {
    key: "kind",
    table: "a table under [storage]",
    noun: "kind of store",
    shared: &["kind", "interrupts"],
    options: &[
        ("server", &["service", "servers"]),
        ("drum", &["revolution", "sectors", "words_per_second"]),
        ("bulk", &["access", "words_per_second", "channels"]),
        ("disk", &["seek", "revolution", "words_per_second", "units", "channels"]),
    ],
};

/// The two keys for the speed of a drum.
pub(super) const DRUM_RATE_KEYS: [&str; 2] = ["sectors", "words_per_second"];

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
    let chosen = required(STORE_KIND_KEY.of(table)?, table, "the store has no kind: add kind = \"drum\", bulk, disk or server")?;
    STORE_KIND_KEY.only(table, Some(chosen))?;
    let needed = |what: &str| format!("a {chosen} needs {what}");
    let revolution = || {
        let what = needed("the time of a revolution: add revolution = \"33.3ms\"");
        required(positive_span(table, "revolution", AmountUnit::Time)?, table, &what)
    };
    let channels = || Ok(count32(table, "channels", 1)?.unwrap_or(1));
    Ok(match chosen {
        "drum" => drum(table, revolution()?)?,
        "bulk" => StoreKind::Bulk {
            access_ns: required(
                span(table, "access", AmountUnit::Time)?,
                table,
                &needed("the time of an access: add access = \"0.4ms\""),
            )?,
            words_per_second: positive(table, "words_per_second")?,
            channels: channels()?,
        },
        "disk" => StoreKind::Disk {
            seek: required(
                law(table, "seek", AmountUnit::Time)?,
                table,
                &needed("a law of seeks: add seek = \"uniform(15ms, 45ms)\""),
            )?,
            revolution_ns: revolution()?,
            words_per_second: required(
                positive(table, "words_per_second")?,
                table,
                &needed("the rate of a transfer: add words_per_second = 41000"),
            )?,
            units: count32(table, "units", 1)?.unwrap_or(1),
            channels: channels()?,
        },
        _ => StoreKind::Server {
            service: required(
                law(table, "service", AmountUnit::Time)?,
                table,
                &needed("a service: add service = \"exponential(0.2s)\""),
            )?,
            servers: servers(table)?,
        },
    })
}

fn drum(table: &KeyedTable<'_>, revolution_ns: u64) -> Result<StoreKind, SyntaxMistake> {
    let (sectors, words_per_second) = (count32(table, "sectors", 1)?, positive(table, "words_per_second")?);
    if sectors.is_some() && words_per_second.is_some() {
        let message = "with sectors a drum gives a page a sector: leave `words_per_second` out, or `sectors`";
        return Err(SyntaxMistake::new(value_at(table, "words_per_second"), message));
    }
    if sectors.is_some_and(|sectors| u64::from(sectors) > revolution_ns) {
        return Err(SyntaxMistake::new(value_at(table, "sectors"), "so many sectors would pass in no time: lower `sectors`"));
    }
    Ok(StoreKind::Drum { revolution_ns, sectors, words_per_second })
}

/// Reads the number of servers; `"any"`: no request waits.
fn servers(table: &KeyedTable<'_>) -> Result<u32, SyntaxMistake> {
    let any = table.get("servers").is_some_and(|value| value.get_ref().as_str() == Some("any"));
    if any { Ok(u32::MAX) } else { Ok(count32(table, "servers", 1)?.unwrap_or(1)) }
}

/// Reads the laws for the number of requests to each store.
pub(super) fn requests(table: &KeyedTable<'_>, reading: &FileReader) -> Result<Vec<(usize, AmountLaw)>, SyntaxMistake> {
    let Some(requests) = super::values::table(table, "requests", "requests = { disk = 3 }")? else { return Ok(Vec::new()) };
    let law = |(key, value): (&toml::Spanned<toml::de::DeString<'_>>, _)| {
        let store = reading.store_named(key.get_ref()).map_err(|message| SyntaxMistake::new(key.span().start, message))?;
        Ok((store, super::values::law_of(requests.text, value, "requests", AmountUnit::Number)?))
    };
    requests.in_order().into_iter().map(law).collect()
}
