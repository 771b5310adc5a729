//! The processor time of a user between two readings: the group's account, or the leader's time where it stands for all.

use super::UsageMeter;
use loadgo_core::system::UserId;

/// Readings without the account, after which it is read again.
const ACCOUNT_AT_LEAST_EVERY: u8 = 16;

impl UsageMeter {
    /// The processor time of the user since the last call, of which the leader alone used `by_leader`.
    pub(super) fn charge(&mut self, user: UserId, by_leader: u64) -> Option<u64> {
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
        let account = accounts.read_user(user, self.users[user].account.as_ref());
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
        let meter = &self.users[user];
        let costly = meter.account.is_none();
        let alone = self.kernel.is_some() && !meter.starts_others && meter.leader_at_its_end.is_none();
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
        let (stat, scheduled) = meter.by_proc();
        let exact = with_kernel || scheduled.cpu_ns > 0;
        let ticks = if exact { stat.children_ticks } else { stat.user_ticks + stat.system_ticks };
        let used = (ticks * tick_ns).saturating_sub(meter.charged_ns);
        meter.charged_ns += used;
        Some(if exact { by_leader + used } else { used })
    }
}
