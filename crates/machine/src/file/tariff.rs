//! Reads `[tariff]`: the price of a processor hour, one for all shifts or one each.

use super::values::{number, number_at, table as table_under, value_at};
use loadgo_core::notation::mistakes::SyntaxMistake;
use loadgo_core::notation::table::KeyedTable;

/// Two ways to say the price of a processor hour.
pub(super) const PRICES: [&str; 2] = ["cpu_hour", "shifts"];

/// What the only shift is called where the price is always the same.
pub(super) const ALWAYS: &str = "any";

/// The prices of a processor hour by shift, and that of an hour of page waiting.
pub(super) fn read(table: Option<&KeyedTable<'_>>) -> Result<(Vec<(String, f64)>, f64), SyntaxMistake> {
    let Some(table) = table else { return Ok((Vec::new(), 0.0)) };
    let keys = ["cpu_hour", "shifts", "paging_wait_hour"];
    table.only(&keys, &keys, "[tariff]")?;
    let waiting = number(table, "paging_wait_hour")?.unwrap_or(0.0);
    let always = number(table, "cpu_hour")?;
    let Some(shifts) = table_under(table, "shifts", "shifts = { 1 = 505.0, 2 = 360.0 }")? else {
        return Ok((always.map(|price| (ALWAYS.into(), price)).into_iter().collect(), waiting));
    };
    if always.is_some() {
        return Err(SyntaxMistake::new(value_at(table, "cpu_hour"), "`cpu_hour` and `shifts` exclude each other: keep one"));
    }
    let price =
        |(key, value): (&toml::Spanned<toml::de::DeString<'_>>, _)| Ok((key.get_ref().to_string(), number_at(value, "shifts")?));
    Ok((shifts.in_order().into_iter().map(price).collect::<Result<_, _>>()?, waiting))
}
