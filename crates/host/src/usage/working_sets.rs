//! Working sets: how much of their memory the users' processes refer to in windows of a second to two minutes.
//!
//! The kernel marks each page that is referred to. At a window's beginning the marks of a user's processes are cleared
//! (`/proc/PID/clear_refs`). After each of [`WINDOWS_S`] the marked memory is read (`/proc/PID/smaps`). The mean is the working set W(T)
//! of Denning. Its slope is the rate at which pages come back that were not used for a time T.
//! P. J. Denning, S. C. Schwartz: Properties of the working-set model, CACM 15(3), 1972.
//!
//! Clearing and reading a process costs up to a millisecond. So at most [`SHARE`] of a processor's time is spent. At most
//! [`MOST_FOLLOWED_USERS`] users are followed at once, who are drawn at random.

mod mappings;
mod paged_out;

use std::collections::BTreeMap;
use std::io::{self, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::{fs, fs::File, io::Read as _};

use loadgo_core::random::{RandomStream, StreamPurpose};
use loadgo_core::record::WorkingSetRow;
use loadgo_core::system::UserId;
use loadgo_core::time::Instant;
use loadgo_sys::clock::{monotonic_ns, thread_cpu_ns};

use crate::refusal::Refusal;
use crate::usage::memory::UserProcesses;
use crate::usage::proc::Proc;
use mappings::{MappedMemory, paged_mappings};
use paged_out::PagedOut;

/// Lengths of the windows. Those up to a longest one begin together.
const WINDOWS_S: [u64; 14] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];
/// Numbers of windows that begin together, one of which is drawn: up to 8, 32 or 128 s.
const TOGETHER: [usize; 3] = [6, 10, 14];
/// Largest share of a processor's time that reading may take.
const SHARE: f64 = 0.005;
/// Most users who are followed at once: each keeps a descriptor for each of his processes.
const MOST_FOLLOWED_USERS: usize = 128;
/// Time between two listings of the users.
const LISTING_TIME_NS: u64 = 4_000_000_000;
/// The first windows of a user begin within this time.
const FIRST_BEGIN: Duration = Duration::from_secs(8);
/// The time between the last of a user's windows and his next ones is at most this.
const NEXT_BEGIN: Duration = Duration::from_secs(4);
const SECOND_NS: u64 = 1_000_000_000;
/// The text that clears the marks of all pages.
const ALL_PAGES: &str = "1";

/// The users' processes, whose references are measured.
#[derive(Debug)]
pub(crate) struct WorkingSets {
    groups: Arc<dyn UserProcesses>,
    proc: Proc,
    users: BTreeMap<UserId, Followed>,
    listed: Option<Instant>,
    /// Processor time that may still be used; below 0 it is overdrawn, and reading pauses.
    left_ns: f64,
    random: RandomStream,
    text: Vec<u8>,
}

/// Where a user is between two clearings.
#[derive(Debug)]
enum Followed {
    /// The next windows begin at this time.
    Waits(Instant),
    /// The windows under way.
    Watched(Watched),
}

/// The windows of one user under way.
#[derive(Debug)]
struct Watched {
    cleared: Instant,
    /// Number of windows that have ended.
    ended: usize,
    /// Number of windows that began together.
    count: usize,
    processes: Vec<ClearedProcess>,
}

/// A process whose marks were cleared.
#[derive(Debug)]
struct ClearedProcess {
    pid: i32,
    /// A file that has nothing to read any more when its process has ended or executes another program.
    smaps: File,
    paged_out: Option<PagedOut>,
}

/// Whether this process may clear and read the marks.
///
/// # Errors
/// What the kernel lacks, or forbids.
pub fn availability() -> Result<(), Refusal> {
    let clears = fs::write("/proc/self/clear_refs", ALL_PAGES);
    clears.and_then(|()| File::open("/proc/self/smaps").map(drop)).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Refusal::new("this kernel has no marks of referred pages (CONFIG_PROC_PAGE_MONITOR)"),
        _ => Refusal::new(format!("the marks of referred pages cannot be cleared: {error}")),
    })
}

impl WorkingSets {
    /// Begins to follow the users of `groups`.
    ///
    /// # Errors
    /// `/proc` cannot be opened.
    pub(crate) fn begin(groups: Arc<dyn UserProcesses>) -> io::Result<WorkingSets> {
        Ok(WorkingSets {
            groups,
            proc: Proc::open()?,
            users: BTreeMap::new(),
            listed: None,
            left_ns: 0.0,
            random: RandomStream::new(monotonic_ns(), 0, StreamPurpose::Choice),
            text: Vec::new(),
        })
    }

    /// Adds a row for each window that has ended by `now`, and begins windows of users whose turn it is.
    pub(crate) fn sample_into(&mut self, now: Instant, span_ns: u64, rows: &mut Vec<WorkingSetRow>) {
        let began_ns = thread_cpu_ns();
        if self.listed.is_none_or(|listed| now.since(listed).0 >= LISTING_TIME_NS) {
            self.list(now);
        }
        let share_ns = span_ns as f64 * SHARE;
        self.left_ns = (self.left_ns + share_ns).min(4.0 * share_ns) - (thread_cpu_ns() - began_ns) as f64;
        for user in self.due(now) {
            if self.left_ns <= 0.0 {
                break;
            }
            let began_ns = thread_cpu_ns();
            rows.extend(self.step(user, now));
            self.left_ns -= (thread_cpu_ns() - began_ns) as f64;
        }
    }

    /// Lists the users. New ones begin at random times of the first seconds, so that their windows end at different ones.
    fn list(&mut self, now: Instant) {
        self.listed = Some(now);
        let Ok(users) = self.groups.users() else { return };
        self.users.retain(|user, _| users.contains(user));
        let WorkingSets { users: known, random, .. } = self;
        for user in users {
            known.entry(user).or_insert_with(|| Followed::Waits(later(now, FIRST_BEGIN, random)));
        }
    }

    /// The users whose windows end or begin now, in random order: those with windows under way first.
    fn due(&mut self, now: Instant) -> Vec<UserId> {
        let ends = |watched: &Watched| watched.cleared.0 + WINDOWS_S[watched.ended] * SECOND_NS;
        let (mut ending, mut beginning) = (Vec::new(), Vec::new());
        let mut free = MOST_FOLLOWED_USERS;
        for (user, followed) in &self.users {
            match followed {
                Followed::Watched(watched) => {
                    free = free.saturating_sub(1);
                    if ends(watched) <= now.0 {
                        ending.push(*user);
                    }
                }
                Followed::Waits(begin) if *begin <= now => beginning.push(*user),
                Followed::Waits(_) => {}
            }
        }
        shuffle(&mut ending, &mut self.random);
        shuffle(&mut beginning, &mut self.random);
        ending.into_iter().chain(beginning.into_iter().take(free)).collect()
    }

    /// Ends a window of `user`, or begins his windows.
    fn step(&mut self, user: UserId, now: Instant) -> Option<WorkingSetRow> {
        let present = self.groups.processes(user).unwrap_or_default();
        match self.users.remove(&user)? {
            Followed::Waits(_) => {
                let count = TOGETHER[self.random.index(TOGETHER.len())];
                let processes = present.into_iter().filter_map(|pid| self.clear(pid)).collect();
                self.users.insert(user, Followed::Watched(Watched { cleared: now, ended: 0, count, processes }));
                None
            }
            Followed::Watched(mut watched) => {
                let row = self.row(user, now, &mut watched, &present);
                // A window that ends late stands for the longest that is over.
                let elapsed_s = now.since(watched.cleared).0 / SECOND_NS;
                watched.ended = WINDOWS_S.iter().take_while(|window_s| **window_s <= elapsed_s).count();
                let next = if watched.ended >= watched.count {
                    Followed::Waits(later(now, NEXT_BEGIN, &mut self.random))
                } else {
                    Followed::Watched(watched)
                };
                self.users.insert(user, next);
                Some(row)
            }
        }
    }

    fn row(&mut self, user: UserId, now: Instant, watched: &mut Watched, present: &[i32]) -> WorkingSetRow {
        let mut sum = MappedMemory::default();
        let returned_bytes: f64 =
            watched.processes.iter_mut().filter_map(|process| process.paged_out.as_mut()).map(PagedOut::returned_bytes).sum();
        for pid in present {
            let before = watched.processes.iter_mut().find(|process| process.pid == *pid);
            let known = before.and_then(|process| memory_of(&mut process.smaps, &mut self.text));
            let memory = known.or_else(|| {
                let file = self.proc.file(*pid as u32, "smaps").ok()?;
                memory_of(&mut File::from(file), &mut self.text).map(MappedMemory::all_referenced)
            });
            sum = sum.and(memory.unwrap_or_default());
        }
        WorkingSetRow {
            at: now,
            span_ns: now.since(watched.cleared).0,
            user,
            processes: present.len() as u32,
            resident_bytes: sum.anonymous.resident as u64,
            referenced_bytes: sum.anonymous.referenced as u64,
            file_resident_bytes: sum.of_files.resident as u64,
            file_referenced_bytes: sum.of_files.referenced as u64,
            device_bytes: sum.on_devices as u64,
            returned_bytes: returned_bytes as u64,
        }
    }

    /// Clears the marks of a process, and looks which of its pages are on paging devices; `None` for a process that has just ended.
    fn clear(&mut self, pid: i32) -> Option<ClearedProcess> {
        let mut smaps = File::from(self.proc.file(pid as u32, "smaps").ok()?);
        fs::write(Path::new("/proc").join(pid.to_string()).join("clear_refs"), ALL_PAGES).ok()?;
        let on_devices = memory_of(&mut smaps, &mut self.text)?.on_devices;
        let pagemap = (on_devices > 0.0).then(|| self.proc.file(pid as u32, "pagemap").ok()).flatten();
        let paged_out = pagemap.map(|pagemap| PagedOut::begin(File::from(pagemap), &paged_mappings(&self.text)));
        Some(ClearedProcess { pid, smaps, paged_out })
    }
}

/// Reads an open `smaps` from its beginning into `text`.
fn memory_of(smaps: &mut File, text: &mut Vec<u8>) -> Option<MappedMemory> {
    text.clear();
    smaps.seek(SeekFrom::Start(0)).ok()?;
    smaps.read_to_end(text).ok()?;
    MappedMemory::parse(text)
}

/// A time within `span` of `now`, evenly drawn.
fn later(now: Instant, span: Duration, random: &mut RandomStream) -> Instant {
    now + loadgo_core::time::Span(span.mul_f64(random.unit()).as_nanos() as u64)
}

fn shuffle(users: &mut [UserId], random: &mut RandomStream) {
    for last in (1..users.len()).rev() {
        users.swap(last, random.index(last + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::groups::hierarchy::Version;
    use std::process::{Child, Command};
    use std::sync::Mutex;

    const MEGABYTE_BYTES: u64 = 1 << 20;

    /// One user with these processes.
    #[derive(Debug, Default)]
    struct Processes(Mutex<Vec<i32>>);

    impl UserProcesses for Processes {
        fn users(&self) -> io::Result<Vec<UserId>> {
            Ok(vec![7])
        }

        fn processes(&self, _: UserId) -> io::Result<Vec<i32>> {
            Ok(self.0.lock().unwrap().clone())
        }

        fn memory_counts(&self) -> Option<(String, Version)> {
            None
        }
    }

    /// A process that sleeps until it is dropped.
    struct Sleeper(Child);

    impl Drop for Sleeper {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn sampled(sets: &mut WorkingSets, at_s: u64) -> Vec<WorkingSetRow> {
        let mut rows = Vec::new();
        sets.sample_into(Instant(at_s * SECOND_NS), 60 * SECOND_NS, &mut rows);
        rows
    }

    #[test]
    fn what_was_touched_in_the_window_is_referenced_and_so_is_all_of_a_process_that_began_in_it() {
        let processes = Arc::new(Processes(Mutex::new(vec![std::process::id() as i32])));
        let mut sets = WorkingSets::begin(processes.clone()).unwrap();
        let mut memory = vec![1u8; 256 * MEGABYTE_BYTES as usize];
        assert!(sampled(&mut sets, 0).is_empty(), "users are followed from a random time of the first seconds");
        assert!(sampled(&mut sets, 9).is_empty());
        memory[..64 * MEGABYTE_BYTES as usize].fill(2);
        let [row] = sampled(&mut sets, 10)[..] else { panic!("no row") };
        assert_eq!((row.at.0, row.span_ns, row.user, row.processes), (10 * SECOND_NS, SECOND_NS, 7, 1));
        assert!(row.resident_bytes >= 256 * MEGABYTE_BYTES, "{row:?}");
        // Other tests of this process may run meanwhile.
        let expected = 64 * MEGABYTE_BYTES..row.resident_bytes - 128 * MEGABYTE_BYTES;
        assert!(expected.contains(&row.referenced_bytes), "{row:?}");

        let sleeper = Sleeper(Command::new("sleep").arg("600").spawn().unwrap());
        processes.0.lock().unwrap().push(sleeper.0.id() as i32);
        let [later] = sampled(&mut sets, 14)[..] else { panic!("no row") };
        assert_eq!((later.span_ns, later.processes), (5 * SECOND_NS, 2), "windows begin together, a late one is longer");
        assert!(later.referenced_bytes >= row.referenced_bytes, "{later:?}");
        *processes.0.lock().unwrap() = vec![sleeper.0.id() as i32];
        let [alone] = sampled(&mut sets, 15)[..] else { panic!("no row") };
        assert!(alone.resident_bytes > 0);
        assert_eq!(alone.referenced_bytes, alone.resident_bytes, "{alone:?}");
        std::hint::black_box(memory);
    }

    #[test]
    fn no_more_is_read_than_the_share_of_a_processor_permits() {
        let processes = Arc::new(Processes(Mutex::new(vec![std::process::id() as i32])));
        let mut sets = WorkingSets::begin(processes).unwrap();
        sets.list(Instant(0));
        let mut rows = Vec::new();
        for at_s in 0..200 {
            sets.sample_into(Instant(at_s * SECOND_NS), 1, &mut rows);
        }
        assert!(rows.len() < 3, "a span of a nanosecond has no time for a reading: {rows:?}");
    }
}
