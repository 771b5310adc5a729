//! Sessions that a driver on another host has logged in to this one: found, followed and read often.
//!
//! The driver cannot read an account at the instant at which it sends a line: that instant is known on another host. So all
//! accounts are read every few milliseconds, and a row says what a session used between two readings. Afterwards the driver's host
//! gives each row to the line in whose time it lies.
//!
//! Each session announces itself while it logs in, and waits until it is followed ([`announcements`]). So no line is typed before
//! its account exists, and nobody has to tell this host about a session over the network. As root, the session's shell is moved
//! into a control group of its own. This lies below the group that it was in, whose limits still hold.

mod announcements;
mod group;

use crate::beginning::{Began, own_pid_namespace};
use crate::followed::announcements::{Announced, Announcements};
use crate::followed::group::FollowedGroups;
use crate::groups::accounts::OpenedAccount;
use crate::leftovers::{Leftovers, Thing};
use crate::refusal::Refusal;
use crate::usage::memory::UserProcesses;
use crate::usage::meter::UsageMeter;
use crate::usage::sources::{Demand, Sources};
use crate::usage::waits::Waits;
use loadgo_core::record::SessionUsageRow;
use loadgo_core::system::{Usage, UserId};
use loadgo_core::time::Instant;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The account of the sessions, and how many of them may come.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The name of the run, for the names of groups.
    pub id: String,
    /// The directory in which sessions announce themselves, which is made.
    pub directory: PathBuf,
    /// The user id of the account that the sessions log in to.
    pub owner: u32,
    /// The largest number of a user.
    pub users: u32,
    /// The command's name of each line that users type, by the line's number; empty for numbers without a line.
    pub commands: Vec<String>,
}

/// The sessions that are followed. Dropping this lets them go.
#[derive(Debug)]
pub struct FollowedSessions {
    expected: Expected,
    announcements: Announcements,
    /// The groups that sessions get, or why they get none.
    groups: Result<FollowedGroups, Refusal>,
    meter: UsageMeter,
    sessions: Vec<FollowedSession>,
    /// When this process began, in clock ticks since the boot.
    own_began_ticks: u64,
    pid_namespace: Vec<u8>,
    refused: u64,
    /// The reason why the first of the refused sessions is not followed.
    first_refusal: Option<String>,
    leftovers: Leftovers,
}

/// A session that is followed.
#[derive(Debug)]
struct FollowedSession {
    user: UserId,
    pid: u32,
    began_ticks: u64,
    group: Option<PathBuf>,
    /// When the last reading of its account began.
    read: Instant,
}

impl FollowedSessions {
    /// Makes the directory, and opens the best meter that this host permits.
    ///
    /// # Errors
    /// The directory cannot be made, or there is no `/proc`.
    pub fn begin(expected: Expected) -> Result<FollowedSessions, Refusal> {
        let cannot = |error: io::Error| Refusal::new("what sessions use cannot be measured here").because(error);
        let mut leftovers = Leftovers::begin(&expected.id).map_err(cannot)?;
        leftovers.note(Thing::Home(expected.directory.clone())).map_err(cannot)?;
        let announcements = Announcements::make(&expected.directory, expected.owner).map_err(cannot)?;
        let groups = FollowedGroups::open(&expected.id, &mut leftovers);
        let demand = Demand { first_user: 1, users: expected.users as usize, every: 1, taskstats: true };
        let accounts = groups.as_ref().ok().and_then(|groups| groups.accounts().ok());
        let meter = UsageMeter::open_with(accounts, demand, &mut leftovers).map_err(cannot)?;
        Ok(FollowedSessions {
            announcements,
            groups,
            meter,
            sessions: Vec::new(),
            own_began_ticks: Began::of(std::process::id()).map_err(cannot)?.at_ticks,
            pid_namespace: own_pid_namespace().map_err(cannot)?,
            refused: 0,
            first_refusal: None,
            expected,
            leftovers,
        })
    }

    /// Where usage comes from.
    pub fn sources(&self) -> Sources {
        let mut sources = self.meter.sources().clone();
        sources.notes.extend(self.groups.as_ref().err().map(ToString::to_string));
        sources
    }

    /// Reads waits from `waits`, a finer account, from the next session on.
    pub fn take_waits_from(&mut self, waits: Box<dyn Waits>) {
        self.meter.take_waits_from(waits);
    }

    /// The processes of each session, where sessions have groups.
    pub fn processes(&self) -> Option<Arc<dyn UserProcesses>> {
        let groups = self.groups.as_ref().ok()?;
        Some(Arc::new(groups.processes()))
    }

    /// The directory in which sessions announce themselves.
    pub fn directory(&self) -> &Path {
        &self.expected.directory
    }

    /// Reads all accounts, adds a row for each session that has used something, and follows sessions that have announced themselves.
    /// Returns when the first reading began.
    pub fn read_into(&mut self, now: impl Fn() -> Instant, rows: &mut Vec<SessionUsageRow>) -> Instant {
        let began = now();
        self.meter.drain();
        let mut sessions = std::mem::take(&mut self.sessions);
        sessions.retain_mut(|session| self.read(session, &now, rows));
        self.sessions.extend(sessions);
        for announced in self.announcements.waiting() {
            if let Err(error) = self.follow(&announced, &now, rows) {
                self.refused += 1;
                self.first_refusal.get_or_insert_with(|| error.to_string());
            }
            self.announcements.answer(&announced);
        }
        began
    }

    /// Reads the accounts of the users of `next_lines`, and lets their later events count for these lines. The users have their
    /// prompts. Adds a row for each who is followed.
    pub fn begin_lines(&mut self, next_lines: &[(UserId, u32)], now: impl Fn() -> Instant, rows: &mut Vec<SessionUsageRow>) {
        self.meter.drain();
        for (user, line) in next_lines {
            let Some(session) = self.sessions.iter_mut().find(|session| session.user == *user) else { continue };
            let began = now();
            let last = std::mem::replace(&mut session.read, began);
            let (usage, [user_ticks_us, system_ticks_us]) = self.meter.with_ticks(*user);
            self.meter.sent(*user, *line);
            let (at, user, line) = (now(), Some(*user), Some(*line));
            rows.push(SessionUsageRow { at, span_ns: at.since(last).0, user, line, usage, user_ticks_us, system_ticks_us });
        }
    }

    /// The number of usage records lost since the last call.
    pub fn take_lost(&mut self) -> u64 {
        self.meter.take_lost()
    }

    /// Lets all sessions go. Returns a note about sessions that were not followed, if there are any, and what stays behind.
    pub fn end(mut self) -> (Option<String>, Vec<Refusal>) {
        let note = self
            .first_refusal
            .take()
            .map(|reason| format!("{} sessions were not followed, so that what they used is not known: {reason}", self.refused));
        (note, self.leftovers.finish())
    }

    /// Reads the account of a session. Returns false when the session is over.
    fn read(&mut self, session: &mut FollowedSession, now: impl Fn() -> Instant, rows: &mut Vec<SessionUsageRow>) -> bool {
        let began = now();
        let last = std::mem::replace(&mut session.read, began);
        if !self.meter.may_have_run(session.user) {
            return true;
        }
        let (usage, [user_ticks_us, system_ticks_us]) = self.meter.with_ticks(session.user);
        let (at, user) = (now(), Some(session.user));
        if !is_nothing(&usage) {
            rows.push(SessionUsageRow { at, span_ns: at.since(last).0, user, line: None, usage, user_ticks_us, system_ticks_us });
        }
        let lives = Began::of(session.pid).is_ok_and(|shell| shell.at_ticks == session.began_ticks && !shell.has_ended);
        if !lives {
            self.meter.ended(session.user);
            // A group in which programs live on is dissolved at the end.
            let _ = session.group.as_ref().map(std::fs::remove_dir);
            let _ = self.groups.as_ref().map(|groups| groups.forget(session.user));
        }
        lives
    }

    fn follow(&mut self, announced: &Announced, now: impl Fn() -> Instant, rows: &mut Vec<SessionUsageRow>) -> io::Result<()> {
        let Announced { user, pid, .. } = *announced;
        let began_ticks = self.check(announced)?;
        let (group, account) = match &self.groups {
            Err(_) => (None, OpenedAccount::default()),
            Ok(groups) => {
                let (path, account) = groups.follow(user, pid, &mut self.leftovers)?;
                (Some(path), account)
            }
        };
        self.sessions.retain(|session| session.user != user);
        self.meter.began_with(user, pid, account);
        let read = now();
        // What the log-in has used until now belongs to no line.
        let usage = nothing_like(&self.meter.interaction(user));
        self.sessions.push(FollowedSession { user, pid, began_ticks, group, read });
        let user = Some(user);
        rows.push(SessionUsageRow { at: now(), span_ns: 0, user, line: None, usage, user_ticks_us: 0, system_ticks_us: 0 });
        Ok(())
    }

    /// Checks that a process is a shell of the account, on a terminal, and younger than this process. Returns when it began, in clock
    /// ticks. The announcement was made by the account, which could name any process.
    fn check(&self, announced: &Announced) -> io::Result<u64> {
        let Announced { user, pid, .. } = *announced;
        let refused = |reason: &str| Err(io::Error::other(format!("process {pid} of user {user} {reason}")));
        if user == 0 || user > self.expected.users {
            return refused("announces a user that was not expected");
        }
        if announced.pid_namespace.as_bytes() != self.pid_namespace {
            return refused("has process ids of its own, as in a container");
        }
        let shell = Began::of(pid)?;
        let owner = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(format!("/proc/{pid}"))?);
        match (owner == self.expected.owner, shell.leads_a_terminal && shell.at_ticks >= self.own_began_ticks) {
            (true, true) => Ok(shell.at_ticks),
            (false, _) => refused("belongs to another account"),
            (true, false) => refused("leads no session on a terminal"),
        }
    }
}

/// All values of a usage.
fn values(usage: &mut Usage) -> [&mut Option<u64>; 7] {
    let Usage {
        cpu_user_ns,
        cpu_system_ns,
        faults_minor,
        faults_major,
        ready_wait_ns,
        paging_wait_ns,
        io_wait_ns,
        throttled_ns: _,
    } = usage;
    [cpu_user_ns, cpu_system_ns, faults_minor, faults_major, ready_wait_ns, paging_wait_ns, io_wait_ns]
}

/// Whether nothing was used: no processor time, hence no faults and no waits.
fn is_nothing(usage: &Usage) -> bool {
    let (mut usage, has_cpu) = (*usage, usage.cpu_user_ns.is_some());
    has_cpu && values(&mut usage).iter().all(|value| value.unwrap_or(0) == 0)
}

/// No usage, with values where `usage` has values.
fn nothing_like(usage: &Usage) -> Usage {
    let mut nothing = *usage;
    for value in values(&mut nothing) {
        *value = value.map(|_| 0);
    }
    nothing
}

#[cfg(test)]
mod tests;
