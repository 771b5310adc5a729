//! The keys of a command: those of its route, those of other work, and those beside them.

use super::{processors, route, storage};
use crate::notation::values::{CORRELATION_VALUE, NUMBER_LAW_VALUE, TIME_LAW_VALUE};
use loadgo_core::notation::shape::{
    KeyShape, MOST_31_BITS, MapShape, NOT_NEGATIVE, PLAIN_NAME, POSITIVE_NUMBER, SHARE_VALUE, TableShape, ValueShape, key, needed,
};

/// The commands: each has a route or other work, and may be like another one.
pub(super) const COMMAND_MAP_SHAPE: ValueShape = ValueShape::Map(&MapShape { names: PLAIN_NAME, value: COMMAND, fewest: 1 });
const COMMAND: ValueShape = ValueShape::Any(&[
    ValueShape::Table(&TableShape { keys: &ROUTED, rules: &[] }),
    ValueShape::Table(&TableShape { keys: &WORKING, rules: &[] }),
    ValueShape::Table(&TableShape { keys: &LIKE_AND_ROUTED, rules: &[] }),
    ValueShape::Table(&TableShape { keys: &LIKE_AND_WORKING, rules: &[] }),
]);

const ROUTED: [KeyShape; 4] = joined(&STANDING, WORK.split_at(1).0);
const WORKING: [KeyShape; 24] = joined(&STANDING, WORK.split_at(1).1);
const LIKE_AND_ROUTED: [KeyShape; 5] = joined(&[LIKE], &ROUTED);
const LIKE_AND_STANDING: [KeyShape; 5] = joined(&[LIKE, key("cpu", TIME_LAW_VALUE)], &STANDING);
const LIKE_AND_WORKING: [KeyShape; 25] = joined(&LIKE_AND_STANDING, WORK.split_at(2).1);

/// All keys that a command may have.
pub(super) const COMMAND_KEYS: [KeyShape; 26] = joined(&WORK, &joined::<4>(&STANDING, &[LIKE]));

const LIKE: KeyShape = needed("like", ValueShape::Text("name of a command"));

/// The keys that a command may have beside those of its work.
const STANDING: [KeyShape; 3] = [
    key("priority", ValueShape::Whole(0, MOST_31_BITS)),
    key("nice", ValueShape::Whole(-20, 19)),
    key("status", ValueShape::Whole(0, 255)),
];

/// The keys of a command's work: `route`, then `cpu`, then the rest. The lists above split it there.
const WORK: [KeyShape; 22] = [
    needed("route", route::STAGE_LIST_SHAPE),
    needed("cpu", TIME_LAW_VALUE),
    key("cpu_when_busy", processors::BUSY_FACTOR_VALUE),
    key("program", ValueShape::Text("name")),
    key("pages", NUMBER_LAW_VALUE),
    key("common", SHARE_VALUE),
    key("headway_factor", POSITIVE_NUMBER),
    key("image_words", NUMBER_LAW_VALUE),
    key("segment_faults", NUMBER_LAW_VALUE),
    key("bound_faults", NUMBER_LAW_VALUE),
    key("wall_crossings", NUMBER_LAW_VALUE),
    key("processes", NUMBER_LAW_VALUE),
    key("lines_out", NUMBER_LAW_VALUE),
    key("line_bytes", NUMBER_LAW_VALUE),
    key("line_cpu", TIME_LAW_VALUE),
    key("line_faults", NUMBER_LAW_VALUE),
    key("line_walls", NUMBER_LAW_VALUE),
    key("network_bytes", ValueShape::Any(&[NOT_NEGATIVE, ValueShape::Text("law of numbers, or argument(1)")])),
    key("network_byte_cpu", TIME_LAW_VALUE),
    key("network_wait", storage::WAIT_MAP_SHAPE),
    key("requests", storage::REQUEST_MAP_SHAPE),
    key("request_correlation", CORRELATION_VALUE),
];

/// Names of the keys of a command's work, `route` among them.
pub(super) const WORK_KEYS: [&str; 22] = names(&WORK);

const fn joined<const LENGTH: usize>(first: &[KeyShape], second: &[KeyShape]) -> [KeyShape; LENGTH] {
    assert!(first.len() + second.len() == LENGTH);
    let mut keys = [first[0]; LENGTH];
    let mut index = 1;
    while index < LENGTH {
        keys[index] = if index < first.len() { first[index] } else { second[index - first.len()] };
        index += 1;
    }
    keys
}

const fn names<const LENGTH: usize>(keys: &[KeyShape; LENGTH]) -> [&'static str; LENGTH] {
    let mut names = [""; LENGTH];
    let mut index = 0;
    while index < LENGTH {
        names[index] = keys[index].key;
        index += 1;
    }
    names
}
