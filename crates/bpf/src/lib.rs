//! The kernel programs, compiled from C by `build.rs`: the bytes of one object for each folder.
//!
//! The programs run at tracepoints and perf software events, so that they load where fentry and kprobes do not.
//! `loadgo-meters` loads the first object and `loadgo-transfer-meters` the second.

/// Bytes that begin where a loader may read words.
#[repr(C, align(32))]
struct Aligned<Bytes: ?Sized>(Bytes);

/// The meters of a host (`meters/`).
pub static METERS: &[u8] = {
    const OBJECT: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/meters.bpf.o")));
    &OBJECT.0
};

/// What follows transfers' sockets and the interrupts that work for them (`transfers/`).
pub static TRANSFERS: &[u8] = {
    const OBJECT: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/transfers.bpf.o")));
    &OBJECT.0
};
