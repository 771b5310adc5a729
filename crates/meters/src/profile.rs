//! The thread of the clock profile: it empties the kernel's rings ten times a second, and makes rows when asked.

mod jit;
mod kallsyms;
pub mod live;
mod maps;
mod profiler;
mod records;
mod regions;
mod segments;
mod sideband;
mod spaces;
mod stacks;
mod symbols;

use crate::accounts::sessions::Sessions;
use crate::meter::Meter;
use crate::part::Span;
use crate::part::{Context, Part};
use crate::profile::kallsyms::Kallsyms;
use crate::profile::profiler::{Profiler, Rows, Setting};
use crate::profile::regions::{Faults, Regions};
use crate::profile::segments::Have;
use crate::profile::sideband::{Asked, Rings, Whom};
use crate::programs::load::Loaded;
use crate::wanted::{Tier, Wanted};
use loadgo_core::record::{Lost, Sample};
use loadgo_sys::clock::monotonic_ns;
use loadgo_sys::scheduling::thread_id;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Samples a second and processor where only the division of busy time is wanted.
pub const CLOCK_HZ: u32 = 1000;
const EMPTYING: Duration = Duration::from_millis(100);

/// The rings of all processors together.
const RING_BYTES: usize = 32 << 20;
const MOST_RING_BYTES: usize = 4 << 20;
const LEAST_RING_BYTES: usize = 256 << 10;

/// The thread, asked for rows.
pub(crate) struct Profile {
    asked: std::sync::mpsc::Sender<Ask>,
    thread: Option<JoinHandle<()>>,
    id: i32,
    lost: Vec<(u64, &'static str)>,
    regions_lost: u64,
}

/// The part of the meters: before `total time`, which divides busy time by what it finds.
///
/// # Errors
/// In words with the remedy.
pub(crate) fn begin(context: &mut Context, wanted: &Wanted) -> Result<Option<Box<dyn Part>>, String> {
    let sessions = context.sessions.take().unwrap_or_else(Sessions::none);
    Ok(Some(Box::new(Profile::of_host(Some(&mut context.loaded), sessions, wanted, false)?)))
}

/// What the thread is asked.
struct Ask {
    span: Span,
    answer: SyncSender<Answer>,
}

/// What it answers.
pub(crate) struct Answer {
    pub rows: Rows,
    pub regions_lost: u64,
    pub build_ids: Vec<(Arc<str>, String)>,
}

impl Profile {
    /// Begins on the whole host: after the kernel programs are loaded, so that their functions have names. `sessions_only`:
    /// nobody is recorded but what our own process has forked.
    ///
    /// # Errors
    /// In words with the remedy.
    pub(crate) fn of_host(
        loaded: Option<&mut Loaded>,
        sessions: Sessions,
        wanted: &Wanted,
        sessions_only: bool,
    ) -> Result<Profile, String> {
        let processors = online()?;
        let stacks = wanted.profile_hz.is_some();
        let hz = wanted.profile_hz.unwrap_or(CLOCK_HZ);
        let asked = Asked { hz, user_stacks: stacks, ring_bytes: ring_bytes(processors.len()), whom: Whom::All };
        // who may not have the rings hears of them first: more is in the way there than names
        let kallsyms = Kallsyms::read(stacks).or_else(|hidden| Rings::open(&processors, asked).and(Err(hidden)))?;
        let rings = Rings::open(&processors, asked)?;
        let regions = match loaded {
            Some(loaded) if faults_are_counted(loaded, wanted) => Some(Regions::begin(&mut loaded.object, processors)?),
            _ => None,
        };
        let setting = Setting {
            stacks,
            have: Have { faults: regions.is_some(), samples: true },
            sessions_only,
            commands: wanted.commands.clone(),
            sessions,
            kallsyms: Some(Arc::new(kallsyms)),
        };
        Profile::start(rings, regions, setting)
    }

    /// Begins on what the calling thread forks from now on; without the kernel, which takes more privilege.
    ///
    /// # Errors
    /// In words with the remedy.
    pub(crate) fn of_children(hz: u32) -> Result<Profile, String> {
        let processors = online()?;
        let asked = Asked { hz, user_stacks: true, ring_bytes: UNPRIVILEGED_RING_BYTES, whom: Whom::Children };
        let rings = Rings::open(&processors, asked)?;
        let have = Have { faults: true, samples: true };
        let (commands, sessions) = (Vec::new(), Sessions::none());
        Profile::start(rings, None, Setting { stacks: true, have, sessions_only: false, commands, sessions, kallsyms: None })
    }

    fn start(rings: Rings, regions: Option<Regions>, setting: Setting) -> Result<Profile, String> {
        let (asked, asks) = channel();
        let (tell, told) = sync_channel(1);
        let run = move || {
            let _ = tell.send(thread_id());
            Thread { rings, regions, faults: Vec::new(), profiler: Profiler::begin(setting) }.run(&asks);
        };
        let thread = thread::Builder::new().name("loadgo-profile".into()).spawn(run).map_err(|error| error.to_string())?;
        let id = told.recv().map_err(|_| "the thread of the profile did not begin")?;
        Ok(Profile { asked, thread: Some(thread), id, lost: Vec::new(), regions_lost: 0 })
    }

    /// The rows of the span, which ends now.
    ///
    /// # Errors
    /// When the thread is over.
    pub fn answer(&mut self, span: Span) -> Result<Answer, String> {
        let (answer, answers) = sync_channel(1);
        let over = "the thread of the profile is over";
        self.asked.send(Ask { span, answer }).map_err(|_| over)?;
        let answer = answers.recv().map_err(|_| over)?;
        let regions = answer.regions_lost.saturating_sub(self.regions_lost);
        self.regions_lost = answer.regions_lost;
        let lost = [
            (answer.rows.lost, "samples and mappings that a full ring had no room for"),
            (regions, "page faults by segment that a full ring had no room for"),
        ];
        self.lost.extend(lost.into_iter().filter(|(count, _)| *count > 0));
        Ok(answer)
    }

    /// What was lost since this was last asked.
    pub fn lost(&mut self) -> Vec<(u64, &'static str)> {
        std::mem::take(&mut self.lost)
    }
}

impl Part for Profile {
    fn thread(&self) -> Option<i32> {
        Some(self.id)
    }

    fn rows(&mut self, context: &mut Context, span: Span, sample: &mut Sample) -> Result<(), String> {
        let answer = self.answer(span)?;
        sample.stacks.extend(answer.rows.stacks);
        sample.segments.extend(answer.rows.segments);
        context.shares = answer.rows.shares;
        Ok(())
    }

    fn take_lost(&mut self, _: &Context, span: Span) -> Vec<Lost> {
        let lost = |(count, reason): (u64, &str)| Lost { at: span.at, user: None, what: "usage", count, reason: reason.into() };
        self.lost().into_iter().map(lost).collect()
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        let (closed, _) = channel();
        drop(std::mem::replace(&mut self.asked, closed));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the thread has.
struct Thread {
    rings: Rings,
    regions: Option<Regions>,
    faults: Vec<Faults>,
    profiler: Profiler,
}

impl Thread {
    fn run(mut self, asks: &Receiver<Ask>) {
        loop {
            match asks.recv_timeout(EMPTYING) {
                Ok(ask) => {
                    let answer = self.answer(ask.span);
                    let _ = ask.answer.send(answer);
                }
                Err(RecvTimeoutError::Timeout) => self.learn(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn learn(&mut self) {
        let events = self.rings.take(monotonic_ns());
        if let Some(regions) = &mut self.regions {
            regions.take(&mut self.faults);
        }
        self.profiler.learn(events, &self.faults);
        self.faults = Vec::new(); // many at a log-in, few later
    }

    fn answer(&mut self, span: Span) -> Answer {
        if let Some(regions) = &mut self.regions {
            let _ = regions.take_all(&mut self.faults); // what it cannot read now it reads the next time
        }
        self.learn();
        Answer {
            rows: self.profiler.rows(span),
            regions_lost: self.regions.as_ref().map_or(0, Regions::lost),
            build_ids: self.profiler.build_ids(),
        }
    }
}

/// Whether programs count page faults by region: where faults tell their address.
fn faults_are_counted(loaded: &Loaded, wanted: &Wanted) -> bool {
    wanted.segments && loaded.refusal(Meter::Segments).is_none() && (wanted.tier == Tier::Cheap || cfg!(target_arch = "x86_64"))
}

/// What `kernel.perf_event_mlock_kb` gives everybody for each processor, for two rings and a small one, each with a page of its own.
const UNPRIVILEGED_RING_BYTES: usize = 128 << 10;

fn ring_bytes(processors: usize) -> usize {
    (RING_BYTES / processors.max(1)).clamp(LEAST_RING_BYTES, MOST_RING_BYTES).next_power_of_two()
}

fn online() -> Result<Vec<u32>, String> {
    aya::util::online_cpus().map_err(|(what, error)| format!("{what}: {error}"))
}
