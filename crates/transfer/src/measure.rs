//! What a thread uses between two moments: to be called in the thread that moves the data.

use std::time::Instant;

use loadgo_host::interrupts::InterruptTicks;
use loadgo_host::thread_usage::ThreadUsage;

use crate::row::End;

/// The beginning of a measurement.
#[derive(Debug)]
pub struct Begun {
    at: Instant,
    usage: ThreadUsage,
    ticks: InterruptTicks,
}

/// Begins to measure this thread.
pub fn begin() -> Begun {
    let ticks = InterruptTicks::read();
    Begun { at: Instant::now(), usage: ThreadUsage::read(), ticks }
}

impl Begun {
    /// What this thread has used since, without what was moved.
    pub fn end(self) -> End {
        let usage = ThreadUsage::read();
        let real = self.at.elapsed();
        let (soft, hard) = InterruptTicks::read().since(&self.ticks);
        let [load_1min, load_5min] = loadgo_host::interrupts::load_averages();
        End {
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
        }
    }
}
