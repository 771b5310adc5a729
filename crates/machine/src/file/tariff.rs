//! Reads `[tariff]`: the price of a processor hour, one for all shifts or one each.

use crate::notation::values::{number, number_at, table as table_under, value_at};
use loadgo_core::notation::mistakes::SyntaxMistake;
use loadgo_core::notation::shape::{KeyRule, MapShape, NOT_NEGATIVE, TableShape, ValueShape, key, key_names};
use loadgo_core::notation::table::KeyedTable;

/// The two keys for the price of a processor hour.
pub(super) const CPU_PRICE_KEYS: [&str; 2] = ["cpu_hour", "shifts"];

/// The keys of the prices.
pub(super) const TARIFF_SHAPE: TableShape = TableShape {
    keys: &[
        key("cpu_hour", NOT_NEGATIVE),
        key("shifts", ValueShape::Map(&MapShape { names: "", value: NOT_NEGATIVE, fewest: 0 })),
        key("paging_wait_hour", NOT_NEGATIVE),
    ],
    rules: &[KeyRule::AtMostOne(&CPU_PRICE_KEYS)],
};

/// The name of the only shift if the price is always the same.
pub(super) const SINGLE_SHIFT: &str = "any";

/// Reads the prices of a processor hour by shift, and the price of an hour of page waits.
pub(super) fn read(table: Option<&KeyedTable<'_>>) -> Result<(Vec<(String, f64)>, f64), SyntaxMistake> {
    let Some(table) = table else { return Ok((Vec::new(), 0.0)) };
    let keys = key_names(TARIFF_SHAPE.keys);
    table.only(&keys, &keys, "[tariff]")?;
    let waiting = number(table, "paging_wait_hour")?.unwrap_or(0.0);
    let always = number(table, "cpu_hour")?;
    let Some(shifts) = table_under(table, "shifts", "shifts = { 1 = 505.0, 2 = 360.0 }")? else {
        return Ok((always.map(|price| (SINGLE_SHIFT.into(), price)).into_iter().collect(), waiting));
    };
    if always.is_some() {
        return Err(SyntaxMistake::new(value_at(table, "cpu_hour"), "`cpu_hour` and `shifts` exclude each other: keep one"));
    }
    let price =
        |(key, value): (&toml::Spanned<toml::de::DeString<'_>>, _)| Ok((key.get_ref().to_string(), number_at(value, "shifts")?));
    Ok((shifts.in_order().into_iter().map(price).collect::<Result<_, _>>()?, waiting))
}
