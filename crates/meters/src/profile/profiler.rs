//! Makes rows of `stacks` and `segments` from the kernel's notes: samples, faults and mappings.

use crate::accounts::sessions::Sessions;
use crate::part::RecordSpan;
use crate::profile::jit::Jits;
use crate::profile::kallsyms::Kallsyms;
use crate::profile::records::{KernelNote, SidebandEvent};
use crate::profile::regions::RegionFault;
use crate::profile::segments::{CountedKinds, SegmentTable};
use crate::profile::spaces::{KERNEL_SEGMENT, Segment, Segments, Space, UNKNOWN_SEGMENT, process_name};
use crate::profile::stacks::{CallChain, StackFrame, StackOwner, Stacks};
use crate::profile::symbols::Symbols;
use crate::shares::ActivityCounts;
use loadgo_core::record::{SegmentRow, StackRow};
use loadgo_core::system::UserId;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Options of the profiler.
pub(crate) struct ProfilerOptions {
    /// Whether stacks become rows.
    pub stacks: bool,
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
    own_pid: u32,
    spaces: HashMap<u32, Space>,
    /// Processes that ended in the last span and in this one, for notes that are still to come.
    ended: [HashMap<u32, Space>; 2],
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
    /// This process's space as its children of this span inherit it. They share it, since a copy for each would be too much.
    own_space: Option<Space>,
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
        let pids = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let spaces = pids.filter_map(|pid| Some((pid, Space::read_living(pid, &mut segments)?))).collect();
        Profiler {
            options,
            own_pid: std::process::id(),
            spaces,
            ended: [HashMap::new(), HashMap::new()],
            segments,
            symbols: Symbols::new(),
            jits: Jits::default(),
            stacks: Stacks::new(),
            by_segment: SegmentTable::default(),
            shares: HashMap::new(),
            lost: 0,
            round: 0,
            reloaded: HashSet::new(),
            own_space: None,
        }
    }

    /// Handles the events since the last call, in the order of time, and the faults that were counted meanwhile.
    pub(crate) fn handle(&mut self, events: Vec<SidebandEvent>, faults: &[RegionFault]) {
        self.round += 1;
        self.reloaded.clear();
        self.options.sessions.read_events(); // after the events, so that each line before a sample is known
        let now = events.last().map_or(0, |event| event.time);
        for event in events {
            self.on_event(event);
        }
        for fault in faults {
            self.on_faults(*fault, now);
        }
    }

    fn on_event(&mut self, event: SidebandEvent) {
        match event.note {
            KernelNote::Mapped(mapped) => {
                let unknown = || Space::named("?".into());
                let space = self.spaces.entry(event.pid).or_insert_with(unknown);
                space.map(&mapped, &mut self.segments);
            }
            KernelNote::Named { name, exec } => self.on_name(event.pid, event.tid, process_name(&name), exec),
            KernelNote::Forked { parent } if parent != event.pid => self.on_fork(event.pid, parent),
            KernelNote::Ended if event.pid == event.tid => {
                self.jits.forget(event.pid);
                if let Some(space) = self.spaces.remove(&event.pid) {
                    self.ended[1].insert(event.pid, space);
                }
            }
            KernelNote::Sampled { processor, address, ref chain } => {
                self.count_activity(processor, chain);
                self.on_sample(&event, address, &CallChain::from_addresses(chain));
            }
            KernelNote::Major { address } => {
                let (segment, user) = self.segment_and_user(event.pid, address, event.time);
                if let Some(segment) = segment {
                    self.by_segment.major(segment, user);
                }
            }
            KernelNote::Minor { address } => self.on_faults(RegionFault { pid: event.pid, address, count: 1 }, event.time),
            KernelNote::LostRow { count } => self.lost += count,
            KernelNote::Forked { .. } | KernelNote::Ended => {}
        }
    }

    fn on_name(&mut self, pid: u32, tid: u32, name: Arc<str>, exec: bool) {
        let space = self.spaces.entry(pid).or_insert_with(|| Space::named(Arc::clone(&name)));
        if exec {
            space.load_program(name);
            self.jits.forget(pid);
        } else if pid == tid {
            space.name = name;
        }
    }

    fn on_fork(&mut self, pid: u32, parent: u32) {
        let parent_space = self.spaces.get(&parent);
        let space = if parent == self.own_pid {
            let own_space = self.own_space.get_or_insert_with(|| inherit_space(parent_space));
            own_space.leader = pid;
            own_space.clone()
        } else {
            inherit_space(parent_space)
        };
        self.spaces.insert(pid, space);
    }

    /// Counts the processor's activity, which divides its busy time.
    fn count_activity(&mut self, processor: u32, chain: &[u64]) {
        if let Some(kallsyms) = &self.options.kallsyms {
            self.shares.entry(processor).or_default().add(CallChain::from_addresses(chain).activity(kallsyms));
        }
    }

    fn on_sample(&mut self, event: &SidebandEvent, address: u64, chain: &CallChain<'_>) {
        let Some(space) = space_of(&mut self.spaces, &self.ended, event.pid, &mut self.segments) else { return };
        if self.options.sessions_only && space.leader == 0 {
            return;
        }
        let (user, command) = self.options.sessions.user_and_command_at(space.leader, event.time);
        self.by_segment.sample(if chain.kernel.is_empty() { space.find(address).0 } else { KERNEL_SEGMENT }, user);
        if self.options.stacks {
            let (jits, round) = (&mut self.jits, self.round);
            let mut jit_function = |address| jits.function(event.pid, address, round);
            let frames = chain.frames(self.options.kallsyms.as_deref(), space, &mut jit_function);
            let owner = StackOwner { user, command, process: Arc::clone(&space.name) };
            *self.stacks.entry((owner, frames)).or_default() += 1;
        }
    }

    fn on_faults(&mut self, faults: RegionFault, time: u64) {
        let (segment, user) = self.segment_and_user(faults.pid, faults.address, time);
        if let Some(segment) = segment {
            self.by_segment.faults(segment, user, faults.count);
        }
    }

    /// The segment of an address and the user. The segment is None if the process is not recorded.
    fn segment_and_user(&mut self, pid: u32, address: u64, time: u64) -> (Option<u32>, Option<UserId>) {
        let Some(space) = space_of(&mut self.spaces, &self.ended, pid, &mut self.segments) else {
            return ((!self.options.sessions_only).then_some(UNKNOWN_SEGMENT), None);
        };
        if self.options.sessions_only && space.leader == 0 {
            return (None, None);
        }
        let (mut segment, leader) = (space.find(address).0, space.leader);
        if segment == UNKNOWN_SEGMENT && self.reloaded.insert(pid) {
            segment = self.reload_mappings(pid).map_or(UNKNOWN_SEGMENT, |space| space.find(address).0);
        }
        (Some(segment), self.options.sessions.user_and_command_at(leader, time).0)
    }

    /// Reads the mappings of a living process again, because the kernel does not report memory that was moved (mremap).
    fn reload_mappings(&mut self, pid: u32) -> Option<&Space> {
        let now = Space::read_living(pid, &mut self.segments)?;
        let space = self.spaces.get_mut(&pid)?;
        space.replace_mappings(now);
        Some(space)
    }

    /// The rows of the span that ends. Counting begins again.
    pub fn rows(&mut self, span: RecordSpan) -> ProfileRows {
        let stacks = self.stack_rows(span);
        self.ended[0] = std::mem::take(&mut self.ended[1]);
        self.own_space = None;
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

    /// Files with their build ids in hexadecimal.
    pub fn build_ids(&self) -> Vec<(Arc<str>, String)> {
        let file_and_id = |segment: &Segment| {
            let id = segment.build_id.as_ref()?;
            Some((Arc::clone(&segment.name), id.iter().map(|byte| format!("{byte:02x}")).collect()))
        };
        self.segments.iter().filter_map(file_and_id).collect()
    }
}

/// The space that a new process inherits from its parent.
fn inherit_space(parent: Option<&Space>) -> Space {
    parent.cloned().unwrap_or_else(|| Space::named("?".into()))
}

/// The space of a process that is known, has ended lately, or is in /proc.
fn space_of<'a>(
    spaces: &'a mut HashMap<u32, Space>,
    ended: &'a [HashMap<u32, Space>; 2],
    pid: u32,
    segments: &mut Segments,
) -> Option<&'a Space> {
    match spaces.entry(pid) {
        Entry::Occupied(space) => Some(space.into_mut()),
        Entry::Vacant(entry) => match ended[1].get(&pid).or_else(|| ended[0].get(&pid)) {
            Some(space) => Some(space),
            None => Some(entry.insert(Space::read_living(pid, segments)?)),
        },
    }
}
