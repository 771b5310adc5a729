//! Implements `loadgo-transfer`'s interface of interrupt meters with the meter of ends.

use crate::ends::{EndInterrupts, EndMeter, EndWork};
use loadgo_transfer::measuring::interrupts::{FollowedEnd, InterruptMeter, InterruptWork, MeterOrReason};
use rustix::net::{getpeername, getsockname};
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, OnceLock};

/// The interrupt meter of all ends in this process. The first call loads it; it runs only while there is an end.
pub fn interrupt_meter_for_ends() -> MeterOrReason {
    static METER: OnceLock<MeterOrReason> = OnceLock::new();
    let opened = || EndMeter::open().map(|meter| Arc::new(EndsMeter(Arc::new(meter))) as Arc<dyn InterruptMeter>);
    METER.get_or_init(|| opened().map_err(|refusal| refusal.to_string())).clone()
}

#[derive(Debug)]
struct EndsMeter(Arc<EndMeter>);

impl InterruptMeter for EndsMeter {
    fn follow(&self, socket: Option<BorrowedFd<'_>>) -> Result<Box<dyn FollowedEnd>, String> {
        let connection = socket.map(addresses).transpose()?;
        let end = self.0.clone().follow_connection(connection)?;
        Ok(Box::new(end))
    }
}

/// The addresses of a connection: this end's, and the other end's.
fn addresses(socket: BorrowedFd<'_>) -> Result<(SocketAddr, SocketAddr), String> {
    let unknown = |reason: &dyn std::fmt::Display| format!("the addresses of the connection are not known: {reason}");
    let local = getsockname(socket).map_err(|error| unknown(&error))?;
    let remote = getpeername(socket).map_err(|error| unknown(&error))?.ok_or_else(|| unknown(&"it has no other end"))?;
    Ok((local.try_into().map_err(|error| unknown(&error))?, remote.try_into().map_err(|error| unknown(&error))?))
}

impl FollowedEnd for EndInterrupts {
    fn attach_thread(&self) -> Result<(), String> {
        EndInterrupts::attach_thread(self)
    }

    fn detach_thread(&self) -> Result<(), String> {
        EndInterrupts::detach_thread(self)
    }

    fn final_work(&self) -> Result<InterruptWork, String> {
        EndInterrupts::final_work(self).map(interrupt_work)
    }

    fn accuracy_note(&self) -> Option<String> {
        EndInterrupts::accuracy_note(self)
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
