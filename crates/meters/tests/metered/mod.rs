//! Runs programs under the meters, each as a user's session, and collects their rows.

use loadgo_core::record::{LockWaitRow, PrimitiveRow};
use loadgo_core::system::UserId;
use loadgo_core::time::Instant;
use loadgo_host::usage::waits::Waits;
use loadgo_meters::{MeterRequest, Meters, Tier};
use loadgo_sys::clock::monotonic_ns;
use std::collections::BTreeMap;
use std::process::{Child, Command};

/// The meters, and their rows so far.
pub struct Metered {
    meters: Meters,
    waits: loadgo_meters::accounts::AccountWaits,
    /// All rows of all readings.
    pub rows: Vec<PrimitiveRow>,
    /// Rows of waits for locks of all readings.
    pub lock_waits: Vec<LockWaitRow>,
    /// Losses of all readings.
    pub lost: u64,
}

/// Sums of a primitive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    pub count: u64,
    pub errors: u64,
    pub time_ns: u64,
    pub wait_ns: u64,
}

impl Metered {
    /// Begins. A line's command is the command with the line's number.
    pub fn begin(commands: &[String]) -> Metered {
        let commands: Vec<_> = commands.iter().map(|command| command.as_str().into()).collect();
        let lines = (0..=commands.len() as u32).collect();
        let wanted = MeterRequest { tier: Tier::Exact, accounts: 8, commands, locks: true, profile_hz: None };
        let mut meters =
            Meters::begin(&wanted, Instant(monotonic_ns())).unwrap_or_else(|refusal| panic!("these tests need root: {refusal}"));
        let waits = meters.waits(lines).expect("sessions are distinguished");
        Metered { meters, waits, rows: Vec::new(), lock_waits: Vec::new(), lost: 0 }
    }

    /// Starts a command as the user's session.
    pub fn start(&mut self, user: UserId, command: &mut Command) -> Child {
        let child = command.spawn().expect("the command starts");
        self.waits.began(user, child.id());
        child
    }

    /// Notes that the user types the line of this number.
    pub fn line(&mut self, user: UserId, line: u32) {
        self.waits.line(user, line);
    }

    /// Reads until the child has ended and the rows have the ends of `ends` processes of its user. A parent learns of an end while the
    /// process is still in its last call.
    pub fn until_over(&mut self, mut child: Child, user: UserId, ends: u64) {
        child.wait().expect("the child ends");
        self.read();
        let waits_since = Instant(monotonic_ns());
        while self.of(user).get("exit_group").map_or(0, |sums| sums.count) < ends {
            let waited = Instant(monotonic_ns()).since(waits_since).0;
            assert!(
                waited < 20_000_000_000,
                "the rows have {:?}, {} are lost, this host has {:?}",
                self.of(user),
                self.lost,
                self.meters.availability()
            );
            std::thread::sleep(std::time::Duration::from_millis(2));
            self.read();
        }
    }

    /// Totals of the user's calls, by name.
    pub fn of(&self, user: UserId) -> BTreeMap<String, Sums> {
        let mut totals: BTreeMap<String, Sums> = BTreeMap::new();
        for row in self.rows.iter().filter(|row| row.user == Some(user)) {
            let sums = totals.entry(row.name.to_string()).or_default();
            sums.count += row.count;
            sums.errors += row.errors.expect("sums have errors");
            sums.time_ns += row.time_ns.expect("sums have a time");
            sums.wait_ns += row.wait_ns.expect("sums have a wait");
        }
        totals
    }

    fn read(&mut self) {
        let sample = self.meters.sample(Instant(monotonic_ns())).expect("the kernel answers");
        self.rows.extend(sample.primitives);
        self.lock_waits.extend(sample.lock_waits);
        self.lost += self.meters.take_lost().iter().map(|lost| lost.count).sum::<u64>();
    }
}

/// This test program, as a load.
pub fn own(load: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.args(["--ignored", "--exact", "--nocapture", "load"]).env("LOADGO_LOAD", load);
    command
}
