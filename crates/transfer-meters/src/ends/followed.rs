//! Implements the interface for interrupt meters of `loadgo-transfer` with the meter of ends.

use super::windows::EndWork;
use super::{EndMeter, FIRST_WINDOW, FLOW_BYTES, SOFT_INTERRUPT_WAIT, flow, is_loopback};
use crate::charge::{InterruptCharge, UNCLEAR_CHARGE_NOTE};
use aya::maps::{HashMap, MapData};
use loadgo_meters::MeterRefusal;
use loadgo_sys::clock::monotonic_ns;
use loadgo_transfer::measuring::interrupts::{FollowedEnd, InterruptMeter, InterruptWork, MeterOrReason, UnmeteredReason};
use rustix::net::{getpeername, getsockname};
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Instant;

/// The interrupt meter of all ends in this process. The first call loads it; it runs only while there is an end.
pub fn interrupt_meter_for_ends() -> MeterOrReason {
    static METER: OnceLock<MeterOrReason> = OnceLock::new();
    let opened = || EndMeter::open().map(|meter| Arc::new(SharedEndMeter(Arc::new(meter))) as Arc<dyn InterruptMeter>);
    METER.get_or_init(|| opened().map_err(UnmeteredReason::from)).clone()
}

#[derive(Debug)]
struct SharedEndMeter(Arc<EndMeter>);

/// One end that is followed; dropping this frees its account.
#[derive(Debug)]
struct EndInterrupts {
    meter: Arc<EndMeter>,
    account: u32,
    flow: Option<[u8; FLOW_BYTES]>,
    is_on_network: bool,
}

impl InterruptMeter for SharedEndMeter {
    fn follow(&self, socket: Option<BorrowedFd<'_>>) -> Result<Box<dyn FollowedEnd>, UnmeteredReason> {
        let connection = socket.map(addresses).transpose()?;
        let is_on_network = connection.is_some_and(|(local, remote)| !is_loopback(local.ip(), remote.ip()));
        let flow = connection.map(|(local, remote)| flow(local, remote));
        let mut state = self.0.state();
        let account = state.free_accounts.pop().ok_or("there are too many transfers at once")?;
        state.network_ends += usize::from(is_on_network);
        let mut begun = state.begin(account, flow);
        if !state.has_window_thread && begun.is_ok() {
            let meter = self.0.clone();
            match thread::Builder::new().spawn(move || meter.run_windows()) {
                Ok(_) => state.has_window_thread = true,
                Err(error) => begun = Err(format!("the thread that opens windows could not be started: {error}").into()),
            }
        }
        self.0.changed.notify_all();
        drop(state);
        let end = EndInterrupts { meter: self.0.clone(), account, flow, is_on_network };
        begun?; // dropping the end undoes what has begun
        Ok(Box::new(end))
    }
}

/// The addresses of a connection: this end's, and the other end's.
fn addresses(socket: BorrowedFd<'_>) -> Result<(SocketAddr, SocketAddr), MeterRefusal> {
    let unknown = |reason: &dyn std::fmt::Display| format!("the addresses of the connection are not known: {reason}");
    let local = getsockname(socket).map_err(|error| unknown(&error))?;
    let remote = getpeername(socket).map_err(|error| unknown(&error))?.ok_or_else(|| unknown(&"it has no other end"))?;
    Ok((local.try_into().map_err(|error| unknown(&error))?, remote.try_into().map_err(|error| unknown(&error))?))
}

impl FollowedEnd for EndInterrupts {
    fn attach_thread(&self) -> Result<(), UnmeteredReason> {
        let mut state = self.meter.state();
        state.attach_for(FIRST_WINDOW)?;
        self.meter.changed.notify_all();
        let (readings, now, totals) = state.readings(self.account)?;
        readings.begin_data(now, totals);
        state.newest_began = now;
        Ok(state.programs.run("on_enter", [self.account.into(), 0])?)
    }

    fn detach_thread(&self) -> Result<(), UnmeteredReason> {
        let ended = Instant::now();
        let mut state = self.meter.state();
        state.programs.run("on_enter", [0; 2])?;
        let (readings, now, totals) = state.readings(self.account)?;
        readings.end_data(ended, now, totals);
        Ok(())
    }

    fn final_work(&self) -> Result<InterruptWork, UnmeteredReason> {
        self.wait_for_soft_interrupts()?;
        let mut state = self.meter.state();
        let (readings, _, totals) = state.readings(self.account)?;
        let mut work = readings.work(totals);
        if !self.is_on_network {
            work.hard_ns = 0.0; // no device serves loopback
        }
        if self.meter.charge != InterruptCharge::ToTheInterrupted {
            work.upon_ns = 0.0;
        }
        Ok(interrupt_work(work))
    }

    fn accuracy_note(&self) -> Option<String> {
        (self.meter.charge == InterruptCharge::Unclear).then(|| UNCLEAR_CHARGE_NOTE.into())
    }
}

impl EndInterrupts {
    /// Waits until the present soft interrupts of all processors have ended, for [`SOFT_INTERRUPT_WAIT`] at most.
    fn wait_for_soft_interrupts(&self) -> Result<(), MeterRefusal> {
        let (began, until) = (monotonic_ns(), Instant::now() + SOFT_INTERRUPT_WAIT);
        let starts_ns = || self.meter.state().programs.soft_interrupt_starts_ns();
        let before = starts_ns()?;
        let is_recent = |start_ns: u64| start_ns > 0 && start_ns + SOFT_INTERRUPT_WAIT.as_nanos() as u64 > began;
        while Instant::now() < until && before.iter().zip(&starts_ns()?).any(|(then, now)| is_recent(*then) && then == now) {
            thread::yield_now();
        }
        Ok(())
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

fn interrupt_work(work: EndWork) -> InterruptWork {
    InterruptWork {
        soft_ns: work.soft_ns as u64,
        hard_ns: work.hard_ns as u64,
        upon_ns: work.upon_ns as u64,
        clocked: work.clocked,
        error_ns: work.error_ns.map(|error| error as u64),
    }
}
