//! The clock profile: a thread that reads the kernel's rings ten times a second, and makes rows on request.

mod jit;
pub mod live;
mod maps;
mod processes;
mod profiler;
pub(crate) mod records;
mod regions;
mod segments;
pub(crate) mod sideband;
mod spaces;
pub(crate) mod stacks;
mod symbols;

use crate::accounts::sessions::Sessions;
use crate::kallsyms::Kallsyms;
use crate::meter::Meter;
use crate::part::{Context, MeterPart, RecordSpan};
use crate::profile::profiler::{ProfileRows, Profiler, ProfilerOptions};
use crate::profile::regions::{RegionFault, Regions};
use crate::profile::segments::CountedKinds;
use crate::profile::sideband::{RingRequest, RingScope, Rings};
use crate::programs::load::Loaded;
use crate::refusal::MeterRefusal;
use crate::wanted::{MeterRequest, PROFILE_HZ, Tier};
use loadgo_core::record::{LostRow, MeterRows};
use loadgo_sys::clock::monotonic_ns;
use loadgo_sys::scheduling::thread_id;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Time between two readings of the rings.
const RING_READ_PERIOD: Duration = Duration::from_millis(100);

/// Size of the rings of all processors together.
const ALL_RINGS_BYTES: usize = 32 << 20;
/// Largest size of a processor's ring.
const MOST_RING_BYTES: usize = 4 << 20;
/// Smallest size of a processor's ring.
const FEWEST_RING_BYTES: usize = 256 << 10;

/// The profile's thread, as its users see it.
pub(crate) struct Profile {
    questions: std::sync::mpsc::Sender<ProfileQuestion>,
    thread: Option<JoinHandle<()>>,
    id: i32,
    losses: Vec<(u64, &'static str)>,
    regions_lost: u64,
    mappings: Arc<AtomicU64>,
}

/// Begins the profile as a part of the meters; None if it is not wanted. It comes before `total time`, which divides busy time by the profile's samples.
///
/// # Errors
/// The host's refusal, with the remedy.
pub(crate) fn begin(context: &mut Context, wanted: &MeterRequest) -> Result<Option<Box<dyn MeterPart>>, MeterRefusal> {
    let sessions = context.sessions.take().unwrap_or_else(Sessions::none); // without a profile, this closes the driver's end
    if wanted.profile_hz.is_none() {
        return Ok(None);
    }
    let profile = Profile::begin_on_host(Some(&mut context.loaded), sessions, wanted, false)?;
    context.recorded_mappings = Some(profile.mappings.clone());
    Ok(Some(Box::new(profile)))
}

/// A question for the rows of a span.
struct ProfileQuestion {
    span: RecordSpan,
    answer: SyncSender<ProfileAnswer>,
}

/// The thread's answer: the rows of a span.
pub(crate) struct ProfileAnswer {
    pub rows: ProfileRows,
    pub regions_lost: u64,
    pub build_ids: Vec<(Arc<str>, String)>,
}

impl Profile {
    /// Begins on the whole host, after the kernel programs are loaded, so that their functions have names. With `sessions_only`,
    /// only descendants of this process are recorded.
    ///
    /// # Errors
    /// The host's refusal, with the remedy.
    pub(crate) fn begin_on_host(
        loaded: Option<&mut Loaded>,
        sessions: Sessions,
        wanted: &MeterRequest,
        sessions_only: bool,
    ) -> Result<Profile, MeterRefusal> {
        let processors = aya::util::online_cpus()?;
        let hz = wanted.profile_hz.unwrap_or(PROFILE_HZ);
        let request = RingRequest { hz, ring_bytes: ring_bytes(processors.len()), scope: RingScope::All };
        // a refusal of the rings is reported first, because it is the greater obstacle
        let kallsyms = Kallsyms::read(true).or_else(|hidden| Rings::open(&processors, request).and(Err(hidden)))?;
        let rings = Rings::open(&processors, request)?;
        let regions = match loaded {
            Some(loaded) if faults_are_counted(loaded, wanted) => Some(Regions::begin(&mut loaded.object, processors)?),
            _ => None,
        };
        let options = ProfilerOptions {
            counted: CountedKinds { faults: regions.is_some(), samples: true },
            sessions_only,
            commands: wanted.commands.clone(),
            sessions,
            kallsyms: Some(Arc::new(kallsyms)),
        };
        Profile::start(rings, regions, options)
    }

    /// Begins on processes that the calling thread forks from now on. The kernel's part, which needs more privilege, is left out.
    ///
    /// # Errors
    /// The host's refusal, with the remedy.
    pub(crate) fn begin_on_children(hz: u32) -> Result<Profile, MeterRefusal> {
        let processors = aya::util::online_cpus()?;
        let request = RingRequest { hz, ring_bytes: UNPRIVILEGED_RING_BYTES, scope: RingScope::Children };
        let rings = Rings::open(&processors, request)?;
        let counted = CountedKinds { faults: true, samples: true };
        let (commands, sessions) = (Vec::new(), Sessions::none());
        Profile::start(rings, None, ProfilerOptions { counted, sessions_only: false, commands, sessions, kallsyms: None })
    }

    fn start(rings: Rings, regions: Option<Regions>, options: ProfilerOptions) -> Result<Profile, MeterRefusal> {
        let mappings = rings.mappings();
        let (questions, received) = channel();
        let (id_sender, id_receiver) = sync_channel(1);
        let run = move || {
            let _ = id_sender.send(thread_id());
            ProfileThread { rings, regions, faults: Vec::new(), profiler: Profiler::begin(options) }.run(&received);
        };
        let thread = thread::Builder::new().name("loadgo-profile".into()).spawn(run)?;
        let id = id_receiver.recv().map_err(|_| "the thread of the profile did not begin")?;
        Ok(Profile { questions, thread: Some(thread), id, losses: Vec::new(), regions_lost: 0, mappings })
    }

    /// The rows of the span, which ends now.
    ///
    /// # Errors
    /// The thread has ended.
    pub fn answer(&mut self, span: RecordSpan) -> Result<ProfileAnswer, MeterRefusal> {
        let (answer, answers) = sync_channel(1);
        let ended = "the thread of the profile has ended";
        self.questions.send(ProfileQuestion { span, answer }).map_err(|_| ended)?;
        let answer = answers.recv().map_err(|_| ended)?;
        let regions = answer.regions_lost.saturating_sub(self.regions_lost);
        self.regions_lost = answer.regions_lost;
        let losses = [
            (answer.rows.lost, "samples and mappings that a full ring had no room for"),
            (regions, "page faults by segment that a full ring had no room for"),
        ];
        self.losses.extend(losses.into_iter().filter(|(count, _)| *count > 0));
        Ok(answer)
    }

    /// Removes and returns the losses since the last call.
    pub fn take_losses(&mut self) -> Vec<(u64, &'static str)> {
        std::mem::take(&mut self.losses)
    }
}

impl MeterPart for Profile {
    fn thread(&self) -> Option<i32> {
        Some(self.id)
    }

    fn rows(&mut self, context: &mut Context, span: RecordSpan, sample: &mut MeterRows) -> Result<(), MeterRefusal> {
        context.shares.clear(); // those of an earlier span divide no busy time of this one
        let answer = self.answer(span)?;
        sample.stacks.extend(answer.rows.stacks);
        sample.segments.extend(answer.rows.segments);
        context.shares = answer.rows.shares;
        Ok(())
    }

    fn take_lost(&mut self, _: &Context, span: RecordSpan) -> Vec<LostRow> {
        let lost =
            |(count, reason): (u64, &str)| LostRow { at: span.at, user: None, what: "usage", count, reason: reason.into() };
        self.take_losses().into_iter().map(lost).collect()
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        let (closed, _) = channel();
        drop(std::mem::replace(&mut self.questions, closed));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The state of the thread.
struct ProfileThread {
    rings: Rings,
    regions: Option<Regions>,
    faults: Vec<RegionFault>,
    profiler: Profiler,
}

impl ProfileThread {
    fn run(mut self, questions: &Receiver<ProfileQuestion>) {
        loop {
            match questions.recv_timeout(RING_READ_PERIOD) {
                Ok(question) => {
                    let answer = self.answer(question.span);
                    let _ = question.answer.send(answer);
                }
                Err(RecvTimeoutError::Timeout) => self.read_rings(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn read_rings(&mut self) {
        let events = self.rings.take(monotonic_ns());
        if let Some(regions) = &mut self.regions {
            regions.take(&mut self.faults);
        }
        self.profiler.handle(events, &self.faults);
        self.faults = Vec::new(); // frees the memory: many faults at a log-in, few later
    }

    fn answer(&mut self, span: RecordSpan) -> ProfileAnswer {
        if let Some(regions) = &mut self.regions {
            let _ = regions.take_all(&mut self.faults); // faults that cannot be read now are read the next time
        }
        self.read_rings();
        ProfileAnswer {
            rows: self.profiler.rows(span),
            regions_lost: self.regions.as_ref().map_or(0, Regions::lost),
            build_ids: self.profiler.build_ids(),
        }
    }
}

/// Whether kernel programs count page faults by region. Only x86 gives the exact tier's programs a fault's address.
fn faults_are_counted(loaded: &Loaded, wanted: &MeterRequest) -> bool {
    loaded.refusal(Meter::Segments).is_none() && (wanted.tier == Tier::Cheap || cfg!(target_arch = "x86_64"))
}

/// Size of a ring without privilege: `kernel.perf_event_mlock_kb` allows each user two such rings and a small one on a processor.
const UNPRIVILEGED_RING_BYTES: usize = 128 << 10;

fn ring_bytes(processors: usize) -> usize {
    (ALL_RINGS_BYTES / processors.max(1)).clamp(FEWEST_RING_BYTES, MOST_RING_BYTES).next_power_of_two()
}
