//! Who holds the host's memory, span by span: users, the driver, the file cache, others, nobody; and its paging devices.
//!
//! Each byte is counted once. Users and the driver hold the pages of theirs that are no file's; pages of files are the file cache's,
//! whoever reads them; what is left of all memory is others': their processes, the kernel's own, and where zram keeps what it holds.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use loadgo_core::record::{FREE, MemoryRow, OTHERS, PARTS};
use loadgo_core::time::Instant;

use crate::cgroup::Groups;
use crate::conditions::{PagingDevice, paging_devices};
use crate::memory_counts::{Held, Moved, Whole};
use crate::memory_users::Users;

const FILE_CACHE: &str = "file cache";

/// The host's memory, and what it was at the last span's end.
#[derive(Debug)]
pub struct Memory {
    users: Option<Users>,
    page_bytes: u64,
    before: Moved,
    others: [Rest; 2],
}

/// A count that is what is left of another: it never goes back, also when a part is read later than the whole.
#[derive(Clone, Copy, Debug, Default)]
struct Rest {
    most: u64,
}

impl Rest {
    /// How far it has gone beyond all that was told.
    fn grown(&mut self, whole: Option<u64>, parts: u64) -> Option<u64> {
        let now = whole?.saturating_sub(parts);
        let grown = now.saturating_sub(self.most);
        self.most = self.most.max(now);
        Some(grown)
    }
}

/// What is read of the host at a moment.
struct Reading {
    whole: Whole,
    moved: Moved,
    devices: Vec<PagingDevice>,
    driver: Option<Held>,
}

impl Memory {
    /// Begins at `now`, with the users of `groups` if there are any.
    pub fn begin(groups: Option<Arc<Groups>>, now: Instant) -> io::Result<Memory> {
        let page_bytes = rustix::param::page_size() as u64;
        let users = groups.map(|groups| Users::begin(groups, page_bytes, now)).transpose()?;
        let mut memory = Memory { users, page_bytes, others: Default::default(), before: moved(page_bytes) };
        memory.others = memory.moved_of_all(&memory.before).map(|whole| Rest { most: whole.unwrap_or(0) });
        Ok(memory)
    }

    /// Adds the rows of the span that ends `now`; none where there is no `/proc/meminfo`.
    pub fn sample_into(&mut self, now: Instant, span_ns: u64, rows: &mut Vec<MemoryRow>) {
        let Some(reading) = self.read() else { return };
        let pages = !reading.devices.is_empty();
        if let Some(users) = &mut self.users {
            users.rows(now, span_ns, pages, rows);
        }
        let row = |who: &str| MemoryRow::of(now, span_ns, who.into());
        let [_, driver, ..] = PARTS;
        let without_devices = (!pages).then_some(0);
        rows.extend(reading.driver.map(|held| MemoryRow {
            resident_bytes: Some(held.resident),
            device_bytes: held.on_devices,
            taken_pages: without_devices,
            brought_pages: without_devices,
            ..row(driver)
        }));
        let Whole { size, free, file_cache } = reading.whole;
        rows.push(MemoryRow { resident_bytes: Some(free), size_bytes: Some(size), ..row(FREE) });
        let [taken, brought] = self.of_files(&reading.moved);
        rows.push(MemoryRow { resident_bytes: Some(file_cache), taken_pages: taken, brought_pages: brought, ..row(FILE_CACHE) });
        rows.push(self.others(&reading, row(OTHERS)));
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

    /// Pages taken from the file cache and brought into it; not known where users are charged for files of theirs.
    fn of_files(&self, now: &Moved) -> [Option<u64>; 2] {
        if self.are_counted() {
            return [None; 2];
        }
        let grown = |now: Option<u64>, before: Option<u64>| now.zip(before).map(|(now, before)| now.saturating_sub(before));
        let before = &self.before;
        [grown(now.taken_of_files, before.taken_of_files), grown(now.brought_of_files, before.brought_of_files)]
    }

    /// All that is in no other row.
    fn others(&mut self, now: &Reading, row: MemoryRow) -> MemoryRow {
        let known = || self.users.iter().flat_map(Users::known);
        let driver = now.driver.unwrap_or_default();
        let resident: u64 = known().map(|known| known.resident).sum();
        let on_devices = known().map(|known| known.on_devices).sum::<Option<u64>>().zip(driver.on_devices);
        let used: u64 = now.devices.iter().map(|device| device.used_bytes).sum();
        let Whole { size, free, file_cache } = now.whole;
        let [taken, brought] = self.moved_of_all(&now.moved);
        let [of_users, back_to_users] = self.users.as_ref().map_or([0; 2], Users::moved);
        MemoryRow {
            resident_bytes: Some(size.saturating_sub(free + file_cache + driver.resident + resident)),
            device_bytes: on_devices.map(|(users, driver)| used.saturating_sub(users + driver)),
            taken_pages: self.others[0].grown(taken, of_users),
            brought_pages: self.others[1].grown(brought, back_to_users),
            ..row
        }
    }

    /// Pages taken and brought back of all, the file cache's only where it has no row of them.
    fn moved_of_all(&self, now: &Moved) -> [Option<u64>; 2] {
        let sum = |one: Option<u64>, other: Option<u64>| one.zip(other).map(|(one, other)| one + other);
        match self.are_counted() {
            true => [sum(now.taken, now.taken_of_files), sum(now.brought, now.brought_of_files)],
            false => [now.taken, now.brought],
        }
    }

    fn are_counted(&self) -> bool {
        self.users.as_ref().is_some_and(Users::are_counted)
    }
}

fn moved(page_bytes: u64) -> Moved {
    Moved::parse(&fs::read_to_string("/proc/vmstat").unwrap_or_default(), page_bytes)
}

/// As the device is called: `zram0`, and a file by its path.
fn name_of(device: &PagingDevice) -> String {
    let name = device.name.replace("\\040", " ");
    let path = Path::new(&name);
    path.strip_prefix("/dev").unwrap_or(path).to_string_lossy().into_owned()
}
