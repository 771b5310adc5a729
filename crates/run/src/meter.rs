//! Metering without a load: the kernel meters of this host, for a time or while a command runs.
//!
//! The records are those of a run, so that all reports work on them. If there is a command, it is recorded as the only user, with
//! one interaction. The calling thread samples; a second waits for the command, a third writes.

use crate::clock::Clock;
use crate::commands::{commands, numbers_by_line};
use crate::conditions;
use crate::following::{Following, FollowingEnd};
use crate::metering::{self, TierAsked};
use crate::progress::Decision;
use crate::refusal::{Failure, RunRefusal};
use crate::run_toml::{RunToml, Title};
use crate::running::{LOOK_EVERY, Running};
use crate::sampling::{ProcessorSpeed, SampledHost, SampledParts, SampledSystem as _};
use crate::told_lines::ToldLines;
use loadgo_core::record::{InteractionRow, LostRow, MeterRows, Outcome, Phase, Recorder, SessionRow};
use loadgo_core::system::Usage;
use loadgo_core::time::Instant;
use loadgo_host::commands::oneshot::{Oneshot, Run, Streams, Warmth};
use loadgo_host::followed::{Expected, FollowedSessions};
use loadgo_host::refusal::Refusal;
use loadgo_host::usage::sampler::{OurThreads, SampledUsers};
use loadgo_host::usage::sources::Sources;
use loadgo_meters::Meters;
use loadgo_store::{DriverRecorder, Folder, RowSender, WhenFull};
use loadgo_sys::child::Exit;
use loadgo_sys::clock::monotonic_ns;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;
use std::time::Duration;

/// Number of the user who stands for the command in the records.
const COMMAND_USER_ID: u32 = 1;
/// Longest name of a command in the records.
const MOST_NAME_CHARS: usize = 60;

/// A request for metering.
#[derive(Clone, Debug)]
pub struct MeterOrder {
    /// Id of the metering: the name of its folder.
    pub id: String,
    /// Address by which a controller on another host reaches this host; `None`: the caller is on this host.
    pub address: Option<String>,
    /// Folder of the records, which must not hold a run yet; `None`: nothing is recorded.
    pub folder: Option<PathBuf>,
    /// Tier of the meters.
    pub tier: TierAsked,
    /// The length of a span of the records.
    pub every: Duration,
    /// Length of the metering; `None`: until it is stopped, or the command ends.
    pub length: Option<Duration>,
    /// The command and its arguments; empty for none.
    pub command: Vec<OsString>,
    /// The command line, for the record.
    pub command_line: Vec<String>,
    /// The sessions of a driver elsewhere, if any, which are measured one by one.
    pub sessions: Option<Expected>,
    /// The lines that the users of these sessions type next, while the driver tells them.
    pub told_lines: ToldLines,
}

/// State of the metering, which the calling thread receives ten times a second and whenever there are new rows.
#[derive(Debug)]
pub struct MeteringProgress<'a> {
    /// Time since the metering began.
    pub at: Instant,
    /// The rows of the span that has just ended; `None` within a span.
    pub rows: Option<&'a MeterRows>,
    /// Losses in this span.
    pub lost: &'a [LostRow],
}

/// Result of the metering.
#[derive(Clone, Debug)]
pub struct MeteringResult {
    /// `done`, or `stopped` before its time.
    pub outcome: &'static str,
    /// How the command ended.
    pub exit: Option<Exit>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// Things that stay behind on this host, each with the reason and the remedy; `notes` have them too.
    pub left_behind: Vec<String>,
}

/// Metering that can begin: the meters are loaded, and the command does not run yet. The fields are dropped in this order.
pub struct HostMeter {
    order: MeterOrder,
    recorder: Option<DriverRecorder>,
    meters: Option<Meters>,
    running: Running,
    oneshot: Option<Oneshot>,
    sessions: Option<FollowedSessions>,
}

impl HostMeter {
    /// Loads the meters, and makes the folder.
    ///
    /// # Errors
    /// [`Failure`] when the host does not allow the meters, or the folder cannot be made.
    pub fn begin(order: MeterOrder) -> Result<HostMeter, Failure> {
        let mut run_toml = RunToml::begin_with(title(&order), None, conditions::metered_host(order.address.as_deref()));
        let mut oneshot = if order.command.is_empty() { None } else { Some(Oneshot::open().map_err(RunRefusal::from_state)?) };
        let clock = Clock::start();
        let typed = || order.sessions.as_ref().map_or_else(Vec::new, |sessions| commands(&sessions.commands));
        let commands = || if order.command.is_empty() { typed() } else { vec![name_of(&order.command).into()] };
        let users = order.sessions.as_ref().map_or(1, |sessions| sessions.users);
        let metering = metering::begin(order.tier, Instant(0), |tier| metering::wanted(tier, users, commands()))?;
        let mut meters = metering.meters;
        run_toml.meters(metering.part);
        if let Some(oneshot) = &mut oneshot {
            if let Some(waits) = meters.as_mut().and_then(|meters| meters.waits(vec![0, 1])) {
                oneshot.take_waits_from(Box::new(waits));
            }
            run_toml.usage(conditions::usage_part(oneshot.sources()));
        }
        let sessions = follow(order.sessions.clone(), meters.as_mut(), &mut run_toml);
        let folder = order.folder.as_ref().map(|folder| Folder::create(folder, &run_toml.toml())).transpose()?;
        let mut running = Running::begin(run_toml, folder);
        running.clock = clock;
        let recorder = match running.record(WhenFull::Lose) {
            Ok(records) => records.map(|(recorder, _)| recorder),
            Err(refusal) => return Err(running.end::<()>(Err(refusal), "done").expect_err("it is returned as it is")),
        };
        Ok(HostMeter { order, recorder, meters, running, oneshot, sessions })
    }

    /// The beginning of the metering on this host's monotonic clock, in nanoseconds.
    pub fn origin_ns(&self) -> u64 {
        self.running.clock.origin_ns()
    }

    /// The directory in which the sessions of a driver elsewhere announce themselves, if they are measured.
    pub fn announced_in(&self) -> Option<&Path> {
        self.sessions.as_ref().map(FollowedSessions::directory)
    }

    /// The id of the command while it runs, else 0; `None` without a command.
    pub fn running(&self) -> Option<Arc<AtomicI32>> {
        self.oneshot.as_ref().map(Oneshot::running)
    }

    /// Meters, and calls `decide` ten times a second and with each span. If there is a command, the metering goes on until it
    /// ends.
    ///
    /// # Errors
    /// [`Failure`] when the command cannot be run, or the records cannot be kept.
    pub fn watch(self, decide: impl FnMut(&MeteringProgress<'_>) -> Decision) -> Result<MeteringResult, Failure> {
        // Locals are dropped in the reverse of this order.
        let HostMeter { order, mut oneshot, mut running, recorder, meters, sessions } = self;
        let origin_ns = running.clock.origin_ns();
        let users = match &sessions {
            Some(sessions) => SampledUsers::of_processes(sessions.processes()),
            None => SampledUsers::of_groups(oneshot.as_ref().and_then(Oneshot::groups)),
        };
        let speed = if sessions.is_some() { ProcessorSpeed::Measured } else { ProcessorSpeed::Left };
        let subject = SampledParts { users, meters, speed, origin_ns };
        let (sink, writer) = running.recording().map(|recording| (recording.row_sender(), recording.tid() as i32)).unzip();
        let following = sessions
            .zip(sink.clone())
            .map(|(sessions, sink)| Following::start(sessions, order.told_lines.clone(), sink, origin_ns));
        let following = following.transpose().map_err(RunRefusal::from_kernel);
        let (following, unfollowed) = following.map_or_else(|refusal| (None, Some(refusal)), |following| (following, None));
        let meter_threads = writer.into_iter().chain(following.as_ref().map(Following::thread_id));
        let threads = OurThreads { driver: Vec::new(), meters: meter_threads.collect() };
        let round = Box::new(SampledHost::begin(subject, threads));
        let mut spans = MeteringLoop { round, sink, order: &order, origin_ns, decide, decision: Decision::Continue };
        let (stopped, ran) = match &mut oneshot {
            None => (spans.sample_until(|| false), None),
            Some(oneshot) => (false, Some(spans.while_it_runs(oneshot))),
        };
        if let Some(state) = spans.round.end() {
            running.update_meters(&state);
        }
        let ran = ran.transpose().map_err(|reason| cannot_run(&order, reason));
        let followed = following.map_or_else(FollowingEnd::default, Following::end);
        running.run_toml.delays_switched_off(followed.delays_switched_off);
        if let Some(recorder) = recorder {
            record(recorder, &order, ran.as_ref().ok().and_then(Option::as_ref));
        }
        let ran = match spans.decision {
            Decision::Fail(reason) => ran.and(Err(RunRefusal::Caller(reason))),
            Decision::Continue | Decision::Stop => ran,
        };
        running.leftovers = oneshot.map(Oneshot::into_leftovers);
        let end = running.end(ran, if stopped { "stopped" } else { "done" });
        let (ran, end) = end.map_err(|mut failure| {
            failure.left_behind.extend_from_slice(&followed.left_behind);
            failure
        })?;
        let mut notes = ran.as_ref().map_or_else(Vec::new, |(run, _)| notes(run));
        let left_behind = [followed.left_behind, end.left_behind].concat();
        notes.extend(unfollowed.map(|refusal| format!("what the sessions used is not known: {refusal}")));
        notes.extend(followed.notes);
        notes.extend_from_slice(&left_behind);
        let exit = ran.map(|(run, _)| run.exit);
        Ok(MeteringResult { outcome: end.outcome, exit, notes, left_behind })
    }
}

/// Begins to follow the sessions of a driver elsewhere, if there are any, and describes where their usage comes from.
fn follow(expected: Option<Expected>, meters: Option<&mut Meters>, run_toml: &mut RunToml) -> Option<FollowedSessions> {
    let expected = expected?;
    let numbers = numbers_by_line(&expected.commands);
    match FollowedSessions::begin(expected) {
        Ok(mut sessions) => {
            if let Some(waits) = meters.and_then(|meters| meters.waits(numbers)) {
                sessions.take_waits_from(Box::new(waits));
            }
            run_toml.usage(conditions::usage_part(&sessions.sources()));
            Some(sessions)
        }
        Err(refusal) => {
            let notes = vec![refusal.to_string()];
            run_toml.usage(conditions::usage_part(&Sources { notes, every: 1, ..Sources::default() }));
            None
        }
    }
}

fn cannot_run(order: &MeterOrder, reason: io::Error) -> RunRefusal {
    Refusal::new(format!("{} cannot be run", name_of(&order.command))).because(reason).into()
}

/// A run of the command, and the instant of its end.
type CommandRun = (Run, Instant);

/// The loop that samples span after span.
struct MeteringLoop<'a, F> {
    round: Box<SampledHost>,
    sink: Option<RowSender>,
    order: &'a MeterOrder,
    origin_ns: u64,
    decide: F,
    /// The caller's first decision other than `Continue`, if any.
    decision: Decision,
}

impl<F: FnMut(&MeteringProgress<'_>) -> Decision> MeteringLoop<'_, F> {
    /// Samples until `over` is true, the time is up, or the caller stops the metering. Returns whether the caller cut it short.
    fn sample_until(&mut self, over: impl Fn() -> bool) -> bool {
        let (began, mut due) = (self.now(), self.order.every);
        loop {
            let at = self.now();
            let elapsed = Duration::from_nanos(at.since(began).0);
            let up = over() || self.order.length.is_some_and(|length| elapsed >= length);
            let stopped = self.decision != Decision::Continue && self.order.command.is_empty();
            if up || stopped || elapsed >= due {
                self.sample_span();
                due = (due + self.order.every).max(elapsed);
            } else {
                self.report(&MeteringProgress { at, rows: None, lost: &[] });
            }
            if up || stopped {
                return stopped && !up && self.order.length.is_some();
            }
            let end = self.order.length.map_or(due, |length| length.min(due));
            thread::park_timeout(end.saturating_sub(Duration::from_nanos(self.now().since(began).0)).min(LOOK_EVERY));
        }
    }

    /// Samples until the command ends, whatever the caller decides.
    fn while_it_runs(&mut self, oneshot: &mut Oneshot) -> io::Result<CommandRun> {
        let (command, origin_ns, waiter) = (&self.order.command, self.origin_ns, thread::current());
        // The thread itself ends a moment after it has woken this one, and after a panic without a word.
        let has_ended = AtomicBool::new(false);
        thread::scope(|scope| {
            let run_it = || {
                let ran = oneshot.run(command, Streams::Inherited, Warmth::AsItIs);
                let ended = Instant(monotonic_ns() - origin_ns);
                has_ended.store(true, Ordering::Release);
                waiter.unpark();
                ran.map(|run| (run, ended))
            };
            let running = thread::Builder::new().name("loadgo-command".into()).spawn_scoped(scope, run_it)?;
            self.sample_until(|| has_ended.load(Ordering::Acquire) || running.is_finished());
            running.join().expect("running a command does not panic")
        })
    }

    fn sample_span(&mut self) {
        let (rows, lost) = self.round.sample();
        let at = self.now();
        self.report(&MeteringProgress { at, rows: Some(&rows), lost: &lost });
        if let Some(sink) = &self.sink {
            sink.sample(rows);
            lost.into_iter().for_each(|lost| sink.lost(lost));
        }
    }

    fn report(&mut self, look: &MeteringProgress<'_>) {
        let latest = (self.decide)(look);
        if self.decision == Decision::Continue {
            self.decision = latest;
        }
    }

    fn now(&self) -> Instant {
        Instant(monotonic_ns() - self.origin_ns)
    }
}

fn title(order: &MeterOrder) -> Title {
    let host = || order.address.clone().unwrap_or_else(|| "this host".into());
    let name = if order.command.is_empty() { host() } else { name_of(&order.command) };
    Title { kind: "meter", id: order.id.clone(), name, script: None, command: order.command_line.clone() }
}

/// Name of the command in the records. One that is too long is cut, and ends with `…`.
fn name_of(command: &[OsString]) -> String {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let name = words.join(" ");
    if name.chars().count() <= MOST_NAME_CHARS {
        return name;
    }
    name.chars().take(MOST_NAME_CHARS - 1).chain(['…']).collect()
}

/// Records the command as a user who typed one line, if there was one.
fn record(mut recorder: DriverRecorder, order: &MeterOrder, ran: Option<&CommandRun>) {
    recorder.phase(Phase::Steady, Instant(0));
    let Some((run, ended)) = ran else { return };
    let sent = Instant(ended.0.saturating_sub(run.real_ns));
    let (exit_status, outcome) = match run.exit {
        Exit::Status(status) => (Some(status as u8), if status == 0 { Outcome::Ok } else { Outcome::Failed }),
        Exit::Signal(_) => (None, Outcome::Died),
    };
    recorder.session(&SessionRow {
        user: COMMAND_USER_ID,
        planned: sent,
        started: sent,
        ready: Some(sent),
        ended: *ended,
        outcome: "done",
    });
    recorder.interaction(&InteractionRow {
        user: COMMAND_USER_ID,
        pass: 1,
        line: 1,
        command: &name_of(&order.command),
        planned: sent,
        sent,
        first_output: None,
        ready: Some(*ended),
        response_there_ns: None,
        typing_ns: 0,
        think_ns: 0,
        usage: run.usage,
        typing_usage: Usage::default(),
        cpu_excess_ns: None,
        bytes_out: 0,
        exit_status,
        outcome,
        phase: Phase::Steady,
    });
    if run.lost > 0 {
        let reason = "the kernel could not deliver what ended processes had used".into();
        recorder.lost(&LostRow { at: *ended, user: Some(COMMAND_USER_ID), what: "usage", count: run.lost, reason });
    }
}

fn notes(run: &Run) -> Vec<String> {
    match run.left_running {
        0 => Vec::new(),
        left => {
            vec![format!("{left} of the command's processes still ran when it had ended: their later usage is not counted")]
        }
    }
}
