//! Measures the resources of the calling thread, which moves an end's data, between two moments.

use std::time::Instant;

use loadgo_sys::thread_usage::ThreadUsage;

use crate::measuring::host_load::{InterruptTicks, load_averages};
use crate::measuring::interrupts::{InterruptAccount, InterruptWork};
use crate::measuring::row::{EndRow, InterruptsBy};

/// The beginning of a measurement.
#[derive(Debug)]
pub struct EndMeasurement {
    at: Instant,
    usage: ThreadUsage,
    ticks: InterruptTicks,
    account: InterruptAccount,
}

/// Begins to measure this thread; `account` measures its interrupts.
pub fn begin(account: InterruptAccount) -> EndMeasurement {
    let account = account.after(|followed| followed.attach_thread());
    let ticks = InterruptTicks::read();
    EndMeasurement { at: Instant::now(), usage: ThreadUsage::read(), ticks, account }
}

/// Resources that a thread has used. The interrupts for its last data may still be to come.
#[derive(Debug)]
pub struct EndUsage {
    end: EndRow,
    account: InterruptAccount,
}

impl EndMeasurement {
    /// Ends the measurement. The row still lacks bytes and calls.
    pub fn end(self) -> EndUsage {
        let usage = ThreadUsage::read();
        let real = self.at.elapsed();
        let account = self.account.after(|followed| followed.detach_thread());
        let (soft, hard) = InterruptTicks::read().since(&self.ticks);
        let [load_1min, load_5min] = load_averages();
        let end = EndRow {
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
            ..EndRow::default()
        };
        EndUsage { end, account }
    }
}

impl EndUsage {
    /// Whether a meter counts the interrupts that are still to come.
    pub(crate) fn is_exact(&self) -> bool {
        self.account.is_exact()
    }

    /// The row with the final interrupt work, which is 0 without a network.
    pub fn final_row(self, has_network: bool) -> EndRow {
        let measured = match &self.account {
            InterruptAccount::Exact(followed) => followed.final_work().map(|work| (work, followed.accuracy_note())),
            InterruptAccount::Ticks(reason) => Err(reason.clone()),
        };
        let (work, by) = match measured {
            Ok((work, doubt)) => (work, interrupts_by(&work, doubt)),
            Err(reason) => {
                let reason = reason.to_string();
                let (soft_ns, hard_ns) = (self.end.soft_interrupt_ns, self.end.interrupt_ns);
                (InterruptWork { soft_ns, hard_ns, ..InterruptWork::default() }, InterruptsBy::Ticks(reason))
            }
        };
        let end = EndRow { interrupts_upon_ns: work.upon_ns, ..self.end };
        if has_network {
            EndRow { soft_interrupt_ns: work.soft_ns, interrupt_ns: work.hard_ns, interrupts_by: by, ..end }
        } else {
            EndRow { soft_interrupt_ns: 0, interrupt_ns: 0, interrupts_by: InterruptsBy::NoNetwork, ..end }
        }
    }
}

fn interrupts_by(work: &InterruptWork, doubt: Option<String>) -> InterruptsBy {
    if work.clocked < 1.0 {
        InterruptsBy::Windows { clocked: work.clocked, error_ns: work.error_ns, doubt }
    } else {
        InterruptsBy::Exact(doubt)
    }
}
