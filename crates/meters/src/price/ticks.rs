//! Measures a tick of a clock without its program: the interrupt, setting the timer again, and the way there and back.
//!
//! No counter shows this time. In a virtual machine it is most of a tick, and differs with what else the hypervisor has to do. So a thread spins
//! now and then while a clock of its own ticks some times, and sees how long each tick interrupts it. That clock has a program that does
//! nothing, or takes samples as the clock profile does.

use loadgo_sys::clock::{monotonic_ns, thread_cpu_ns};
use perf_event::events::Software;
use perf_event::{Builder, Clock, Counter, SampleFlag, Sampler};
use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

/// Number of ticks in a measurement. The middle one counts: a longer interruption, as by another task, leaves it.
const TICKS: u32 = 3;
/// Time between two ticks. The meters' own clocks tick a third or a fourteenth as often: more often, ticks would be cheaper, with all they need
/// in the caches.
const TICK_PERIOD: Duration = Duration::from_micros(300);
/// Processor time of a measurement, which ends between two ticks.
const SPINNING_TIME: Duration = Duration::from_micros(1050);
/// Number of readings of the clock between two looks at the processor time.
const READINGS: u64 = 400;
/// Longest time for which other tasks may have had the processor in a measurement.
const MOST_AWAY: Duration = Duration::from_micros(100);
/// Number of measurements that are tried until one is undisturbed.
const TRIES: u32 = 3;
/// Size of the ring of the samples.
const RING_BYTES: usize = 16 << 10;

/// A clock of the calling thread, which ticks while a measurement is made.
pub(crate) enum ThreadClock {
    /// A program runs at each tick.
    Program(Counter),
    /// A sample is taken at each tick.
    Samples(Box<Sampler>),
}

impl ThreadClock {
    /// A clock at whose ticks the program with this descriptor runs.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn with_program(program: RawFd) -> io::Result<ThreadClock> {
        let mut clock = builder().build()?;
        clock.set_bpf(program)?;
        Ok(ThreadClock::Program(clock))
    }

    /// A clock that takes a sample of the stack at each tick.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn with_samples() -> io::Result<ThreadClock> {
        let mut builder = builder();
        builder.clockid(Clock::MONOTONIC).wakeup_watermark(RING_BYTES);
        builder.sample(SampleFlag::IP).sample(SampleFlag::CALLCHAIN);
        builder.sample(SampleFlag::TID).sample(SampleFlag::TIME).sample(SampleFlag::CPU);
        Ok(ThreadClock::Samples(Box::new(builder.build()?.sampled(RING_BYTES)?)))
    }

    /// Time of a tick in nanoseconds; None if other tasks disturbed each try.
    pub fn tick_ns(&mut self) -> Option<f64> {
        (0..TRIES).find_map(|_| {
            self.set_ticking(true).ok()?;
            let interruptions = spin();
            self.set_ticking(false).ok()?;
            middle_of_longest(interruptions?)
        })
    }

    fn set_ticking(&mut self, is_ticking: bool) -> io::Result<()> {
        let clock: &mut Counter = match self {
            ThreadClock::Program(clock) => clock,
            ThreadClock::Samples(ring) => {
                while ring.next_record().is_some() {} // makes room
                ring
            }
        };
        if is_ticking { clock.enable() } else { clock.disable() }
    }
}

fn builder() -> Builder<'static> {
    let mut builder = Builder::new(Software::CPU_CLOCK);
    builder.observe_self().any_cpu().exclude_kernel(false).exclude_hv(false).sample_period(TICK_PERIOD.as_nanos() as u64);
    builder
}

/// Interruptions of a loop that reads the clock, in nanoseconds. None if other tasks had the processor meanwhile.
fn spin() -> Option<Vec<u64>> {
    let (began_ns, began_cpu_ns) = (monotonic_ns(), thread_cpu_ns());
    let (mut interruptions, mut usual_ns) = (Vec::new(), u64::MAX);
    while thread_cpu_ns() - began_cpu_ns < SPINNING_TIME.as_nanos() as u64 {
        let first = monotonic_ns();
        let mut last = first;
        for _ in 0..READINGS {
            let now = monotonic_ns();
            if now - last > usual_ns.saturating_mul(4) {
                interruptions.push(now - last - usual_ns);
            }
            last = now;
        }
        usual_ns = usual_ns.min((last - first).div_ceil(READINGS));
    }
    let away_ns = (monotonic_ns() - began_ns).saturating_sub(thread_cpu_ns() - began_cpu_ns);
    (away_ns <= MOST_AWAY.as_nanos() as u64).then_some(interruptions)
}

/// The middle one of the [`TICKS`] longest interruptions. None if there are fewer.
fn middle_of_longest(mut interruptions: Vec<u64>) -> Option<f64> {
    interruptions.sort_unstable_by(|left, right| right.cmp(left));
    let longest = interruptions.get(..TICKS as usize)?;
    Some(longest[longest.len() / 2] as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_the_middle_one_of_the_longest_interruptions() {
        assert_eq!(middle_of_longest(vec![300, 12_500, 400, 80_000, 12_300, 350]), Some(12_500.0));
        assert_eq!(middle_of_longest(vec![12_500, 12_300]), None);
    }

    #[test]
    fn a_measurement_lasts_for_all_its_ticks_and_no_longer() {
        assert!(SPINNING_TIME > TICK_PERIOD * TICKS && SPINNING_TIME < TICK_PERIOD * (TICKS + 1));
    }
}
