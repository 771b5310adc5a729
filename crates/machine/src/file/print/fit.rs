//! Writes `[fit]`: a row for each parameter, and for each row of the covariance.

use super::written::{Rows, inline, list, number, quoted};
use crate::spec::{Fit, Parameter};

/// Writes `[fit]`.
pub(super) fn write(rows: &mut Rows, fit: &Fit) {
    rows.heading("[fit]");
    if !fit.script.is_empty() {
        rows.key("script", quoted(&fit.script));
    }
    rows.key("runs", list(fit.runs.iter().map(|run| quoted(run))));
    rows.key("users", list(fit.users.iter().map(u32::to_string)));
    rows.key("interactions", fit.interactions.to_string());
    rows.key("assumed", block(fit.assumed.iter().map(|words| quoted(words))));
    rows.key("parameters", block(fit.parameters.iter().map(written)));
    rows.key("covariance", block(fit.covariance.iter().map(|row| list(row.iter().map(|value| number(*value))))));
}

fn written(parameter: &Parameter) -> String {
    let Parameter { key, of, value, low, high, source } = parameter;
    let mut fields = vec![("key", key), ("of", of), ("value", value)];
    fields.extend(low.iter().map(|low| ("low", low)));
    fields.extend(high.iter().map(|high| ("high", high)));
    fields.push(("source", source));
    inline(&fields.into_iter().map(|(key, value)| (key.into(), quoted(value))).collect::<Vec<_>>())
}

/// A list with a row of the file for each item.
fn block(items: impl Iterator<Item = String>) -> String {
    let rows: String = items.map(|item| format!("    {item},\n")).collect();
    if rows.is_empty() { "[]".into() } else { format!("[\n{rows}]") }
}
