//! Measures the resources that the system used for each interaction of each user.
//!
//! Processor time is the account of the user's control group, which is exact and complete. Faults and waits come from taskstats:
//! the meter queries the session's leader, and the kernel sends a record of each descendant at its end. If there are too few
//! descriptors to keep each user's account open, a leader that has never started a process is queried alone. Its account is then
//! read only every sixteenth time. Of processes that live on, faults are read from `/proc`, and waits from taskstats. Without the
//! privilege for taskstats, faults come from `/proc`; without a control group, processor time too, in clock ticks. If a finer
//! meter of waits exists ([`Waits`]), waits come from there.

mod processor_time;

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use loadgo_core::system::{Usage, UserId};

use crate::groups::Groups;
use crate::groups::accounts::{AccountOpener, Accounts, OpenedAccount};
use crate::groups::quotas::QuotaAccount;
use crate::leftovers::Leftovers;
use crate::refusal::Refusal;
use crate::usage::by_user::ByUser;
use crate::usage::exits::Ended;
use crate::usage::faults::{Descendants, FaultAccount, Faults};
use crate::usage::interval::Interval;
use crate::usage::living::LivingWaits;
use crate::usage::proc::{Proc, SchedStat, Stat, read_schedstat, read_stat};
use crate::usage::sources::{
    Demand, Kernel, Sources, delay_accounting, name_of_cpu_source, open_taskstats, room_for_descriptors,
};
use crate::usage::split::Split;
use crate::usage::taskstats::Sums;
use crate::usage::waits::Waits;
use rustix::io::Errno;

/// Meters every user of a run.
#[derive(Debug)]
pub struct UsageMeter {
    accounts: Option<Arc<Accounts>>,
    keep_open: bool,
    kernel: Option<Kernel>,
    delays: bool,
    proc: Proc,
    /// Whether the kernel lists the children of a process.
    lists_children: bool,
    waits: Option<Box<dyn Waits>>,
    sources: Sources,
    users: ByUser<UserMeter>,
    lost: u64,
}

/// The state of one user's meter.
#[derive(Debug, Default)]
struct UserMeter {
    pid: u32,
    /// The user's control group's account, open.
    account: Option<OwnedFd>,
    /// The account of the user's own quota.
    quota: Option<Box<QuotaAccount>>,
    /// The leader's sums since its beginning, as last read.
    leader: Sums,
    /// The leader's last account, when it has ended.
    leader_at_its_end: Option<Box<Sums>>,
    /// Usage of other processes that ended since the last reading. `None` while none has ended, as with most users of a program
    /// that starts no others.
    others_ended: Option<Box<Sums>>,
    /// The leader by `/proc`; `None` where taskstats tells all.
    proc: Option<Box<LeaderByProc>>,
    starts_others: bool,
    faults: FaultAccount,
    living: LivingWaits,
    readings_without_account: u8,
    /// The part of the account that was already reported.
    charged_ns: u64,
    split: Split,
    lines: u32,
    sampled: bool,
}

/// A session's leader as `/proc` has it: its open files, and what was last read from them.
#[derive(Debug, Default)]
struct LeaderByProc {
    stat_file: Option<OwnedFd>,
    schedstat_file: Option<OwnedFd>,
    stat: Stat,
    scheduled: SchedStat,
}

impl UsageMeter {
    /// Opens the best meter that this host permits, before the first log-in. It switches delay accounting on for the run, if that
    /// is allowed. It fails only without `/proc`.
    pub fn open(groups: Option<&Groups>, demand: Demand, leftovers: &mut Leftovers) -> io::Result<UsageMeter> {
        UsageMeter::open_with(groups.and_then(|groups| groups.accounts().ok()), demand, leftovers)
    }

    /// Opens a meter like [`UsageMeter::open`], whose processor time comes from `accounts`.
    pub(crate) fn open_with(accounts: Option<Accounts>, demand: Demand, leftovers: &mut Leftovers) -> io::Result<UsageMeter> {
        let proc = Proc::open()?;
        let mut notes = Vec::new();
        let kernel = if demand.taskstats { noted(open_taskstats(demand.users), &mut notes) } else { None };
        let delays = kernel.is_some() && noted(delay_accounting(leftovers), &mut notes).is_some();
        let accounts = accounts.map(Arc::new);
        if accounts.is_none() {
            notes.push("no control group for each user: processor time of ended processes comes in clock ticks".to_owned());
        }
        let lists_children = Descendants::of(&proc, std::process::id()).is_ok();
        if !lists_children {
            notes.push("the kernel lists no children of processes: faults of a process count when it has ended".to_owned());
        }
        let has_quotas = accounts.as_ref().is_some_and(|accounts| accounts.has_quotas());
        let keep_open = room_for_descriptors(demand.users, if kernel.is_some() { 1 } else { 3 } + u64::from(has_quotas));
        if has_quotas && !keep_open {
            notes.push("too few descriptors: throttled time of interactions is not measured (raise `ulimit -n`)".to_owned());
        }
        let version = accounts.as_ref().map(|accounts| accounts.version());
        let sources = Sources {
            cpu: name_of_cpu_source(version, kernel.is_some()),
            faults: if kernel.is_some() { "taskstats" } else { "/proc" },
            waits: if kernel.is_some() { "taskstats" } else { "schedstat" },
            cpu_resolution_ns: accounts.as_ref().map_or(proc.tick_ns(), |accounts| accounts.resolution_ns()),
            every: demand.every.max(1),
            split: "the kernel's ticks",
            has_delays: delays,
            notes,
        };
        let users = ByUser::new(demand.first_user, demand.users);
        Ok(UsageMeter { accounts, keep_open, kernel, delays, proc, lists_children, waits: None, sources, users, lost: 0 })
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

    /// Opens accounts as this meter needs them.
    pub(crate) fn account_opener(&self) -> AccountOpener {
        AccountOpener { accounts: self.accounts.clone(), keep_open: self.keep_open }
    }

    /// Records that the session of `user` has begun, and that `pid` leads it; the leader and its descendants are the user's.
    pub fn began(&mut self, user: UserId, pid: u32) {
        let account = self.account_opener().open(user);
        self.began_with(user, pid, account);
    }

    /// Records that the session of `user` has begun like [`UsageMeter::began`], with the account that another thread has opened.
    pub(crate) fn began_with(&mut self, user: UserId, pid: u32, account: OpenedAccount) {
        self.users.extend_to(user);
        let proc = self.open_proc(pid).map(Box::new);
        if let Some(kernel) = &mut self.kernel {
            kernel.ended.began(user, pid);
        }
        if let Some(waits) = &mut self.waits {
            waits.began(user, pid);
        }
        let by_records = self.kernel.is_some();
        let faults = if by_records { FaultAccount::begin_with_records(&self.proc, pid) } else { FaultAccount::begin() };
        let meter = self.slot(user);
        // A group that was made anew counts from zero again.
        let charged_ns = account.charged_ns.map_or(0, |charged_ns| meter.charged_ns.min(charged_ns));
        let split = meter.split;
        let (account, quota) = (account.file, account.quota.map(Box::new));
        *meter = UserMeter { pid, account, quota, proc, charged_ns, split, faults, sampled: true, ..UserMeter::default() };
    }

    fn open_proc(&self, pid: u32) -> Option<LeaderByProc> {
        let open = self.kernel.is_none() && self.keep_open;
        let file = |name: &str| self.proc.file(pid, name).ok();
        open.then(|| LeaderByProc { stat_file: file("stat"), schedstat_file: file("schedstat"), ..LeaderByProc::default() })
    }

    /// Records that the session of `user` is over; its last interaction's usage must be read before.
    pub fn ended(&mut self, user: UserId) {
        let UserMeter { pid, charged_ns, split, .. } = std::mem::take(self.slot(user));
        *self.slot(user) = UserMeter { charged_ns, split, ..UserMeter::default() };
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

    /// The resources that the system used for `user` since the last interaction, before the line is sent that the user has typed.
    ///
    /// Without values if usage is sampled, because then the last reading is some interactions old.
    pub fn typing(&mut self, user: UserId) -> Usage {
        if self.sources.every <= 1 { self.interval(user) } else { Usage::default() }
    }

    /// The resources that the system used for `user` since the last call; without values if this interaction is not sampled.
    pub fn interaction(&mut self, user: UserId) -> Usage {
        match self.slot(user).sampled {
            true => self.interval(user),
            false => Usage::default(),
        }
    }

    /// Whether the user's processes may have run since the last call of [`UsageMeter::interaction`]. A process that did not run has
    /// used nothing, so that an idle user costs one reading of an account.
    pub(crate) fn may_have_run(&self, user: UserId) -> bool {
        let Some(meter) = self.users.get(user) else { return false };
        let account = self.accounts.as_ref().zip(meter.account.as_ref());
        account.is_none_or(|(accounts, file)| accounts.read(file).map_or(true, |ns| ns != meter.charged_ns))
    }

    /// Takes the records of ended processes out of the kernel's buffer.
    pub fn drain(&mut self) {
        let UsageMeter { kernel: Some(kernel), users, .. } = self else { return };
        kernel.ended.drain(|user, ended| users[user].credit(ended));
    }

    /// The number of usage records lost since the last call.
    pub fn take_lost(&mut self) -> u64 {
        let ended = self.kernel.as_mut().map_or(0, |kernel| kernel.ended.take_lost());
        std::mem::take(&mut self.lost) + ended
    }

    /// The resources that the system used for `user` since the last call, with the clock ticks in the program and in the system, in
    /// microseconds.
    pub(crate) fn with_ticks(&mut self, user: UserId) -> (Usage, [u64; 2]) {
        let interval = self.read(user);
        let ticks = [interval.used.user_us, interval.used.system_us];
        (self.usage_of(user, &interval), ticks)
    }

    fn interval(&mut self, user: UserId) -> Usage {
        let interval = self.read(user);
        self.usage_of(user, &interval)
    }

    fn read(&mut self, user: UserId) -> Interval {
        match self.kernel {
            Some(_) => self.interval_by_taskstats(user),
            None => self.interval_by_proc(user),
        }
    }

    fn usage_of(&mut self, user: UserId, interval: &Interval) -> Usage {
        let meter = self.slot(user);
        let throttled_ns = meter.quota.as_mut().and_then(|quota| quota.charge());
        let usage = Usage { throttled_ns, ..interval.usage(&mut meter.split) };
        let Some(waits) = &mut self.waits else { return usage };
        // Without an account there the waits are not known: those of processes that still run are in no other sum.
        let waited = waits.interaction(user);
        Usage {
            ready_wait_ns: waited.map(|waited| waited.ready_ns),
            paging_wait_ns: waited.map(|waited| waited.paging_ns),
            io_wait_ns: waited.map(|waited| waited.io_ns),
            ..usage
        }
    }

    fn interval_by_taskstats(&mut self, user: UserId) -> Interval {
        self.drain();
        let before = self.slot(user).leader;
        self.read_leader(user);
        let meter = self.slot(user);
        let by_leader = meter.leader - before;
        let ended = meter.others_ended.as_mut().map_or_else(Sums::default, |sums| std::mem::take(&mut **sums));
        let cpu_ns = self.charge(user, by_leader.cpu_ns);
        let others_ran = self.accounts.is_none() || cpu_ns.is_none_or(|ns| ns > by_leader.cpu_ns);
        let meter = self.slot(user);
        let mut without_living = meter.faults.ended;
        without_living.add(meter.leader.minor, meter.leader.major);
        let faults = self.charge_faults(user, Some(without_living), others_ran);
        let waits_of_others = self.charge_living(user, ended);
        let mut used = Sums { user_us: ended.user_us, system_us: ended.system_us, ..waits_of_others.unwrap_or_default() };
        used += by_leader.clocked();
        let delays = self.delays && waits_of_others.is_some() && used.unclocked == 0;
        Interval { cpu_ns, used, faults, ready_wait: waits_of_others.is_some(), delays }
    }

    /// The waits since the last call of all processes but the leader, of which some have `ended`. A finer meter counts them itself.
    fn charge_living(&mut self, user: UserId, ended: Sums) -> Option<Sums> {
        let UsageMeter { users, proc, kernel: Some(kernel), waits: None, .. } = self else { return Some(ended) };
        let meter = &mut users[user];
        meter.living.charge(kernel, proc, meter.pid, meter.faults.has_descendants(), ended)
    }

    /// The faults of the user since the last call, where `others_ran` besides the leader.
    fn charge_faults(&mut self, user: UserId, without_living: Option<Faults>, others_ran: bool) -> Option<Faults> {
        let UsageMeter { users, proc, lists_children, .. } = self;
        let meter = &mut users[user];
        let others_ran = others_ran && *lists_children && meter.leader_at_its_end.is_none();
        meter.faults.charge(proc, meter.pid, without_living, others_ran)
    }

    fn read_leader(&mut self, user: UserId) {
        let UsageMeter { kernel: Some(kernel), users, .. } = self else { return };
        let meter = &mut users[user];
        if let Some(last) = &meter.leader_at_its_end {
            meter.leader = **last;
            return;
        }
        match kernel.live.get(meter.pid) {
            Ok(record) => meter.leader = record.sums,
            Err(error) if Errno::from_io_error(&error) == Some(Errno::SRCH) => {}
            Err(_) => self.lost += 1,
        }
    }

    fn interval_by_proc(&mut self, user: UserId) -> Interval {
        let (stat_before, scheduled_before) = self.slot(user).by_proc();
        let read = self.read_proc(user);
        let meter = self.slot(user);
        let (stat, scheduled) = meter.by_proc();
        let by_leader = scheduled.cpu_ns - scheduled_before.cpu_ns;
        meter.starts_others |= stat.children_minor > 0;
        let cpu_ns = self.charge(user, by_leader);
        let mut used = self.proc.sums(&stat) - self.proc.sums(&stat_before);
        used.ready_wait_ns = scheduled.ready_wait_ns - scheduled_before.ready_wait_ns;
        let others_ns = cpu_ns.unwrap_or(0).saturating_sub(by_leader);
        let alone = stat.children_minor == stat_before.children_minor && others_ns <= by_leader / 100 + 20_000;
        let without_living = read.then_some(Faults { minor: stat.minor, major: stat.major });
        let others_ran = self.accounts.is_none() || others_ns > 0;
        let faults = self.charge_faults(user, without_living, others_ran);
        // Without an account it is not known whether a descendant has run.
        let alone = alone && (self.accounts.is_some() || !self.slot(user).faults.has_descendants());
        Interval { cpu_ns, used, faults, ready_wait: read && alone && scheduled.cpu_ns > 0, delays: false }
    }

    /// Reads the leader's files in `/proc`; false when it is gone.
    fn read_proc(&mut self, user: UserId) -> bool {
        let UsageMeter { users, proc, .. } = self;
        let meter = &mut users[user];
        let leader = meter.proc.get_or_insert_default();
        let stat = match &leader.stat_file {
            Some(file) => read_stat(file),
            None => proc.stat(meter.pid),
        };
        let scheduled = match &leader.schedstat_file {
            Some(file) => read_schedstat(file),
            None => proc.file(meter.pid, "schedstat").and_then(|file| read_schedstat(&file)),
        };
        leader.scheduled = scheduled.unwrap_or(leader.scheduled);
        let read = stat.is_ok();
        leader.stat = stat.unwrap_or(leader.stat);
        read
    }

    fn slot(&mut self, user: UserId) -> &mut UserMeter {
        &mut self.users[user]
    }
}

fn noted<T>(result: Result<T, Refusal>, notes: &mut Vec<String>) -> Option<T> {
    result.map_err(|refusal| notes.push(refusal.to_string())).ok()
}

impl UserMeter {
    fn credit(&mut self, ended: Ended) {
        match ended {
            Ended::Descendant(sums) => {
                **self.others_ended.get_or_insert_default() += sums;
                self.faults.ended.add(sums.minor, sums.major);
                self.starts_others = true;
            }
            Ended::Leader(sums) => self.leader_at_its_end = Some(Box::new(sums)),
        }
    }

    /// The last reading of the leader in `/proc`.
    fn by_proc(&self) -> (Stat, SchedStat) {
        self.proc.as_ref().map_or_else(Default::default, |leader| (leader.stat, leader.scheduled))
    }
}
