//! Owners of the host's memory, span by span: users, the driver, the file cache, others, nobody; and the host's paging devices.
//!
//! Each byte is counted once. Users and the driver hold those of their pages that belong to no file. Pages of files are the file
//! cache's, whoever reads them. All remaining memory is others': their processes, the kernel's own, and zram's store.

mod counts;
mod users;

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use loadgo_core::record::{FREE_MEMORY, MemoryRow, OTHER_MEMORY, PROCESS_OWNERS};
use loadgo_core::time::Instant;

use crate::conditions::{PagingDevice, paging_devices};
use counts::{Held, Moved, Whole};
pub use users::UserProcesses;
use users::{Span, Users};

const FILE_CACHE: &str = "file cache";

/// The host's memory, and its counts at the last span's end.
#[derive(Debug)]
pub struct Memory {
    users: Option<Users>,
    page_bytes: u64,
    before: Moved,
    taken_from_others: Rest,
    brought_to_others: Rest,
}

/// The difference of a whole count and a part of it. It never goes back, also when the part is read later than the whole.
#[derive(Clone, Copy, Debug, Default)]
struct Rest {
    most: u64,
}

impl Rest {
    /// Growth of the remainder beyond all growth reported before.
    fn grown(&mut self, whole: Option<u64>, part: u64) -> Option<u64> {
        let now = whole?.saturating_sub(part);
        let grown = now.saturating_sub(self.most);
        self.most = self.most.max(now);
        Some(grown)
    }
}

/// The counts read from the host at one moment.
struct Reading {
    whole: Whole,
    moved: Moved,
    devices: Vec<PagingDevice>,
    driver: Option<Held>,
}

impl Memory {
    /// Begins at `now`, with these users if there are any.
    pub fn begin(users: Option<Arc<dyn UserProcesses>>, now: Instant) -> io::Result<Memory> {
        let page_bytes = rustix::param::page_size() as u64;
        let before = moved(page_bytes);
        let rest = |whole: Option<u64>| Rest { most: whole.unwrap_or(0) };
        Ok(Memory {
            users: users.map(|users| Users::begin(users, page_bytes, now)).transpose()?,
            page_bytes,
            taken_from_others: rest(before.taken),
            brought_to_others: rest(before.brought),
            before,
        })
    }

    /// Adds the rows of the span that ends `now`; none where there is no `/proc/meminfo`.
    pub fn sample_into(&mut self, now: Instant, span_ns: u64, rows: &mut Vec<MemoryRow>) {
        let Some(reading) = self.read() else { return };
        let span = Span { at: now, span_ns, pages: !reading.devices.is_empty() };
        if let Some(users) = &mut self.users {
            users.rows(span, rows);
        }
        let row = |who: &str| MemoryRow::of(now, span_ns, who.into());
        let [_, driver, ..] = PROCESS_OWNERS;
        rows.extend(reading.driver.map(|held| MemoryRow {
            resident_bytes: Some(held.resident),
            device_bytes: held.on_devices,
            taken_pages: span.none_without_devices(),
            brought_pages: span.none_without_devices(),
            ..row(driver)
        }));
        rows.push(self.others(&reading, row(OTHER_MEMORY)));
        rows.push(self.of_files(&reading, row(FILE_CACHE)));
        let Whole { size, free, .. } = reading.whole;
        rows.push(MemoryRow { resident_bytes: Some(free), size_bytes: Some(size), ..row(FREE_MEMORY) });
        rows.extend(reading.devices.iter().map(|device| MemoryRow {
            device_bytes: Some(device.used_bytes),
            size_bytes: Some(device.size_bytes),
            ..row(&name_of(device))
        }));
        self.before = reading.moved;
    }

    fn read(&self) -> Option<Reading> {
        Some(Reading {
            whole: Whole::parse(&fs::read_to_string("/proc/meminfo").ok()?)?,
            moved: moved(self.page_bytes),
            devices: paging_devices(&fs::read_to_string("/proc/swaps").unwrap_or_default()),
            driver: fs::read("/proc/self/status").ok().and_then(|text| Held::of_status(&text)),
        })
    }

    fn of_files(&self, now: &Reading, row: MemoryRow) -> MemoryRow {
        let grown = |now: Option<u64>, before: Option<u64>| now.zip(before).map(|(now, before)| now.saturating_sub(before));
        MemoryRow {
            resident_bytes: Some(now.whole.file_cache),
            taken_pages: grown(now.moved.taken_of_files, self.before.taken_of_files),
            brought_pages: grown(now.moved.brought_of_files, self.before.brought_of_files),
            ..row
        }
    }

    /// The row of all memory that is in no other row.
    fn others(&mut self, now: &Reading, row: MemoryRow) -> MemoryRow {
        let Whole { size, free, file_cache } = now.whole;
        let known = self.users.as_ref().map_or(Held::NOTHING, Users::held).and(now.driver.unwrap_or(Held::NOTHING));
        let used: u64 = now.devices.iter().map(|device| device.used_bytes).sum();
        let [taken, brought] = self.users.as_ref().map_or([0; 2], Users::moved);
        MemoryRow {
            resident_bytes: Some(size.saturating_sub(free + file_cache + known.resident)),
            device_bytes: known.on_devices.map(|of_known| used.saturating_sub(of_known)),
            taken_pages: self.taken_from_others.grown(now.moved.taken, taken),
            brought_pages: self.brought_to_others.grown(now.moved.brought, brought),
            ..row
        }
    }
}

fn moved(page_bytes: u64) -> Moved {
    Moved::parse(&fs::read_to_string("/proc/vmstat").unwrap_or_default(), page_bytes)
}

/// The device's short name: `zram0`, or a file's path.
fn name_of(device: &PagingDevice) -> String {
    let name = device.name.replace("\\040", " ");
    let path = Path::new(&name);
    path.strip_prefix("/dev").unwrap_or(path).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_never_goes_back_and_tells_nothing_twice() {
        let mut rest = Rest { most: 100 };
        assert_eq!(rest.grown(Some(150), 20), Some(30));
        assert_eq!(rest.grown(Some(150), 60), Some(0), "a part was read later than the whole");
        assert_eq!(rest.grown(Some(200), 60), Some(10));
        assert_eq!(rest.grown(None, 60), None);
    }

    #[test]
    fn devices_are_called_by_their_names_and_files_by_their_paths() {
        let called = |name: &str| name_of(&PagingDevice { name: name.into(), size_bytes: 1, used_bytes: 0 });
        assert_eq!(["/dev/zram0", "/dev/mapper/a-b", "/swap\\040file"].map(called), ["zram0", "mapper/a-b", "/swap file"]);
    }

    #[test]
    fn the_rows_of_this_host_add_up_to_its_memory() {
        let mut memory = Memory::begin(None, Instant(0)).unwrap();
        let mut rows = Vec::new();
        memory.sample_into(Instant(1_000_000_000), 1_000_000_000, &mut rows);
        let free = rows.iter().find(|row| &*row.who == FREE_MEMORY).unwrap();
        assert_eq!(rows.iter().filter_map(|row| row.resident_bytes).sum::<u64>(), free.size_bytes.unwrap());
        let who: Vec<&str> = rows.iter().map(|row| &*row.who).take(4).collect();
        assert_eq!(who, ["driver", OTHER_MEMORY, FILE_CACHE, FREE_MEMORY]);
    }
}
