//! How limits are written: `NAME=VALUE` with commas between, sizes, numbers of processors, paging devices.

use super::swap::Swap;
use crate::refusal::Refusal;

/// Smallest limit of memory, with less of which no shell would start, and smallest paging device.
const SMALLEST_SIZE_BYTES: u64 = 1 << 20;
/// Smallest limit of processor time, in processors.
const SMALLEST_SHARE: f64 = 0.01;
/// Smallest limit of a user's reading and writing, in bytes a second.
const SMALLEST_IO_BYTES_PER_S: u64 = 64 << 10;

/// The names and values of `text`; a part that is none is refused with the `example`.
pub(super) fn parse_parts<'a>(text: &'a str, example: &'a str) -> impl Iterator<Item = Result<(&'a str, &'a str), Refusal>> {
    text.split(',').map(str::trim).map(move |part| {
        let parts = part.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
        parts.ok_or_else(|| format!("`{part}` is not NAME=VALUE; as in {example}").into())
    })
}

pub(super) fn set_once<T>(slot: &mut Option<T>, name: &str, value: T) -> Result<(), Refusal> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(Refusal::new(format!("`{name}` is limited twice"))),
    }
}

pub(super) fn parse_memory(text: &str) -> Result<u64, Refusal> {
    match parse_size(text)? {
        bytes if bytes < SMALLEST_SIZE_BYTES => Err(Refusal::new(format!("memory={text} is less than 1M: no shell would start"))),
        bytes => Ok(bytes),
    }
}

pub(super) fn parse_processors(text: &str) -> Result<f64, Refusal> {
    match text.trim().parse::<f64>() {
        Ok(cpus) if cpus.is_finite() && cpus >= SMALLEST_SHARE => Ok(cpus),
        _ => Err(format!("cpus={text} is not a number of processors from {SMALLEST_SHARE} up, as in cpus=1 or cpus=0.5").into()),
    }
}

pub(super) fn parse_swap(text: &str) -> Result<Swap, Refusal> {
    match text.trim().split_once(':') {
        None if text.trim() == "none" => Ok(Swap::None),
        Some(("zram", bytes)) => parse_paging(bytes).map(Swap::Zram),
        Some(("file", bytes)) => parse_paging(bytes).map(Swap::File),
        _ => Err(format!("swap={text} is none of zram:SIZE, file:SIZE and none, as in swap=zram:1G").into()),
    }
}

pub(super) fn parse_paging(text: &str) -> Result<u64, Refusal> {
    match parse_size(text)? {
        bytes if bytes < SMALLEST_SIZE_BYTES => Err(format!("{text} is less than 1M: too small to page to").into()),
        bytes => Ok(bytes),
    }
}

/// A number of bytes with K, M, G or T for powers of 1024.
pub(super) fn parse_size(text: &str) -> Result<u64, Refusal> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let shift = match text[digits..].trim_end_matches("iB").trim_end_matches('B') {
        "" => 0,
        "K" | "k" => 10,
        "M" | "m" => 20,
        "G" | "g" => 30,
        "T" | "t" => 40,
        _ => return Err(format!("`{text}` is not a size; a whole number with K, M, G or T, as in 256M").into()),
    };
    let number: u64 = text[..digits].parse().map_err(|_| format!("`{text}` is not a size; as in 256M"))?;
    let bytes = number.checked_mul(1 << shift).filter(|bytes| *bytes < 1 << 60);
    bytes.ok_or_else(|| Refusal::new(format!("`{text}` is more than any machine has")))
}

/// Bytes of pages that one user may have on paging devices: `0`, `none` or a size.
pub(super) fn parse_swap_bytes(text: &str) -> Result<u64, Refusal> {
    match text {
        "none" => Ok(0),
        text if text.contains(':') => {
            Err(format!("swap={text}: a user is limited to a size, as in swap=0 or swap=1G; `limit` makes a paging device")
                .into())
        }
        text => parse_size(text),
    }
}

pub(super) fn parse_pids(text: &str) -> Result<u64, Refusal> {
    match text.parse::<u64>() {
        Ok(pids) if (2..1 << 22).contains(&pids) => Ok(pids),
        Ok(_) => Err(format!("pids={text}: at least 2 processes, the shell and its command, and fewer than 4194304").into()),
        Err(_) => Err(format!("pids={text} is not a number of processes, as in pids=200").into()),
    }
}

pub(super) fn parse_nice(text: &str) -> Result<i32, Refusal> {
    match text.parse::<i32>() {
        Ok(nice) if (-20..=19).contains(&nice) => Ok(nice),
        _ => Err(format!("nice={text} is not a whole number from -20 to 19, as in nice=5").into()),
    }
}

pub(super) fn parse_io(text: &str) -> Result<u64, Refusal> {
    match parse_size(text)? {
        bytes if bytes < SMALLEST_IO_BYTES_PER_S => {
            Err(format!("io={text} is less than 64K a second: no program would start").into())
        }
        bytes => Ok(bytes),
    }
}
