//! Makes rows of `stacks` and `segments` from the kernel's notes: samples, faults and mappings.

use crate::accounts::sessions::Sessions;
use crate::kallsyms::Kallsyms;
use crate::part::RecordSpan;
use crate::profile::jit::Jits;
use crate::profile::processes::Processes;
use crate::profile::records::{KernelNote, SidebandEvent};
use crate::profile::regions::RegionFault;
use crate::profile::segments::{CountedKinds, SegmentTable};
use crate::profile::spaces::{KERNEL_SEGMENT, Segment, Segments, UNKNOWN_SEGMENT};
use crate::profile::stacks::{CallChain, StackFrame, StackOwner, Stacks};
use crate::profile::symbols::Symbols;
use crate::shares::ActivityCounts;
use loadgo_core::record::{SegmentRow, StackRow};
use loadgo_core::system::UserId;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Options of the profiler.
pub(crate) struct ProfilerOptions {
    /// Kinds of counts in `segments`.
    pub counted: CountedKinds,
    /// Whether only processes of sessions are recorded.
    pub sessions_only: bool,
    /// The names of the commands; a command's number is its index here plus 1.
    pub commands: Vec<Arc<str>>,
    /// The users' sessions.
    pub sessions: Sessions,
    /// The kernel's functions; None if it hides them.
    pub kallsyms: Option<Arc<Kallsyms>>,
}

/// The known processes, and the counts of this span.
pub(crate) struct Profiler {
    options: ProfilerOptions,
    processes: Processes,
    segments: Segments,
    symbols: Symbols,
    jits: Jits,
    stacks: Stacks,
    by_segment: SegmentTable,
    shares: HashMap<u32, ActivityCounts>,
    lost: u64,
    round: u64,
    /// Processes whose mappings were read again in this round.
    reloaded: HashSet<u32>,
}

/// The rows of a span.
#[derive(Debug, Default)]
pub(crate) struct ProfileRows {
    pub stacks: Vec<StackRow>,
    pub segments: Vec<SegmentRow>,
    /// By processor.
    pub shares: HashMap<u32, ActivityCounts>,
    /// Number of records that the kernel could not keep in this span.
    pub lost: u64,
}

impl Profiler {
    /// Begins with the existing processes.
    pub fn begin(options: ProfilerOptions) -> Profiler {
        let mut segments = Segments::new();
        Profiler {
            options,
            processes: Processes::existing(&mut segments),
            segments,
            symbols: Symbols::new(),
            jits: Jits::default(),
            stacks: Stacks::new(),
            by_segment: SegmentTable::default(),
            shares: HashMap::new(),
            lost: 0,
            round: 0,
            reloaded: HashSet::new(),
        }
    }

    /// Handles the events since the last call, in the order of time, and the faults that were counted meanwhile.
    pub(crate) fn handle(&mut self, events: Vec<SidebandEvent>, faults: &[RegionFault]) {
        self.round += 1;
        self.reloaded.clear();
        self.options.sessions.read_events(); // read after the rings, so that each line before a sample is known
        for pid in self.options.sessions.take_begun() {
            self.processes.lead(pid, &mut self.segments);
        }
        let now = events.last().map_or(0, |event| event.time);
        for event in events {
            self.on_event(event);
        }
        for fault in faults {
            self.on_faults(*fault, now);
        }
        self.processes.end_round();
    }

    fn on_event(&mut self, event: SidebandEvent) {
        match event.note {
            KernelNote::Mapped(mapped) => self.processes.map(event.pid, &mapped, &mut self.segments),
            KernelNote::Named { name, exec: true } => {
                self.processes.load_program(event.pid, &name);
                self.jits.forget(event.pid);
            }
            KernelNote::Named { name, exec: false } if event.pid == event.tid => self.processes.rename(event.pid, &name),
            KernelNote::Forked { parent } if parent != event.pid => {
                self.processes.fork(event.pid, parent);
                // The report of a session may come before the note about its leader's birth.
                if self.options.sessions.is_led_by(event.pid) {
                    self.processes.lead(event.pid, &mut self.segments);
                }
            }
            KernelNote::Ended if event.pid == event.tid => {
                self.jits.forget(event.pid);
                self.processes.end(event.pid);
            }
            KernelNote::Sampled { processor, address, ref chain } => {
                self.count_activity(processor, chain);
                self.on_sample(&event, address, &CallChain::from_addresses(chain));
            }
            KernelNote::Major { address } => {
                let (segment, user) = self.segment_and_user(event.pid, address, event.time);
                if let Some(segment) = segment {
                    self.by_segment.mark_major(segment, user);
                }
            }
            KernelNote::Minor { address } => self.on_faults(RegionFault { pid: event.pid, address, count: 1 }, event.time),
            KernelNote::Lost { count } => self.lost += count,
            KernelNote::Named { .. } | KernelNote::Forked { .. } | KernelNote::Ended => {}
        }
    }

    /// Counts the processor's activity, which divides its busy time.
    fn count_activity(&mut self, processor: u32, chain: &[u64]) {
        if let Some(kallsyms) = &self.options.kallsyms {
            self.shares.entry(processor).or_default().add(CallChain::from_addresses(chain).activity(kallsyms));
        }
    }

    fn on_sample(&mut self, event: &SidebandEvent, address: u64, chain: &CallChain<'_>) {
        let Some(space) = self.processes.space(event.pid, &mut self.segments) else { return };
        if self.options.sessions_only && space.leader == 0 {
            return;
        }
        let (user, command) = self.options.sessions.user_and_command_at(space.leader, event.time);
        self.by_segment.add_sample(if chain.kernel.is_empty() { space.find(address).0 } else { KERNEL_SEGMENT }, user);
        let (jits, round) = (&mut self.jits, self.round);
        let mut jit_function = |address| jits.function(event.pid, address, round);
        let frames = chain.frames(self.options.kallsyms.as_deref(), space, &mut jit_function);
        let owner = StackOwner { user, command, process: Arc::clone(&space.name) };
        *self.stacks.entry((owner, frames)).or_default() += 1;
    }

    fn on_faults(&mut self, faults: RegionFault, time: u64) {
        let (segment, user) = self.segment_and_user(faults.pid, faults.address, time);
        if let Some(segment) = segment {
            self.by_segment.add_faults(segment, user, faults.count);
        }
    }

    /// The segment of an address and the user. The segment is None if the process is not recorded.
    fn segment_and_user(&mut self, pid: u32, address: u64, time: u64) -> (Option<u32>, Option<UserId>) {
        let Some(space) = self.processes.space(pid, &mut self.segments) else {
            return ((!self.options.sessions_only).then_some(UNKNOWN_SEGMENT), None);
        };
        if self.options.sessions_only && space.leader == 0 {
            return (None, None);
        }
        let (mut segment, leader) = (space.find(address).0, space.leader);
        if segment == UNKNOWN_SEGMENT && self.reloaded.insert(pid) {
            let space = self.processes.reload_mappings(pid, &mut self.segments);
            segment = space.map_or(UNKNOWN_SEGMENT, |space| space.find(address).0);
        }
        (Some(segment), self.options.sessions.user_and_command_at(leader, time).0)
    }

    /// The rows of the span that ends. Counting begins again.
    pub fn rows(&mut self, span: RecordSpan) -> ProfileRows {
        let stacks = self.stack_rows(span);
        self.processes.end_span();
        self.options.sessions.forget_before(span.monotonic_ns);
        ProfileRows {
            stacks,
            segments: self.by_segment.rows(span, &self.segments, self.options.counted),
            shares: std::mem::take(&mut self.shares),
            lost: std::mem::take(&mut self.lost),
        }
    }

    fn stack_rows(&mut self, span: RecordSpan) -> Vec<StackRow> {
        let stacks = std::mem::take(&mut self.stacks);
        self.symbols.find(stacks.keys().flat_map(|(_, frames)| frames.iter()), &self.segments);
        let mut named: HashMap<(StackOwner, String), u64> = HashMap::new();
        for ((owner, frames), samples) in stacks {
            let texts: Vec<String> = frames.iter().rev().map(|frame| self.text(*frame)).collect();
            *named.entry((owner, texts.join(";"))).or_default() += samples;
        }
        let row = |((owner, stack), samples): ((StackOwner, String), u64)| StackRow {
            at: span.at,
            span_ns: span.span_ns,
            user: owner.user,
            command: (owner.command as usize).checked_sub(1).and_then(|index| self.options.commands.get(index).cloned()),
            process: owner.process,
            stack: stack.into(),
            samples,
        };
        let mut rows: Vec<StackRow> = named.into_iter().map(row).collect();
        rows.sort_by(|left, right| (&left.process, &left.stack, left.user).cmp(&(&right.process, &right.stack, right.user)));
        rows
    }

    fn text(&self, frame: StackFrame) -> String {
        self.symbols.text(frame, &self.segments, self.options.kallsyms.as_deref(), &self.jits)
    }

    /// The files that have a build id, with the id in hexadecimal.
    pub fn build_ids(&self) -> Vec<(Arc<str>, String)> {
        let file_and_id = |segment: &Segment| {
            let id = segment.build_id.as_ref()?;
            Some((Arc::clone(&segment.name), id.iter().map(|byte| format!("{byte:02x}")).collect()))
        };
        self.segments.iter().filter_map(file_and_id).collect()
    }
}
