//! Runs of a script with real users on this host, for tests of sessions.

#![allow(dead_code, reason = "each test program uses its part")]

use loadgo_core::driver::{SessionCounts, drive};
use loadgo_core::load::OfferedLoad;
use loadgo_core::record::{InteractionRow, LostRow, Outcome, Phase, Recorder, ScreenRow, SessionRow};
use loadgo_core::script::{Script, parse};
use loadgo_core::stop::StopRequest;
use loadgo_core::system::Usage;
use loadgo_core::time::Instant;
use loadgo_host::leftovers::Leftovers;
use loadgo_host::terminals::destinations::Destinations;
use loadgo_host::terminals::host::Host;
use loadgo_host::terminals::login::Login;
use loadgo_host::terminals::orders::DriverOrders;
use loadgo_host::terminals::setting::Setting;
use loadgo_host::usage::meter::UsageMeter;
use loadgo_host::usage::sources::Demand;
use loadgo_sys::clock::monotonic_ns;
use std::sync::Arc;

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The part of an interaction that tests ask about.
#[derive(Debug)]
pub struct Row {
    pub user: u32,
    pub command: String,
    pub response_ns: Option<u64>,
    pub cpu_ns: Option<u64>,
    pub faults: Option<u64>,
    pub typing_cpu_ns: Option<u64>,
    pub cpu_excess_ns: Option<u64>,
    pub bytes_out: u64,
    pub exit_status: Option<u8>,
    pub outcome: Outcome,
}

/// The records of a run.
#[derive(Default)]
pub struct Kept {
    pub rows: Vec<Row>,
    pub sessions: Vec<SessionRow>,
    pub lost: Vec<LostRow>,
    pub screens: Vec<ScreenRow>,
}

impl Recorder for Kept {
    fn interaction(&mut self, row: &InteractionRow<'_>) {
        let usage = &row.usage;
        self.rows.push(Row {
            user: row.user,
            command: row.command.into(),
            response_ns: row.ready.map(|ready| ready.since(row.sent).0),
            cpu_ns: cpu_ns(usage),
            faults: usage.faults_minor,
            typing_cpu_ns: cpu_ns(&row.typing_usage),
            cpu_excess_ns: row.cpu_excess_ns,
            bytes_out: row.bytes_out,
            exit_status: row.exit_status,
            outcome: row.outcome,
        });
    }
    fn screen(&mut self, row: &ScreenRow) {
        self.screens.push(row.clone());
    }
    fn session(&mut self, row: &SessionRow) {
        self.sessions.push(row.clone());
    }
    fn lost(&mut self, row: &LostRow) {
        self.lost.push(row.clone());
    }
    fn phase(&mut self, _: Phase, _: Instant) {}
}

fn cpu_ns(usage: &Usage) -> Option<u64> {
    usage.cpu_user_ns.zip(usage.cpu_system_ns).map(|(user, system)| user + system)
}

fn script(text: &str) -> Script {
    parse(text).unwrap_or_else(|mistake| panic!("{mistake:?}"))
}

/// Runs `text` with `users` on this host.
pub fn run(text: &str, users: u32) -> (Kept, SessionCounts) {
    run_with(text, OfferedLoad::closed(users, 1))
}

/// Runs `text` with this load on this host.
pub fn run_with(text: &str, load: OfferedLoad) -> (Kept, SessionCounts) {
    let mut kept = Kept::default();
    let summary = run_into(text, load, &mut kept);
    (kept, summary)
}

/// Runs `text` with this load on this host, and gives the records to `recorder`.
pub fn run_into(text: &str, load: OfferedLoad, recorder: &mut impl Recorder) -> SessionCounts {
    let script = Arc::new(script(text));
    let homes = tempfile::tempdir().expect("a place for homes");
    let id = format!("test-{}-{}", std::process::id(), monotonic_ns());
    let mut leftovers = Leftovers::begin(&id).expect("a list of leftovers");
    let groups = loadgo_host::groups::Groups::create(&id, &mut leftovers).ok().map(Arc::new);
    let demand = Demand { first_user: load.first_user, users: load.users as usize, every: 1, taskstats: true };
    let meter = UsageMeter::open(groups.as_deref(), demand, &mut leftovers).expect("a meter");
    let setting = Setting {
        destinations: Destinations::one(Login::find(&script.login, PATH).expect("the log-in is there")),
        orders: DriverOrders::default(),
        controller: None,
        script: Arc::clone(&script),
        search_path: PATH.into(),
        run_id: id,
        homes: homes.path().to_owned(),
        origin_ns: monotonic_ns(),
        by_place: Arc::default(),
        own_directories: false,
        of_account: false,
    };
    let mut host = Host::new(setting, meter, groups, &StopRequest::default()).expect("an event loop");
    let summary = drive(&script, &load, &mut host, recorder);
    host.finish();
    drop(host);
    leftovers.finish();
    summary
}

/// Time limit of a line that is expected to end, however busy the machine is; a longer wait counts as endless.
pub const PATIENCE: &str = "900s";

/// A script with these lines, whose users do not think.
pub fn lines(lines: &str) -> String {
    format!("name = \"test\"\nlogin = \"sh\"\nthink = \"none\"\ntimeout = \"{PATIENCE}\"\nlines = {lines}\n")
}
