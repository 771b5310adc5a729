//! A user takes little of the driver's memory. The test is alone in its program: the sessions of others have memory too.

mod session_run;

use loadgo_core::load::OfferedLoad;
use loadgo_core::record::{InteractionRow, LostRow, Phase, Recorder, SessionRow};
use loadgo_core::time::Instant;
use loadgo_sys::heap::allocated_bytes;
use session_run::{lines, run_into};

const FEW_USERS: u32 = 32;
const MANY_USERS: u32 = 160;
const RUNS: u32 = 2;
/// Most memory that a further user may take: state of the driver, of the terminal and of the meter, and the last line's text.
const MOST_BYTES_A_USER: usize = 1400;
/// Least memory that a further user takes. Less means that the heap was not measured.
const LEAST_BYTES_A_USER: usize = 600;

#[cfg(target_env = "gnu")] // no other allocator says how much is allocated
#[test]
fn a_user_takes_little_of_the_drivers_memory() {
    let few = least_allocated_with(FEW_USERS).expect("glibc says how much is allocated");
    let many = least_allocated_with(MANY_USERS).expect("the same allocator");
    let bytes_a_user = many.saturating_sub(few) / (MANY_USERS - FEW_USERS) as usize;
    assert!((LEAST_BYTES_A_USER..=MOST_BYTES_A_USER).contains(&bytes_a_user), "{bytes_a_user} bytes a user");
}

/// The least of a few runs. Processes of others that end meanwhile take memory for a moment, and more of it on a busy host.
fn least_allocated_with(users: u32) -> Option<usize> {
    (0..RUNS).filter_map(|_| allocated_with(users)).min()
}

/// Least bytes of the heap in use at an answer while all users are there.
fn allocated_with(users: u32) -> Option<usize> {
    let mut heap = LeastOfHeap { bytes: None, all_are_here: true };
    // Users who think come one after the other, so that no queue of events has grown with their number.
    let script = lines(r#"["true", "true", "true"]"#).replace("think = \"none\"", "think = \"uniform(0s, 400ms)\"");
    let counts = run_into(&script, OfferedLoad::closed(users, 1), &mut heap);
    assert_eq!((counts.logged_in, counts.interactions), (users, 3 * u64::from(users)));
    heap.bytes
}

/// Reads the heap's size at each answer until a user leaves, and keeps the smallest.
struct LeastOfHeap {
    bytes: Option<usize>,
    all_are_here: bool,
}

impl Recorder for LeastOfHeap {
    fn interaction(&mut self, _: &InteractionRow<'_>) {
        if self.all_are_here {
            self.bytes = self.bytes.into_iter().chain(allocated_bytes()).min();
        }
    }
    fn session(&mut self, _: &SessionRow) {
        self.all_are_here = false;
    }
    fn lost(&mut self, row: &LostRow) {
        panic!("{row:?}");
    }
    fn phase(&mut self, _: Phase, _: Instant) {}
}
