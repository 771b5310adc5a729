//! Rows of memory of real processes in real control groups.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use loadgo_core::record::MemoryRow;
use loadgo_core::system::UserId;
use loadgo_core::time::Instant;
use loadgo_host::groups::Groups;
use loadgo_host::leftovers::Leftovers;
use loadgo_host::usage::memory::Memory;

const SECOND: u64 = 1_000_000_000;
static RUN: AtomicU32 = AtomicU32::new(0);

struct Run {
    groups: Arc<Groups>,
    leftovers: Leftovers,
    directory: PathBuf,
    programs: Vec<Child>,
}

impl Run {
    fn new() -> Run {
        let id = format!("memory-{}-{}", std::process::id(), RUN.fetch_add(1, Ordering::Relaxed));
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("loadgo-{id}"));
        std::fs::create_dir_all(&directory).unwrap();
        let mut leftovers = Leftovers::begin_in(&directory.join("state"), &id).unwrap();
        let groups = Groups::create(&id, &mut leftovers).unwrap_or_else(|why| panic!("this test needs root: {why}"));
        Run { groups: Arc::new(groups), leftovers, directory, programs: Vec::new() }
    }

    /// A process of `user` that holds so many bytes.
    fn holds(&mut self, user: UserId, bytes: usize) {
        self.groups.add_user(user).unwrap();
        let paths = self.groups.join_paths(user);
        let joins: String = paths.iter().map(|path| format!("echo 0 >{}; ", path.to_str().unwrap())).collect();
        let program = format!("{joins}exec python3 -c 'held = b\"x\" * {bytes}; print(\"held\", flush=True); input()'");
        let mut child = Command::new("sh").args(["-c", &program]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "held\n");
        self.programs.push(child);
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        for program in &mut self.programs {
            let _ = program.kill();
            let _ = program.wait();
        }
        let left = self.leftovers.finish();
        let _ = std::fs::remove_dir_all(&self.directory);
        assert!(std::thread::panicking() || left.is_empty(), "{left:?}");
    }
}

fn sampled(memory: &mut Memory, now: u64, span_ns: u64) -> Vec<MemoryRow> {
    let mut rows = Vec::new();
    memory.sample_into(Instant(now), span_ns, &mut rows);
    rows
}

fn of(user: UserId, rows: &[MemoryRow]) -> Option<&MemoryRow> {
    rows.iter().find(|row| row.user == Some(user))
}

#[test]
fn a_user_holds_what_his_processes_have_written_and_all_rows_add_up_to_all_memory() {
    let mut run = Run::new();
    let sizes = [(1, 8 << 20), (2, 48 << 20), (2, 16 << 20)];
    sizes.into_iter().for_each(|(user, bytes)| run.holds(user, bytes));
    let mut memory = Memory::begin(Some(run.groups.clone()), Instant(0)).unwrap();
    let rows = sampled(&mut memory, 10 * SECOND, 10 * SECOND);
    for (user, least, most) in [(1, 8 << 20, 24 << 20), (2, 64 << 20, 96 << 20)] {
        let row = of(user, &rows).unwrap();
        assert_eq!((&*row.who, row.span_ns), ("users", 10 * SECOND));
        let held = row.resident_bytes.unwrap() + row.device_bytes.unwrap();
        assert!((least..most).contains(&held), "{row:?}");
    }
    let size = rows.iter().find(|row| &*row.who == "free").and_then(|row| row.size_bytes).unwrap();
    assert_eq!(rows.iter().filter_map(|row| row.resident_bytes).sum::<u64>(), size);
}

#[test]
fn a_user_who_has_gone_has_one_row_more_and_holds_nothing_in_it() {
    let mut run = Run::new();
    run.holds(1, 1 << 20);
    run.holds(2, 1 << 20);
    let mut memory = Memory::begin(Some(run.groups.clone()), Instant(0)).unwrap();
    assert!(of(2, &sampled(&mut memory, SECOND, SECOND)).unwrap().resident_bytes >= Some(1 << 20));
    run.groups.remove_user(2).unwrap();
    let gone = sampled(&mut memory, 3 * SECOND, 2 * SECOND);
    let row = of(2, &gone).unwrap();
    assert_eq!((row.resident_bytes, row.device_bytes, row.span_ns), (Some(0), Some(0), 2 * SECOND));
    let after = sampled(&mut memory, 4 * SECOND, SECOND);
    assert!(of(2, &after).is_none() && of(1, &after).is_some());
}

#[test]
fn where_not_all_can_be_read_in_a_span_each_has_his_turn_and_the_last_rows_add_up_to_all_memory() {
    const USERS: u32 = 6;
    const SPAN: u64 = SECOND / 1000; // room for one user at most: 1.5 microseconds of processor time
    let mut run = Run::new();
    (1..=USERS).for_each(|user| run.holds(user, 4 << 20));
    let mut memory = Memory::begin(Some(run.groups.clone()), Instant(0)).unwrap();
    let mut ends = vec![Vec::new(); USERS as usize];
    let mut last = BTreeMap::new();
    for span in 1..=2000 {
        let rows = sampled(&mut memory, span * SPAN, SPAN);
        let of_users = rows.iter().filter(|row| row.user.is_some());
        assert!(of_users.clone().count() <= 1, "the time for one user is spent on one");
        for row in of_users {
            let ends: &mut Vec<u64> = &mut ends[row.user.unwrap() as usize - 1];
            assert_eq!(row.at.0 - row.span_ns, ends.last().copied().unwrap_or(0), "the rows of a user follow each other");
            ends.push(row.at.0);
        }
        let size = rows.iter().find(|row| &*row.who == "free").and_then(|row| row.size_bytes).unwrap();
        last.extend(rows.iter().filter_map(|row| Some((row.user?, row.resident_bytes?))));
        let nobodys = rows.iter().filter(|row| row.user.is_none()).filter_map(|row| row.resident_bytes).sum::<u64>();
        assert_eq!(nobodys + last.values().sum::<u64>(), size, "each user's last row, and all others'");
        if ends.iter().all(|ends| ends.len() > 1) {
            return;
        }
    }
    panic!("not all had their turn: {ends:?}");
}
