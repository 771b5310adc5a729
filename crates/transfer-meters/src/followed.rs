//! `loadgo-transfer`'s interface of interrupt work, implemented by the meter of ends.

use crate::ends::{EndInterrupts, EndMeter, EndWork};
use loadgo_transfer::measuring::interrupts::{Followed, Interrupts, Meter, Work};
use rustix::net::{getpeername, getsockname};
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, OnceLock};

/// The meter of all ends in this process: loaded when it is first asked for, at work while there is an end.
pub fn meter_of_ends() -> Meter {
    static METER: OnceLock<Meter> = OnceLock::new();
    let opened = || EndMeter::open().map(|meter| Arc::new(Ends(Arc::new(meter))) as Arc<dyn Interrupts>);
    METER.get_or_init(|| opened().map_err(|why| why.to_string())).clone()
}

#[derive(Debug)]
struct Ends(Arc<EndMeter>);

impl Interrupts for Ends {
    fn follow(&self, socket: Option<BorrowedFd<'_>>) -> Result<Box<dyn Followed>, String> {
        let connection = socket.map(addresses).transpose()?;
        let end = self.0.clone().follow(connection)?;
        Ok(Box::new(end))
    }
}

/// The addresses of both ends of a connection: this one's, the other's.
fn addresses(socket: BorrowedFd<'_>) -> Result<(SocketAddr, SocketAddr), String> {
    let unknown = |why: &dyn std::fmt::Display| format!("the addresses of the connection are not known: {why}");
    let local = getsockname(socket).map_err(|error| unknown(&error))?;
    let remote = getpeername(socket).map_err(|error| unknown(&error))?.ok_or_else(|| unknown(&"it has no other end"))?;
    Ok((local.try_into().map_err(|error| unknown(&error))?, remote.try_into().map_err(|error| unknown(&error))?))
}

impl Followed for EndInterrupts {
    fn enter(&self) -> Result<(), String> {
        EndInterrupts::enter(self)
    }

    fn leave(&self) -> Result<(), String> {
        EndInterrupts::leave(self)
    }

    fn settled(&self) -> Result<Work, String> {
        EndInterrupts::settled(self).map(work)
    }

    fn doubt(&self) -> Option<String> {
        EndInterrupts::doubt(self)
    }
}

fn work(of: EndWork) -> Work {
    Work {
        soft_ns: of.soft_ns as u64,
        hard_ns: of.hard_ns as u64,
        upon_ns: of.upon_ns as u64,
        clocked: of.clocked,
        error_ns: of.error_ns.map(|error| error as u64),
    }
}
