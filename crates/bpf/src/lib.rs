//! The kernel programs, compiled from C by `build.rs`: the bytes of one object for each folder.
//!
//! The programs run at tracepoints and perf software events, so that they load where fentry and kprobes do not.
//! `loadgo-meters` loads the first object, `loadgo-transfer-meters` the second and `loadgo-observation` the third.

/// Bytes aligned for a loader that reads words.
#[repr(C, align(32))]
struct Aligned<Bytes: ?Sized>(Bytes);

/// The programs that meter a host (`meters/`).
pub static METERS_OBJECT: &[u8] = {
    const OBJECT: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/meters.bpf.o")));
    &OBJECT.0
};

/// The programs that follow transfers' sockets and the interrupts that work for them (`transfers/`).
pub static TRANSFERS_OBJECT: &[u8] = {
    const OBJECT: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/transfers.bpf.o")));
    &OBJECT.0
};

/// The programs that observe log-in sessions (`sessions/`).
pub static SESSIONS_OBJECT: &[u8] = {
    const OBJECT: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/sessions.bpf.o")));
    &OBJECT.0
};
