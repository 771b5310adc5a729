//! Measures the interrupt time of each end of a transfer, by its connection's addresses and by the thread that moves its data.
//!
//! The programs are loaded once. They are attached while an end begins, then in short windows at random moments, which become
//! rarer with time. Between windows they are detached, because even an empty program takes 65 ns a run. Within one host, all
//! programs together take 3 % of a long stream measured in windows. They take a fifth of short ones measured in full at both ends.
//! The programs for device interrupts are attached only while an end is not on loopback.

mod followed;
mod windows;

use crate::charge::{InterruptCharge, find_charge};
use crate::programs::{DEVICE_PROGRAMS, SOFT_INTERRUPT_PROGRAMS, TracepointProgram, TransferPrograms};
use crate::sums::NetworkInterruptTime;
use aya::maps::{HashMap, MapData};
use aya::programs::tp_btf::BtfTracePointLink;
use loadgo_meters::MeterRefusal;
use loadgo_sys::clock::monotonic_ns;
use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use windows::EndReadings;

pub use followed::interrupt_meter_for_ends;

/// The first account of an end, after the command's. `bpf/transfers/flows.h` numbers the accounts.
const FIRST_END_ACCOUNT: u32 = 2;
/// The last account of an end, before the one for trials.
const LAST_END_ACCOUNT: u32 = 1022;
/// Numbers of entries of the maps. A map that ends do not use gets the smallest size that the kernel accepts.
const MAP_ENTRIES: [(&str, u32); 2] = [("connections", 1), ("flows", LAST_END_ACCOUNT)];
/// Length of the first measuring window, which starts with the data.
const FIRST_WINDOW: Duration = Duration::from_millis(25);
/// Length of each later window.
const LATER_WINDOW: Duration = Duration::from_millis(15);
/// Shortest and longest gap between windows. A gap is as long as the newest end has existed, within these limits, and up to twice
/// that at random.
const WINDOW_GAP: (Duration, Duration) = (Duration::from_millis(30), Duration::from_millis(300));
/// Longest time for reading the totals and the clock. A slower reading is repeated, because the reader may have been preempted
/// between the two.
const READING_TIME_LIMIT: Duration = Duration::from_micros(50);
/// Largest number of readings until one is fast enough; otherwise the fastest counts.
const READING_TRIES: usize = 5;
/// Longest time to wait for present soft interrupts to end when an end's work is read.
const SOFT_INTERRUPT_WAIT: Duration = Duration::from_millis(20);
/// TCP's number in `struct flow`.
const TCP_PROTOCOL_ID: u32 = 6;
/// Size of `struct flow`: both addresses as IPv6, both ports, and the protocol.
const FLOW_BYTES: usize = 40;

/// The loaded programs, and the ends that they measure.
struct EndMeter {
    state: Mutex<EndMeterState>,
    changed: Condvar,
    charge: InterruptCharge,
}

struct EndMeterState {
    programs: TransferPrograms,
    soft_links: Vec<BtfTracePointLink>,
    device_links: Vec<BtfTracePointLink>,
    /// Time of the next [`EndMeterState::take_turn`].
    next_turn: Instant,
    /// Time when the data of the newest end began to move.
    newest_began: Instant,
    has_window_thread: bool,
    free_accounts: Vec<u32>,
    /// Readings by account.
    ends: BTreeMap<u32, EndReadings>,
    /// Number of ends that are not on loopback.
    network_ends: usize,
}

impl fmt::Debug for EndMeter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "EndMeter({:?})", self.charge)
    }
}

impl EndMeter {
    /// Loads the programs, which takes about a tenth of a second.
    ///
    /// # Errors
    /// The kernel does not take them.
    fn open() -> Result<EndMeter, MeterRefusal> {
        let mut programs = TransferPrograms::open(&MAP_ENTRIES)?;
        for (tracepoint, program) in SOFT_INTERRUPT_PROGRAMS.into_iter().chain(DEVICE_PROGRAMS) {
            let action = || format!("the kernel does not take {program} at {tracepoint}");
            programs.load((tracepoint, program)).map_err(|refusal| refusal.trying(action()))?;
        }
        for program in ["on_enter", "on_window"] {
            programs.load_own(program)?;
        }
        let charge = {
            let _links = attach(&mut programs, &SOFT_INTERRUPT_PROGRAMS)?;
            find_charge(&mut programs)
        };
        let state = EndMeterState {
            programs,
            soft_links: Vec::new(),
            device_links: Vec::new(),
            next_turn: Instant::now(),
            newest_began: Instant::now(),
            has_window_thread: false,
            free_accounts: (FIRST_END_ACCOUNT..=LAST_END_ACCOUNT).rev().collect(),
            ends: BTreeMap::new(),
            network_ends: 0,
        };
        Ok(EndMeter { state: Mutex::new(state), changed: Condvar::new(), charge })
    }

    /// Attaches and detaches the programs in turn, until there is no end.
    fn run_windows(&self) {
        let mut state = self.state();
        while !state.ends.is_empty() {
            let remaining = state.next_turn.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                state.take_turn();
            } else {
                state = self.changed.wait_timeout(state, remaining).unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        state.has_window_thread = false;
    }

    fn state(&self) -> MutexGuard<'_, EndMeterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EndMeterState {
    fn begin(&mut self, account: u32, flow: Option<[u8; FLOW_BYTES]>) -> Result<(), MeterRefusal> {
        if let Some(flow) = flow {
            let mut flows: HashMap<&mut MapData, [u8; FLOW_BYTES], u32> = self.programs.map_mut("flows")?;
            flows.insert(flow, account, 0)?;
        }
        let (_, totals) = self.read_totals(account)?;
        self.ends.insert(account, EndReadings::new(totals));
        self.attach_for(FIRST_WINDOW)
    }

    /// The totals of an account, and the time of the reading.
    fn read_totals(&self, account: u32) -> Result<(Instant, NetworkInterruptTime), MeterRefusal> {
        let reading = || {
            let now = Instant::now();
            self.programs.interrupts(account).map(|totals| (now, totals, now.elapsed()))
        };
        let mut fastest = reading()?;
        for _ in 1..READING_TRIES {
            if fastest.2 > READING_TIME_LIMIT {
                let repeated = reading()?;
                fastest = if repeated.2 < fastest.2 { repeated } else { fastest };
            }
        }
        Ok((fastest.0, fastest.1))
    }

    /// The totals of all ends, by account, each with the time of its reading.
    fn read_all_totals(&self) -> Vec<(u32, Instant, NetworkInterruptTime)> {
        let read = |account: &u32| self.read_totals(*account).ok().map(|(now, totals)| (*account, now, totals));
        self.ends.keys().filter_map(read).collect()
    }

    /// Attaches the programs for at least `time`.
    fn attach_for(&mut self, time: Duration) -> Result<(), MeterRefusal> {
        let until = Instant::now() + time;
        let is_detached = self.soft_links.is_empty();
        self.next_turn = if is_detached { until } else { self.next_turn.max(until) };
        if is_detached {
            self.programs.run("on_window", [0; 2])?;
            self.soft_links = attach(&mut self.programs, &SOFT_INTERRUPT_PROGRAMS)?;
        }
        if self.network_ends > 0 && self.device_links.is_empty() {
            self.device_links = attach(&mut self.programs, &DEVICE_PROGRAMS)?;
        }
        if is_detached {
            for (account, now, totals) in self.read_all_totals() {
                self.ends.entry(account).and_modify(|readings| readings.begin_window(now, totals));
            }
        }
        Ok(())
    }

    fn detach(&mut self) {
        self.device_links.clear();
        self.soft_links.clear();
    }

    /// Ends the present window, or begins one. The kernel's error shows when an end is read.
    fn take_turn(&mut self) {
        if self.soft_links.is_empty() {
            if self.attach_for(LATER_WINDOW).is_err() {
                self.next_turn = Instant::now() + WINDOW_GAP.1;
            }
            return;
        }
        for (account, now, totals) in self.read_all_totals() {
            self.ends.entry(account).and_modify(|readings| readings.end_window(now, totals));
        }
        self.detach();
        let gap = self.newest_began.elapsed().clamp(WINDOW_GAP.0, WINDOW_GAP.1);
        let random = Duration::from_nanos(monotonic_ns().wrapping_mul(0x9e37_79b9_7f4a_7c15) % gap.as_nanos() as u64);
        self.next_turn = Instant::now() + gap + random;
    }

    /// An end's readings, with its present totals and the time of their reading.
    fn readings(&mut self, account: u32) -> Result<(&mut EndReadings, Instant, NetworkInterruptTime), MeterRefusal> {
        let (now, totals) = self.read_totals(account)?;
        Ok((self.ends.get_mut(&account).ok_or("the end is over")?, now, totals))
    }
}

fn attach(programs: &mut TransferPrograms, attached: &[TracepointProgram]) -> Result<Vec<BtfTracePointLink>, MeterRefusal> {
    attached.iter().map(|program| programs.attach(*program)).collect()
}

fn flow(local: SocketAddr, remote: SocketAddr) -> [u8; FLOW_BYTES] {
    let mut flow = [0; FLOW_BYTES];
    flow[..16].copy_from_slice(&ipv6_octets(local.ip()));
    flow[16..32].copy_from_slice(&ipv6_octets(remote.ip()));
    flow[32..34].copy_from_slice(&local.port().to_be_bytes());
    flow[34..36].copy_from_slice(&remote.port().to_be_bytes());
    flow[36..].copy_from_slice(&TCP_PROTOCOL_ID.to_ne_bytes());
    flow
}

fn ipv6_octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

fn is_loopback(local: IpAddr, remote: IpAddr) -> bool {
    remote.to_canonical().is_loopback() || remote.to_canonical() == local.to_canonical()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_laid_out_as_the_programs_have_it() {
        let flow = flow("10.1.2.3:258".parse().expect("an address"), "[fe80::1]:3920".parse().expect("an address"));
        assert_eq!(flow[..16], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 1, 2, 3]);
        assert_eq!((flow[16], flow[17], flow[31]), (0xfe, 0x80, 1));
        assert_eq!(flow[32..36], [1, 2, 0x0f, 0x50]);
        assert_eq!(flow[36..], 6u32.to_ne_bytes());
    }

    #[test]
    fn an_own_address_is_loopback_however_it_is_written() {
        let is = |local: &str, remote: &str| is_loopback(local.parse().expect("one"), remote.parse().expect("one"));
        assert!(is("127.0.0.1", "127.0.0.1") && is("::1", "::1") && is("10.0.0.1", "::ffff:10.0.0.1"));
        assert!(is("::ffff:127.0.0.1", "::ffff:127.0.0.9"));
        assert!(!is("10.0.0.1", "10.0.0.2") && !is("fe80::1", "fe80::2"));
    }
}
