//! Reads `[fit]`: the values of the machine that were fitted to runs, and their uncertainty.
//!
//! A machine works without it. Predictions need it: the covariance of the parameters gives the prediction's uncertainty.

use crate::notation::values::{count32, required, table as table_under, text, value_at};
use crate::spec::{Fit, Parameter};
use loadgo_core::notation::mistakes::SyntaxMistake;
use loadgo_core::notation::shape::{ANY_NUMBER, MOST_31_BITS, TableShape, ValueShape, key, key_names, needed};
use loadgo_core::notation::table::{KeyDescription, KeyedTable, PlacedValue};
use toml::de::{DeArray, DeValue};

/// The keys of a fit.
pub(super) const FIT_SHAPE: TableShape = TableShape {
    keys: &[
        key("script", ValueShape::Text("text")),
        key("runs", TEXTS),
        key("users", ValueShape::List(&ValueShape::Whole(0, u32::MAX as i64), 0)),
        key("interactions", ValueShape::Whole(0, MOST_31_BITS)),
        key("reference", ValueShape::Text("text")),
        key("assumed", TEXTS),
        key("warnings", TEXTS),
        key("parameters", ValueShape::List(&ValueShape::Table(&PARAMETER), 0)),
        key("covariance", ValueShape::List(&ValueShape::List(&ANY_NUMBER, 0), 0)),
    ],
    rules: &[],
};
/// The keys of a fitted parameter.
const PARAMETER: TableShape = TableShape {
    keys: &[
        needed("key", ValueShape::Text("text")),
        key("of", ValueShape::OneOf(&FITTED_PROPERTIES)),
        needed("value", ValueShape::Text("text")),
        key("low", ValueShape::Text("text")),
        key("high", ValueShape::Text("text")),
        key("source", ValueShape::Text("text")),
    ],
    rules: &[],
};
const TEXTS: ValueShape = ValueShape::List(&ValueShape::Text("text"), 0);
const FITTED_PROPERTIES: [&str; 3] = ["mean", "spread", "correlation"];
const EXAMPLE: &str = "parameters = [{ key = \"commands.edit.cpu\", value = \"83ms\", source = \"metered\" }]";

/// Reads the fit of a machine, if it has one.
pub(super) fn read(machine: &KeyedTable<'_>) -> Result<Option<Fit>, SyntaxMistake> {
    let Some(table) = table_under(machine, "fit", "[fit]")? else { return Ok(None) };
    let keys = key_names(FIT_SHAPE.keys);
    table.only(&keys, &keys, "[fit]")?;
    let parameters = parameters(&table)?;
    Ok(Some(Fit {
        script: text(&table, "script", "script = \"typical user\"")?.map_or(String::new(), |read| read.value.into()),
        runs: words(&table, "runs", "runs = [\"2026-11-21T01-37-05-typical-user\"]")?,
        users: users(&table)?,
        interactions: count32(&table, "interactions", 0)?.unwrap_or(0),
        reference: text(&table, "reference", "reference = \"1.07ms\"")?.map_or(String::new(), |read| read.value.into()),
        assumed: words(&table, "assumed", "assumed = [\"nobody waits for a page\"]")?,
        warnings: words(&table, "warnings", "warnings = [\"3 records of these runs are lost\"]")?,
        covariance: covariance(&table, parameters.len())?,
        parameters,
    }))
}

fn items<'a>(table: &KeyedTable<'a>, wanted: KeyDescription) -> Result<impl Iterator<Item = &'a PlacedValue<'a>>, SyntaxMistake> {
    Ok(table.list(wanted)?.into_iter().flatten())
}

fn words(table: &KeyedTable<'_>, key: &'static str, example: &'static str) -> Result<Vec<String>, SyntaxMistake> {
    let wanted = KeyDescription { key, value: "a list of strings", example };
    items(table, wanted)?.map(|value| value.get_ref().as_str().map(String::from).ok_or_else(|| wanted.wrong(value))).collect()
}

fn users(table: &KeyedTable<'_>) -> Result<Vec<u32>, SyntaxMistake> {
    let wanted = KeyDescription { key: "users", value: "a list of whole numbers", example: "users = [5]" };
    let read = |value: &PlacedValue<'_>| match value.get_ref() {
        DeValue::Integer(number) => u32::from_str_radix(number.as_str(), number.radix()).map_err(|_| wanted.wrong(value)),
        _ => Err(wanted.wrong(value)),
    };
    items(table, wanted)?.map(read).collect()
}

fn parameters(table: &KeyedTable<'_>) -> Result<Vec<Parameter>, SyntaxMistake> {
    let wanted = KeyDescription { key: "parameters", value: "a list of tables", example: EXAMPLE };
    let read = |value| match DeValue::as_table(PlacedValue::get_ref(value)) {
        Some(entries) => parameter(&KeyedTable::new(table.text, entries, value.span().start)),
        None => Err(wanted.wrong(value)),
    };
    items(table, wanted)?.map(read).collect()
}

fn parameter(table: &KeyedTable<'_>) -> Result<Parameter, SyntaxMistake> {
    let keys = key_names(PARAMETER.keys);
    table.only(&keys, &keys, "a parameter")?;
    let word = |key| text(table, key, EXAMPLE).map(|read| read.map(|read| read.value.to_string()));
    let of = word("of")?.unwrap_or_else(|| "mean".into());
    if !FITTED_PROPERTIES.contains(&of.as_str()) {
        let message = format!("{of:?} is not a fitted property: write of = \"mean\", of = \"spread\" or of = \"correlation\"");
        return Err(SyntaxMistake::new(value_at(table, "of"), message));
    }
    Ok(Parameter {
        key: required(word("key")?, table, "the parameter has no key: add key = \"commands.edit.cpu\"")?,
        of,
        value: required(word("value")?, table, "the parameter has no value: add value = \"83ms\"")?,
        low: word("low")?,
        high: word("high")?,
        source: word("source")?.unwrap_or_default(),
    })
}

/// Reads the rows of the covariance, which has a row and a column for each parameter.
fn covariance(table: &KeyedTable<'_>, parameters: usize) -> Result<Vec<Vec<f64>>, SyntaxMistake> {
    let wanted = KeyDescription { key: "covariance", value: "a list of rows of numbers", example: "covariance = [[0.01]]" };
    let row = |value: &PlacedValue<'_>| numbers(value.get_ref().as_array().ok_or_else(|| wanted.wrong(value))?, wanted);
    let rows: Vec<Vec<f64>> = items(table, wanted)?.map(row).collect::<Result<_, _>>()?;
    let at = value_at(table, "covariance");
    if !rows.is_empty() && (rows.len() != parameters || rows.iter().any(|row| row.len() != parameters)) {
        let message = format!("`covariance` has a row and a column for each parameter, here {parameters} of each");
        return Err(SyntaxMistake::new(at, message));
    }
    let lopsided = |(i, j): (usize, usize)| (rows[i][j] - rows[j][i]).abs() > 1e-9 * (rows[i][i] * rows[j][j]).abs().sqrt();
    let pairs = (0..rows.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    if rows.iter().enumerate().any(|(i, row)| row[i] < 0.0) || pairs.into_iter().any(lopsided) {
        return Err(SyntaxMistake::new(at, "this is no covariance: it is symmetric, and nowhere negative on its diagonal"));
    }
    Ok(rows)
}

fn numbers(row: &DeArray<'_>, wanted: KeyDescription) -> Result<Vec<f64>, SyntaxMistake> {
    let number = |value: &PlacedValue<'_>| match value.get_ref() {
        DeValue::Integer(number) => number.as_str().parse().map_err(|_| wanted.wrong(value)),
        DeValue::Float(number) => {
            let read = number.as_str().parse::<f64>().ok().filter(|number| number.is_finite());
            read.ok_or_else(|| wanted.wrong(value))
        }
        _ => Err(wanted.wrong(value)),
    };
    row.iter().map(number).collect()
}
