//! A ready list of users with limits: a discipline, with a layer before it that holds throttled processes back.
//!
//! The discipline does not know of quotas. A process whose quota is used up leaves it as a process that waits for a device does,
//! and is kept here. At the next refill the discipline gets it as a process whose wait has ended. So it keeps its lag, its level
//! or its quantum, and stays eligible.

use loadgo_core::random::{RandomStream, StreamPurpose};
use loadgo_core::record::LimitCounts;
use loadgo_core::system::UserId;

use super::any::AnyList;
use super::{CandidateFacts, EligibilityAfterTurn, LeaveCause, ProcessId, ReadyCause, ReadyList, Turn};
use crate::limits::{PERIOD_NS, Quota, UserLimits};

/// The processes of users with limits. See the head of the file.
#[derive(Clone, Debug)]
pub struct Limited {
    list: AnyList,
    limits: UserLimits,
    seed: u64,
    /// The groups of the processes that have been there.
    groups: Vec<UserGroup>,
    /// Number of throttled processes.
    throttled: u64,
}

/// The control group of a user's process.
#[derive(Clone, Debug)]
struct UserGroup {
    /// The weight of the group, in place of that of the command.
    nice: Option<i32>,
    quota: Quota,
    has_quota: bool,
    /// Why the process, which is throttled, would be ready.
    held: Option<ReadyCause>,
    /// Whether a refill is in the calendar.
    refill_is_due: bool,
    /// Whether a refill is to be put there.
    refill_is_new: bool,
}

impl Limited {
    /// The discipline's list under these limits. The offsets of the users' periods are drawn under `seed`.
    pub fn new(list: AnyList, limits: UserLimits, seed: u64) -> Limited {
        Limited { list, limits, seed, groups: Vec::new(), throttled: 0 }
    }

    /// The costs of the limits up to `now`, by user.
    pub fn costs(&self, now: u64) -> impl Iterator<Item = (UserId, LimitCounts)> + '_ {
        self.groups.iter().enumerate().map(move |(pid, group)| {
            let counts = group.quota.costs(now);
            let counted = if group.has_quota { counts } else { LimitCounts { cpu_ns: counts.cpu_ns, ..LimitCounts::default() } };
            (pid as UserId + 1, counted)
        })
    }

    fn group(&mut self, pid: ProcessId) -> &mut UserGroup {
        &mut self.groups[pid as usize]
    }

    fn make_groups(&mut self, pid: ProcessId) {
        for number in self.groups.len() as ProcessId..=pid {
            let limit = self.limits.of(number + 1);
            let offset_ns = RandomStream::new(self.seed, number + 1, StreamPurpose::Period).unit() * PERIOD_NS as f64;
            self.groups.push(UserGroup {
                nice: limit.has_group().then(|| limit.nice.unwrap_or(0)),
                quota: Quota::new(limit.cpus.unwrap_or(1.0), offset_ns as u64),
                has_quota: limit.cpus.is_some(),
                held: None,
                refill_is_due: false,
                refill_is_new: false,
            });
        }
    }

    /// Takes `pid` out of the throttled processes. None if it is not among them.
    fn let_go(&mut self, pid: ProcessId) -> Option<ReadyCause> {
        let why = self.group(pid).held.take();
        self.throttled -= u64::from(why.is_some());
        why
    }
}

impl ReadyList for Limited {
    const HAS_QUOTAS: bool = true;
    const BALANCES: bool = true;

    fn ask(&mut self, pid: ProcessId, facts: &CandidateFacts, now: u64) {
        self.make_groups(pid);
        let nice = self.group(pid).nice.unwrap_or(facts.nice);
        self.list.ask(pid, &CandidateFacts { nice, ..*facts }, now);
    }

    fn candidate(&self) -> Option<ProcessId> {
        self.list.candidate()
    }

    fn admit(&mut self, pid: ProcessId, now: u64) {
        self.list.admit(pid, now);
    }

    fn ready(&mut self, pid: ProcessId, why: ReadyCause, now: u64) {
        let group = self.group(pid);
        group.quota.wants(now);
        if group.quota.allowance_ns(now) > 0 {
            return self.list.ready(pid, why, now);
        }
        group.quota.begins_throttling(now);
        group.held = Some(why);
        group.refill_is_new = !std::mem::replace(&mut group.refill_is_due, true);
        self.throttled += 1;
    }

    fn next(&mut self, now: u64) -> Option<Turn> {
        self.list.next(now)
    }

    fn next_on(&mut self, processor: usize, now: u64) -> Option<Turn> {
        self.list.next_on(processor, now)
    }

    fn processor_of(&self, pid: ProcessId) -> Option<usize> {
        self.list.processor_of(pid)
    }

    fn off(&mut self, pid: ProcessId, ran_ns: u64, why: LeaveCause, now: u64) -> EligibilityAfterTurn {
        let group = self.group(pid);
        match why {
            LeaveCause::Waits | LeaveCause::Done => group.quota.rests(now),
            LeaveCause::TurnOver | LeaveCause::Preempted if group.quota.allowance_ns(now) == 0 => {
                return self.list.off(pid, ran_ns, LeaveCause::Waits, now);
            }
            LeaveCause::TurnOver | LeaveCause::Preempted => {}
        }
        self.list.off(pid, ran_ns, why, now)
    }

    fn preempts(&self, arrived: ProcessId, running: ProcessId) -> bool {
        self.groups[arrived as usize].held.is_none() && self.list.preempts(arrived, running)
    }

    fn new_process(&mut self, pid: ProcessId) {
        self.make_groups(pid);
        self.list.new_process(pid);
    }

    fn forget(&mut self, pid: ProcessId) {
        self.let_go(pid);
        self.list.forget(pid);
    }

    fn ends(&mut self, pid: ProcessId) {
        self.list.ends(pid);
    }

    fn asking(&self) -> usize {
        self.list.asking()
    }

    fn waiting(&self) -> usize {
        self.list.waiting() + self.throttled as usize
    }

    fn charge(&mut self, pid: ProcessId, from: u64, to: u64) {
        self.group(pid).quota.charge(from, to);
    }

    fn count_switch(&mut self, pid: ProcessId, span_ns: u64) {
        self.group(pid).quota.count_switch(span_ns);
    }

    fn allowance_ns(&mut self, pid: ProcessId, now: u64) -> u64 {
        self.group(pid).quota.allowance_ns(now)
    }

    fn take_new_refill(&mut self, pid: ProcessId) -> Option<u64> {
        let group = self.group(pid);
        std::mem::take(&mut group.refill_is_new).then(|| group.quota.next_refill())
    }

    fn refill(&mut self, pid: ProcessId, now: u64) -> bool {
        self.group(pid).refill_is_due = false;
        let Some(why) = self.let_go(pid) else { return false };
        let group = self.group(pid);
        group.quota.ends_throttling(now);
        debug_assert!(group.quota.allowance_ns(now) > 0, "a refill pays the debt");
        self.list.ready(pid, why, now);
        true
    }

    fn take_balance(&mut self) -> Option<u64> {
        self.list.take_balance()
    }

    fn balance(&mut self, now: u64) -> Option<ProcessId> {
        self.list.balance(now)
    }

    fn rests(&mut self, pid: ProcessId, now: u64) {
        self.group(pid).quota.rests(now);
    }

    fn throttled(&self) -> u64 {
        self.throttled
    }
}
