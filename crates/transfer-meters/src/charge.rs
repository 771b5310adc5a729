//! Whether the kernel charges an interrupt to the process that it came upon: by the kernel's types, and by a trial.
//!
//! A kernel that can keep interrupts apart (CONFIG_IRQ_TIME_ACCOUNTING) need not do it: without a steady clock, or without
//! `tsc=` at boot, it leaves it. The trial sends datagrams to itself, so that soft interrupts come upon this thread. Where nobody else
//! had its processor, real time less processor time is what was kept apart of them: nearly all, or nearly nothing.

use crate::programs::Programs;
use loadgo_meters::available::TYPES;
use loadgo_sys::clock::monotonic_ns;
use loadgo_sys::thread_usage::ThreadUsage;
use std::fs;
use std::net::UdpSocket;
use std::time::Duration;

/// Whom interrupts are charged to.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Charge {
    /// Whoever they came upon: they are in its processor time.
    #[default]
    ToTheInterrupted,
    /// Nobody: the kernel keeps them apart.
    Apart,
    /// It could not be told, in words; they are taken to be apart.
    Unclear(String),
}

/// The account that this thread has during the trial: the last one.
const TRIAL: u32 = 1023;
/// So many bursts are tried for so many in which nobody else ran, of so many datagrams each.
const BURSTS: usize = 400;
const ENOUGH: usize = 9;
const DATAGRAMS: usize = 32;
/// A burst with less of its time in soft interrupts tells nothing.
const LEAST_SHARE: f64 = 0.05;
const UNCLEAR: &str = "whether interrupts that came upon it are in its system time is not known: this kernel can keep them apart \
    (CONFIG_IRQ_TIME_ACCOUNTING), and no trial of it was undisturbed; they are taken to be apart";

/// Whom this kernel charges; the programs for soft interrupts must be at work, and `on_enter` prepared.
pub(crate) fn charge(programs: &mut Programs) -> Charge {
    if !can_account(&fs::read(TYPES).unwrap_or_default()) {
        return Charge::ToTheInterrupted;
    }
    match tried(programs) {
        Ok(shares) if shares.len() >= ENOUGH => of_shares(shares),
        _ => Charge::Unclear(UNCLEAR.into()),
    }
}

/// Whether this kernel can keep interrupts apart: its types then name the function that does.
fn can_account(types: &[u8]) -> bool {
    let name = b"\0irqtime_account_irq\0";
    types.windows(name.len()).any(|window| window == name)
}

/// By what share of the soft interrupts of each undisturbed burst was kept apart.
fn of_shares(mut shares: Vec<f64>) -> Charge {
    shares.sort_by(f64::total_cmp);
    if shares[shares.len() / 2] > 0.5 { Charge::Apart } else { Charge::ToTheInterrupted }
}

fn tried(programs: &mut Programs) -> Result<Vec<f64>, String> {
    let socket = to_itself().map_err(|error| error.to_string())?;
    programs.run("on_enter", [TRIAL.into(), 0])?;
    let mut shares = Vec::new();
    for _ in 0..BURSTS {
        shares.extend(burst(programs, &socket)?);
        if shares.len() == ENOUGH {
            break;
        }
    }
    programs.run("on_enter", [0, 0])?;
    Ok(shares)
}

fn to_itself() -> std::io::Result<UdpSocket> {
    let socket = UdpSocket::bind(("127.0.0.1", 0))?;
    socket.connect(socket.local_addr()?)?;
    socket.set_read_timeout(Some(Duration::from_secs(1)))?;
    Ok(socket)
}

/// The share of its soft interrupts that was kept apart; none where somebody else ran meanwhile.
fn burst(programs: &Programs, socket: &UdpSocket) -> Result<Option<f64>, String> {
    let mut datagram = [0; 1024];
    let before = programs.interrupts(TRIAL)?.soft_inside;
    let (began, used) = (monotonic_ns(), ThreadUsage::read());
    for _ in 0..DATAGRAMS {
        socket.send(&datagram).and_then(|_| socket.recv(&mut datagram)).map_err(|error| error.to_string())?;
    }
    let (now, real) = (ThreadUsage::read(), monotonic_ns() - began);
    let soft = (programs.interrupts(TRIAL)?.soft_inside - before) as f64;
    let switches = |usage: &ThreadUsage| usage.switches_voluntary + usage.switches_involuntary;
    if switches(&now) != switches(&used) || soft < LEAST_SHARE * real as f64 {
        return Ok(None);
    }
    Ok(Some(real.saturating_sub(now.cpu_ns - used.cpu_ns) as f64 / soft))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_can_keep_interrupts_apart_is_known_by_its_function() {
        assert!(can_account(b"int\0irqtime_account_irq\0char\0"));
        assert!(!can_account(b"int\0irqtime_account_irqs\0char\0"));
    }

    #[test]
    fn the_middle_of_the_bursts_decides_and_not_one_that_was_stolen_from() {
        assert_eq!(of_shares(vec![0.02, 0.0, 0.01, 9.0, 0.03]), Charge::ToTheInterrupted);
        assert_eq!(of_shares(vec![0.97, 1.02, 0.0, 1.0, 40.0]), Charge::Apart);
    }
}
