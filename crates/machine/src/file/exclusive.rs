//! Keys that exclude each other: whether an older table's key stays under what a newer table says.

use toml::de::DeTable;

/// What a command needs, which a route takes the place of.
pub(super) const NEEDS: [&str; 18] = [
    "program",
    "cpu",
    "pages",
    "common",
    "image_words",
    "segment_faults",
    "bound_faults",
    "wall_crossings",
    "processes",
    "lines_out",
    "line_bytes",
    "line_cpu",
    "line_faults",
    "line_walls",
    "network_bytes",
    "network_byte_cpu",
    "requests",
    "route",
];

/// Whether `key` stays although `newer` may have another of its group.
pub(super) fn excluded(newer: &DeTable<'_>, key: &str, groups: &[&[&str]]) -> bool {
    !groups.iter().any(|group| group.contains(&key) && group.iter().any(|other| newer.contains_key(*other)))
}

/// Whether `key` of an older command stays: a newer `like` begins anew, a route and other needs exclude each other.
pub(super) fn keeps_in_command(newer: &DeTable<'_>, key: &str) -> bool {
    let needs = || newer.keys().any(|other| other.get_ref() != "route" && NEEDS.contains(&other.get_ref().as_ref()));
    match key {
        _ if newer.contains_key("like") => false,
        "route" => !needs(),
        _ => !(newer.contains_key("route") && NEEDS.contains(&key)),
    }
}

/// Whether `key` of an older class stays: users who stay and users who come exclude each other.
pub(super) fn keeps_in_class(newer: &DeTable<'_>, key: &str) -> bool {
    match key {
        "users" | "think" => !newer.contains_key("arrivals"),
        "arrivals" => !newer.contains_key("users"),
        _ => true,
    }
}
