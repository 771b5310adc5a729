//! Measures the resources that the system used for each interaction of each user.
//!
//! Processor time is the account of the user's control group, which is exact and complete. Faults and waits come from taskstats:
//! the meter queries the session's leader, and the kernel sends a record of each descendant at its end. If there are too few
//! descriptors to keep each user's account open, a leader that has never started a process is queried alone. Its account is then
//! read only every sixteenth time. Of background processes, processor time is in the account at once, faults and waits when they
//! end. Without the privilege for taskstats, faults come from `/proc`; without a control group, processor time too, in clock
//! ticks. If a finer meter of waits exists ([`Waits`]), waits come from there.

use std::io;
use std::os::fd::OwnedFd;

use loadgo_core::system::{Usage, UserId};

use crate::groups::Groups;
use crate::groups::accounts::Accounts;
use crate::leftovers::Leftovers;
use crate::refusal::Refusal;
use crate::usage::exits::Ended;
use crate::usage::proc::{Proc, SchedStat, Stat, read_schedstat, read_stat};
use crate::usage::sources::{
    Demand, Kernel, Sources, delay_accounting, name_of_cpu_source, open_taskstats, room_for_descriptors,
};
use crate::usage::split::Split;
use crate::usage::taskstats::Sums;
use crate::usage::waits::Waits;
use rustix::io::Errno;

const ACCOUNT_AT_LEAST_EVERY: u8 = 16;

/// Meters every user of a run.
#[derive(Debug)]
pub struct UsageMeter {
    accounts: Option<Accounts>,
    keep_open: bool,
    kernel: Option<Kernel>,
    delays: bool,
    proc: Proc,
    waits: Option<Box<dyn Waits>>,
    sources: Sources,
    users: Vec<UserMeter>,
    lost: u64,
}

/// The state of one user's meter.
#[derive(Debug, Default)]
struct UserMeter {
    pid: u32,
    files: Files,
    /// The leader's sums since its beginning, as last read.
    leader: Sums,
    /// Usage of processes that have ended; `None` until one has ended.
    ended: Option<Box<EndedProcesses>>,
    starts_others: bool,
    readings_without_account: u8,
    /// The part of the account that was already reported.
    charged_ns: u64,
    stat: Stat,
    scheduled: SchedStat,
    split: Split,
    lines: u32,
    sampled: bool,
}

/// Usage of the ended processes of a session.
#[derive(Debug, Default)]
struct EndedProcesses {
    /// The leader's last account, when it has ended.
    leader: Option<Sums>,
    /// Usage of other processes that ended since the last reading.
    others: Sums,
}

/// Usage of a user between two readings, and whether each kind of wait was measured.
#[derive(Debug, Default)]
struct Interval {
    cpu_ns: Option<u64>,
    used: Sums,
    faults: bool,
    ready_wait: bool,
    delays: bool,
}

#[derive(Debug, Default)]
struct Files {
    account: Option<OwnedFd>,
    stat: Option<OwnedFd>,
    schedstat: Option<OwnedFd>,
}

impl UsageMeter {
    /// Opens the best meter that this host permits, before the first log-in. It switches delay accounting on for the run, if that
    /// is allowed. It fails only without `/proc`.
    pub fn open(groups: Option<&Groups>, demand: Demand, leftovers: &mut Leftovers) -> io::Result<UsageMeter> {
        let proc = Proc::open()?;
        let mut notes = Vec::new();
        let kernel = if demand.taskstats { noted(open_taskstats(demand.users), &mut notes) } else { None };
        let delays = kernel.is_some() && noted(delay_accounting(leftovers), &mut notes).is_some();
        let accounts = groups.and_then(|groups| groups.accounts().ok());
        if accounts.is_none() {
            notes.push("no control group for each user: processor time of ended processes comes in clock ticks".to_owned());
        }
        let keep_open = room_for_descriptors(demand.users, if kernel.is_some() { 1 } else { 3 });
        let version = groups.map(Groups::version);
        let sources = Sources {
            cpu: name_of_cpu_source(version, kernel.is_some()),
            faults: if kernel.is_some() { "taskstats" } else { "/proc" },
            waits: if kernel.is_some() { "taskstats" } else { "schedstat" },
            cpu_resolution_ns: accounts.as_ref().map_or(proc.tick_ns(), Accounts::resolution_ns),
            every: demand.every.max(1),
            split: "the kernel's ticks",
            notes,
        };
        let mut users = Vec::new();
        users.resize_with(demand.users + 1, UserMeter::default);
        Ok(UsageMeter { accounts, keep_open, kernel, delays, proc, waits: None, sources, users, lost: 0 })
    }

    /// Reads waits from `waits`, a finer account, from the next session on.
    pub fn take_waits_from(&mut self, waits: Box<dyn Waits>) {
        self.sources.waits = waits.source();
        self.waits = Some(waits);
    }

    /// Where the usage comes from, for `[usage]` in `run.toml`.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Records that the session of `user` has begun, and that `pid` leads it; the leader and its descendants are the user's.
    pub fn began(&mut self, user: UserId, pid: u32) {
        if self.users.len() <= user as usize {
            self.users.resize_with(user as usize + 1, UserMeter::default);
        }
        let files = self.open_files(user, pid);
        if let Some(kernel) = &mut self.kernel {
            kernel.ended.began(user, pid);
        }
        if let Some(waits) = &mut self.waits {
            waits.began(user, pid);
        }
        let account = self.accounts.as_ref().and_then(|accounts| accounts.read_user(user, None).ok());
        let meter = self.slot(user);
        // A group that was made anew counts from zero again.
        let charged_ns = account.map_or(0, |account| meter.charged_ns.min(account));
        let split = meter.split;
        *meter = UserMeter { pid, files, charged_ns, split, sampled: true, ..UserMeter::default() };
    }

    fn open_files(&self, user: UserId, pid: u32) -> Files {
        if !self.keep_open {
            return Files::default();
        }
        let account = self.accounts.as_ref().and_then(|accounts| accounts.open(user).ok());
        match self.kernel {
            Some(_) => Files { account, stat: None, schedstat: None },
            None => Files { account, stat: self.proc.file(pid, "stat").ok(), schedstat: self.proc.file(pid, "schedstat").ok() },
        }
    }

    /// Records that the session of `user` is over; its last interaction's usage must be read before.
    pub fn ended(&mut self, user: UserId) {
        let meter = self.slot(user);
        meter.files = Files::default();
        let pid = std::mem::take(&mut meter.pid);
        if let Some(kernel) = &mut self.kernel {
            kernel.ended.ended(pid);
        }
        if let Some(waits) = &mut self.waits {
            waits.ended(user);
        }
    }

    /// Notes that the line of this number is being sent. If usage is sampled, this call decides whether the line is measured, and
    /// takes its first reading. If every line is measured, no reading is needed, because each begins where the last one ended.
    pub fn sent(&mut self, user: UserId, line: u32) {
        if let Some(waits) = &mut self.waits {
            waits.line(user, line);
        }
        let every = self.sources.every;
        if every <= 1 {
            return;
        }
        let meter = self.slot(user);
        meter.sampled = meter.lines.is_multiple_of(every);
        meter.lines = meter.lines.wrapping_add(1);
        if meter.sampled {
            self.interval(user);
        }
    }

    /// The resources that the system used for `user` since the last call; without values if this interaction is not sampled.
    pub fn interaction(&mut self, user: UserId) -> Usage {
        match self.slot(user).sampled {
            true => self.interval(user),
            false => Usage::default(),
        }
    }

    /// Takes the records of ended processes out of the kernel's buffer.
    pub fn drain(&mut self) {
        let UsageMeter { kernel: Some(kernel), users, .. } = self else { return };
        kernel.ended.drain(|user, ended| users[user as usize].credit(ended));
    }

    /// The number of usage records lost since the last call.
    pub fn take_lost(&mut self) -> u64 {
        let ended = self.kernel.as_mut().map_or(0, |kernel| kernel.ended.take_lost());
        std::mem::take(&mut self.lost) + ended
    }

    fn interval(&mut self, user: UserId) -> Usage {
        let interval = match self.kernel {
            Some(_) => self.interval_by_taskstats(user),
            None => self.interval_by_proc(user),
        };
        let usage = interval.usage(&mut self.slot(user).split);
        let waited = self.waits.as_mut().and_then(|waits| waits.interaction(user));
        waited.map_or(usage, |waited| Usage {
            ready_wait_ns: Some(waited.ready_ns),
            paging_wait_ns: Some(waited.paging_ns),
            io_wait_ns: Some(waited.io_ns),
            ..usage
        })
    }

    fn interval_by_taskstats(&mut self, user: UserId) -> Interval {
        self.drain();
        let before = self.slot(user).leader;
        self.read_leader(user);
        let meter = self.slot(user);
        let by_leader = meter.leader - before;
        let mut used = meter.ended.as_mut().map_or_else(Sums::default, |ended| std::mem::take(&mut ended.others));
        used += by_leader.clocked();
        let delays = self.delays && !used.unclocked;
        Interval { cpu_ns: self.charge(user, by_leader.cpu_ns), used, faults: true, ready_wait: true, delays }
    }

    fn read_leader(&mut self, user: UserId) {
        let UsageMeter { kernel: Some(kernel), users, .. } = self else { return };
        let meter = &mut users[user as usize];
        if let Some(last) = meter.leader_at_its_end() {
            meter.leader = last;
            return;
        }
        match kernel.live.get(meter.pid) {
            Ok(record) => meter.leader = record.sums,
            Err(error) if Errno::from_io_error(&error) == Some(Errno::SRCH) => {}
            Err(_) => self.lost += 1,
        }
    }

    fn interval_by_proc(&mut self, user: UserId) -> Interval {
        let (stat_before, scheduled_before) = (self.slot(user).stat, self.slot(user).scheduled);
        let read = self.read_proc(user);
        let meter = self.slot(user);
        let (stat, scheduled) = (meter.stat, meter.scheduled);
        let by_leader = scheduled.cpu_ns - scheduled_before.cpu_ns;
        meter.starts_others |= stat.children_minor > 0;
        let cpu_ns = self.charge(user, by_leader);
        let mut used = self.proc.sums(&stat) - self.proc.sums(&stat_before);
        used.ready_wait_ns = scheduled.ready_wait_ns - scheduled_before.ready_wait_ns;
        let others_ns = cpu_ns.unwrap_or(0).saturating_sub(by_leader);
        let alone = stat.children_minor == stat_before.children_minor && others_ns <= by_leader / 100 + 20_000;
        Interval { cpu_ns, used, faults: read, ready_wait: read && alone && scheduled.cpu_ns > 0, delays: false }
    }

    /// Reads the leader's files in `/proc`; false when it is gone.
    fn read_proc(&mut self, user: UserId) -> bool {
        let meter = &self.users[user as usize];
        let stat = match &meter.files.stat {
            Some(file) => read_stat(file),
            None => self.proc.stat(meter.pid),
        };
        let scheduled = match &meter.files.schedstat {
            Some(file) => read_schedstat(file),
            None => self.proc.file(meter.pid, "schedstat").and_then(|file| read_schedstat(&file)),
        };
        let meter = self.slot(user);
        meter.scheduled = scheduled.unwrap_or(meter.scheduled);
        let read = stat.is_ok();
        meter.stat = stat.unwrap_or(meter.stat);
        read
    }

    /// The processor time of the user since the last call, of which the leader alone used `by_leader`.
    fn charge(&mut self, user: UserId, by_leader: u64) -> Option<u64> {
        if self.accounts.is_none() {
            return self.charge_without_account(user, by_leader);
        }
        if self.leader_speaks_for_all(user) {
            let meter = self.slot(user);
            meter.readings_without_account += 1;
            meter.charged_ns += by_leader;
            return Some(by_leader);
        }
        let accounts = self.accounts.as_ref()?;
        let account = accounts.read_user(user, self.users[user as usize].files.account.as_ref());
        let Ok(account) = account else {
            self.lost += 1;
            return None;
        };
        let meter = self.slot(user);
        meter.readings_without_account = 0;
        let used = account.saturating_sub(meter.charged_ns);
        meter.charged_ns += used;
        Some(used)
    }

    /// Whether the leader's own time stands for the account, because only the leader has ever run. It saves an open and a close.
    fn leader_speaks_for_all(&self, user: UserId) -> bool {
        let meter = &self.users[user as usize];
        let costly = meter.files.account.is_none();
        let alone = self.kernel.is_some() && !meter.starts_others && meter.leader_at_its_end().is_none();
        costly && alone && meter.readings_without_account + 1 < ACCOUNT_AT_LEAST_EVERY
    }

    /// The user's processor time without a control group: the leader's is exact where the kernel tells it, its children's comes
    /// in ticks.
    fn charge_without_account(&mut self, user: UserId, by_leader: u64) -> Option<u64> {
        let with_kernel = self.kernel.is_some();
        if with_kernel && self.slot(user).starts_others {
            self.read_proc(user);
        }
        let tick_ns = self.proc.tick_ns();
        let meter = self.slot(user);
        let exact = with_kernel || meter.scheduled.cpu_ns > 0;
        let ticks = if exact { meter.stat.children_ticks } else { meter.stat.user_ticks + meter.stat.system_ticks };
        let used = (ticks * tick_ns).saturating_sub(meter.charged_ns);
        meter.charged_ns += used;
        Some(if exact { by_leader + used } else { used })
    }

    fn slot(&mut self, user: UserId) -> &mut UserMeter {
        &mut self.users[user as usize]
    }
}

fn noted<T>(result: Result<T, Refusal>, notes: &mut Vec<String>) -> Option<T> {
    result.map_err(|refusal| notes.push(refusal.to_string())).ok()
}

impl UserMeter {
    fn credit(&mut self, ended: Ended) {
        let all = self.ended.get_or_insert_default();
        match ended {
            Ended::Descendant(sums) => {
                all.others += sums;
                self.starts_others = true;
            }
            Ended::Leader(sums) => all.leader = Some(sums),
        }
    }

    fn leader_at_its_end(&self) -> Option<Sums> {
        self.ended.as_ref()?.leader
    }
}

impl Interval {
    fn usage(&self, split: &mut Split) -> Usage {
        let used = &self.used;
        let parts = self.cpu_ns.map(|cpu_ns| split.add(cpu_ns, used.user_us, used.system_us));
        // A page read back from swap right after it was thrown out is counted under both names: the longer one is taken.
        let paging_wait_ns = used.reclaim_ns + used.swap_in_ns.max(used.thrashing_ns);
        Usage {
            cpu_user_ns: parts.map(|(user, _)| user),
            cpu_system_ns: parts.map(|(_, system)| system),
            faults_minor: self.faults.then_some(used.minor),
            faults_major: self.faults.then_some(used.major),
            ready_wait_ns: self.ready_wait.then_some(used.ready_wait_ns),
            paging_wait_ns: self.delays.then_some(paging_wait_ns),
            io_wait_ns: self.delays.then_some(used.block_ns),
        }
    }
}
