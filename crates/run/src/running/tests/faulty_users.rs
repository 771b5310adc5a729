//! Users in virtual time and meters, with the fault that a test asks for.

use super::faulty::DiskFault;
use super::virtual_host::VirtualHost;
use crate::driver::DrivenSystem;
use crate::metering::MetersState;
use crate::progress::CountingRecorder;
use crate::run_spec::RunSpec;
use crate::sampling::SampledSystem;
use loadgo_core::record::{LostRow, MeterRows};
use loadgo_core::script::TypedForm;
use loadgo_core::stop::StopRequest;
use loadgo_core::system::{Event, Response, SentLine, System, UserId};
use loadgo_core::time::Instant;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The fault of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fault {
    Nothing,
    /// The disk has this fault at the write of this number.
    Disk(DiskFault, u64),
    HomesRefused,
    /// Something that the run made cannot be undone.
    DirectoryStays,
    SystemRefused,
    SystemPanicsAtItsBegin,
    DriverPanicsAtLine(u32),
    SystemPanicsAtItsEnd,
    SamplerPanicsAtItsBegin,
    SamplerPanicsAtSample(u32),
    MetersLose,
    CallbackPanics,
    CallbackStops,
    CallbackFails,
    Dropped,
}

/// A host in virtual time with a fault. It reports a request to stop, and leaves the users to the driver.
pub(super) struct Users {
    pub(super) host: VirtualHost,
    pub(super) fault: Fault,
    pub(super) lines: u32,
    pub(super) stop: StopRequest,
    /// Whether the driver has received the request to stop.
    pub(super) stop_reported: bool,
    /// Whether the run goes on until it is stopped.
    pub(super) endless: bool,
    pub(super) observed: Arc<Observed>,
}

/// State of the run that the test observes.
pub(super) struct Observed {
    pub(super) homes: PathBuf,
    /// Whether the homes existed when the users left.
    pub(super) homes_outlived_users: AtomicBool,
    pub(super) meters_at_work: AtomicBool,
    pub(super) lines: AtomicU64,
}

impl System for Users {
    fn now(&self) -> Instant {
        self.host.now()
    }
    fn log_in(&mut self, user: UserId) {
        self.host.log_in(user);
    }
    fn keys(&mut self, user: UserId, keys: &[u8], form: TypedForm) {
        self.host.keys(user, keys, form);
    }
    fn send(&mut self, user: UserId, typed: SentLine<'_>) -> Instant {
        self.lines += 1;
        self.observed.lines.store(u64::from(self.lines), Ordering::Relaxed);
        assert_ne!(self.fault, Fault::DriverPanicsAtLine(self.lines), "a fault of this test");
        self.host.send(user, typed)
    }
    fn log_out(&mut self, user: UserId, keys: &[u8]) -> Instant {
        self.host.log_out(user, keys)
    }
    fn interrupt(&mut self, user: UserId) -> Response {
        self.host.interrupt(user)
    }
    fn hang_up(&mut self, user: UserId) {
        self.host.hang_up(user);
    }
    fn wait(&mut self, until: Option<Instant>, events: &mut Vec<Event>) {
        while self.endless && self.lines > 8 && !self.stop.is_set() {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        if self.stop.is_set() && !std::mem::replace(&mut self.stop_reported, true) {
            events.push(Event::Stop { at: self.now() }); // what happens next comes in the same batch, as on a live host
        }
        self.host.wait(until, events);
    }
}

impl Drop for Users {
    fn drop(&mut self) {
        self.observed.homes_outlived_users.store(self.observed.homes.is_dir(), Ordering::Release);
    }
}

impl DrivenSystem for Users {
    fn log_in_words(_: &RunSpec) -> String {
        String::new()
    }
    fn close(self, _: &mut CountingRecorder) -> Option<String> {
        assert_ne!(self.fault, Fault::SystemPanicsAtItsEnd, "a fault of this test");
        None
    }
}

/// Meters that count their samples, and note when they are dropped.
pub(super) struct CountingMeters {
    pub(super) fault: Fault,
    pub(super) samples: u32,
    pub(super) observed: Arc<Observed>,
}

impl SampledSystem for CountingMeters {
    fn sample(&mut self) -> (MeterRows, Vec<LostRow>) {
        self.samples += 1;
        assert_ne!(self.fault, Fault::SamplerPanicsAtSample(self.samples), "a fault of this test");
        let reason = "the meters do not answer".into();
        let lost = LostRow { at: Instant(0), user: None, what: "meters", count: 1, reason };
        // A run has a sample for each of its phases, and for each second.
        let is_lost = self.fault == Fault::MetersLose && self.samples == 1;
        (MeterRows::default(), if is_lost { vec![lost] } else { Vec::new() })
    }
    fn end(self: Box<Self>) -> Option<MetersState> {
        None
    }
}

impl Drop for CountingMeters {
    fn drop(&mut self) {
        self.observed.meters_at_work.store(false, Ordering::Release);
    }
}
