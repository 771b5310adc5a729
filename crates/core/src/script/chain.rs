//! Rows of what follows what: a repeated choice as a first-order chain, read and checked.
//!
//! An alternative with `then` has the weights of the alternative that comes next; one without is followed by any, by `weight`.

use super::shapes::LARGEST_WEIGHT;
use super::{Alternative, ScriptStep};
use crate::notation::mistakes::{SyntaxMistake, list_names, nearest};
use crate::notation::table::{KeyDescription, KeyedTable, PlacedValue, number};
use std::collections::BTreeMap;

pub(super) const THEN: KeyDescription =
    KeyDescription { key: "then", value: "a table of weights", example: "then = { make = 7, edit = 3 }" };
const THEN_WEIGHT: KeyDescription =
    KeyDescription { key: "then", value: "each weight as a number", example: "then = { make = 7, edit = 3 }" };

/// Indexes of alternatives with their weights.
type Row = Vec<(u32, f64)>;

/// A `then` as it stands in the file, with the offset of its key.
pub(super) struct PlacedRow<'a> {
    pub table: KeyedTable<'a>,
    pub key_at: usize,
}

/// A weight as it stands in the file, with the offsets of its key and of its value.
#[derive(Clone, Copy)]
pub(super) struct PlacedWeight {
    pub weight: f64,
    pub key_at: usize,
    pub value_at: usize,
}

/// An alternative as it was read, before the others are known.
pub(super) struct ReadAlternative<'a> {
    pub at: usize,
    pub weight: Option<PlacedWeight>,
    pub then: Option<PlacedRow<'a>>,
    pub steps: Vec<ScriptStep>,
}

/// The name by which a `then` calls an alternative: that of its first line. A choice has none.
pub(super) fn alternative_name(steps: &[ScriptStep]) -> Option<&str> {
    match steps.first()? {
        ScriptStep::Line(line) => Some(&line.name),
        ScriptStep::Repeat(_, steps) => alternative_name(steps),
        ScriptStep::Choose(_) => None,
    }
}

/// The alternatives with their rows. Refuses unknown names, empty rows, and alternatives that are never reached or never left.
pub(super) fn alternatives(read: Vec<ReadAlternative<'_>>) -> Result<Vec<Alternative>, SyntaxMistake> {
    let is_chain = read.iter().any(|alternative| alternative.then.is_some());
    if !is_chain && let Some(weight) = read.iter().filter_map(|alternative| alternative.weight).find(|read| read.weight == 0.0) {
        return Err(weight_mistake(weight.value_at));
    }
    let rows = rows(&read)?;
    let offsets: Vec<usize> =
        read.iter().map(|alternative| alternative.weight.map_or(alternative.at, |read| read.value_at)).collect();
    let weighted = read.into_iter().zip(rows).map(|(read, then)| Alternative {
        weight: read.weight.map_or(1.0, |read| read.weight),
        steps: read.steps,
        then,
    });
    let alternatives: Vec<Alternative> = weighted.collect();
    check_reached(&alternatives, &offsets)?;
    Ok(alternatives)
}

/// The mistake of a weight outside its range, at the offset of its value.
pub(super) fn weight_mistake(at: usize) -> SyntaxMistake {
    SyntaxMistake::new(at, format!("a weight is a number over 0 and at most {LARGEST_WEIGHT}, as in weight = 3"))
}

/// The row of each alternative, if it has any.
fn rows(read: &[ReadAlternative<'_>]) -> Result<Vec<Option<Row>>, SyntaxMistake> {
    let mut places: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (index, alternative) in (0..).zip(read) {
        if let Some(name) = alternative_name(&alternative.steps) {
            places.entry(name).or_default().push(index);
        }
    }
    let row = |(index, alternative): (u32, &ReadAlternative<'_>)| {
        let row = alternative.then.as_ref().map(|then| row(then, &places)).transpose()?;
        if let (Some(row), Some(then)) = (&row, &alternative.then) {
            check_left(row, index, alternative_name(&alternative.steps), then.key_at)?;
        }
        Ok(row)
    };
    (0..).zip(read).map(row).collect()
}

/// The weights of a row that are over 0, in the order of the file.
fn row(then: &PlacedRow<'_>, places: &BTreeMap<&str, Vec<u32>>) -> Result<Row, SyntaxMistake> {
    let mut row = Vec::new();
    for (key, value) in then.table.in_order() {
        let (name, at) = (key.get_ref().as_ref(), key.span().start);
        let weight = row_weight(value)?;
        match places.get(name).map(Vec::as_slice) {
            Some([index]) => row.push((*index, weight)),
            Some(_) => {
                return Err(SyntaxMistake::new(at, format!("several alternatives are called `{name}`: give each its own `as`")));
            }
            None => return Err(SyntaxMistake::new(at, unknown(name, places))),
        }
    }
    row.retain(|(_, weight)| *weight > 0.0);
    Ok(row)
}

fn row_weight(value: &PlacedValue<'_>) -> Result<f64, SyntaxMistake> {
    let weight = number(value).ok_or_else(|| THEN_WEIGHT.wrong(value))?;
    if (0.0..=LARGEST_WEIGHT).contains(&weight) {
        return Ok(weight);
    }
    let message =
        format!("a weight after another command is a number from 0 to {LARGEST_WEIGHT}; write it as in {}", THEN.example);
    Err(SyntaxMistake::new(value.span().start, message))
}

/// The message for a name that no alternative has.
fn unknown(name: &str, places: &BTreeMap<&str, Vec<u32>>) -> String {
    let right = match nearest(name, places.keys().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if places.is_empty() => "`then` names lines and groups, by the name of their first line".into(),
        None => format!("there are {}", list_names(&places.keys().copied().collect::<Vec<_>>())),
    };
    format!("no alternative of this choice is called `{name}`; {right}")
}

/// Refuses a row of the alternative `index` that leads nowhere, or to itself alone.
fn check_left(row: &[(u32, f64)], index: u32, name: Option<&str>, at: usize) -> Result<(), SyntaxMistake> {
    let name = name.map_or_else(|| "this choice".into(), |name| format!("`{name}`"));
    let right = format!("give another command a weight, as in {}, or leave `then` out to draw by `weight`", THEN.example);
    match row {
        [] => Err(SyntaxMistake::new(at, format!("nothing may come after {name}: {right}"))),
        [(next, _)] if *next == index => {
            Err(SyntaxMistake::new(at, format!("after {name} nothing else would ever come: {right}")))
        }
        _ => Ok(()),
    }
}

/// Refuses an alternative that comes neither first nor after one that comes. `offsets` are those of the alternatives' weights.
fn check_reached(alternatives: &[Alternative], offsets: &[usize]) -> Result<(), SyntaxMistake> {
    let mut is_reached: Vec<bool> = alternatives.iter().map(|alternative| alternative.weight > 0.0).collect();
    let mut rest: Vec<usize> = (0..alternatives.len()).filter(|index| is_reached[*index]).collect();
    if let (true, Some(first)) = (rest.is_empty(), offsets.first()) {
        return Err(SyntaxMistake::new(*first, "no alternative may come first: give one a weight over 0, as in weight = 3"));
    }
    while let Some(index) = rest.pop() {
        for (next, _) in alternatives[index].then.iter().flatten() {
            if !std::mem::replace(&mut is_reached[*next as usize], true) {
                rest.push(*next as usize);
            }
        }
    }
    let Some(lost) = is_reached.iter().position(|reached| !reached) else { return Ok(()) };
    let name = alternative_name(&alternatives[lost].steps).map_or_else(|| "this choice".into(), |name| format!("`{name}`"));
    let message = format!("{name} is never reached: give it a weight over 0, or name it in the `then` of another command");
    Err(SyntaxMistake::new(offsets[lost], message))
}
