//! Memory counts from the kernel's texts: `/proc/meminfo`, `/proc/vmstat`, `/proc/PID/status`, `memory.stat`.

use crate::groups::hierarchy::Version;
use crate::small_files::{labelled, number};

/// All memory of the host, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// Memory that the kernel manages.
    pub size: u64,
    /// Memory that nobody holds.
    pub free: u64,
    /// Pages of files, read or written; shared memory, which lies on paging devices, is not among them.
    pub file_cache: u64,
}

impl Whole {
    /// Reads the text of `/proc/meminfo`.
    pub fn parse(meminfo: &str) -> Option<Whole> {
        let bytes = |label: &str| kilobytes(meminfo, label).map(|kilobytes| kilobytes * 1024);
        let cached = bytes("Buffers:")? + bytes("Cached:")?;
        let file_cache = cached.saturating_sub(bytes("Shmem:").unwrap_or(0));
        Some(Whole { size: bytes("MemTotal:")?, free: bytes("MemFree:")?, file_cache })
    }
}

/// Pages that have come and gone since the host began; `None` where the kernel does not count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Pages moved out to paging devices: those of processes, and shared memory.
    pub taken: Option<u64>,
    /// Pages taken from the file cache.
    pub taken_of_files: Option<u64>,
    /// Pages brought back from paging devices.
    pub brought: Option<u64>,
    /// Pages read from block devices for other reasons, for the file cache above all.
    pub brought_of_files: Option<u64>,
}

impl Moved {
    /// Reads the text of `/proc/vmstat`, with pages of so many bytes.
    pub fn parse(vmstat: &str, page_bytes: u64) -> Moved {
        let paged_in = labelled(vmstat, "pswpin");
        let read = labelled(vmstat, "pgpgin").map(|kilobytes| kilobytes * 1024 / page_bytes);
        Moved {
            taken: labelled(vmstat, "pgsteal_anon"),
            taken_of_files: labelled(vmstat, "pgsteal_file"),
            brought: paged_in
                .map(|pages| pages + labelled(vmstat, "swpin_zero").unwrap_or(0) + labelled(vmstat, "zswpin").unwrap_or(0)),
            brought_of_files: read.zip(paged_in).map(|(read, paged_in)| read.saturating_sub(paged_in)),
        }
    }
}

/// Memory held by a process, a user or all users, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    /// Bytes in memory, of pages that belong to no file.
    pub resident: u64,
    /// Bytes on paging devices.
    pub on_devices: Option<u64>,
}

impl Held {
    /// No memory at all.
    pub(crate) const NOTHING: Held = Held { resident: 0, on_devices: Some(0) };

    /// The sum of both.
    pub fn and(self, more: Held) -> Held {
        let on_devices = self.on_devices.zip(more.on_devices).map(|(one, other)| one + other);
        Held { resident: self.resident + more.resident, on_devices }
    }

    /// A process, from the text of `/proc/PID/status`; `None` for one without memory of its own.
    pub(crate) fn of_status(status: &[u8]) -> Option<Held> {
        let text = std::str::from_utf8(status.split_at(after_name(status)).1).ok()?;
        let bytes = |label: &str| kilobytes(text, label).map(|kilobytes| kilobytes * 1024);
        Some(Held { resident: bytes("RssAnon:")?, on_devices: bytes("VmSwap:") })
    }

    /// A process of a host without paging devices, from the text of `/proc/PID/statm`: resident pages, less those of files and
    /// shared memory.
    pub(crate) fn of_statm(statm: &[u8], page_bytes: u64) -> Option<Held> {
        let mut words = statm.split(|byte| *byte == b' ').skip(1).map(number);
        let (resident, shared) = (words.next()??, words.next()??);
        Some(Held { resident: resident.saturating_sub(shared) * page_bytes, on_devices: Some(0) })
    }
}

/// Index at which the lines after the process's own name begin; the name may hold any bytes.
fn after_name(status: &[u8]) -> usize {
    status.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}

/// The memory controller's counts for a control group and the groups below it, in pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Pages brought back from paging devices since the group began.
    pub brought: u64,
    /// Pages that are on paging devices and not in memory now.
    pub out: u64,
}

impl Group {
    /// Reads the text of `memory.stat`: v1's as it is, v2's with an added line `swap` from `memory.swap.current`.
    pub fn parse(stat: &str, version: Version, page_bytes: u64) -> Option<Group> {
        let of_v1 = if version == Version::V1 { "total_" } else { "" };
        let count = |name: &str| labelled(stat, &format!("{of_v1}{name}"));
        let in_memory_too = count("swapcached").unwrap_or(0);
        let out = count("swap")?.saturating_sub(in_memory_too) / page_bytes;
        Some(Group { brought: count("workingset_refault_anon")?, out })
    }

    /// Pages taken and brought back since `before`. A page that was taken has come back, is out, or was given up meanwhile by a
    /// process that ended: those are not seen.
    pub(crate) fn moved_since(&self, before: &Group) -> [u64; 2] {
        let came_back = self.brought.saturating_sub(before.brought);
        [(self.out + came_back).saturating_sub(before.out), came_back]
    }
}

fn kilobytes(text: &str, label: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(label))?;
    value.trim().strip_suffix("kB")?.trim_end().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_is_not_of_the_file_cache() {
        let text = "MemTotal:       1000 kB\nMemFree:         400 kB\nBuffers:          10 kB\nCached:          200 kB\nShmem:            50 kB\n";
        assert_eq!(Whole::parse(text), Some(Whole { size: 1000 << 10, free: 400 << 10, file_cache: 160 << 10 }));
        assert_eq!(Whole::parse("MemTotal: 1000 kB\n"), None);
    }

    #[test]
    fn what_a_kernel_does_not_count_is_not_known() {
        let text = "pgpgin 400\npswpin 30\nswpin_zero 2\npgsteal_file 7\npgsteal_filed 8\n";
        let told = Moved { taken: None, taken_of_files: Some(7), brought: Some(32), brought_of_files: Some(70) };
        assert_eq!(Moved::parse(text, 4096), told);
        assert_eq!(Moved::parse("", 4096), Moved::default());
    }

    #[test]
    fn a_process_holds_what_is_no_files() {
        let text = b"Name:\tRssAnon:\t9 kB\nVmRSS:\t100 kB\nRssAnon:\t  60 kB\nRssFile:\t40 kB\nVmSwap:\t 8 kB\n";
        assert_eq!(Held::of_status(text), Some(Held { resident: 60 << 10, on_devices: Some(8 << 10) }));
        assert_eq!(Held::of_status(b"Name:\tkthreadd\nState:\tS\n"), None);
        let held = Held { resident: 28 * 4096, on_devices: Some(0) };
        assert_eq!(Held::of_statm(b"765 441 413 5 0 123 0\n", 4096), Some(held));
    }

    #[test]
    fn a_group_lost_what_came_back_and_what_is_out_beyond_what_was_out_before() {
        let v1 =
            "swap 4096\nworkingset_refault_anon 1\ntotal_swap 40960\ntotal_swapcached 8192\ntotal_workingset_refault_anon 5\n";
        let told = Group::parse(v1, Version::V1, 4096).unwrap();
        assert_eq!(told, Group { brought: 5, out: 8 });
        let v2 = "anon 8192\nswapcached 0\nworkingset_refault_anon 2\nswap 12288\n";
        let before = Group::parse(v2, Version::V2, 4096).unwrap();
        assert_eq!(before, Group { brought: 2, out: 3 });
        assert_eq!(told.moved_since(&before), [8, 3]);
        assert_eq!(before.moved_since(&told), [0, 0]);
        assert_eq!(Group::parse("anon 1\nswap \n", Version::V2, 4096), None);
    }
}
