//! The memory of one process, from the text of `/proc/PID/smaps` (fs/proc/task_mmu.c).

use std::ops::Range;

use crate::small_files::number;

/// Memory in bytes, and how much of it was referred to since the marks were cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Referred {
    pub resident: f64,
    pub referenced: f64,
}

/// The memory of a process. Pages that several processes have mapped count by this process's share of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct MappedMemory {
    /// Pages that belong to no file.
    pub anonymous: Referred,
    /// Pages of mapped files.
    pub of_files: Referred,
    /// Bytes on paging devices.
    pub on_devices: f64,
}

impl MappedMemory {
    /// The sum of both.
    pub(crate) fn and(self, more: MappedMemory) -> MappedMemory {
        let sum = |one: Referred, other: Referred| Referred {
            resident: one.resident + other.resident,
            referenced: one.referenced + other.referenced,
        };
        MappedMemory {
            anonymous: sum(self.anonymous, more.anonymous),
            of_files: sum(self.of_files, more.of_files),
            on_devices: self.on_devices + more.on_devices,
        }
    }

    /// The memory of a process that began in the window: it has referred to all of it.
    pub(crate) fn all_referenced(self) -> MappedMemory {
        let all = |part: Referred| Referred { referenced: part.resident, ..part };
        MappedMemory { anonymous: all(self.anonymous), of_files: all(self.of_files), ..self }
    }

    /// Reads the whole text; `None` if it has no mapping, as that of a process that has ended.
    pub(crate) fn parse(smaps: &[u8]) -> Option<MappedMemory> {
        let mut sum = MappedMemory::default();
        let mut mapping = None;
        for line in smaps.split(|byte| *byte == b'\n') {
            if line.first().is_some_and(u8::is_ascii_uppercase) {
                if let Some(mapping) = &mut mapping {
                    Mapping::read(mapping, line);
                }
            } else if !line.is_empty() {
                sum = sum.and(mapping.take().map_or_else(MappedMemory::default, Mapping::memory));
                mapping = Some(Mapping::default());
            }
        }
        Some(sum.and(mapping?.memory()))
    }
}

/// The ranges of addresses of the mappings in this text that have pages on a paging device.
pub(crate) fn paged_mappings(smaps: &[u8]) -> Vec<Range<u64>> {
    let (mut ranges, mut range) = (Vec::new(), None);
    for line in smaps.split(|byte| *byte == b'\n') {
        if !line.first().is_some_and(u8::is_ascii_uppercase) {
            range = addresses(line);
        } else if line.strip_prefix(b"Swap:").is_some_and(|count| number(count.trim_ascii_start()).unwrap_or(0) > 0) {
            ranges.extend(range.take());
        }
    }
    ranges
}

/// The range with which the first line of a mapping begins.
fn addresses(line: &[u8]) -> Option<Range<u64>> {
    let words = std::str::from_utf8(line.split(|byte| *byte == b' ').next()?).ok()?;
    let (start, end) = words.split_once('-')?;
    Some(u64::from_str_radix(start, 16).ok()?..u64::from_str_radix(end, 16).ok()?)
}

/// The counts of one mapping, in kilobytes.
#[derive(Clone, Copy, Debug, Default)]
struct Mapping {
    resident: u64,
    /// Resident, where a page of n processes counts 1/n.
    share: u64,
    referenced: u64,
    anonymous: u64,
    on_devices: u64,
}

impl Mapping {
    fn read(&mut self, line: &[u8]) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { return };
        let count = match &line[..colon] {
            b"Rss" => &mut self.resident,
            b"Pss" => &mut self.share,
            b"Referenced" => &mut self.referenced,
            b"Anonymous" => &mut self.anonymous,
            b"SwapPss" => &mut self.on_devices,
            _ => return,
        };
        *count = number(line[colon + 1..].trim_ascii_start()).unwrap_or(0);
    }

    /// The kernel tells references of a mapping as a whole: they are divided by how much of it belongs to no file.
    fn memory(self) -> MappedMemory {
        const KILOBYTE_BYTES: f64 = 1024.0;
        let part_of = |count: u64, whole: u64| if whole == 0 { 0.0 } else { count as f64 / whole as f64 };
        let resident = self.share as f64 * KILOBYTE_BYTES;
        let referenced = resident * part_of(self.referenced, self.resident).min(1.0);
        let anonymous = part_of(self.anonymous, self.resident).min(1.0);
        let part = |part: f64| Referred { resident: resident * part, referenced: referenced * part };
        MappedMemory {
            anonymous: part(anonymous),
            of_files: part(1.0 - anonymous),
            on_devices: self.on_devices as f64 * KILOBYTE_BYTES,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"\
55d0c8a00000-55d0c8a20000 r-xp 00000000 fe:00 1234                       /usr/bin/a: b\n\
Size:                128 kB\nRss:                  40 kB\nPss:                  10 kB\nPss_Dirty:             9 kB\n\
Referenced:           20 kB\nAnonymous:             0 kB\nSwap:                  8 kB\nSwapPss:               0 kB\n\
VmFlags: rd ex mr mw me\n\
7f0000000000-7f0000100000 rw-p 00000000 00:00 0 \n\
Size:               1024 kB\nRss:                 400 kB\nPss:                 400 kB\nReferenced:          100 kB\n\
Anonymous:           400 kB\nSwap:                 64 kB\nSwapPss:              32 kB\n\
7f0000200000-7f0000300000 ---p 00000000 00:00 0 \nRss:                   0 kB\nPss:                   0 kB\n";

    #[test]
    fn shared_pages_count_by_their_share_and_a_name_with_a_colon_is_no_count() {
        let memory = MappedMemory::parse(TEXT).unwrap();
        let kilobytes =
            |resident: f64, referenced: f64| Referred { resident: resident * 1024.0, referenced: referenced * 1024.0 };
        assert_eq!(memory.of_files, kilobytes(10.0, 5.0));
        assert_eq!(memory.anonymous, kilobytes(400.0, 100.0));
        assert_eq!(memory.on_devices, 32.0 * 1024.0);
        assert_eq!(memory.all_referenced().anonymous, kilobytes(400.0, 400.0));
    }

    #[test]
    fn mappings_with_pages_on_a_device_are_found() {
        assert_eq!(paged_mappings(TEXT), [0x55d0_c8a0_0000..0x55d0_c8a2_0000, 0x7f00_0000_0000..0x7f00_0010_0000]);
    }

    #[test]
    fn a_process_that_has_ended_has_no_mapping() {
        assert_eq!(MappedMemory::parse(b""), None);
    }
}
