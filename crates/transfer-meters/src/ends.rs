//! The interrupt work of each end of a transfer, by its connection's addresses and by the thread that moves its data.
//!
//! The programs are loaded once. They are at work without a break while an end begins, then in short windows at random moments, at
//! first often, then seldom, between which they are taken away: even a program that does nothing takes 65 ns a run, and all of
//! them all the time from 3 % of a stream within one host (in windows of a long one) to a fifth (at both ends of short ones, whole).
//! Devices' interrupts are looked at only while an end is not on loopback.

mod windows;

use crate::charge::{Charge, charge};
use crate::programs::{DEVICES, Hook, Programs, SOFT};
use crate::sums::Interrupts;
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
pub use windows::EndWork;
use windows::Log;

/// The numbers of ends' accounts, as the kernel's programs have them: after the command's, before the one for trials.
const FIRST: u32 = 2;
const LAST: u32 = 1022;
/// Rooms that ends do not use are made as small as can be.
const ROOM: [(&str, u32); 2] = [("connections", 1), ("flows", LAST)];
/// So long an end is clocked without a break when it begins, and in a window later.
const AT_FIRST: Duration = Duration::from_millis(25);
const WINDOW: Duration = Duration::from_millis(15);
/// The programs are away for as long as the newest end has been there, but neither shorter nor longer than this; and for up to as
/// long again, drawn at random.
const AWAY: (Duration, Duration) = (Duration::from_millis(30), Duration::from_millis(300));
/// Sums and the time that they are of are read within so long, or read again, so often: who reads may lose the processor between.
const PROMPT: Duration = Duration::from_micros(50);
const READINGS: usize = 5;
/// Soft interrupts that are under way when an end is asked for are waited for so long.
const TO_END: Duration = Duration::from_millis(20);
const PROTOCOL_TCP: u32 = 6;
/// `struct flow`: both addresses as IPv6 has them, both ports, the protocol.
const FLOW_BYTES: usize = 40;

/// The programs, loaded.
pub(crate) struct EndMeter {
    state: Mutex<State>,
    changed: Condvar,
    charge: Charge,
}

struct State {
    programs: Programs,
    soft: Vec<BtfTracePointLink>,
    devices: Vec<BtfTracePointLink>,
    /// When the programs are to be put back, or taken away.
    turn: Instant,
    /// When the newest end began.
    newest: Instant,
    has_keeper: bool,
    free: Vec<u32>,
    ends: BTreeMap<u32, Log>,
    beyond_loopback: usize,
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
    /// [`Unavailable`] where the kernel does not take them.
    pub fn open() -> Result<EndMeter, Unavailable> {
        let mut programs = Programs::open(&ROOM)?;
        for hook in SOFT.into_iter().chain(DEVICES) {
            let refused = |why| Unavailable(format!("the kernel does not take {} at {}: {why}", hook.1, hook.0).into());
            programs.load(hook).map_err(refused)?;
        }
        for program in ["on_enter", "on_window"] {
            programs.prepare(program).map_err(|why| Unavailable(why.into()))?;
        }
        let charge = {
            let _at_work = put(&mut programs, &SOFT).map_err(|why| Unavailable(why.into()))?;
            charge(&mut programs)
        };
        let state = State {
            programs,
            soft: Vec::new(),
            devices: Vec::new(),
            turn: Instant::now(),
            newest: Instant::now(),
            has_keeper: false,
            free: (FIRST..=LAST).rev().collect(),
            ends: BTreeMap::new(),
            beyond_loopback: 0,
        };
        Ok(EndMeter { state: Mutex::new(state), changed: Condvar::new(), charge })
    }

    /// Follows the connection between these addresses, `local` and `remote`; without one, only what comes upon the end's thread.
    ///
    /// # Errors
    /// In words: there is no room, the kernel no longer answers.
    pub fn follow(self: Arc<EndMeter>, connection: Option<(SocketAddr, SocketAddr)>) -> Result<EndInterrupts, String> {
        let beyond_loopback = connection.is_some_and(|(local, remote)| !is_loopback(local.ip(), remote.ip()));
        let flow = connection.map(|(local, remote)| flow(local, remote));
        let mut state = self.state();
        let account = state.free.pop().ok_or("there are too many transfers at once")?;
        state.beyond_loopback += usize::from(beyond_loopback);
        let begun = state.begin(account, flow);
        if !state.has_keeper && begun.is_ok() {
            state.has_keeper = true;
            let meter = self.clone();
            thread::spawn(move || meter.keep());
        }
        self.changed.notify_all();
        drop(state);
        let end = EndInterrupts { meter: self, account, flow, beyond_loopback };
        begun.map(|()| end)
    }

    /// What is in doubt about what comes upon an end's thread, in words.
    pub fn doubt(&self) -> Option<String> {
        if let Charge::Unclear(why) = &self.charge { Some(why.clone()) } else { None }
    }

    /// Puts the programs back and takes them away, until there is no end.
    fn keep(&self) {
        let mut state = self.state();
        while !state.ends.is_empty() {
            let left = state.turn.saturating_duration_since(Instant::now());
            if left.is_zero() {
                state.turn();
            } else {
                state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        state.has_keeper = false;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn begin(&mut self, account: u32, flow: Option<[u8; FLOW_BYTES]>) -> Result<(), String> {
        if let Some(flow) = flow {
            let mut flows: HashMap<&mut MapData, [u8; FLOW_BYTES], u32> = self.programs.map_mut("flows")?;
            flows.insert(flow, account, 0).map_err(|error| words(&error))?;
        }
        let (_, sums) = self.sums(account)?;
        self.ends.insert(account, Log::new(sums));
        self.put(AT_FIRST)
    }

    /// What there is of an account, and when.
    fn sums(&self, account: u32) -> Result<(Instant, Interrupts), String> {
        let reading = || {
            let now = Instant::now();
            self.programs.interrupts(account).map(|sums| (now, sums, now.elapsed()))
        };
        let mut best = reading()?;
        for _ in 1..READINGS {
            if best.2 > PROMPT {
                let again = reading()?;
                best = if again.2 < best.2 { again } else { best };
            }
        }
        Ok((best.0, best.1))
    }

    /// All ends' sums.
    fn all(&self) -> Vec<(u32, Instant, Interrupts)> {
        let told = |account: &u32| self.sums(*account).ok().map(|(now, sums)| (*account, now, sums));
        self.ends.keys().filter_map(told).collect()
    }

    /// Has the programs at work for at least so long.
    fn put(&mut self, time: Duration) -> Result<(), String> {
        let until = Instant::now() + time;
        let is_away = self.soft.is_empty();
        self.turn = if is_away { until } else { self.turn.max(until) };
        if is_away {
            self.programs.run("on_window", [0; 2])?;
            self.soft = put(&mut self.programs, &SOFT)?;
        }
        if self.beyond_loopback > 0 && self.devices.is_empty() {
            self.devices = put(&mut self.programs, &DEVICES)?;
        }
        if is_away {
            for (account, now, sums) in self.all() {
                self.ends.entry(account).and_modify(|log| log.begin_window(now, sums));
            }
        }
        Ok(())
    }

    fn take_away(&mut self) {
        self.devices.clear();
        self.soft.clear();
    }

    /// Ends a window, or begins one. Where the kernel no longer answers, ends notice when they ask.
    fn turn(&mut self) {
        if self.soft.is_empty() {
            if self.put(WINDOW).is_err() {
                self.turn = Instant::now() + AWAY.1;
            }
            return;
        }
        for (account, now, sums) in self.all() {
            self.ends.entry(account).and_modify(|log| log.end_window(now, sums));
        }
        self.take_away();
        let away = self.newest.elapsed().clamp(AWAY.0, AWAY.1);
        let random = Duration::from_nanos(monotonic_ns().wrapping_mul(0x9e37_79b9_7f4a_7c15) % away.as_nanos() as u64);
        self.turn = Instant::now() + away + random;
    }

    /// The end's log with its sums as they are, and when.
    fn log(&mut self, account: u32) -> Result<(&mut Log, Instant, Interrupts), String> {
        let (now, sums) = self.sums(account)?;
        self.ends.get_mut(&account).map(|log| (log, now, sums)).ok_or_else(|| "the end is over".to_owned())
    }
}

/// The interrupt work of one end; dropping it ends its account.
#[derive(Debug)]
pub(crate) struct EndInterrupts {
    meter: Arc<EndMeter>,
    account: u32,
    flow: Option<[u8; FLOW_BYTES]>,
    beyond_loopback: bool,
}

impl EndInterrupts {
    /// From now on the thread that calls is the end's, and moves its data.
    ///
    /// # Errors
    /// In words, when the kernel no longer answers.
    pub fn enter(&self) -> Result<(), String> {
        let mut state = self.meter.state();
        state.put(AT_FIRST)?;
        self.meter.changed.notify_all();
        let (log, now, sums) = state.log(self.account)?;
        log.enter(now, sums);
        state.newest = now;
        state.programs.run("on_enter", [self.account.into(), 0])
    }

    /// The thread that calls is the end's no more.
    ///
    /// # Errors
    /// In words, when the kernel no longer answers.
    pub fn leave(&self) -> Result<(), String> {
        let ended = Instant::now();
        let mut state = self.meter.state();
        state.programs.run("on_enter", [0; 2])?;
        let (log, now, sums) = state.log(self.account)?;
        log.leave(ended, now, sums);
        Ok(())
    }

    /// What there was since it was followed.
    ///
    /// # Errors
    /// In words, when the kernel no longer answers.
    pub(crate) fn so_far(&self) -> Result<EndWork, String> {
        let mut state = self.meter.state();
        let (log, _, sums) = state.log(self.account)?;
        let mut work = log.work(sums);
        if !self.beyond_loopback {
            work.hard_ns = 0.0; // no device brings what comes over loopback
        }
        if self.meter.charge != Charge::ToTheInterrupted {
            work.upon_ns = 0.0;
        }
        Ok(work)
    }

    /// As [`EndInterrupts::so_far`], when the soft interrupts that are under way have ended.
    ///
    /// # Errors
    /// In words, when the kernel no longer answers.
    pub fn settled(&self) -> Result<EndWork, String> {
        let (began, until) = (monotonic_ns(), Instant::now() + TO_END);
        let under_way = || self.meter.state().programs.under_way();
        let before = under_way()?;
        let recent = |then: u64| then > 0 && then + TO_END.as_nanos() as u64 > began;
        while Instant::now() < until && before.iter().zip(&under_way()?).any(|(then, now)| recent(*then) && then == now) {
            thread::yield_now();
        }
        self.so_far()
    }

    /// As of [`EndMeter`].
    pub fn doubt(&self) -> Option<String> {
        self.meter.doubt()
    }
}

impl Drop for EndInterrupts {
    fn drop(&mut self) {
        let mut state = self.meter.state();
        if let Some(flow) = self.flow {
            let flows: Result<HashMap<&mut MapData, [u8; FLOW_BYTES], u32>, _> = state.programs.map_mut("flows");
            let _ = flows.map(|mut flows| flows.remove(&flow)); // of a map that is gone there is nothing to remove
        }
        state.ends.remove(&self.account);
        state.free.push(self.account);
        state.beyond_loopback -= usize::from(self.beyond_loopback);
        if state.ends.is_empty() {
            state.take_away();
            self.meter.changed.notify_all();
        }
    }
}

fn put(programs: &mut Programs, hooks: &[Hook]) -> Result<Vec<BtfTracePointLink>, String> {
    hooks.iter().map(|hook| programs.attach(*hook)).collect()
}

fn flow(local: SocketAddr, remote: SocketAddr) -> [u8; FLOW_BYTES] {
    let mut flow = [0; FLOW_BYTES];
    flow[..16].copy_from_slice(&as_version_6(local.ip()));
    flow[16..32].copy_from_slice(&as_version_6(remote.ip()));
    flow[32..34].copy_from_slice(&local.port().to_be_bytes());
    flow[34..36].copy_from_slice(&remote.port().to_be_bytes());
    flow[36..].copy_from_slice(&PROTOCOL_TCP.to_ne_bytes());
    flow
}

fn as_version_6(address: IpAddr) -> [u8; 16] {
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
    fn ones_own_address_is_loopback_however_it_is_written() {
        let is = |local: &str, remote: &str| is_loopback(local.parse().expect("one"), remote.parse().expect("one"));
        assert!(is("127.0.0.1", "127.0.0.1") && is("::1", "::1") && is("10.0.0.1", "::ffff:10.0.0.1"));
        assert!(is("::ffff:127.0.0.1", "::ffff:127.0.0.9"));
        assert!(!is("10.0.0.1", "10.0.0.2") && !is("fe80::1", "fe80::2"));
    }
}
