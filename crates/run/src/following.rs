//! The thread that reads the accounts of sessions whose driver is on another host.

use crate::told_lines::ToldLines;
use loadgo_core::record::{LostRow, MeterRows, ProcessRow, SessionUsageRow};
use loadgo_core::stop::StopRequest;
use loadgo_core::system::Usage;
use loadgo_core::time::{Instant, Span};
use loadgo_host::followed::FollowedSessions;
use loadgo_store::RowSender;
use loadgo_sys::clock::monotonic_ns;
use loadgo_sys::scheduling::thread_id;
use std::io;
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Time between two readings of all accounts. A user who thinks for longer has each line's usage known.
const READ_EVERY: Duration = Duration::from_millis(50);
/// Time between two rows for all sessions together.
const SUM_EVERY: Span = Span::from_secs(1);

/// The readings under way. Dropping this ends them.
pub(crate) struct Following {
    stop: StopRequest,
    thread_id: i32,
    /// `None` after the thread has been joined.
    thread: Option<JoinHandle<FollowingEnd>>,
}

/// The end of the readings.
#[derive(Debug, Default)]
pub(crate) struct FollowingEnd {
    /// Notes for the user.
    pub notes: Vec<String>,
    /// Things that stay behind on this host, each with the reason and the remedy.
    pub left_behind: Vec<String>,
    /// Whether somebody switched the kernel's delay accounting off meanwhile.
    pub delays_switched_off: bool,
}

impl Following {
    /// Begins to read the accounts of `sessions` again and again, and of single users when their next line is told. Sends rows to
    /// `sink`. Instants count from `origin_ns`.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(crate) fn start(
        sessions: FollowedSessions,
        told_lines: ToldLines,
        sink: RowSender,
        origin_ns: u64,
    ) -> io::Result<Following> {
        let (stop, (sender, receiver)) = (StopRequest::default(), channel());
        let asked = stop.clone();
        let follow = move || {
            asked.unparks_this_thread();
            told_lines.unpark_this_thread();
            let _ = sender.send(thread_id());
            let summed = Instant(monotonic_ns() - origin_ns);
            Readings { sessions, told_lines, sink, origin_ns, summed, cpu_ns: 0 }.go_on_until(&asked)
        };
        let thread = thread::Builder::new().name("loadgo-follower".into()).spawn(follow)?;
        let thread_id = receiver.recv().expect("the thread sends its id first");
        Ok(Following { stop, thread_id, thread: Some(thread) })
    }

    /// The kernel's id of the thread.
    pub(crate) fn thread_id(&self) -> i32 {
        self.thread_id
    }

    /// Reads all accounts once more, and lets the sessions go.
    pub(crate) fn end(mut self) -> FollowingEnd {
        self.join().unwrap_or_else(|| {
            let note = "the thread that reads the sessions' accounts panicked: what they used is not known from then on";
            FollowingEnd { notes: vec![note.into()], ..FollowingEnd::default() }
        })
    }

    fn join(&mut self) -> Option<FollowingEnd> {
        let thread = self.thread.take()?;
        self.stop.set();
        thread.join().ok()
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        self.join();
    }
}

/// The thread's state.
struct Readings {
    sessions: FollowedSessions,
    told_lines: ToldLines,
    sink: RowSender,
    origin_ns: u64,
    /// When the last row for all sessions together was made.
    summed: Instant,
    /// Processor time of all sessions since then.
    cpu_ns: u64,
}

impl Readings {
    fn go_on_until(mut self, stop: &StopRequest) -> FollowingEnd {
        let mut due = std::time::Instant::now();
        loop {
            let is_last = stop.is_set();
            self.begin_told_lines();
            self.read(is_last);
            if is_last {
                let delays_switched_off = self.sessions.sources().delays_switched_off();
                let (note, left_behind) = self.sessions.end();
                let left_behind = left_behind.iter().map(ToString::to_string).collect();
                return FollowingEnd { notes: note.into_iter().collect(), left_behind, delays_switched_off };
            }
            due = (due + READ_EVERY).max(std::time::Instant::now());
            while !stop.is_set() && std::time::Instant::now() < due {
                thread::park_timeout(due.saturating_duration_since(std::time::Instant::now()));
                self.begin_told_lines();
            }
        }
    }

    /// Reads the accounts of users whose next line was told since the last call, and lets their events count for it.
    fn begin_told_lines(&mut self) {
        let lines = self.told_lines.take();
        if lines.is_empty() {
            return;
        }
        let (origin_ns, mut rows) = (self.origin_ns, MeterRows::default());
        self.sessions.begin_lines(&lines, || Instant(monotonic_ns() - origin_ns), &mut rows.session_usage);
        self.cpu_ns += rows.session_usage.iter().map(|row| cpu_ns(&row.usage)).sum::<u64>();
        if rows.rows().0 > 0 {
            self.sink.sample(rows);
        }
    }

    /// Reads all accounts, and once a second, or if this `is_last`, adds the rows for all sessions together.
    fn read(&mut self, is_last: bool) {
        let origin_ns = self.origin_ns;
        let now = || Instant(monotonic_ns() - origin_ns);
        let mut rows = MeterRows::default();
        let began = self.sessions.read_into(now, &mut rows.session_usage);
        self.cpu_ns += rows.session_usage.iter().map(|row| cpu_ns(&row.usage)).sum::<u64>();
        let span = began.since(self.summed);
        if span >= SUM_EVERY || is_last {
            let (user, line) = (None, None);
            let (at, span_ns, usage) = (began, span.0, Usage::default());
            rows.session_usage.push(SessionUsageRow { at, span_ns, user, line, usage, user_ticks_us: 0, system_ticks_us: 0 });
            let (cpu_ns, who) = (std::mem::take(&mut self.cpu_ns), "users".into());
            let row = ProcessRow { at: began, span_ns: span.0, who, cpu_ns, memory_bytes: None, user, ready_wait_ns: None };
            rows.processes.push(row);
            self.summed = began;
            self.report_losses(began);
        }
        if rows.rows().0 > 0 {
            self.sink.sample(rows);
        }
    }

    fn report_losses(&mut self, at: Instant) {
        let count = self.sessions.take_lost();
        if count > 0 {
            let reason = "the kernel could not deliver what ended processes had used".into();
            self.sink.lost(LostRow { at, user: None, what: "usage", count, reason });
        }
    }
}

fn cpu_ns(usage: &Usage) -> u64 {
    usage.cpu_user_ns.unwrap_or(0) + usage.cpu_system_ns.unwrap_or(0)
}
