//! Reads a command's `route` through the stations of a queueing network.

use crate::notation::law::AmountUnit;
use crate::notation::values::TIME_LAW_VALUE;
use crate::notation::values::{FileReader, law, number_at, required, table as table_under, text, value_at};
use crate::spec::{Route, RouteStage};
use loadgo_core::notation::mistakes::SyntaxMistake;
use loadgo_core::notation::shape::{MapShape, NOT_NEGATIVE, TableShape, ValueShape, key, key_names, needed};
use loadgo_core::notation::table::{KeyDescription, KeyedTable};

/// The stages of a route.
pub(super) const STAGE_LIST_SHAPE: ValueShape = ValueShape::List(&ValueShape::Table(&STAGE_SHAPE), 1);
const STAGE_SHAPE: TableShape = TableShape {
    keys: &[
        needed("at", ValueShape::Text("name of a station")),
        needed("service", TIME_LAW_VALUE),
        key("then", ValueShape::Map(&MapShape { names: "^(done|[0-9]+)$", value: NOT_NEGATIVE, fewest: 1 })),
    ],
    rules: &[],
};

const EXAMPLE: &str = "route = [{ at = \"processor\", service = \"exponential(50ms)\" }]";

/// Reads the route of a command, if it has one.
pub(super) fn read(command: &KeyedTable<'_>, reading: &FileReader) -> Result<Option<Route>, SyntaxMistake> {
    let wanted = KeyDescription { key: "route", value: "a list of stages", example: EXAMPLE };
    let Some(list) = command.list(wanted)? else { return Ok(None) };
    if list.is_empty() {
        return Err(SyntaxMistake::new(value_at(command, "route"), format!("this route has no stages: write {EXAMPLE}")));
    }
    let mut stages = Vec::new();
    for (index, value) in list.iter().enumerate() {
        let entries = value.get_ref().as_table().ok_or_else(|| wanted.wrong(value))?;
        let table = KeyedTable::new(command.text, entries, value.span().start);
        stages.push(stage(&table, index, list.len(), reading)?);
    }
    ends(&stages).map_err(|(stage, message)| SyntaxMistake::new(list[stage].span().start, message))?;
    Ok(Some(Route { stages }))
}

fn stage(table: &KeyedTable<'_>, index: usize, stages: usize, reading: &FileReader) -> Result<RouteStage, SyntaxMistake> {
    let keys = key_names(STAGE_SHAPE.keys);
    table.only(&keys, &keys, "a stage")?;
    let station = "the stage has no station: add at = \"processor\", or the name of a store";
    let at = required(text(table, "at", "at = \"processor\"")?, table, station)?;
    let store = match at.value {
        "processor" => None,
        name => Some(
            reading
                .store_named(name)
                .map_err(|unknown| at.wrong_whole(format!("{unknown} The processors are called \"processor\"")))?,
        ),
    };
    let unit = if store.is_none() { reading.processor() } else { AmountUnit::Time };
    let service = required(law(table, "service", unit)?, table, "the stage has no service: add service = \"exponential(50ms)\"")?;
    Ok(RouteStage { store, service, then: then(table, index, stages)? })
}

/// Reads the next stages. Without the key, it is the next stage of the list, and the last stage ends the interaction.
fn then(table: &KeyedTable<'_>, index: usize, stages: usize) -> Result<Vec<(f64, Option<usize>)>, SyntaxMistake> {
    let example = "then = { 1 = 0.4, done = 0.6 }";
    let Some(then) = table_under(table, "then", example)? else {
        return Ok(vec![(1.0, Some(index + 1).filter(|next| *next < stages))]);
    };
    let mut ways = Vec::new();
    for (key, value) in then.in_order() {
        let way = match key.get_ref().as_ref() {
            "done" => None,
            number => Some(number.parse().ok().filter(|next| *next < stages).ok_or_else(|| {
                let message = format!("there is no stage `{number}`: stages are 0 to {}, and `done` ends the route", stages - 1);
                SyntaxMistake::new(key.span().start, message)
            })?),
        };
        let weight = number_at(value, "then")?;
        if ways.iter().any(|(_, other)| *other == way) {
            return Err(SyntaxMistake::new(key.span().start, "this stage stands here twice: add the two weights up"));
        }
        ways.push((weight, way));
    }
    let sum: f64 = ways.iter().map(|(weight, _)| weight).sum();
    if (sum - 1.0).abs() > 1e-6 {
        let sum = (sum * 1e6).round() / 1e6;
        return Err(SyntaxMistake::new(then.at, format!("the weights add up to {sum}, not to 1: write them as in {example}")));
    }
    Ok(ways)
}

/// Refuses a route that never ends, and stages that are never reached.
fn ends(stages: &[RouteStage]) -> Result<(), (usize, String)> {
    let ways = |stage: usize| stages[stage].then.iter().filter(|(weight, _)| *weight > 0.0).map(|(_, way)| *way);
    let mut reached = vec![false; stages.len()];
    let mut open = vec![0];
    while let Some(stage) = open.pop() {
        if !std::mem::replace(&mut reached[stage], true) {
            open.extend(ways(stage).flatten());
        }
    }
    let mut ending = vec![false; stages.len()];
    for _ in 0..stages.len() {
        for stage in (0..stages.len()).rev() {
            ending[stage] |= ways(stage).any(|way| way.is_none_or(|next| ending[next]));
        }
    }
    if let Some(stage) = (0..stages.len()).find(|stage| reached[*stage] && !ending[*stage]) {
        return Err((
            stage,
            format!("this route never ends: from stage {stage} on there is no way to `done`; add then = {{ done = 1 }}"),
        ));
    }
    match reached.iter().position(|reached| !reached) {
        Some(stage) => Err((stage, format!("stage {stage} is never reached: lead to it by another's `then`, or leave it out"))),
        None => Ok(()),
    }
}
