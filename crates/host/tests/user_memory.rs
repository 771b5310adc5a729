//! A user takes little of the driver's memory. The test is alone in its program: the sessions of others have memory too.

mod session_run;

use loadgo_core::load::OfferedLoad;
use loadgo_core::record::{InteractionRow, LostRow, Phase, Recorder, SessionRow};
use loadgo_core::time::Instant;
use loadgo_sys::heap::allocated_bytes;
use session_run::{lines, run_into};

const FEW_USERS: u32 = 32;
const MANY_USERS: u32 = 160;
/// Most memory that a further user may take: state of the driver, of the terminal and of the meter, and the last line's text.
const MOST_BYTES_A_USER: usize = 1100;

#[test]
fn a_user_takes_little_of_the_drivers_memory() {
    let Some(few) = allocated_with(FEW_USERS) else { return };
    let many = allocated_with(MANY_USERS).expect("the same allocator");
    let bytes_a_user = many.saturating_sub(few) / (MANY_USERS - FEW_USERS) as usize;
    assert!((600..=MOST_BYTES_A_USER).contains(&bytes_a_user), "{bytes_a_user} bytes a user");
}

/// Most bytes of the heap that were in use at an answer. All users are logged in when the first comes.
fn allocated_with(users: u32) -> Option<usize> {
    let mut heap = MostOfHeap { bytes: None };
    let counts = run_into(&lines(r#"["true", "true", "true"]"#), OfferedLoad::closed(users, 1), &mut heap);
    assert_eq!((counts.logged_in, counts.interactions), (users, 3 * u64::from(users)));
    heap.bytes
}

/// Reads the heap's size at each answer, and keeps the largest.
struct MostOfHeap {
    bytes: Option<usize>,
}

impl Recorder for MostOfHeap {
    fn interaction(&mut self, _: &InteractionRow<'_>) {
        self.bytes = self.bytes.max(allocated_bytes());
    }
    fn session(&mut self, _: &SessionRow) {}
    fn lost(&mut self, row: &LostRow) {
        panic!("{row:?}");
    }
    fn phase(&mut self, _: Phase, _: Instant) {}
}
