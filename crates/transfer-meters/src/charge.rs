//! Finds out whether the kernel charges an interrupt to the process that it interrupts, by the kernel's types and by a trial.
//!
//! A kernel with CONFIG_IRQ_TIME_ACCOUNTING can account interrupts separately, but does so only with a steady clock.
//! The trial sends datagrams to itself, so that soft interrupts interrupt this thread. If no other task had the processor, real time
//! less processor time is the separately accounted part of the interrupts. It is nearly all of them, or nearly none.

use crate::programs::TransferPrograms;
use loadgo_meters::MeterRefusal;
use loadgo_meters::available::BTF_PATH;
use loadgo_sys::clock::monotonic_ns;
use loadgo_sys::thread_usage::ThreadUsage;
use std::fs;
use std::net::UdpSocket;
use std::time::Duration;

/// The process to which the kernel charges an interrupt's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum InterruptCharge {
    /// The interrupted process: its processor time contains the interrupts.
    #[default]
    ToTheInterrupted,
    /// No process: the kernel accounts interrupts separately.
    Separate,
    /// Unknown: no trial was undisturbed. They are assumed to be accounted separately.
    Unclear,
}

/// The account of this thread during the trial: the last of all.
const TRIAL_ACCOUNT: u32 = 1023;
/// Largest number of bursts in a trial.
const MOST_BURSTS: usize = 400;
/// Number of undisturbed bursts that a trial needs. Chosen by hand, odd for a median.
const UNDISTURBED_BURSTS: usize = 9;
/// Number of datagrams in a burst.
const BURST_DATAGRAMS: usize = 32;
/// Smallest share of a burst's time in soft interrupts with which the burst counts.
const SMALLEST_SOFT_SHARE: f64 = 0.05;
/// The note for users about [`InterruptCharge::Unclear`].
pub(crate) const UNCLEAR_CHARGE_NOTE: &str = "whether its system time contains interrupts is not known: this kernel can account \
    them separately (CONFIG_IRQ_TIME_ACCOUNTING), and other programs disturbed every trial; it is taken not to contain them";

/// Finds how this kernel charges interrupts. The programs for soft interrupts must be attached, and `on_enter` loaded.
pub(crate) fn find_charge(programs: &mut TransferPrograms) -> InterruptCharge {
    if !can_account(&fs::read(BTF_PATH).unwrap_or_default()) {
        return InterruptCharge::ToTheInterrupted;
    }
    match try_bursts(programs) {
        Ok(shares) if shares.len() >= UNDISTURBED_BURSTS => charge_from_shares(shares),
        _ => InterruptCharge::Unclear,
    }
}

/// Whether this kernel can account interrupts separately: its types then name the function that does.
fn can_account(types: &[u8]) -> bool {
    let name = b"\0irqtime_account_irq\0";
    types.windows(name.len()).any(|window| window == name)
}

/// The charge by the median of `shares`: of each undisturbed burst, the separately accounted part of its soft interrupts.
fn charge_from_shares(mut shares: Vec<f64>) -> InterruptCharge {
    shares.sort_by(f64::total_cmp);
    if shares[shares.len() / 2] > 0.5 { InterruptCharge::Separate } else { InterruptCharge::ToTheInterrupted }
}

fn try_bursts(programs: &mut TransferPrograms) -> Result<Vec<f64>, MeterRefusal> {
    let socket = loopback_socket()?;
    programs.run("on_enter", [TRIAL_ACCOUNT.into(), 0])?;
    let mut shares = Vec::new();
    for _ in 0..MOST_BURSTS {
        shares.extend(try_burst(programs, &socket)?);
        if shares.len() == UNDISTURBED_BURSTS {
            break;
        }
    }
    programs.run("on_enter", [0, 0])?;
    Ok(shares)
}

fn loopback_socket() -> std::io::Result<UdpSocket> {
    let socket = UdpSocket::bind(("127.0.0.1", 0))?;
    socket.connect(socket.local_addr()?)?;
    socket.set_read_timeout(Some(Duration::from_secs(1)))?;
    Ok(socket)
}

/// Sends one burst. Returns the separately accounted share of its soft interrupts, or None if another task ran meanwhile.
fn try_burst(programs: &TransferPrograms, socket: &UdpSocket) -> Result<Option<f64>, MeterRefusal> {
    let mut datagram = [0; 1024];
    let before = programs.interrupts(TRIAL_ACCOUNT)?.soft_inside;
    let (began, before_usage) = (monotonic_ns(), ThreadUsage::read());
    for _ in 0..BURST_DATAGRAMS {
        let received = socket.send(&datagram).and_then(|_| socket.recv(&mut datagram));
        received?;
    }
    let (after_usage, real_ns) = (ThreadUsage::read(), monotonic_ns() - began);
    let soft = (programs.interrupts(TRIAL_ACCOUNT)?.soft_inside - before) as f64;
    let switches = |usage: &ThreadUsage| usage.switches_voluntary + usage.switches_involuntary;
    if switches(&after_usage) != switches(&before_usage) || soft < SMALLEST_SOFT_SHARE * real_ns as f64 {
        return Ok(None);
    }
    Ok(Some(real_ns.saturating_sub(after_usage.cpu_ns - before_usage.cpu_ns) as f64 / soft))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_can_account_interrupts_separately_is_known_by_its_function() {
        assert!(can_account(b"int\0irqtime_account_irq\0char\0"));
        assert!(!can_account(b"int\0irqtime_account_irqs\0char\0"));
    }

    #[test]
    fn the_median_of_the_bursts_decides() {
        assert_eq!(charge_from_shares(vec![0.02, 0.0, 0.01, 9.0, 0.03]), InterruptCharge::ToTheInterrupted);
        assert_eq!(charge_from_shares(vec![0.97, 1.02, 0.0, 1.0, 40.0]), InterruptCharge::Separate);
    }
}
