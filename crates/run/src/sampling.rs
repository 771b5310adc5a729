//! The thread that samples once a second, apart from the driver's: the kernel meters, or the processors' own account.

use loadgo_core::record::{Lost, Sample};
use loadgo_core::time::Instant;
use loadgo_host::groups::Groups;
use loadgo_host::usage::sampler::{OurThreads, Processors, Sampler};
use loadgo_meters::Meters;
use loadgo_store::Recording;
use loadgo_sys::clock::monotonic_ns;
use loadgo_sys::scheduling::thread_id;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const PERIOD: Duration = Duration::from_secs(1);

/// What is sampled.
pub(crate) struct Subject {
    /// The users' groups.
    pub groups: Option<Arc<Groups>>,
    /// The driver's threads, and those that write.
    pub threads: OurThreads,
    /// The kernel meters, where they are to be had.
    pub meters: Option<Meters>,
    /// When the run began, on the monotonic clock.
    pub origin_ns: u64,
}

/// What is sampled, and how it stood at the last sample.
pub(crate) struct Round {
    parts: Option<Sampler>,
    meters: Option<Meters>,
    origin_ns: u64,
}

impl Round {
    /// Begins on the thread that will sample, whose time is the meters' too.
    pub(crate) fn begin(mut subject: Subject) -> Round {
        subject.threads.meters.push(thread_id());
        subject.threads.meters.extend(subject.meters.iter().flat_map(Meters::threads));
        let processors = if subject.meters.is_some() { Processors::Left } else { Processors::Read };
        let now = Instant(monotonic_ns() - subject.origin_ns);
        let parts = Sampler::begin(subject.groups, subject.threads, processors, now).ok();
        Round { parts, meters: subject.meters, origin_ns: subject.origin_ns }
    }

    /// The rows of the span since the last sample, and what they do not hold.
    pub(crate) fn sample(&mut self) -> (Sample, Vec<Lost>) {
        let now = Instant(monotonic_ns() - self.origin_ns);
        let (mut sample, mut lost) = (Sample::default(), Vec::new());
        if let Some(meters) = &mut self.meters {
            match meters.sample(now) {
                Ok(rows) => sample = rows,
                Err(reason) => lost.push(Lost { at: now, user: None, what: "meters", count: 1, reason }),
            }
            lost.extend(meters.take_lost());
        }
        if let Some(parts) = &mut self.parts
            && let Err(reason) = parts.sample_into(now, &mut sample)
        {
            let reason = format!("who used the processors is not known: {reason}");
            lost.push(Lost { at: now, user: None, what: "meters", count: 1, reason });
        }
        (sample, lost)
    }

    /// The kernel meters, to tell what they came to.
    pub(crate) fn into_meters(self) -> Option<Meters> {
        self.meters
    }
}

/// Sampling under way.
pub(crate) struct Sampling {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Option<Meters>>>,
}

/// Begins to sample; what the host refuses is told in `lost`.
pub(crate) fn start(mut subject: Subject, recording: &Recording) -> Sampling {
    let stop = Arc::new(AtomicBool::new(false));
    let (sink, told) = (recording.sampler(), Arc::clone(&stop));
    subject.threads.meters.push(recording.tid() as i32);
    let sample = move || {
        let mut round = Round::begin(subject);
        loop {
            thread::park_timeout(PERIOD);
            let last = told.load(Ordering::Acquire);
            let (rows, lost) = round.sample();
            sink.sample(rows);
            lost.into_iter().for_each(|lost| sink.lost(lost));
            if last {
                return round.into_meters();
            }
        }
    };
    let thread = thread::Builder::new().name("loadgo-sampler".into()).spawn(sample).ok();
    Sampling { stop, thread }
}

impl Sampling {
    /// Ends the sampling with the span in hand; the kernel meters come back.
    pub(crate) fn stop(self) -> Option<Meters> {
        self.stop.store(true, Ordering::Release);
        let thread = self.thread?;
        thread.thread().unpark();
        thread.join().ok().flatten()
    }
}
