//! Writes a [`Script`] as TOML that [`super::parse`] reads back as the same value.

use super::chain::alternative_name;
use super::day::print_minute;
use super::parse::DEFAULT_TIMEOUT;
use super::signs::{DEFAULT_SETTLE, SCREEN_WORD};
use super::steps::first_word;
use super::{Alternative, ReadyRule, ScreenRule, Script, ScriptLine, ScriptStep, TimeLaw, TypedForm, print_span};
use std::collections::BTreeMap;
use std::fmt::Write;
use toml::Value;

/// Writes `script` as TOML, without keys that have their default, and with each line of the script on its own line.
pub fn print(script: &Script) -> String {
    let mut out = String::new();
    let mut key = |key: &str, value: String| writeln!(out, "{key} = {value}").expect("a string takes all that is written");
    key("name", quoted(&script.name));
    key("login", quoted(&script.login));
    if script.logout != "exit" {
        key("logout", quoted(&script.logout));
    }
    if script.passes != 1 {
        key("passes", script.passes.to_string());
    }
    if script.think != TimeLaw::None {
        key("think", quoted(&script.think.to_string()));
    }
    if let Some(rate) = script.typing_chars_per_second {
        key("typing", quoted(&format!("{rate} chars/s")));
    }
    if script.timeout != DEFAULT_TIMEOUT {
        key("timeout", quoted(&print_span(script.timeout)));
    }
    if script.until != ReadyRule::Mark {
        until(&script.until).into_iter().for_each(|(name, value)| key(name, value));
    }
    if !script.needs.is_empty() {
        key("needs", list(script.needs.iter().map(|program| quoted(program))));
    }
    let shared = shared_status(script);
    if let Some(status) = &shared {
        key("status", statuses(status));
    }
    key("lines", lines(&script.steps, shared.is_some()));
    table(&mut out, "files", &script.files, |text| quoted(text));
    table(&mut out, "env", &script.env, |text| quoted(text));
    table(&mut out, "beside", &script.beside, |text| quoted(text));
    let arrivals = script.arrivals.iter().map(|rate| (print_minute(rate.minute), rate.per_hour)).collect();
    table(&mut out, "arrivals", &arrivals, |per_hour| quoted(&format!("{per_hour}/h")));
    table(&mut out, "words", &script.words, |words| list(words.iter().map(|word| quoted(word))));
    out
}

/// The accepted exit statuses, if they are the same for all lines.
fn shared_status(script: &Script) -> Option<Vec<u8>> {
    let first = script.lines().next()?.status.clone()?;
    script.lines().all(|line| line.status.as_ref() == Some(&first)).then_some(first)
}

/// The steps, each on its own line. `shared` leaves out the exit statuses, which the script has.
fn lines(steps: &[ScriptStep], shared: bool) -> String {
    let mut steps = steps.to_vec();
    if shared {
        steps.iter_mut().for_each(without_status);
    }
    let rows: String = steps.iter().map(|step| format!("    {},\n", entry(step, Vec::new()))).collect();
    format!("[\n{rows}]")
}

fn without_status(step: &mut ScriptStep) {
    match step {
        ScriptStep::Line(line) => line.status = None,
        ScriptStep::Repeat(_, steps) => steps.iter_mut().for_each(without_status),
        ScriptStep::Choose(alternatives) => alternatives.iter_mut().flat_map(|each| &mut each.steps).for_each(without_status),
    }
}

fn statuses(status: &[u8]) -> String {
    match status {
        [single] => single.to_string(),
        several => list(several.iter().map(u8::to_string)),
    }
}

fn table<T>(out: &mut String, heading: &str, entries: &BTreeMap<String, T>, value: impl Fn(&T) -> String) {
    if entries.is_empty() {
        return;
    }
    writeln!(out, "\n[{heading}]").expect("a string takes all that is written");
    for (key, content) in entries {
        writeln!(out, "{} = {}", quoted_key(key), value(content)).expect("a string takes all that is written");
    }
}

/// A step as an entry of a list, with `fields` before its own.
fn entry(step: &ScriptStep, mut fields: Vec<(&'static str, String)>) -> String {
    match step {
        ScriptStep::Line(line) => {
            let own = line_fields(line);
            if fields.is_empty() && own.len() == 1 && line.form == TypedForm::Line {
                return quoted(&line.text.to_string());
            }
            fields.extend(own);
        }
        ScriptStep::Choose(alternatives) => fields.push(choice(alternatives)),
        ScriptStep::Repeat(times, steps) => {
            fields.push(("repeat", times.to_string()));
            match steps.as_slice() {
                [ScriptStep::Line(line)] => fields.extend(line_fields(line)),
                [ScriptStep::Choose(alternatives)] => fields.push(choice(alternatives)),
                steps => fields.push(("lines", list(steps.iter().map(|step| entry(step, Vec::new()))))),
            }
        }
    }
    inline(&fields)
}

fn choice(alternatives: &[Alternative]) -> (&'static str, String) {
    ("choose", list(alternatives.iter().map(|each| alternative(each, alternatives))))
}

fn alternative(Alternative { weight, steps, then }: &Alternative, all: &[Alternative]) -> String {
    let mut fields = if *weight == 1.0 { Vec::new() } else { vec![("weight", weight.to_string())] };
    fields.extend(then.as_ref().map(|row| ("then", row_table(row, all))));
    match steps.as_slice() {
        [step] => entry(step, fields),
        steps => {
            let lines = list(steps.iter().map(|step| entry(step, Vec::new())));
            inline(&fields.into_iter().chain([("lines", lines)]).collect::<Vec<_>>())
        }
    }
}

/// The row of what may come next, with the names of the alternatives.
fn row_table(row: &[(u32, f64)], all: &[Alternative]) -> String {
    let name = |index: &u32| alternative_name(&all[*index as usize].steps).expect("a row has alternatives with names");
    let fields: Vec<_> = row.iter().map(|(index, weight)| format!("{} = {weight}", quoted_key(name(index)))).collect();
    format!("{{ {} }}", fields.join(", "))
}

fn line_fields(line: &ScriptLine) -> Vec<(&'static str, String)> {
    let text = quoted(&line.text.to_string());
    // The name of keys follows from lines before, so it is always written.
    let (mut fields, is_named) = match line.form {
        TypedForm::Line => (vec![("type", text)], line.name != first_word(&line.text)),
        TypedForm::Keys => (vec![("keys", text)], true),
    };
    if is_named {
        fields.push(("as", quoted(&line.name)));
    }
    fields.extend(line.think.as_ref().map(|law| ("think", quoted(&law.to_string()))));
    fields.extend(line.think_after.as_ref().map(|law| ("think_after", quoted(&law.to_string()))));
    let rule = line.until.iter().flat_map(until);
    // Keys wait for the screen where no sign is given.
    fields.extend(rule.filter(|(key, value)| line.form == TypedForm::Line || *key != "until" || *value != quoted(SCREEN_WORD)));
    fields.extend(line.timeout.map(|span| ("timeout", quoted(&print_span(span)))));
    fields.extend(line.status.as_ref().map(|status| ("status", statuses(status))));
    fields
}

/// The rule as the keys and the values that a script has for it.
pub fn print_rule(rule: &ReadyRule) -> String {
    until(rule).iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", ")
}

fn until(until: &ReadyRule) -> Vec<(&'static str, String)> {
    match until {
        ReadyRule::Mark => vec![("until", quoted("mark"))],
        ReadyRule::Pattern(pattern) => vec![("until", quoted(pattern))],
        ReadyRule::Silence(span) => vec![("silence", quoted(&print_span(*span)))],
        ReadyRule::Screen(rule) => screen(rule),
    }
}

fn screen(ScreenRule { settle, shows, cursor }: &ScreenRule) -> Vec<(&'static str, String)> {
    let mut fields = vec![("until", quoted(SCREEN_WORD))];
    if *settle != DEFAULT_SETTLE {
        fields.push(("settle", quoted(&print_span(*settle))));
    }
    fields.extend(shows.as_ref().map(|pattern| ("shows", quoted(pattern))));
    fields.extend(cursor.map(|(row, column)| ("cursor", format!("[{row}, {column}]"))));
    fields
}

fn inline(fields: &[(&str, String)]) -> String {
    let fields: Vec<_> = fields.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    format!("{{ {} }}", fields.join(", "))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// A key in TOML's notation. It has no control characters.
fn quoted_key(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', r"\\").replace('"', "\\\""))
}

/// A string in TOML's notation, on one line if possible.
fn quoted(text: &str) -> String {
    Value::String(text.into()).to_string()
}
