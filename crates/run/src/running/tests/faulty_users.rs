//! The users and the meters of a run that is tested: in virtual time, and with the faults that a test asks for.

use super::faulty::Happens;
use super::virtual_host::VirtualHost;
use crate::asked::Asked;
use crate::driver::Driveable;
use crate::metering::MetersState;
use crate::progress::Watched;
use crate::sampling::Sampled;
use loadgo_core::record::{LostRow, MeterRows};
use loadgo_core::stop::StopRequest;
use loadgo_core::system::{Event, SentLine, System, UserId};
use loadgo_core::time::Instant;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The fault of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fault {
    Nothing,
    /// The disk does this from the write of this number on.
    Disk(Happens, u64),
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

/// The users in virtual time, on a host where things go wrong. Its users do not leave by themselves when it is asked to stop.
pub(super) struct Users {
    pub(super) host: VirtualHost,
    pub(super) fault: Fault,
    pub(super) lines: u32,
    pub(super) stop: StopRequest,
    /// The driver has heard of the request to stop.
    pub(super) is_told: bool,
    /// A run that is to be stopped waits for that.
    pub(super) endless: bool,
    pub(super) life: Arc<Life>,
}

/// The state that the test looks at from outside.
pub(super) struct Life {
    pub(super) homes: PathBuf,
    /// The homes were there when the users left.
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
    fn keys(&mut self, user: UserId, keys: &[u8]) {
        self.host.keys(user, keys);
    }
    fn send(&mut self, user: UserId, typed: SentLine<'_>) -> Instant {
        self.lines += 1;
        self.life.lines.store(u64::from(self.lines), Ordering::Relaxed);
        assert_ne!(self.fault, Fault::DriverPanicsAtLine(self.lines), "as the test has it");
        self.host.send(user, typed)
    }
    fn log_out(&mut self, user: UserId, keys: &[u8]) -> Instant {
        self.host.log_out(user, keys)
    }
    fn interrupt(&mut self, user: UserId) {
        self.host.interrupt(user);
    }
    fn hang_up(&mut self, user: UserId) {
        self.host.hang_up(user);
    }
    fn wait(&mut self, until: Option<Instant>, events: &mut Vec<Event>) {
        while self.endless && self.lines > 8 && !self.stop.is_set() {
            std::thread::yield_now();
        }
        if self.stop.is_set() && !std::mem::replace(&mut self.is_told, true) {
            return events.push(Event::Stop { at: self.now() });
        }
        self.host.wait(until, events);
    }
}

impl Drop for Users {
    fn drop(&mut self) {
        self.life.homes_outlived_users.store(self.life.homes.is_dir(), Ordering::Release);
    }
}

impl Driveable for Users {
    fn log_in_words(_: &Asked) -> String {
        String::new()
    }
    fn close(self, _: &mut Watched) -> Option<String> {
        assert_ne!(self.fault, Fault::SystemPanicsAtItsEnd, "as the test has it");
        None
    }
}

/// Meters that count the samples, and know whether they are unloaded.
pub(super) struct CountingMeters {
    pub(super) fault: Fault,
    pub(super) samples: u32,
    pub(super) life: Arc<Life>,
}

impl Sampled for CountingMeters {
    fn sample(&mut self) -> (MeterRows, Vec<LostRow>) {
        self.samples += 1;
        assert_ne!(self.fault, Fault::SamplerPanicsAtSample(self.samples), "as the test has it");
        let reason = "the meters do not answer".into();
        let lost = LostRow { at: Instant(0), user: None, what: "meters", count: 1, reason };
        (MeterRows::default(), if self.fault == Fault::MetersLose { vec![lost] } else { Vec::new() })
    }
    fn end(self: Box<Self>) -> Option<MetersState> {
        None
    }
}

impl Drop for CountingMeters {
    fn drop(&mut self) {
        self.life.meters_at_work.store(false, Ordering::Release);
    }
}
