//! What the kernel's texts tell of memory: `/proc/meminfo`, `/proc/vmstat`, `/proc/PID/status`, `memory.stat`.

use crate::account::number;

/// All memory of the host, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// All that the kernel has to give.
    pub size: u64,
    /// Nobody's.
    pub free: u64,
    /// Pages of files, read or written; shared memory, which lies on paging devices, is not among them.
    pub file_cache: u64,
}

impl Whole {
    /// From the text of `/proc/meminfo`.
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
    /// Taken of what lies on paging devices afterwards: the pages of processes, and shared memory.
    pub taken: Option<u64>,
    /// Taken of the file cache.
    pub taken_of_files: Option<u64>,
    /// Brought back from paging devices.
    pub brought: Option<u64>,
    /// Read from block devices beside that, for the file cache above all.
    pub brought_of_files: Option<u64>,
}

impl Moved {
    /// From the text of `/proc/vmstat`, with pages of so many bytes.
    pub fn parse(vmstat: &str, page_bytes: u64) -> Moved {
        let paged_in = count(vmstat, "pswpin");
        let read = count(vmstat, "pgpgin").map(|kilobytes| kilobytes * 1024 / page_bytes);
        Moved {
            taken: count(vmstat, "pgsteal_anon"),
            taken_of_files: count(vmstat, "pgsteal_file"),
            brought: paged_in
                .map(|pages| pages + count(vmstat, "swpin_zero").unwrap_or(0) + count(vmstat, "zswpin").unwrap_or(0)),
            brought_of_files: read.zip(paged_in).map(|(read, paged_in)| read.saturating_sub(paged_in)),
        }
    }
}

/// What somebody holds, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// In memory, of pages that are no file's.
    pub resident: u64,
    /// On paging devices.
    pub on_devices: Option<u64>,
}

impl Held {
    /// A process, from the text of `/proc/PID/status`; `None` for one without memory of its own.
    pub fn of_status(status: &[u8]) -> Option<Held> {
        let text = std::str::from_utf8(status.split_at(after_name(status)).1).ok()?;
        let bytes = |label: &str| kilobytes(text, label).map(|kilobytes| kilobytes * 1024);
        Some(Held { resident: bytes("RssAnon:")?, on_devices: bytes("VmSwap:") })
    }

    /// A process, from the text of `/proc/PID/statm`: resident pages, less those of files and shared memory.
    pub fn of_statm(statm: &[u8], page_bytes: u64) -> Option<Held> {
        let mut words = statm.split(|byte| *byte == b' ').skip(1).map(number);
        let (resident, shared) = (words.next()??, words.next()??);
        Some(Held { resident: resident.saturating_sub(shared) * page_bytes, on_devices: None })
    }
}

/// Where the lines after the process's own name begin, which may hold anything.
fn after_name(status: &[u8]) -> usize {
    status.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}

/// What a control group's `memory.stat` tells: bytes held, and pages taken and brought back since the group began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Pages that are no file's.
    pub resident: u64,
    /// Pages taken of all that was charged to it, files too.
    pub taken: Option<u64>,
    /// Of those, brought back.
    pub brought: Option<u64>,
}

impl Group {
    /// From the text of `memory.stat` of v2.
    pub fn parse(stat: &str) -> Option<Group> {
        let back = [count(stat, "workingset_refault_anon"), count(stat, "workingset_refault_file")];
        let brought = back.into_iter().sum::<Option<u64>>();
        Some(Group { resident: count(stat, "anon")?, taken: count(stat, "pgsteal"), brought })
    }
}

fn kilobytes(text: &str, label: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(label))?;
    value.trim().strip_suffix("kB")?.trim_end().parse().ok()
}

/// The number after the word `name`, of a text with a name and a number in each line.
fn count(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
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
        let held = Held { resident: 28 * 4096, on_devices: None };
        assert_eq!(Held::of_statm(b"765 441 413 5 0 123 0\n", 4096), Some(held));
    }

    #[test]
    fn a_group_tells_what_was_taken_and_came_back() {
        let text = "anon 8192\nfile 4096\nanon_thp 0\nworkingset_refault_anon 3\nworkingset_refault_file 4\npgsteal 20\npgsteal_kswapd 20\n";
        assert_eq!(Group::parse(text), Some(Group { resident: 8192, taken: Some(20), brought: Some(7) }));
        assert_eq!(Group::parse("anon 1\n"), Some(Group { resident: 1, taken: None, brought: None }));
    }
}
