//! The sampler's thread, which samples once a second and where a phase begins: the kernel meters, or the processor times of `/proc/stat`.

use crate::driver::words_of;
use crate::metering::MetersState;
use crate::progress::RunCounters;
use crate::refusal::RunRefusal;
use loadgo_core::record::{LostRow, MeterRows};
use loadgo_core::stop::StopRequest;
use loadgo_core::time::Instant;
use loadgo_host::usage::reference_work::ReferenceWork;
use loadgo_host::usage::sampler::{OurThreads, Processors, SampledUsers, Sampler};
use loadgo_meters::Meters;
use loadgo_sys::clock::monotonic_ns;
use loadgo_sys::scheduling::thread_id;
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

const PERIOD: Duration = Duration::from_secs(1);

/// A system that the sampler's thread can sample.
pub(crate) trait SampledSystem {
    /// Returns the rows of the span since the last sample, and their losses.
    fn sample(&mut self) -> (MeterRows, Vec<LostRow>);
    /// Ends the sampling, and returns the final state of the kernel meters, if any.
    fn end(self: Box<Self>) -> Option<MetersState>;
}

/// Makes the system that is sampled, on the sampler's thread. The argument lists our own threads, whose time is shown apart.
pub(crate) type BeginSampling = Box<dyn FnOnce(OurThreads) -> Box<dyn SampledSystem> + Send>;

/// The parts of a host that are sampled.
pub(crate) struct SampledParts {
    /// The users whose processor time and memory are sampled.
    pub users: SampledUsers,
    /// The kernel meters, if the host allows them.
    pub meters: Option<Meters>,
    /// Whether the speed of the processors is sampled, too.
    pub speed: ProcessorSpeed,
    /// When the run began, on the monotonic clock.
    pub origin_ns: u64,
}

/// Whether the speed of a host's processors is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProcessorSpeed {
    /// A reference work measures it beside the users.
    Measured,
    /// There are no users whose work it would explain.
    Left,
}

/// A host that is sampled, with its state at the last sample.
pub(crate) struct SampledHost {
    parts: Option<Sampler>,
    meters: Option<Meters>,
    reference_work: Option<ReferenceWork>,
    origin_ns: u64,
    /// Measurements that could not begin; the first sample reports them.
    lost: Vec<LostRow>,
}

impl SampledHost {
    /// Begins the first span. The calling thread will sample, and its time counts as the meters'.
    pub(crate) fn begin(subject: SampledParts, mut threads: OurThreads) -> SampledHost {
        let now = Instant(monotonic_ns() - subject.origin_ns);
        threads.meters.push(thread_id());
        threads.meters.extend(subject.meters.iter().flat_map(Meters::threads));
        let (reference_work, unmeasured) = match subject.speed.begin() {
            Ok(work) => (work, None),
            Err(reason) => (None, Some(lost_speed(now, &reason))),
        };
        threads.meters.extend(reference_work.as_ref().map(ReferenceWork::thread_id));
        let processors = if subject.meters.is_some() { Processors::Left } else { Processors::Read };
        let parts = Sampler::begin(subject.users, threads, processors, now);
        let unsampled = parts.as_ref().err().map(|reason| lost_processor_times(now, reason));
        let lost = unsampled.into_iter().chain(unmeasured).collect();
        SampledHost { parts: parts.ok(), meters: subject.meters, reference_work, origin_ns: subject.origin_ns, lost }
    }
}

impl SampledSystem for SampledHost {
    fn sample(&mut self) -> (MeterRows, Vec<LostRow>) {
        let now = Instant(monotonic_ns() - self.origin_ns);
        let (mut sample, mut lost) = (MeterRows::default(), std::mem::take(&mut self.lost));
        if let Some(meters) = &mut self.meters {
            match meters.sample(now) {
                Ok(rows) => sample = rows,
                Err(refusal) => lost.push(LostRow { at: now, user: None, what: "meters", count: 1, reason: refusal.to_string() }),
            }
            lost.extend(meters.take_lost());
        }
        if let Some(parts) = &mut self.parts
            && let Err(reason) = parts.sample_into(now, &mut sample)
        {
            lost.push(lost_processor_times(now, &reason));
        }
        if let Some(work) = &self.reference_work {
            sample.processor_speed = work.rows(self.origin_ns);
        }
        (sample, lost)
    }

    fn end(self: Box<Self>) -> Option<MetersState> {
        self.meters.as_ref().map(MetersState::of)
    }
}

impl ProcessorSpeed {
    /// Begins the reference work, if there is to be one.
    fn begin(self) -> io::Result<Option<ReferenceWork>> {
        match self {
            ProcessorSpeed::Measured => ReferenceWork::start().map(Some),
            ProcessorSpeed::Left => Ok(None),
        }
    }
}

fn lost_speed(at: Instant, reason: &io::Error) -> LostRow {
    LostRow { at, user: None, what: "meters", count: 1, reason: format!("the speed of the processors is not known: {reason}") }
}

fn lost_processor_times(at: Instant, reason: &io::Error) -> LostRow {
    let reason = format!("the use of the processors is not known: {reason}");
    LostRow { at, user: None, what: "meters", count: 1, reason }
}

/// Sampling under way; dropping it ends it.
pub(crate) struct Sampling {
    stop: StopRequest,
    /// `None` after the thread has been joined.
    thread: Option<JoinHandle<Option<MetersState>>>,
}

impl Sampling {
    /// Begins to sample into `sink`. Spans end where `progress` asks for it, too.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(crate) fn start(
        begin: BeginSampling,
        threads: OurThreads,
        sink: loadgo_store::RowSender,
        progress: Arc<RunCounters>,
    ) -> io::Result<Sampling> {
        let stop = StopRequest::default();
        let asked = stop.clone();
        let sample = move || {
            asked.unparks_this_thread();
            let mut round = begin(threads);
            loop {
                if !asked.is_set() {
                    progress.span_end.wait(PERIOD); // a wake-up that comes while the thread samples may be lost
                }
                let last = asked.is_set();
                let (rows, lost) = round.sample();
                sink.sample(rows);
                lost.into_iter().for_each(|lost| sink.lost(lost));
                if last {
                    return round.end();
                }
            }
        };
        let thread = thread::Builder::new().name("loadgo-sampler".into()).spawn(sample)?;
        Ok(Sampling { stop, thread: Some(thread) })
    }

    /// Ends the present span and the sampling, and returns the final state of the kernel meters.
    ///
    /// # Errors
    /// The thread has panicked. Its meters are lost then.
    pub(crate) fn end(mut self) -> Result<Option<MetersState>, RunRefusal> {
        self.join().map_err(|panic| RunRefusal::Panicked { thread: "the sampler's thread", message: words_of(&*panic).into() })
    }

    fn join(&mut self) -> thread::Result<Option<MetersState>> {
        let Some(thread) = self.thread.take() else { return Ok(None) };
        self.stop.set();
        thread.join()
    }
}

impl Drop for Sampling {
    fn drop(&mut self) {
        let _ = self.join();
    }
}
