//! What the calling thread uses between two moments; the thread that moves the data calls it.

use std::time::Instant;

use crate::measuring::host_load::InterruptTicks;
use loadgo_sys::thread_usage::ThreadUsage;

use crate::measuring::interrupts::{Account, Work};
use crate::measuring::row::{End, InterruptsBy};

/// The beginning of a measurement.
#[derive(Debug)]
pub struct Begun {
    at: Instant,
    usage: ThreadUsage,
    ticks: InterruptTicks,
    account: Account,
}

/// Begins to measure this thread, whose interrupts are told by `account`.
pub fn begin(account: Account) -> Begun {
    let account = match account {
        Account::Exact(followed) => followed.enter().map_or_else(Account::Ticks, |()| Account::Exact(followed)),
        ticks => ticks,
    };
    let ticks = InterruptTicks::read();
    Begun { at: Instant::now(), usage: ThreadUsage::read(), ticks, account }
}

/// What a thread has used, but for the interrupts that still work for it.
#[derive(Debug)]
pub struct Used {
    end: End,
    account: Account,
}

impl Begun {
    /// What this thread has used since, without what was moved.
    pub fn end(self) -> Used {
        let usage = ThreadUsage::read();
        let real = self.at.elapsed();
        let account = match self.account {
            Account::Exact(followed) => followed.leave().map_or_else(Account::Ticks, |()| Account::Exact(followed)),
            ticks => ticks,
        };
        let (soft, hard) = InterruptTicks::read().since(&self.ticks);
        let [load_1min, load_5min] = crate::measuring::host_load::load_averages();
        let end = End {
            real_ns: real.as_nanos() as u64,
            cpu_ns: usage.cpu_ns - self.usage.cpu_ns,
            user_ns: usage.user_ns.saturating_sub(self.usage.user_ns),
            system_ns: usage.system_ns.saturating_sub(self.usage.system_ns),
            soft_interrupt_ns: soft,
            interrupt_ns: hard,
            faults_minor: usage.faults_minor - self.usage.faults_minor,
            faults_major: usage.faults_major - self.usage.faults_major,
            switches_voluntary: usage.switches_voluntary - self.usage.switches_voluntary,
            switches_involuntary: usage.switches_involuntary - self.usage.switches_involuntary,
            load_5min,
            load_1min,
            ..End::default()
        };
        Used { end, account }
    }
}

impl Used {
    /// Whether interrupts that are still to come are counted.
    pub(crate) fn is_exact(&self) -> bool {
        self.account.is_exact()
    }

    /// All of it, when nothing more works for this end; without a network nothing ever did.
    pub fn settled(self, has_network: bool) -> End {
        let told = match &self.account {
            Account::Exact(followed) => followed.settled().map(|work| (work, followed.doubt())),
            Account::Ticks(why) => Err(why.clone()),
        };
        let (work, by) = match told {
            Ok((work, doubt)) => (work, by(&work, doubt)),
            Err(why) => {
                let (soft_ns, hard_ns) = (self.end.soft_interrupt_ns, self.end.interrupt_ns);
                (Work { soft_ns, hard_ns, ..Work::default() }, InterruptsBy::Ticks(why))
            }
        };
        let end = End { interrupts_upon_ns: work.upon_ns, ..self.end };
        if has_network {
            End { soft_interrupt_ns: work.soft_ns, interrupt_ns: work.hard_ns, interrupts_by: by, ..end }
        } else {
            End { soft_interrupt_ns: 0, interrupt_ns: 0, interrupts_by: InterruptsBy::NoNetwork, ..end }
        }
    }
}

fn by(work: &Work, doubt: Option<String>) -> InterruptsBy {
    if work.clocked < 1.0 {
        InterruptsBy::Windows { clocked: work.clocked, error_ns: work.error_ns, doubt }
    } else {
        InterruptsBy::Exact(doubt)
    }
}
