//! Measures the interrupt time of each end of a transfer, by its connection's addresses and by the thread that moves its data.
//!
//! The programs are loaded once. They are attached while an end begins, then in short windows at random moments, which become
//! rarer with time. Between windows they are detached, because even an empty program takes 65 ns a run. Within one host, all
//! programs together take 3 % of a long stream measured in windows. They take a fifth of short ones measured in full at both ends.
//! The programs for device interrupts are attached only while an end is not on loopback.

mod windows;

use crate::charge::{InterruptCharge, find_charge};
use crate::programs::{DEVICE_PROGRAMS, SOFT_INTERRUPT_PROGRAMS, TracepointProgram, TransferPrograms};
use crate::sums::NetworkInterruptTime;
use aya::maps::{HashMap, MapData};
use aya::programs::tp_btf::BtfTracePointLink;
use loadgo_meters::Unavailable;
use loadgo_meters::refused::words;
use loadgo_sys::clock::monotonic_ns;
use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use windows::EndReadings;
pub use windows::EndWork;

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
pub(crate) struct EndMeter {
    state: Mutex<EndMeterState>,
    changed: Condvar,
    charge: InterruptCharge,
}

struct EndMeterState {
    programs: TransferPrograms,
    soft: Vec<BtfTracePointLink>,
    devices: Vec<BtfTracePointLink>,
    /// When the programs are to be attached or detached.
    next_turn: Instant,
    /// When the newest end began.
    newest: Instant,
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
    /// [`Unavailable`] if the kernel does not take them.
    pub fn open() -> Result<EndMeter, Unavailable> {
        let mut programs = TransferPrograms::open(&MAP_ENTRIES)?;
        for (tracepoint, program) in SOFT_INTERRUPT_PROGRAMS.into_iter().chain(DEVICE_PROGRAMS) {
            let refused = |reason| Unavailable(format!("the kernel does not take {program} at {tracepoint}: {reason}").into());
            programs.load((tracepoint, program)).map_err(refused)?;
        }
        for program in ["on_enter", "on_window"] {
            programs.load_own(program).map_err(|reason| Unavailable(reason.into()))?;
        }
        let charge = {
            let _links = attach(&mut programs, &SOFT_INTERRUPT_PROGRAMS).map_err(|reason| Unavailable(reason.into()))?;
            find_charge(&mut programs)
        };
        let state = EndMeterState {
            programs,
            soft: Vec::new(),
            devices: Vec::new(),
            next_turn: Instant::now(),
            newest: Instant::now(),
            has_window_thread: false,
            free_accounts: (FIRST_END_ACCOUNT..=LAST_END_ACCOUNT).rev().collect(),
            ends: BTreeMap::new(),
            network_ends: 0,
        };
        Ok(EndMeter { state: Mutex::new(state), changed: Condvar::new(), charge })
    }

    /// Follows a connection, given as local and remote address. Without one, only interruptions of the end's thread are measured.
    ///
    /// # Errors
    /// There are too many ends, or the kernel's words.
    pub fn follow_connection(self: Arc<EndMeter>, connection: Option<(SocketAddr, SocketAddr)>) -> Result<EndInterrupts, String> {
        let is_on_network = connection.is_some_and(|(local, remote)| !is_loopback(local.ip(), remote.ip()));
        let flow = connection.map(|(local, remote)| flow(local, remote));
        let mut state = self.state();
        let account = state.free_accounts.pop().ok_or("there are too many transfers at once")?;
        state.network_ends += usize::from(is_on_network);
        let begun = state.begin(account, flow);
        if !state.has_window_thread && begun.is_ok() {
            state.has_window_thread = true;
            let meter = self.clone();
            thread::spawn(move || meter.run_windows());
        }
        self.changed.notify_all();
        drop(state);
        let end = EndInterrupts { meter: self, account, flow, is_on_network };
        begun.map(|()| end)
    }

    /// A note if the time of interruptions of an end's thread is in doubt.
    pub fn accuracy_note(&self) -> Option<String> {
        if let InterruptCharge::Unclear(reason) = &self.charge { Some(reason.clone()) } else { None }
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
    fn begin(&mut self, account: u32, flow: Option<[u8; FLOW_BYTES]>) -> Result<(), String> {
        if let Some(flow) = flow {
            let mut flows: HashMap<&mut MapData, [u8; FLOW_BYTES], u32> = self.programs.map_mut("flows")?;
            flows.insert(flow, account, 0).map_err(|error| words(&error))?;
        }
        let (_, totals) = self.read_totals(account)?;
        self.ends.insert(account, EndReadings::new(totals));
        self.attach_for(FIRST_WINDOW)
    }

    /// The totals of an account, and the time of the reading.
    fn read_totals(&self, account: u32) -> Result<(Instant, NetworkInterruptTime), String> {
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
    fn attach_for(&mut self, time: Duration) -> Result<(), String> {
        let until = Instant::now() + time;
        let is_detached = self.soft.is_empty();
        self.next_turn = if is_detached { until } else { self.next_turn.max(until) };
        if is_detached {
            self.programs.run("on_window", [0; 2])?;
            self.soft = attach(&mut self.programs, &SOFT_INTERRUPT_PROGRAMS)?;
        }
        if self.network_ends > 0 && self.devices.is_empty() {
            self.devices = attach(&mut self.programs, &DEVICE_PROGRAMS)?;
        }
        if is_detached {
            for (account, now, totals) in self.read_all_totals() {
                self.ends.entry(account).and_modify(|readings| readings.begin_window(now, totals));
            }
        }
        Ok(())
    }

    fn detach(&mut self) {
        self.devices.clear();
        self.soft.clear();
    }

    /// Ends a window, or begins one. An error of the kernel shows when an end is read.
    fn take_turn(&mut self) {
        if self.soft.is_empty() {
            if self.attach_for(LATER_WINDOW).is_err() {
                self.next_turn = Instant::now() + WINDOW_GAP.1;
            }
            return;
        }
        for (account, now, totals) in self.read_all_totals() {
            self.ends.entry(account).and_modify(|readings| readings.end_window(now, totals));
        }
        self.detach();
        let gap = self.newest.elapsed().clamp(WINDOW_GAP.0, WINDOW_GAP.1);
        let random = Duration::from_nanos(monotonic_ns().wrapping_mul(0x9e37_79b9_7f4a_7c15) % gap.as_nanos() as u64);
        self.next_turn = Instant::now() + gap + random;
    }

    /// An end's readings, with its present totals and the time of their reading.
    fn readings(&mut self, account: u32) -> Result<(&mut EndReadings, Instant, NetworkInterruptTime), String> {
        let (now, totals) = self.read_totals(account)?;
        self.ends.get_mut(&account).map(|readings| (readings, now, totals)).ok_or_else(|| "the end is over".to_owned())
    }
}

/// One end that is followed; dropping this frees its account.
#[derive(Debug)]
pub(crate) struct EndInterrupts {
    meter: Arc<EndMeter>,
    account: u32,
    flow: Option<[u8; FLOW_BYTES]>,
    is_on_network: bool,
}

impl EndInterrupts {
    /// Makes the calling thread the one that moves the end's data.
    ///
    /// # Errors
    /// The kernel's words.
    pub fn attach_thread(&self) -> Result<(), String> {
        let mut state = self.meter.state();
        state.attach_for(FIRST_WINDOW)?;
        self.meter.changed.notify_all();
        let (readings, now, totals) = state.readings(self.account)?;
        readings.begin_data(now, totals);
        state.newest = now;
        state.programs.run("on_enter", [self.account.into(), 0])
    }

    /// Ends the calling thread's work for the end.
    ///
    /// # Errors
    /// The kernel's words.
    pub fn detach_thread(&self) -> Result<(), String> {
        let ended = Instant::now();
        let mut state = self.meter.state();
        state.programs.run("on_enter", [0; 2])?;
        let (readings, now, totals) = state.readings(self.account)?;
        readings.end_data(ended, now, totals);
        Ok(())
    }

    /// The end's interrupt work since it is followed.
    ///
    /// # Errors
    /// The kernel's words.
    pub(crate) fn work_so_far(&self) -> Result<EndWork, String> {
        let mut state = self.meter.state();
        let (readings, _, totals) = state.readings(self.account)?;
        let mut work = readings.work(totals);
        if !self.is_on_network {
            work.hard_ns = 0.0; // no device serves loopback
        }
        if self.meter.charge != InterruptCharge::ToTheInterrupted {
            work.upon_ns = 0.0;
        }
        Ok(work)
    }

    /// As [`EndInterrupts::work_so_far`], after the present soft interrupts have ended.
    ///
    /// # Errors
    /// The kernel's words.
    pub fn final_work(&self) -> Result<EndWork, String> {
        let (began, until) = (monotonic_ns(), Instant::now() + SOFT_INTERRUPT_WAIT);
        let starts_ns = || self.meter.state().programs.soft_interrupt_starts_ns();
        let before = starts_ns()?;
        let is_recent = |start_ns: u64| start_ns > 0 && start_ns + SOFT_INTERRUPT_WAIT.as_nanos() as u64 > began;
        while Instant::now() < until && before.iter().zip(&starts_ns()?).any(|(then, now)| is_recent(*then) && then == now) {
            thread::yield_now();
        }
        self.work_so_far()
    }

    /// As [`EndMeter::accuracy_note`].
    pub fn accuracy_note(&self) -> Option<String> {
        self.meter.accuracy_note()
    }
}

impl Drop for EndInterrupts {
    fn drop(&mut self) {
        let mut state = self.meter.state();
        if let Some(flow) = self.flow {
            let flows: Result<HashMap<&mut MapData, [u8; FLOW_BYTES], u32>, _> = state.programs.map_mut("flows");
            let _ = flows.map(|mut flows| flows.remove(&flow)); // without the map there is nothing to remove
        }
        state.ends.remove(&self.account);
        state.free_accounts.push(self.account);
        state.network_ends -= usize::from(self.is_on_network);
        if state.ends.is_empty() {
            state.detach();
            self.meter.changed.notify_all();
        }
    }
}

fn attach(programs: &mut TransferPrograms, attached: &[TracepointProgram]) -> Result<Vec<BtfTracePointLink>, String> {
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
