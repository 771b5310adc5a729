//! The event loop at moments that a run meets by chance only: a refused terminal, a log-in that never falls silent, a busy meter.

use super::*;
use crate::leftovers::Leftovers;
use crate::terminals::destinations::{Destination, Destinations};
use crate::terminals::login::Login;
use crate::terminals::orders::{ControllerTerms, DriverOrder, DriverOrders};
use crate::terminals::session::Session;
use crate::terminals::starting::Started;
use crate::usage::sources::Demand;
use loadgo_core::script::{ReadyRule, TypedForm, parse};
use loadgo_sys::child;
use rustix::process::Signal;

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Age of a test's run: old enough for a log-in of the run's beginning to be over its time limit.
const RUN_AGE: Span = Span::from_secs(100);
/// Length of a wait, and most waits of a test.
const WAIT: Span = Span::from_millis(50);
const MOST_WAITS: usize = 12_000;

/// An event loop for users who log in with `login`, in a directory that is removed at the end.
struct TestHost {
    host: Host,
    _dir: tempfile::TempDir,
}

impl TestHost {
    fn new(login: &str, head: &str) -> TestHost {
        let text = format!("name = \"t\"\nlogin = {login:?}\n{head}\nlines = [\"true\"]\n");
        let script = Arc::new(parse(&text).expect("the test's script is right"));
        let dir = tempfile::tempdir().expect("a directory");
        let mut leftovers = Leftovers::begin_in(&dir.path().join("state"), "test").expect("a list");
        let demand = Demand { first_user: 1, users: 1, every: 1, taskstats: false };
        let meter = UsageMeter::open(None, demand, &mut leftovers).expect("a meter");
        let setting = Setting {
            destinations: Destinations::one(Login::find(&script.login, PATH).expect("the log-in is there")),
            orders: DriverOrders::default(),
            controller: None,
            script,
            search_path: PATH.into(),
            run_id: "test".into(),
            homes: dir.path().join("homes"),
            origin_ns: monotonic_ns() - RUN_AGE.0,
            by_place: Arc::default(),
            own_directories: false,
            of_account: false,
        };
        let host = Host::new(setting, meter, None, &StopRequest::default()).expect("an event loop");
        TestHost { host, _dir: dir }
    }

    /// The session of user 1, which has been started and has no seat yet.
    fn started(&mut self) -> Started {
        self.host.log_in(1);
        loop {
            match self.host.starters.take().started.pop() {
                Some(started) => return started,
                None => std::thread::yield_now(),
            }
        }
    }

    /// A host like that of [`TestHost::new`], on which user 1 has logged in.
    fn with_user(login: &str, head: &str) -> TestHost {
        let mut test = TestHost::new(login, head);
        test.host.log_in(1);
        let events = test.events_until(|_, events| !events.is_empty());
        assert!(matches!(events[..], [Event::LoggedIn { user: 1, .. }]), "{events:?}");
        test
    }

    /// Waits until `is_over`, and returns the events of that time.
    fn events_until(&mut self, is_over: impl Fn(&Host, &[Event]) -> bool) -> Vec<Event> {
        let mut events = Vec::new();
        for _ in 0..MOST_WAITS {
            if is_over(&self.host, &events) {
                break;
            }
            self.host.wait(Some(self.host.now() + WAIT), &mut events);
        }
        events
    }

    fn session(&mut self) -> &mut Session {
        &mut self.host.seat(1).expect("the user has a seat").session
    }
}

#[test]
fn a_user_whose_terminal_the_event_loop_refuses_is_refused_once() {
    let mut test = TestHost::new("sh", "");
    let mut started = test.started();
    let session = started.session.as_mut().expect("a shell starts");
    let pid = session.pid;
    session.added = Err(io::ErrorKind::StorageFull.into());
    test.host.seat_or_refuse(started);
    child::signal(pid, Signal::KILL);
    let events = test.events_until(|host, _| host.by_pid.is_empty());
    assert!(test.host.by_pid.is_empty(), "its first process is gone");
    assert!(matches!(events[..], [Event::Refused { user: 1, .. }]), "{events:?}");
}

#[test]
fn a_log_in_that_prints_without_end_is_given_up_at_its_limit() {
    let spinner = "sh -c 'while :; do echo x; sleep 0.02; done'";
    for until in ["", "silence = \"500ms\""] {
        let mut test = TestHost::new(spinner, until);
        let started = test.started();
        test.host.seat_or_refuse(started);
        test.session().began = Instant(0);
        let events = test.events_until(|_, events| !events.is_empty());
        assert!(matches!(events[..], [Event::Refused { user: 1, .. }]), "{until}: {events:?}");
    }
}

#[test]
fn silence_counts_from_the_line_that_prepares_a_session() {
    let mut test = TestHost::new("sh", "silence = \"30s\"");
    let started = test.started();
    test.host.seat_or_refuse(started);
    test.session().last_output = Instant(0);
    let typed = test.host.now();
    test.host.type_preparation(1, "true\n", 1);
    assert!(test.session().quiet_deadline() >= Some(typed + Span::from_secs(30)));
}

#[test]
fn a_user_whose_answer_waits_for_the_meter_is_ready() {
    let mut test = TestHost::with_user("sh", "");
    test.host.send(
        1,
        SentLine { keys: b"true\n", form: TypedForm::Line, has_more: false, line: 1, command: "true", until: &ReadyRule::Mark },
    );
    assert!(!test.host.is_ready(1), "nothing has been read since");
    while test.host.ready.is_empty() {
        test.host.round(Some(test.host.now() + WAIT));
    }
    assert!(test.host.is_ready(1));
    let events = test.events_until(|_, events| !events.is_empty());
    assert!(matches!(events[..], [Event::Ready { user: 1, .. }]) && !test.host.is_ready(1), "{events:?}");
}

#[test]
fn a_user_who_pauses_before_the_log_out_types_the_given_keys() {
    let mut test = TestHost::with_user("sh", "logout = \"sleep 1000\"");
    let login = test.host.setting.destinations.login().clone();
    let destination = Destination { last_user: 1, login, announced_in: Some("/nowhere".into()), next_lines: None };
    test.host.setting.destinations = Destinations::new(vec![destination]);
    let asked = test.host.now();
    assert!(test.host.log_out(1, b"exit\n") >= asked + LOG_OUT_PAUSE);
    let events = test.events_until(|_, events| !events.is_empty());
    assert!(matches!(events[..], [Event::Ended { user: 1, .. }]), "{events:?}");
}

const HOST_IS_LOST: &str = "the host is lost";

/// An order to give up the users 1 to `last`.
fn of_lost_host(last: UserId) -> DriverOrder {
    DriverOrder::GiveUp(GivenUp { users: 1..=last, reason: HOST_IS_LOST.into() })
}

#[test]
fn a_user_who_is_given_up_has_no_session_any_more_and_the_reason_is_told() {
    let mut test = TestHost::with_user("sh", "");
    test.host.setting.orders.clone().give(of_lost_host(3));
    let mut events = test.events_until(|_, events| !events.is_empty());
    let ended = events.pop();
    assert!(matches!(&ended, Some(Event::Ended { user: 1, reason, .. }) if reason == HOST_IS_LOST), "{ended:?}");
    test.host.log_in(2);
    let refused = test.events_until(|_, events| !events.is_empty()).pop();
    assert!(matches!(&refused, Some(Event::Refused { user: 2, reason, .. }) if reason == HOST_IS_LOST), "{refused:?}");
    test.events_until(|host, _| host.by_pid.is_empty());
    assert!(test.host.by_pid.is_empty(), "the first process of user 1 is gone, and user 2 has none");
}

#[test]
fn a_user_who_is_given_up_while_the_session_starts_is_refused_and_the_session_ends() {
    let mut test = TestHost::new("sh", "");
    let started = test.started();
    test.host.setting.orders.give(of_lost_host(1));
    test.events_until(|host, _| !host.given_up.is_empty());
    test.host.seat_or_refuse(started);
    let events = test.events_until(|host, _| host.by_pid.is_empty());
    assert!(test.host.by_pid.is_empty(), "its first process is gone");
    assert!(matches!(events[..], [Event::Refused { user: 1, .. }]), "{events:?}");
}

/// A host like that of [`TestHost::new`], whose driver has a controller elsewhere.
fn controlled() -> TestHost {
    let mut test = TestHost::new("sh", "");
    test.host.setting.controller = Some(ControllerTerms { most_standstill: Span::from_secs(5) });
    test
}

#[test]
fn a_barrier_opens_at_the_instant_of_the_order_and_not_before() {
    let mut test = controlled();
    assert_eq!(test.host.reach(Barrier::Lines), None);
    let at = test.host.now() + Span::from_millis(30);
    test.host.setting.orders.give(DriverOrder::Open { barrier: Barrier::Lines, at_ns: test.host.setting.origin_ns + at.0 });
    let events = test.events_until(|_, events| !events.is_empty());
    assert_eq!(events, [Event::Opened { barrier: Barrier::Lines, at }]);
    assert!(test.host.now() >= at);
}

#[test]
fn without_a_controller_all_barriers_are_open() {
    let mut test = TestHost::new("sh", "");
    assert!(test.host.reach(Barrier::LogIns).is_some() && test.host.reach(Barrier::Lines).is_some());
}

#[test]
fn a_driver_that_stood_still_for_longer_than_its_controller_allows_types_no_more() {
    let mut test = TestHost::with_user("sh", "");
    test.host.setting.controller = Some(ControllerTerms { most_standstill: Span::from_secs(5) });
    test.host.wait(Some(test.host.now()), &mut Vec::new());
    test.host.awake_until = Instant(1); // as if the process had been stopped since
    let line = SentLine {
        keys: b"touch typed\n",
        form: TypedForm::Line,
        has_more: false,
        line: 1,
        command: "touch",
        until: &ReadyRule::Mark,
    };
    test.host.send(1, line);
    let mut events = Vec::new();
    test.host.wait(None, &mut events);
    assert!(matches!(&events[..], [Event::Stuck { reason, .. }] if reason.contains("stood still")), "{events:?}");
    // What the terminal gets now comes after all that was typed.
    let seat = test.host.seat(1).expect("the user has a seat");
    rustix::io::write(seat.master.as_ref().expect("a terminal"), b"exec sleep 1000 # behind\n").expect("there is room");
    let screen = |host: &Host| host.last_screen(1).expect("a seat");
    test.events_until(|host, _| screen(host).contains("# behind"));
    assert!(screen(&test.host).contains("# behind") && !screen(&test.host).contains("touch"), "{}", screen(&test.host));
}

#[test]
fn a_user_who_has_left_keeps_no_seat() {
    let mut test = TestHost::new("sh", "");
    for user in 1..=12 {
        test.host.log_in(user);
        let events = test.events_until(|_, events| !events.is_empty());
        assert!(matches!(events[..], [Event::LoggedIn { .. }]), "{events:?}");
        test.host.log_out(user, b"exit\n");
        let events = test.events_until(|_, events| !events.is_empty());
        assert!(matches!(events[..], [Event::Ended { .. }]), "{events:?}");
        assert!(test.host.last_screen(user).is_some(), "the driver may ask for it when it takes the event");
    }
    test.events_until(|host, _| host.by_pid.is_empty() && host.over.is_empty());
    assert!(test.host.seats.iter().all(|chair| chair.seat().is_none()));
    assert!(test.host.early.is_empty() && test.host.by_pid.is_empty());
    assert!(test.host.seats[1..].iter().all(|chair| matches!(chair, Chair::Left)));
}
