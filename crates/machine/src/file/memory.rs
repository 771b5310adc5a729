//! Reads `[memory]` and `[multiprogramming]`: how programs come to be in memory, and how many may be there at once.

use super::choice::{Choice, one_of};
use super::law::Unit;
use super::values::{
    Reading, count, count32, flag, number_at, positive, positive_span, required, share, table as table_under, text, time,
    time_of, value_at,
};
use crate::spec::{Behind, Headway, Limit, Paging, Replacement, Residence, Swapping};
use loadgo_core::notation::mistakes::SyntaxMistake;
use loadgo_core::notation::table::{KeyDescription, KeyedTable, PlacedValue};
use toml::de::DeTable;

/// How programs come to be in memory, and the keys that each way has.
pub(super) const RESIDENCE: Choice = Choice {
    key: "residence",
    table: "[memory]",
    what: "residence",
    shared: &["residence"],
    options: &[
        ("everything", &[]),
        (
            "paging",
            &[
                "frames",
                "frame_words",
                "wired",
                "replacement",
                "headway_per_page",
                "headway",
                "headway_curve",
                "dirty",
                "device",
                "behind",
                "device_pages",
            ],
        ),
        ("swapping", &["device", "first", "words", "conditions_words", "onion_skin"]),
    ],
};

/// Three ways to write the processor time between page faults.
pub(super) const HEADWAYS: [&str; 3] = ["headway_per_page", "headway", "headway_curve"];

/// What controls the number multiprogrammed.
pub(super) const CONTROL: Choice = Choice {
    key: "control",
    table: "[multiprogramming]",
    what: "control",
    shared: &["limit", "control"],
    options: &[("working sets", &["most"]), ("device busy", &["device", "target", "every", "most"])],
};

/// Whether `key` of an older `[multiprogramming]` stays: a newer limit takes the control away, and the other way round.
pub(super) fn keeps_limit(newer: &DeTable<'_>, key: &str) -> bool {
    !(newer.contains_key("limit") || newer.contains_key("control") && key == "limit")
}

/// Reads the memory; without a table, everything is resident.
pub(super) fn read(table: Option<&KeyedTable<'_>>, reading: &Reading) -> Result<Residence, SyntaxMistake> {
    let Some(table) = table else { return Ok(Residence::Everything) };
    let chosen = RESIDENCE.of(table)?;
    RESIDENCE.only(table, chosen)?;
    match chosen {
        Some("paging") => paging(table, reading).map(Residence::Paging),
        Some("swapping") => swapping(table, reading).map(Residence::Swapping),
        _ => Ok(Residence::Everything),
    }
}

fn paging(table: &KeyedTable<'_>, reading: &Reading) -> Result<Paging, SyntaxMistake> {
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
    Ok(match one_of(&name, &["lru", "clock", "equal"], "replacement")? {
        "clock" => Replacement::Clock,
        "equal" => Replacement::Equal,
        _ => Replacement::Lru,
    })
}

fn behind(table: &KeyedTable<'_>, reading: &Reading) -> Result<Option<Behind>, SyntaxMistake> {
    let (store, pages) = (reading.store(table, "behind")?, count32(table, "device_pages", 1)?);
    match (store, pages) {
        (Some(store), Some(pages)) => Ok(Some(Behind { store, pages })),
        (None, None) => Ok(None),
        (Some(_), None) => {
            let message = "how many pages the paging device holds is not said: add device_pages = 2000";
            Err(SyntaxMistake::new(value_at(table, "behind"), message))
        }
        (None, Some(_)) => {
            let message = "what is behind the paging device is not said: add behind = \"disk\", or leave this out";
            Err(SyntaxMistake::new(value_at(table, "device_pages"), message))
        }
    }
}

fn headway(table: &KeyedTable<'_>, reading: &Reading) -> Result<Headway, SyntaxMistake> {
    let given: Vec<_> = HEADWAYS.into_iter().filter(|key| table.get(key).is_some()).collect();
    if let [first, second, ..] = given[..] {
        let last = if value_at(table, first) > value_at(table, second) { first } else { second };
        let message = format!("`{first}` and `{second}` exclude each other: keep one");
        return Err(SyntaxMistake::new(value_at(table, last), message));
    }
    if let Some(ns_per_page) = time(table, "headway_per_page", reading.processor())? {
        over_zero(ns_per_page, table, "headway_per_page")?;
        return Ok(Headway::Linear { ns_per_page });
    }
    if let Some(curve) = table.list(KeyDescription { key: "headway_curve", value: "a list of points", example: POINTS })? {
        let points = curve.iter().map(|value| point(table, value, reading)).collect::<Result<Vec<_>, _>>()?;
        return rising(points, table);
    }
    let missing = "how long a process runs between page faults is not said: add headway_per_page = \"0.15ms\"";
    let headway = required(table_under(table, "headway", "headway = { b = \"0.1s\", c = 40 }")?, table, missing)?;
    headway.only(&["b", "c"], &["b", "c"], "`headway`")?;
    let b_ns =
        required(time(&headway, "b", reading.processor())?, &headway, "`headway` needs b: write { b = \"0.1s\", c = 40 }")?;
    over_zero(b_ns, &headway, "b")?;
    let c_pages = required(positive(&headway, "c")?, &headway, "`headway` needs c: write { b = \"0.1s\", c = 40 }")?;
    Ok(Headway::Chamberlin { b_ns, c_pages })
}

const POINTS: &str = "headway_curve = [[10, \"1ms\"], [40, \"20ms\"]]";

fn over_zero(ns: f64, table: &KeyedTable<'_>, key: &str) -> Result<(), SyntaxMistake> {
    if ns > 0.0 { Ok(()) } else { Err(SyntaxMistake::new(value_at(table, key), format!("`{key}` must be over 0s"))) }
}

fn point<'a>(table: &KeyedTable<'a>, value: &'a PlacedValue<'a>, reading: &Reading) -> Result<(f64, f64), SyntaxMistake> {
    let wanted = KeyDescription { key: "headway_curve", value: "points of pages and a time", example: POINTS };
    let pair = value.get_ref().as_array().ok_or_else(|| wanted.wrong(value))?;
    let [pages, ns] = &pair[..] else {
        return Err(SyntaxMistake::new(value.span().start, format!("a point is a number of pages and a time, as in {POINTS}")));
    };
    let pages = number_at(pages, "headway_curve")?;
    Ok((pages, time_of(table.text, ns, "headway_curve", reading.processor())?))
}

fn rising(points: Vec<(f64, f64)>, table: &KeyedTable<'_>) -> Result<Headway, SyntaxMistake> {
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
    Ok(Headway::Curve(points))
}

fn swapping(table: &KeyedTable<'_>, reading: &Reading) -> Result<Swapping, SyntaxMistake> {
    let store = "there is no store to swap to: add device = \"drum\", and a table [storage.drum]";
    let words = "how much core there is for programs is not said: add words = 32768";
    Ok(Swapping {
        words: required(count(table, "words", 1..1 << 48)?, table, words)?,
        store: required(reading.store(table, "device")?, table, store)?,
        first: reading.store(table, "first")?,
        conditions_words: count(table, "conditions_words", 0..1 << 48)?.unwrap_or(0),
        onion_skin: flag(table, "onion_skin")?.unwrap_or(true),
    })
}

/// Reads how many may be multiprogrammed; without a table, all.
pub(super) fn limit(table: Option<&KeyedTable<'_>>, residence: &Residence, reading: &Reading) -> Result<Limit, SyntaxMistake> {
    let Some(table) = table else { return Ok(Limit::None) };
    let control = CONTROL.of(table)?;
    CONTROL.only(table, control)?;
    let Some(control) = control else {
        let all = table.get("limit").is_some_and(|value| value.get_ref().as_str() == Some("none"));
        let limit = if all { None } else { count32(table, "limit", 1)? };
        return Ok(limit.map_or(Limit::None, Limit::Fixed));
    };
    if table.get("limit").is_some() {
        return Err(SyntaxMistake::new(value_at(table, "limit"), "`limit` and `control` exclude each other: keep one"));
    }
    let most = required(count32(table, "most", 1)?, table, "a control needs `most`, the most that it may admit: add most = 20")?;
    if control == "working sets" {
        return match residence {
            Residence::Paging(_) => Ok(Limit::WorkingSets { most }),
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
    Ok(Limit::DeviceBusy {
        store: required(
            reading.store(table, "device")?,
            table,
            "the control needs the device that it looks at: add device = \"drum\"",
        )?,
        target,
        every_ns: required(positive_span(table, "every", Unit::Time)?, table, "the control needs `every`: add every = \"10s\"")?,
        most,
    })
}

/// Refuses shares of the frames that cannot be.
pub(super) fn fits(residence: &Residence, limit: &Limit, table: Option<&KeyedTable<'_>>) -> Result<(), SyntaxMistake> {
    let (Residence::Paging(paging), Some(table)) = (residence, table) else { return Ok(()) };
    if paging.replacement != Replacement::Equal {
        return Ok(());
    }
    let free = paging.frames - paging.wired;
    let message = match limit {
        Limit::Fixed(limit) if *limit <= free => return Ok(()),
        Limit::Fixed(limit) => format!("{free} frames cannot be shared by {limit}: lower the limit or add frames"),
        _ => "equal shares need a fixed number that share: add [multiprogramming] limit = 4".into(),
    };
    Err(SyntaxMistake::new(value_at(table, "replacement"), message))
}
