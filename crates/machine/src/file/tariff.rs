//! Reads `[tariff]`: the price of a processor hour, one for all shifts or one each.

use crate::notation::values::{number, number_at, table as table_under, value_at};
use loadgo_core::notation::mistakes::SyntaxMistake;
use loadgo_core::notation::table::KeyedTable;

/// The two keys for the price of a processor hour.
pub(super) const CPU_PRICE_KEYS: [&str; 2] = ["cpu_hour", "shifts"];

/// The name of the only shift if the price is always the same.
pub(super) const SINGLE_SHIFT: &str = "any";

/// Reads the prices of a processor hour by shift, and the price of an hour of page waits.
pub(super) fn read(table: Option<&KeyedTable<'_>>) -> Result<(Vec<(String, f64)>, f64), SyntaxMistake> {
    let Some(table) = table else { return Ok((Vec::new(), 0.0)) };
    let keys = ["cpu_hour", "shifts", "paging_wait_hour"];
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
