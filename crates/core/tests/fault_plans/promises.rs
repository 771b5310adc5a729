//! Promises that hold after any load, whatever went wrong. Each function returns the first one that is broken, in words.

use super::Ended;
use super::drawn_plan::Plan;
use crate::virtual_host::Row;
use loadgo_core::load::LoadModel;
use loadgo_core::record::{Outcome, Phase, SessionRow};
use loadgo_core::time::Instant;
use std::collections::BTreeMap;

/// The first promise that the load of `plan` has broken.
pub fn broken(plan: &Plan, ended: &Ended) -> Option<String> {
    every_user_has_one_session(plan, ended)
        .or_else(|| sessions_are_as_counted(ended))
        .or_else(|| every_sent_line_is_recorded_or_lost(ended))
        .or_else(|| every_loss_is_told(ended))
        .or_else(|| nobody_is_left_behind(ended))
        .or_else(|| a_users_time_adds_up(ended))
        .or_else(|| phases_follow_each_other(ended))
        .or_else(|| log_ins_are_paced(plan, ended))
}

/// How two loads of one plan differ.
pub fn differs_from(one: &Ended, other: &Ended) -> Option<String> {
    let is_same = one.kept.rows == other.kept.rows
        && one.kept.sessions == other.kept.sessions
        && one.kept.lost == other.kept.lost
        && one.kept.phases == other.kept.phases
        && one.host.keys == other.host.keys
        && one.counts == other.counts;
    unless(is_same, || "the same seed gave other records".into())
}

fn unless(holds: bool, broken: impl FnOnce() -> String) -> Option<String> {
    (!holds).then(broken)
}

/// Every user has one session; in an open load, every user who has arrived.
fn every_user_has_one_session(plan: &Plan, ended: &Ended) -> Option<String> {
    let mut users: Vec<u32> = ended.kept.sessions.iter().map(|session| session.user).collect();
    users.sort_unstable();
    let is_once = users.windows(2).all(|pair| pair[0] < pair[1]);
    let all: Vec<u32> = (plan.load.first_user..=plan.load.last_user()).collect();
    let is_whole = match plan.load.model {
        LoadModel::Closed => users == all,
        LoadModel::Open(_) => {
            ended.host.begun.iter().all(|user| users.contains(user)) && users.iter().all(|user| all.contains(user))
        }
    };
    unless(is_once && is_whole, || format!("sessions of {users:?}"))
}

fn sessions_are_as_counted(ended: &Ended) -> Option<String> {
    let count = |outcome| ended.kept.sessions.iter().filter(|session| session.outcome == outcome).count() as u32;
    let counts = &ended.counts;
    let tried =
        ended.kept.sessions.iter().filter(|session| session.outcome == "refused" && ended.host.begun.contains(&session.user));
    let (done, died, refused) = (count("done"), count("died"), tried.count() as u32);
    unless((done, died, refused) == (counts.done, counts.died, counts.refused), || {
        format!("{done} sessions done, {died} died, {refused} refused; the counts are {counts:?}")
    })
    .or_else(|| {
        let logged_in = ended.kept.sessions.iter().filter(|session| session.ready.is_some()).count() as u32;
        unless(logged_in == counts.logged_in, || format!("{logged_in} sessions have a prompt; the counts are {counts:?}"))
    })
    .or_else(|| ended.kept.sessions.iter().find_map(session_is_in_order))
}

fn session_is_in_order(session: &SessionRow) -> Option<String> {
    let ready = session.ready.unwrap_or(session.started);
    let in_order = session.planned <= session.started && session.started <= ready && ready <= session.ended;
    unless(in_order, || format!("a session is not in order: {session:?}"))
}

/// Each line that the system was sent has a row, or is in a loss.
fn every_sent_line_is_recorded_or_lost(ended: &Ended) -> Option<String> {
    let (rows, lost) = (ended.kept.rows.len() as u64, lost_of(ended, "interaction"));
    unless(rows + lost == ended.sent_lines && rows == ended.counts.interactions, || {
        format!("{} lines sent, {rows} rows, {lost} lost, {} counted", ended.sent_lines, ended.counts.interactions)
    })
}

fn lost_of(ended: &Ended, what: &str) -> u64 {
    ended.kept.lost.iter().filter(|lost| lost.what == what).map(|lost| lost.count).sum()
}

fn every_loss_is_told(ended: &Ended) -> Option<String> {
    let (sessions, log_ins) = (lost_of(ended, "session"), lost_of(ended, "log-in"));
    unless((sessions, log_ins) == (u64::from(ended.counts.died), u64::from(ended.counts.refused)), || {
        format!("{sessions} sessions and {log_ins} log-ins are told as lost; the counts are {:?}", ended.counts)
    })
    .or_else(|| {
        let timed_out = ended.kept.rows.iter().filter(|row| row.outcome == Outcome::Timeout).count();
        unless(timed_out == ended.host.interrupts.len(), || {
            format!("{timed_out} rows timed out, and {} lines were interrupted", ended.host.interrupts.len())
        })
    })
    .or_else(|| unless(ended.counts.stuck.is_none() || ended.counts.stopped, || "a stuck load has not stopped".into()))
}

/// A session that was begun, and did not end by itself, was hung up; nothing was typed to it after its end.
fn nobody_is_left_behind(ended: &Ended) -> Option<String> {
    let begun = ended.kept.sessions.iter().filter(|session| ended.host.begun.contains(&session.user));
    let left = begun.clone().find(|session| session.outcome == "stopped" && !ended.host.hung_up.contains(&session.user));
    let ends: BTreeMap<u32, Instant> = ended.kept.sessions.iter().map(|session| (session.user, session.ended)).collect();
    let after = ended.host.keys.iter().find(|(at, user, _)| *at > ends[user]);
    left.map(|session| format!("a stopped session was not hung up: {session:?}"))
        .or_else(|| after.map(|(at, user, keys)| format!("user {user} typed {keys:?} at {at:?}, after the session's end")))
}

/// From the first prompt to the last answer, a user's time is thinking, typing and waiting for the system, to the nanosecond.
fn a_users_time_adds_up(ended: &Ended) -> Option<String> {
    ended.kept.sessions.iter().find_map(|session| {
        let rows = ended.kept.of(session.user);
        let within = rows.first().zip(session.ready).is_none_or(|(row, ready)| prompt_of(row) >= ready.0);
        let last = rows.last().map_or(0, |row| row.ready.unwrap_or(row.sent));
        unless(within && last <= session.ended.0, || format!("rows are outside of their session: {session:?}"))
            .or_else(|| rows.iter().copied().find_map(row_is_in_order))
            .or_else(|| rows.windows(2).find_map(|pair| follows(pair[0], pair[1])))
    })
}

/// The prompt at which the user began to think about the row's line.
fn prompt_of(row: &Row) -> u64 {
    row.sent - row.typing - row.think
}

fn row_is_in_order(row: &Row) -> Option<String> {
    let is_answered = matches!(row.outcome, Outcome::Ok | Outcome::Failed | Outcome::Unconfirmed);
    let in_order =
        row.planned <= row.sent && row.ready.is_none_or(|ready| row.sent <= ready) && is_answered == row.ready.is_some();
    unless(in_order, || format!("a row is not in order: {row:?}"))
}

fn follows(before: &Row, after: &Row) -> Option<String> {
    let prompt = prompt_of(after);
    let follows = before.ready.map_or(prompt > before.sent && before.outcome == Outcome::Timeout, |ready| ready == prompt);
    unless(follows, || format!("a prompt at {prompt} does not follow: {before:?}, then {after:?}"))
}

fn phases_follow_each_other(ended: &Ended) -> Option<String> {
    let phases = &ended.kept.phases;
    let in_order = phases.windows(2).all(|pair| (pair[0].0 as u8) < pair[1].0 as u8 && pair[0].1 <= pair[1].1);
    unless(in_order, || format!("the phases are {phases:?}")).or_else(|| {
        ended
            .kept
            .rows
            .iter()
            .find_map(|row| unless(is_in_its_phase(phases, row), || format!("a row is not in its phase: {row:?} of {phases:?}")))
    })
}

fn is_in_its_phase(phases: &[(Phase, Instant)], row: &Row) -> bool {
    let began = phases.iter().find(|(phase, _)| *phase == row.phase).map(|(_, at)| at.0);
    let ended = phases.iter().find(|(phase, _)| *phase as u8 > row.phase as u8).map(|(_, at)| at.0);
    began.is_some_and(|at| at <= row.sent) && ended.is_none_or(|at| row.sent <= at)
}

fn log_ins_are_paced(plan: &Plan, ended: &Ended) -> Option<String> {
    let most = plan.load.log_ins_at_once as usize;
    unless(plan.load.model != LoadModel::Closed || ended.host.most_under_way <= most, || {
        format!("{} log-ins were under way, and {most} may be", ended.host.most_under_way)
    })
}
