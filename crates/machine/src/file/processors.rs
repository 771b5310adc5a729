//! Reads `[processors]`: their number, their speed, and the discipline with its quanta.

use crate::notation::choice::DecidingKey;
use crate::notation::values::{FileReader, count, flag, number, positive, positive_span, required, span, span_of, value_at};
use crate::notation::values::{POSITIVE_TIME_VALUE, TIME_VALUE};
use crate::spec::{Discipline, ProcessorSpec, TenexQueue};
use loadgo_core::notation::mistakes::SyntaxMistake;
use loadgo_core::notation::shape::{
    ANY_NUMBER, ChoiceShape, KeyShape, NumberRange, OptionShape, POSITIVE_NUMBER, ValueShape, key, needed,
};
use loadgo_core::notation::table::{KeyDescription, KeyedTable, PlacedValue, whole};

/// The key for the discipline, with the keys of each discipline.
pub(super) const DISCIPLINE_KEY: DecidingKey =
    DecidingKey { shape: &PROCESSORS_SHAPE, table: "[processors]", noun: "discipline" };

/// The keys of processors, with those of each discipline.
pub(super) const PROCESSORS_SHAPE: ChoiceShape = ChoiceShape {
    key: "discipline",
    shared: &[
        key("count", ValueShape::Whole(1, MOST_PROCESSORS as i64)),
        key("speed", POSITIVE_NUMBER),
        key("instructions_per_second", POSITIVE_NUMBER),
        key("cpu_when_busy", BUSY_FACTOR_VALUE),
    ],
    options: &[
        discipline_keys("first-come", &[]),
        discipline_keys("sharing", &[]),
        discipline_keys(
            "round-robin",
            &[needed("quantum", POSITIVE_TIME_VALUE), key("switch", TIME_VALUE), key("dispatch", TIME_VALUE)],
        ),
        discipline_keys("priority", &[key("preemptive", ValueShape::Flag)]),
        discipline_keys(
            "ctss",
            &[
                needed("quantum", POSITIVE_TIME_VALUE),
                needed("words_per_quantum", ValueShape::Whole(1, (1 << 40) - 1)),
                key("levels", ValueShape::Whole(1, 32)),
                key("rise", TIME_VALUE),
            ],
        ),
        discipline_keys(
            "multics",
            &[needed("first", POSITIVE_TIME_VALUE), needed("last", POSITIVE_TIME_VALUE), needed("most", POSITIVE_TIME_VALUE)],
        ),
        discipline_keys(
            "tenex",
            &[
                needed("quanta", ValueShape::List(&POSITIVE_TIME_VALUE, 1)),
                needed("bases", ValueShape::List(&ANY_NUMBER, 1)),
                needed("shifts", ValueShape::List(&ValueShape::Whole(0, 63), 1)),
                key("credit", TIME_VALUE),
            ],
        ),
        discipline_keys(
            "linux",
            &[
                key("slice", POSITIVE_TIME_VALUE),
                key("tick", TIME_VALUE),
                key("switch", TIME_VALUE),
                key("packs", ValueShape::Flag),
            ],
        ),
    ],
    needed: false,
};

const fn discipline_keys(name: &'static str, keys: &'static [KeyShape]) -> OptionShape {
    OptionShape { name, keys, rules: &[] }
}

/// Largest number of processors.
const MOST_PROCESSORS: u64 = 65_535;
/// Smallest and largest processor time of a command on busy processors, over that on idle ones. No system comes near either.
const LEAST_BUSY_FACTOR: f64 = 0.01;
const MOST_BUSY_FACTOR: f64 = 100.0;
/// Processor time of a command on busy processors, over that on idle ones.
pub(super) const BUSY_FACTOR_VALUE: ValueShape =
    ValueShape::Number(NumberRange { least: LEAST_BUSY_FACTOR, above_least: false, most: MOST_BUSY_FACTOR });
/// Default number of CTSS's levels (Corbató 1962).
const DEFAULT_CTSS_LEVELS: u32 = 9;
/// Default slice of Linux's fair share, as of kernel 6.6.
const DEFAULT_LINUX_SLICE_NS: u64 = 3_000_000;

/// Reads the processors. Without a table, the machine has one of speed 1, with first come, first served.
pub(super) fn read(table: Option<&KeyedTable<'_>>, reading: &FileReader) -> Result<ProcessorSpec, SyntaxMistake> {
    let Some(table) = table else {
        return Ok(ProcessorSpec {
            count: 1,
            speed: 1.0,
            instructions_per_second: None,
            discipline: Discipline::FirstCome,
            cpu_when_busy: None,
        });
    };
    let chosen = DISCIPLINE_KEY.of(table)?;
    DISCIPLINE_KEY.only(table, chosen)?;
    Ok(ProcessorSpec {
        count: count(table, "count", 1..MOST_PROCESSORS + 1)?.unwrap_or(1) as u32,
        speed: positive(table, "speed")?.unwrap_or(1.0),
        instructions_per_second: reading.instructions_per_second,
        discipline: discipline(table, chosen.unwrap_or("first-come"), reading)?,
        cpu_when_busy: cpu_when_busy(table)?,
    })
}

/// Reads the processor time of a command on busy processors, over that on idle ones.
pub(super) fn cpu_when_busy(table: &KeyedTable<'_>) -> Result<Option<f64>, SyntaxMistake> {
    let factor = number(table, "cpu_when_busy")?;
    if let Some(wrong) = factor.filter(|factor| !(LEAST_BUSY_FACTOR..=MOST_BUSY_FACTOR).contains(factor)) {
        let message = format!(
            "`cpu_when_busy` is processor time on busy processors over that on idle ones, from {LEAST_BUSY_FACTOR} to \
             {MOST_BUSY_FACTOR}, not {wrong}: 0.8 is a fifth less"
        );
        return Err(SyntaxMistake::new(value_at(table, "cpu_when_busy"), message));
    }
    Ok(factor)
}

fn discipline(table: &KeyedTable<'_>, chosen: &str, reading: &FileReader) -> Result<Discipline, SyntaxMistake> {
    let turn = |key: &'static str| {
        let missing = format!("the discipline {chosen} needs `{key}`: add {key} = \"100ms\"");
        required(positive_span(table, key, reading.processor())?, table, &missing)
    };
    let cost = |key: &'static str| Ok(span(table, key, reading.processor())?.unwrap_or(0));
    Ok(match chosen {
        "sharing" => Discipline::Sharing,
        "round-robin" => {
            Discipline::RoundRobin { quantum_ns: turn("quantum")?, switch_ns: cost("switch")?, dispatch_ns: cost("dispatch")? }
        }
        "priority" => Discipline::Priority { preemptive: flag(table, "preemptive")?.unwrap_or(false) },
        "ctss" => Discipline::Ctss {
            quantum_ns: turn("quantum")?,
            words_per_quantum: required(
                count(table, "words_per_quantum", 1..1 << 40)?,
                table,
                "the discipline ctss needs `words_per_quantum`, the words that are swapped in a quantum: add it",
            )?,
            levels: count(table, "levels", 1..33)?.map_or(DEFAULT_CTSS_LEVELS, |levels| levels as u32),
            rise_ns: cost("rise")?,
        },
        "multics" => Discipline::Multics { first_ns: turn("first")?, last_ns: turn("last")?, most_ns: turn("most")? },
        "tenex" => Discipline::Tenex { queues: queues(table, reading)?, credit_ns: cost("credit")? },
        "linux" => Discipline::Linux {
            slice_ns: positive_span(table, "slice", reading.processor())?.unwrap_or(DEFAULT_LINUX_SLICE_NS),
            tick_ns: cost("tick")?,
            switch_ns: cost("switch")?,
            packs: flag(table, "packs")?.unwrap_or(false),
        },
        _ => Discipline::FirstCome,
    })
}

fn queues(table: &KeyedTable<'_>, reading: &FileReader) -> Result<Vec<TenexQueue>, SyntaxMistake> {
    let quanta = list(table, "quanta", |value| span_of(table.text, value, "quanta", reading.processor()))?;
    let bases = list(table, "bases", base)?;
    let shift = KeyDescription { key: "shifts", value: "whole numbers", example: "shifts = [3, 5, 7]" };
    let shifts = list(table, "shifts", |value| whole(value, shift, 0..64))?;
    if let Some(zero) = quanta.iter().position(|ns| *ns == 0) {
        return Err(SyntaxMistake::new(
            offset_of(table, "quanta", zero),
            "a quantum must be over 0s, as in quanta = [\"64ms\", \"256ms\"]",
        ));
    }
    for (key, length) in [("bases", bases.len()), ("shifts", shifts.len())] {
        if length != quanta.len() {
            let message = format!("`{key}` has {length} values where `quanta` has {}: one for each queue", quanta.len());
            return Err(SyntaxMistake::new(value_at(table, key), message));
        }
    }
    let rows = quanta.into_iter().zip(bases).zip(shifts);
    Ok(rows.map(|((ns, base), shift)| TenexQueue { quantum_ns: ns, base, shift: shift as u32 }).collect())
}

/// Reads a base priority, which may be negative.
fn base(value: &PlacedValue<'_>) -> Result<f64, SyntaxMistake> {
    let wanted = KeyDescription { key: "bases", value: "numbers", example: "bases = [-10, 0, 20.5]" };
    let text = match value.get_ref() {
        toml::de::DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
        toml::de::DeValue::Float(number) => number.as_str(),
        _ => return Err(wanted.wrong(value)),
    };
    text.parse().ok().filter(|base: &f64| base.is_finite()).ok_or_else(|| wanted.wrong(value))
}

fn offset_of(table: &KeyedTable<'_>, key: &str, index: usize) -> usize {
    let list = table.get(key).and_then(|value| value.get_ref().as_array());
    list.and_then(|list| list.get(index)).map_or(table.at, |value| value.span().start)
}

fn list<'a, T>(
    table: &KeyedTable<'a>,
    key: &'static str,
    read: impl Fn(&'a PlacedValue<'a>) -> Result<T, SyntaxMistake>,
) -> Result<Vec<T>, SyntaxMistake> {
    let missing = format!("the discipline tenex needs `{key}`, a value for each queue");
    let list = required(table.list(KeyDescription { key, value: "a list", example: "[…, …]" })?, table, &missing)?;
    if list.is_empty() {
        return Err(SyntaxMistake::new(value_at(table, key), format!("`{key}` is empty: it has a value for each queue")));
    }
    list.iter().map(read).collect()
}
