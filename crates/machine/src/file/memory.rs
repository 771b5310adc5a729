//! Reads `[memory]` and `[multiprogramming]`: the way in which programs are in memory, and the limit of eligible processes.

use crate::notation::choice::{DecidingKey, one_of};
use crate::notation::law::AmountUnit;
use crate::notation::values::{COUNT_VALUE, POSITIVE_TIME_VALUE, STORE_NAME_VALUE, TIME_VALUE};
use crate::notation::values::{
    FileReader, count, count32, flag, number_at, positive, positive_span, required, share, table as table_under, text, time,
    time_of, value_at,
};
use crate::spec::{BackingStore, EligibilityLimit, HeadwaySpec, Paging, Replacement, Residence, Swapping};
use loadgo_core::notation::mistakes::SyntaxMistake;
use loadgo_core::notation::shape::{
    ChoiceShape, KeyRule, KeyShape, MOST_31_BITS, NOT_NEGATIVE, NumberRange, OptionShape, POSITIVE_NUMBER, SHARE_VALUE,
    TableShape, ValueShape, key, key_names, needed,
};
use loadgo_core::notation::table::{KeyDescription, KeyedTable, PlacedValue};
use toml::de::DeTable;

/// The key for the way in which programs are in memory, with the keys of each way.
pub(super) const RESIDENCE_KEY: DecidingKey = DecidingKey { shape: &MEMORY_SHAPE, table: "[memory]", noun: "residence" };

/// The keys of memory, with those of each residence.
pub(super) const MEMORY_SHAPE: ChoiceShape = ChoiceShape {
    key: "residence",
    shared: &[],
    options: &[
        OptionShape { name: "everything", keys: &[], rules: &[] },
        OptionShape { name: "paging", keys: PAGING_KEYS, rules: PAGING_RULES },
        OptionShape { name: "swapping", keys: SWAPPING_KEYS, rules: &[] },
    ],
    needed: false,
};

const PAGING_KEYS: &[KeyShape] = &[
    needed("frames", COUNT_VALUE),
    key("frame_words", COUNT_VALUE),
    key("wired", ValueShape::Whole(0, MOST_31_BITS)),
    key("replacement", ValueShape::OneOf(&REPLACEMENTS)),
    key("headway_per_page", POSITIVE_TIME_VALUE),
    key("headway", ValueShape::Table(&HEADWAY)),
    key("headway_curve", ValueShape::List(&ValueShape::Pair(&[NOT_NEGATIVE, TIME_VALUE]), 1)),
    key("dirty", SHARE_VALUE),
    needed("device", STORE_NAME_VALUE),
    key("behind", STORE_NAME_VALUE),
    key("device_pages", COUNT_VALUE),
];
const PAGING_RULES: &[KeyRule] = &[KeyRule::ExactlyOne(&HEADWAY_KEYS), KeyRule::Together("behind", "device_pages")];
/// The parameters of Chamberlin's headway.
const HEADWAY: TableShape = TableShape { keys: &[needed("b", POSITIVE_TIME_VALUE), needed("c", POSITIVE_NUMBER)], rules: &[] };
const SWAPPING_KEYS: &[KeyShape] = &[
    needed("device", STORE_NAME_VALUE),
    key("first", STORE_NAME_VALUE),
    needed("words", ValueShape::Whole(1, MOST_CORE_WORDS)),
    key("conditions_words", ValueShape::Whole(0, MOST_CORE_WORDS)),
    key("onion_skin", ValueShape::Flag),
];
const REPLACEMENTS: [&str; 3] = ["lru", "clock", "equal"];
/// Largest number of words in core memory.
const MOST_CORE_WORDS: i64 = (1 << 48) - 1;

/// The three keys for the processor time between page faults.
pub(super) const HEADWAY_KEYS: [&str; 3] = ["headway_per_page", "headway", "headway_curve"];

/// The key for the control of the multiprogramming limit, with the keys of each control.
pub(super) const CONTROL_KEY: DecidingKey =
    DecidingKey { shape: &MULTIPROGRAMMING_SHAPE, table: "[multiprogramming]", noun: "control" };

/// The keys of the multiprogramming limit, with those of each control.
pub(super) const MULTIPROGRAMMING_SHAPE: ChoiceShape = ChoiceShape {
    key: "control",
    shared: &[key("limit", ValueShape::Any(&[ValueShape::OneOf(&["none"]), COUNT_VALUE]))],
    options: &[
        OptionShape { name: "working sets", keys: &[needed("most", COUNT_VALUE)], rules: CONTROL_RULES },
        OptionShape {
            name: "device busy",
            keys: &[
                needed("device", STORE_NAME_VALUE),
                needed("target", ValueShape::Number(NumberRange { least: 0.0, above_least: true, most: 1.0 })),
                needed("every", POSITIVE_TIME_VALUE),
                needed("most", COUNT_VALUE),
            ],
            rules: CONTROL_RULES,
        },
    ],
    needed: false,
};
const CONTROL_RULES: &[KeyRule] = &[KeyRule::AtMostOne(&["limit", "control"])];

/// Whether `key` of an older `[multiprogramming]` stays: a newer limit removes the control, and a newer control the limit.
pub(super) fn keeps_limit(newer: &DeTable<'_>, key: &str) -> bool {
    !(newer.contains_key("limit") || newer.contains_key("control") && key == "limit")
}

/// Reads the memory. Without a table, all programs are always in memory.
pub(super) fn read(table: Option<&KeyedTable<'_>>, reading: &FileReader) -> Result<Residence, SyntaxMistake> {
    let Some(table) = table else { return Ok(Residence::Everything) };
    let chosen = RESIDENCE_KEY.of(table)?;
    RESIDENCE_KEY.only(table, chosen)?;
    match chosen {
        Some("paging") => paging(table, reading).map(Residence::Paging),
        Some("swapping") => swapping(table, reading).map(Residence::Swapping),
        _ => Ok(Residence::Everything),
    }
}

fn paging(table: &KeyedTable<'_>, reading: &FileReader) -> Result<Paging, SyntaxMistake> {
    let frames = required(count32(table, "frames", 1)?, table, "paging needs page frames: add frames = 256")?;
    let wired = count32(table, "wired", 0)?.unwrap_or(0);
    if wired >= frames {
        let message = format!("all {frames} frames are wired: leave at least one to the users");
        return Err(SyntaxMistake::new(value_at(table, "wired"), message));
    }
    let store = "there is no paging device: add device = \"drum\", and a table [storage.drum]";
    Ok(Paging {
        frames,
        wired,
        frame_words: count32(table, "frame_words", 1)?.unwrap_or(1024),
        replacement: replacement(table)?,
        headway: headway(table, reading)?,
        dirty: share(table, "dirty")?.unwrap_or(0.0),
        store: required(reading.store(table, "device")?, table, store)?,
        behind: behind(table, reading)?,
    })
}

fn replacement(table: &KeyedTable<'_>) -> Result<Replacement, SyntaxMistake> {
    let Some(name) = text(table, "replacement", "replacement = \"clock\"")? else { return Ok(Replacement::Lru) };
    Ok(match one_of(&name, &REPLACEMENTS, "replacement")? {
        "clock" => Replacement::Clock,
        "equal" => Replacement::Equal,
        _ => Replacement::Lru,
    })
}

fn behind(table: &KeyedTable<'_>, reading: &FileReader) -> Result<Option<BackingStore>, SyntaxMistake> {
    let (store, pages) = (reading.store(table, "behind")?, count32(table, "device_pages", 1)?);
    match (store, pages) {
        (Some(store), Some(pages)) => Ok(Some(BackingStore { store, pages })),
        (None, None) => Ok(None),
        (Some(_), None) => {
            let message = "the size of the paging device is missing: add device_pages = 2000";
            Err(SyntaxMistake::new(value_at(table, "behind"), message))
        }
        (None, Some(_)) => {
            let message = "the store behind the paging device is missing: add behind = \"disk\", or leave this out";
            Err(SyntaxMistake::new(value_at(table, "device_pages"), message))
        }
    }
}

fn headway(table: &KeyedTable<'_>, reading: &FileReader) -> Result<HeadwaySpec, SyntaxMistake> {
    let given: Vec<_> = HEADWAY_KEYS.into_iter().filter(|key| table.get(key).is_some()).collect();
    if let [first, second, ..] = given[..] {
        let last = if value_at(table, first) > value_at(table, second) { first } else { second };
        let message = format!("`{first}` and `{second}` exclude each other: keep one");
        return Err(SyntaxMistake::new(value_at(table, last), message));
    }
    if let Some(ns_per_page) = time(table, "headway_per_page", reading.processor())? {
        over_zero(ns_per_page, table, "headway_per_page")?;
        return Ok(HeadwaySpec::Linear { ns_per_page });
    }
    if let Some(curve) = table.list(KeyDescription { key: "headway_curve", value: "a list of points", example: POINTS })? {
        let points = curve.iter().map(|value| point(table, value, reading)).collect::<Result<Vec<_>, _>>()?;
        return rising(points, table);
    }
    let missing = "the processor time between page faults is missing: add headway_per_page = \"0.15ms\"";
    let headway = required(table_under(table, "headway", "headway = { b = \"0.1s\", c = 40 }")?, table, missing)?;
    let keys = key_names(HEADWAY.keys);
    headway.only(&keys, &keys, "`headway`")?;
    let b_ns =
        required(time(&headway, "b", reading.processor())?, &headway, "`headway` needs b: write { b = \"0.1s\", c = 40 }")?;
    over_zero(b_ns, &headway, "b")?;
    let c_pages = required(positive(&headway, "c")?, &headway, "`headway` needs c: write { b = \"0.1s\", c = 40 }")?;
    Ok(HeadwaySpec::Chamberlin { b_ns, c_pages })
}

const POINTS: &str = "headway_curve = [[10, \"1ms\"], [40, \"20ms\"]]";

fn over_zero(ns: f64, table: &KeyedTable<'_>, key: &str) -> Result<(), SyntaxMistake> {
    if ns > 0.0 { Ok(()) } else { Err(SyntaxMistake::new(value_at(table, key), format!("`{key}` must be over 0s"))) }
}

fn point<'a>(table: &KeyedTable<'a>, value: &'a PlacedValue<'a>, reading: &FileReader) -> Result<(f64, f64), SyntaxMistake> {
    let wanted = KeyDescription { key: "headway_curve", value: "points of pages and a time", example: POINTS };
    let pair = value.get_ref().as_array().ok_or_else(|| wanted.wrong(value))?;
    let [pages, ns] = &pair[..] else {
        return Err(SyntaxMistake::new(value.span().start, format!("a point is a number of pages and a time, as in {POINTS}")));
    };
    let pages = number_at(pages, "headway_curve")?;
    Ok((pages, time_of(table.text, ns, "headway_curve", reading.processor())?))
}

fn rising(points: Vec<(f64, f64)>, table: &KeyedTable<'_>) -> Result<HeadwaySpec, SyntaxMistake> {
    let at = value_at(table, "headway_curve");
    let places = table.get("headway_curve").and_then(|value| value.get_ref().as_array());
    let Some(&(_, first)) = points.first() else {
        return Err(SyntaxMistake::new(at, format!("the curve has no points: write {POINTS}")));
    };
    if first <= 0.0 {
        return Err(SyntaxMistake::new(at, "a headway must be over 0s: begin the curve above it"));
    }
    if let Some(falls) = points.windows(2).position(|pair| pair[1].0 <= pair[0].0 || pair[1].1 < pair[0].1) {
        let at = places.and_then(|list| list.get(falls + 1)).map_or(at, |value| value.span().start);
        return Err(SyntaxMistake::new(at, "the curve must rise: more pages, and no shorter time, than the point before"));
    }
    Ok(HeadwaySpec::Curve(points))
}

fn swapping(table: &KeyedTable<'_>, reading: &FileReader) -> Result<Swapping, SyntaxMistake> {
    let store = "there is no store to swap to: add device = \"drum\", and a table [storage.drum]";
    let words = "the size of core memory for programs is missing: add words = 32768";
    Ok(Swapping {
        words: required(count(table, "words", 1..1 << 48)?, table, words)?,
        store: required(reading.store(table, "device")?, table, store)?,
        first: reading.store(table, "first")?,
        conditions_words: count(table, "conditions_words", 0..1 << 48)?.unwrap_or(0),
        onion_skin: flag(table, "onion_skin")?.unwrap_or(true),
    })
}

/// Reads the multiprogramming limit. Without a table, there is no limit.
pub(super) fn limit(
    table: Option<&KeyedTable<'_>>,
    residence: &Residence,
    reading: &FileReader,
) -> Result<EligibilityLimit, SyntaxMistake> {
    let Some(table) = table else { return Ok(EligibilityLimit::None) };
    let control = CONTROL_KEY.of(table)?;
    CONTROL_KEY.only(table, control)?;
    let Some(control) = control else {
        let all = table.get("limit").is_some_and(|value| value.get_ref().as_str() == Some("none"));
        let limit = if all { None } else { count32(table, "limit", 1)? };
        return Ok(limit.map_or(EligibilityLimit::None, EligibilityLimit::Fixed));
    };
    if table.get("limit").is_some() {
        return Err(SyntaxMistake::new(value_at(table, "limit"), "`limit` and `control` exclude each other: keep one"));
    }
    let most = required(count32(table, "most", 1)?, table, "a control needs `most`, the most that it may admit: add most = 20")?;
    if control == "working sets" {
        return match residence {
            Residence::Paging(_) => Ok(EligibilityLimit::WorkingSets { most }),
            _ => Err(SyntaxMistake::new(
                value_at(table, "control"),
                "there are working sets only with [memory] residence = \"paging\"",
            )),
        };
    }
    let target =
        required(share(table, "target")?, table, "the control needs `target`, how busy the device is to be: add target = 0.5")?;
    if target == 0.0 {
        return Err(SyntaxMistake::new(value_at(table, "target"), "`target` must be over 0: no device would ever be that idle"));
    }
    Ok(EligibilityLimit::DeviceBusy {
        store: required(
            reading.store(table, "device")?,
            table,
            "the control needs the device that it looks at: add device = \"drum\"",
        )?,
        target,
        every_ns: required(
            positive_span(table, "every", AmountUnit::Time)?,
            table,
            "the control needs `every`: add every = \"10s\"",
        )?,
        most,
    })
}

/// Refuses equal shares of the frames that are impossible.
pub(super) fn fits(residence: &Residence, limit: &EligibilityLimit, table: Option<&KeyedTable<'_>>) -> Result<(), SyntaxMistake> {
    let (Residence::Paging(paging), Some(table)) = (residence, table) else { return Ok(()) };
    if paging.replacement != Replacement::Equal {
        return Ok(());
    }
    let free = paging.frames - paging.wired;
    let message = match limit {
        EligibilityLimit::Fixed(limit) if *limit <= free => return Ok(()),
        EligibilityLimit::Fixed(limit) => format!("{free} frames cannot be shared by {limit}: lower the limit or add frames"),
        _ => "equal shares need a fixed number that share: add [multiprogramming] limit = 4".into(),
    };
    Err(SyntaxMistake::new(value_at(table, "replacement"), message))
}
