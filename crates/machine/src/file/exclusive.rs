//! Keys that exclude each other: rules for whether a key of an older table stays under a newer table.

use super::command_keys::WORK_KEYS;
use toml::de::DeTable;

/// Whether `key` stays: `newer` has no key of its group.
pub(super) fn keeps_in_groups(newer: &DeTable<'_>, key: &str, groups: &[&[&str]]) -> bool {
    !groups.iter().any(|group| group.contains(&key) && group.iter().any(|other| newer.contains_key(*other)))
}

/// Whether `key` of an older command stays: a newer `like` replaces all keys, and a route and other work exclude each other.
pub(super) fn keeps_in_command(newer: &DeTable<'_>, key: &str) -> bool {
    let has_work = || newer.keys().any(|other| other.get_ref() != "route" && WORK_KEYS.contains(&other.get_ref().as_ref()));
    match key {
        _ if newer.contains_key("like") => false,
        "route" => !has_work(),
        _ => !(newer.contains_key("route") && WORK_KEYS.contains(&key)),
    }
}

/// Whether `key` of an older class stays: a number of users and a rate of arrivals exclude each other.
pub(super) fn keeps_in_class(newer: &DeTable<'_>, key: &str) -> bool {
    match key {
        "users" | "think" => !newer.contains_key("arrivals"),
        "arrivals" => !newer.contains_key("users"),
        _ => true,
    }
}
