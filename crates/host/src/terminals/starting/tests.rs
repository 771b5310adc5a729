//! The starters where locks are taken, and at their end.

use super::*;
use loadgo_core::script::parse;
use loadgo_sys::events::Epoll;
use rustix::event::{PollFd, PollFlags, poll};
use tempfile::TempDir;

fn one_starter() -> (Starters, Arc<Bell>, TempDir) {
    let script = Arc::new(parse("name = \"t\"\nlogin = \"true\"\nlines = [\"a\"]\n").expect("a script"));
    let destinations = Destinations::one(Login::find(&script.login, "/usr/bin:/bin").expect("true is there"));
    let homes = tempfile::tempdir().expect("a folder");
    let accounts = AccountOpener { accounts: None, keep_open: false };
    let terminals = Epoll::new().and_then(|epoll| epoll.adder()).expect("an event loop");
    let (environment, homes_path, groups, farewells) = (Vec::new(), homes.path().into(), None, None);
    let ground = Ground { script, destinations, environment, homes: homes_path, groups, accounts, terminals, farewells };
    let bell = Arc::new(Bell::new().expect("a bell"));
    (Starters::begin(ground, 1, &bell).expect("a thread"), bell, homes)
}

#[test]
fn whoever_finds_a_lock_taken_goes_on_and_hands_over_later() {
    let (mut starters, bell, _homes) = one_starter();
    let shared = Arc::clone(&starters.shared);
    let locks = (shared.orders.lock().expect("free"), shared.finished.lock().expect("free"));
    starters.start(7);
    assert!(starters.take().started.is_empty() && starters.kept.len() == 1, "both return, although both locks are taken");
    drop(locks);
    assert!(starters.take().started.is_empty() && starters.kept.is_empty());
    poll(&mut [PollFd::from_borrowed_fd(bell.fd(), PollFlags::IN)], None).expect("it rings");
    let started = starters.take().started;
    assert!(started.len() == 1 && started[0].user == 7, "{started:?}");
}

#[test]
fn terminals_are_hung_up_before_the_threads_end_and_log_ins_are_forgotten() {
    let (mut starters, _bell, _homes) = one_starter();
    let (mut reader, writer) = io::pipe().expect("a pipe");
    let orders = Arc::clone(&starters.shared);
    let lock = orders.orders.lock().expect("free");
    starters.hang_up(writer.into());
    starters.start(7);
    drop(lock);
    assert!(starters.finish().is_empty());
    assert_eq!(reader.read(&mut [0; 1]).expect("closed"), 0);
}
