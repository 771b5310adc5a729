//! Functions that programs compile while they run, as `/tmp/perf-PID.map` lists them.
//!
//! Java (with an agent), Node (`--perf-basic-prof`), Python (`-X perf`), .NET and others write such a file. It is used only if it
//! belongs to the same user as the process.

use crate::profile::spaces::process_name;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;

/// Largest size of a file that is read. Chosen by hand.
const MOST_FILE_BYTES: u64 = 64 << 20;

/// The compiled functions of all processes.
#[derive(Default)]
pub(crate) struct Jits {
    processes: HashMap<u32, JitFunctions>,
    names: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
}

/// The compiled functions of one process, in the order of their addresses.
struct JitFunctions {
    /// Length of the file at the last reading.
    bytes: u64,
    /// Address, length and name of each function.
    functions: Vec<(u64, u64, Arc<str>)>,
    last_round: u64,
}

impl Jits {
    /// The number of the function of `pid` at `address`. A file that has grown is read again, once in each `round`.
    pub(crate) fn function(&mut self, pid: u32, address: u64, round: u64) -> Option<u32> {
        let functions = self.processes.entry(pid).or_insert(JitFunctions { bytes: 0, functions: Vec::new(), last_round: 0 });
        if functions.at(address).is_none() && functions.last_round != round {
            functions.last_round = round;
            functions.read_again(pid);
        }
        let name = functions.at(address)?;
        if let Some(number) = self.numbers.get(&name) {
            return Some(*number);
        }
        let number = self.names.len() as u32;
        self.names.push(Arc::clone(&name));
        self.numbers.insert(name, number);
        Some(number)
    }

    /// The name of a function by its number.
    pub fn name(&self, number: u32) -> Arc<str> {
        Arc::clone(&self.names[number as usize])
    }

    /// Removes a process that has ended.
    pub fn forget(&mut self, pid: u32) {
        self.processes.remove(&pid);
    }
}

impl JitFunctions {
    fn at(&self, address: u64) -> Option<Arc<str>> {
        let after = self.functions.partition_point(|function| function.0 <= address);
        let (start, length, name) = self.functions.get(after.checked_sub(1)?)?;
        (address - start < *length).then(|| Arc::clone(name))
    }

    fn read_again(&mut self, pid: u32) {
        let Some((bytes, text)) = read_map(pid, self.bytes) else { return };
        self.bytes = bytes;
        self.functions = text.lines().filter_map(parse_function).collect();
        self.functions.sort_by_key(|function| function.0);
    }
}

/// The file's length and text, if it is longer than `read_bytes`.
fn read_map(pid: u32, read_bytes: u64) -> Option<(u64, String)> {
    let owner = fs::metadata(format!("/proc/{pid}")).ok()?.uid();
    let inside = PathBuf::from(format!("/proc/{pid}/root/tmp/perf-{pid}.map"));
    let is_file = fs::symlink_metadata(&inside).ok()?.file_type().is_file();
    let file = File::open(&inside).ok().filter(|_| is_file)?;
    let metadata = file.metadata().ok()?;
    if metadata.uid() != owner || metadata.len() <= read_bytes || metadata.len() > MOST_FILE_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MOST_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    Some((metadata.len(), String::from_utf8_lossy(&bytes).into_owned()))
}

/// Parses a line `START LENGTH NAME` with hexadecimal numbers.
fn parse_function(line: &str) -> Option<(u64, u64, Arc<str>)> {
    let mut words = line.splitn(3, ' ');
    let start = u64::from_str_radix(words.next()?.trim_start_matches("0x"), 16).ok()?;
    let length = u64::from_str_radix(words.next()?.trim_start_matches("0x"), 16).ok()?;
    Some((start, length, process_name(words.next()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_this_process_lists_is_found_by_its_address() {
        let pid = std::process::id();
        let path = format!("/tmp/perf-{pid}.map");
        fs::write(&path, "7f0000001000 40 py::f:/a b.py\n7f0000002000 10 py::g\n").unwrap();
        let mut jits = Jits::default();
        let name = jits.function(pid, 0x7f000000103f, 1).map(|number| jits.name(number));
        let none = jits.function(pid, 0x7f0000001040, 1);
        fs::remove_file(&path).unwrap();
        assert_eq!(name.as_deref(), Some("py::f:/a b.py"));
        assert_eq!(none, None);
    }
}
