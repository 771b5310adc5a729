//! Limits on all users together, as if the machine were smaller: `memory=256M,cpus=1,swap=zram:1G`.

pub mod each;
mod notation;
pub mod paging;
mod swap;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::groups::Groups;
use crate::groups::hierarchy::Version;
use crate::leftovers::Leftovers;
use crate::refusal::Refusal;
use notation::{parse_memory, parse_parts, parse_processors, parse_swap, set_once};
use paging::{page_to_file, page_to_zram};
pub use swap::Swap;

const PERIOD_US: u64 = 100_000;
const EXAMPLE: &str = "memory=256M,cpus=1,swap=zram:1G";

/// Limits of all users together; `None` is no limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limit {
    /// Memory, in bytes.
    pub memory_bytes: Option<u64>,
    /// Number of processors; fractions are allowed.
    pub cpus: Option<f64>,
    /// The users' paging device; absent: the host's own devices.
    pub swap: Option<Swap>,
}

impl Limit {
    /// Reads `memory=SIZE,cpus=NUMBER,swap=zram:SIZE|file:SIZE|none`.
    ///
    /// # Errors
    /// The mistake, with a correct example.
    pub fn parse(text: &str) -> Result<Limit, Refusal> {
        let mut limit = Limit::default();
        for part in parse_parts(text, EXAMPLE) {
            let (name, value) = part?;
            match name {
                "memory" => set_once(&mut limit.memory_bytes, name, parse_memory(value)?)?,
                "cpus" => set_once(&mut limit.cpus, name, parse_processors(value)?)?,
                "swap" => set_once(&mut limit.swap, name, parse_swap(value)?)?,
                _ => return Err(format!("`{name}` cannot be limited; memory, cpus and swap can, as in {EXAMPLE}").into()),
            }
        }
        Ok(limit)
    }

    /// Applies the limit to the groups of a run, before anybody logs in; a swap file goes into `directory`.
    /// Returns the paging devices that were made. Everything is undone with the run's leftovers, also after a refusal.
    pub fn apply(&self, groups: &mut Groups, directory: &Path, leftovers: &mut Leftovers) -> Result<Vec<PathBuf>, Refusal> {
        self.impose(groups, directory, leftovers).map_err(|refusal| refusal.about("limit"))
    }

    fn impose(&self, groups: &mut Groups, directory: &Path, leftovers: &mut Leftovers) -> Result<Vec<PathBuf>, Refusal> {
        let mut devices = Vec::new();
        match self.swap {
            Some(Swap::Zram(bytes)) => devices.push(page_to_zram(bytes, leftovers)?),
            Some(Swap::File(bytes)) => devices.push(page_to_file(bytes, directory, leftovers)?),
            Some(Swap::None) | None => {}
        }
        if self.memory_bytes.is_some() || self.swap.is_some() {
            limit_memory(&groups.with_controller("memory", leftovers)?, self.memory_bytes, self.swap.map(Swap::bytes))?;
        }
        if let Some(cpus) = self.cpus {
            limit_processors(&groups.with_controller("cpu", leftovers)?, cpus)?;
        }
        Ok(devices)
    }
}

fn limit_memory(group: &Path, memory_bytes: Option<u64>, swap_bytes: Option<u64>) -> Result<(), Refusal> {
    match version_of(group, "memory.max") {
        Version::V2 => {
            write_if_some(group, "memory.max", memory_bytes)?;
            write_if_some(group, "memory.swap.max", swap_bytes)
        }
        Version::V1 => {
            write_if_some(group, "memory.limit_in_bytes", memory_bytes)?;
            let both = memory_bytes.zip(swap_bytes).map(|(memory, swap)| memory + swap);
            write_if_some(group, "memory.memsw.limit_in_bytes", both)?;
            match (memory_bytes, swap_bytes) {
                (None, Some(0)) => write_if_some(group, "memory.swappiness", Some(0)),
                _ => Ok(()),
            }
        }
    }
}

fn limit_processors(group: &Path, cpus: f64) -> Result<(), Refusal> {
    let quota_us = (cpus * PERIOD_US as f64).round() as u64;
    match version_of(group, "cpu.max") {
        Version::V2 => write(group, "cpu.max", &format!("{quota_us} {PERIOD_US}")),
        Version::V1 => {
            write(group, "cpu.cfs_period_us", &PERIOD_US.to_string())?;
            write(group, "cpu.cfs_quota_us", &quota_us.to_string())
        }
    }
}

fn version_of(group: &Path, file_of_v2: &str) -> Version {
    if group.join(file_of_v2).exists() { Version::V2 } else { Version::V1 }
}

fn write_if_some(group: &Path, file: &str, value: Option<u64>) -> Result<(), Refusal> {
    value.map_or(Ok(()), |value| write(group, file, &value.to_string()))
}

fn write(group: &Path, file: &str, value: &str) -> Result<(), Refusal> {
    let path = group.join(file);
    fs::write(&path, value).map_err(|error: io::Error| {
        let remedy = match (error.kind(), file) {
            (io::ErrorKind::NotFound, "memory.memsw.limit_in_bytes" | "memory.swap.max") => "the boot parameter swapaccount=1",
            _ => "run as root",
        };
        Refusal::new(format!("cannot write {value} into {}", path.display())).because(error).with_remedy(remedy)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_three_are_read() {
        let limit = Limit::parse("memory=256M, cpus=1.5,swap=zram:1G").unwrap();
        let expected = Limit { memory_bytes: Some(256 << 20), cpus: Some(1.5), swap: Some(Swap::Zram(1 << 30)) };
        assert_eq!(limit, expected);
        assert_eq!(Limit::parse("swap=none").unwrap().swap, Some(Swap::None));
        assert_eq!(Limit::parse("swap=file:2GiB").unwrap().swap, Some(Swap::File(2 << 30)));
    }

    #[test]
    fn each_mistake_is_told_with_what_would_be_right() {
        for (text, said) in [
            ("", "NAME=VALUE"),
            ("memory", "NAME=VALUE"),
            ("disk=1G", "memory, cpus and swap"),
            ("memory=lots", "256M"),
            ("memory=-1M", "256M"),
            ("memory=1.5G", "256M"),
            ("memory=4K", "less than 1M"),
            ("memory=99999999T", "more than any machine"),
            ("memory=1G,memory=2G", "twice"),
            ("cpus=0", "cpus=0.5"),
            ("cpus=NaN", "cpus=0.5"),
            ("cpus=inf", "cpus=0.5"),
            ("swap=1G", "zram:SIZE"),
            ("swap=tape:1G", "zram:SIZE"),
            ("swap=zram:1K", "too small"),
        ] {
            let error = Limit::parse(text).expect_err(text);
            assert!(error.to_string().contains(said), "{text}: {error}");
        }
    }
}
