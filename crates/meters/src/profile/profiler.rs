//! The clock profile: from what the kernel tells (samples, faults, mappings) to rows of `stacks` and `segments`.

use crate::accounts::sessions::Sessions;
use crate::part::Span;
use crate::profile::jit::Jits;
use crate::profile::kallsyms::Kallsyms;
use crate::profile::records::{Event, Told};
use crate::profile::regions::Faults;
use crate::profile::segments::{BySegment, Have};
use crate::profile::spaces::{KERNEL, Segment, Segments, Space, UNKNOWN, process_name};
use crate::profile::stacks::{Chain, Frame, Stacks, Whose};
use crate::profile::symbols::Symbols;
use crate::shares::Shares;
use loadgo_core::record::{SegmentRow, StackRow};
use loadgo_core::system::UserId;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// How the profiler is set.
pub(crate) struct Setting {
    /// Whether stacks become rows.
    pub stacks: bool,
    /// What `segments` has.
    pub have: Have,
    /// Only sessions: nobody else is recorded.
    pub sessions_only: bool,
    /// The names of the commands; a command's number is its place here plus 1.
    pub commands: Vec<Arc<str>>,
    /// Who are users.
    pub sessions: Sessions,
    /// The kernel's functions, where it tells them.
    pub kallsyms: Option<Arc<Kallsyms>>,
}

/// What is known of processes and what has been counted in this span.
pub(crate) struct Profiler {
    setting: Setting,
    own_pid: u32,
    spaces: HashMap<u32, Space>,
    /// Processes that are over, as long as something may still be told of them: those of the last span and of this one.
    gone: [HashMap<u32, Space>; 2],
    segments: Segments,
    symbols: Symbols,
    jits: Jits,
    stacks: Stacks,
    by_segment: BySegment,
    shares: HashMap<u32, Shares>,
    lost: u64,
    round: u64,
    /// Whose mappings were read again in this round.
    renewed: HashSet<u32>,
    /// This process as its children of this span take it over: their own copies of what it maps meanwhile would be as many as they.
    own_space: Option<Space>,
}

/// The rows of a span.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub stacks: Vec<StackRow>,
    pub segments: Vec<SegmentRow>,
    /// By processor.
    pub shares: HashMap<u32, Shares>,
    /// Records that the kernel could not keep, in this span.
    pub lost: u64,
}

impl Profiler {
    /// Begins with the processes that there are.
    pub fn begin(setting: Setting) -> Profiler {
        let mut segments = Segments::new();
        let pids = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let spaces = pids.filter_map(|pid| Some((pid, Space::of_living(pid, &mut segments)?))).collect();
        Profiler {
            setting,
            own_pid: std::process::id(),
            spaces,
            gone: [HashMap::new(), HashMap::new()],
            segments,
            symbols: Symbols::new(),
            jits: Jits::default(),
            stacks: Stacks::new(),
            by_segment: BySegment::default(),
            shares: HashMap::new(),
            lost: 0,
            round: 0,
            renewed: HashSet::new(),
            own_space: None,
        }
    }

    /// What happened since the last call, in the order of time, and the faults that were counted meanwhile.
    pub(crate) fn learn(&mut self, events: Vec<Event>, faults: &[Faults]) {
        self.round += 1;
        self.renewed.clear();
        self.setting.sessions.learn(); // after the events were read: each line before a sample is known
        let now = events.last().map_or(0, |event| event.time);
        for event in events {
            self.on(event);
        }
        for fault in faults {
            self.on_faults(*fault, now);
        }
    }

    fn on(&mut self, event: Event) {
        match event.what {
            Told::Mapped(mapped) => {
                let unknown = || Space::named("?".into());
                let space = self.spaces.entry(event.pid).or_insert_with(unknown);
                space.map(&mapped, &mut self.segments);
            }
            Told::Named { name, exec } => self.on_name(event.pid, event.tid, process_name(&name), exec),
            Told::Forked { parent } if parent != event.pid => self.on_fork(event.pid, parent),
            Told::Ended if event.pid == event.tid => {
                self.jits.forget(event.pid);
                if let Some(space) = self.spaces.remove(&event.pid) {
                    self.gone[1].insert(event.pid, space);
                }
            }
            Told::Sampled { processor, address, ref chain } => {
                self.shared(processor, chain);
                self.on_sample(&event, address, &Chain::of(chain));
            }
            Told::Major { address } => {
                let (segment, user) = self.whose_page(event.pid, address, event.time);
                if let Some(segment) = segment {
                    self.by_segment.major(segment, user);
                }
            }
            Told::Minor { address } => self.on_faults(Faults { pid: event.pid, address, count: 1 }, event.time),
            Told::Lost { count } => self.lost += count,
            Told::Forked { .. } | Told::Ended => {}
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
        let known = self.spaces.get(&parent);
        let space = if parent == self.own_pid {
            let own_space = self.own_space.get_or_insert_with(|| inherited(known));
            own_space.leader = pid;
            own_space.clone()
        } else {
            inherited(known)
        };
        self.spaces.insert(pid, space);
    }

    /// What the processor was doing, for the division of its busy time.
    fn shared(&mut self, processor: u32, chain: &[u64]) {
        if let Some(kallsyms) = &self.setting.kallsyms {
            self.shares.entry(processor).or_default().add(Chain::of(chain).doing(kallsyms));
        }
    }

    fn on_sample(&mut self, event: &Event, address: u64, chain: &Chain<'_>) {
        let Some(space) = space_of(&mut self.spaces, &self.gone, event.pid, &mut self.segments) else { return };
        if self.setting.sessions_only && space.leader == 0 {
            return;
        }
        let (user, command) = self.setting.sessions.at(space.leader, event.time);
        self.by_segment.sample(if chain.kernel.is_empty() { space.find(address).0 } else { KERNEL }, user);
        if self.setting.stacks {
            let (jits, round) = (&mut self.jits, self.round);
            let mut made = |address| jits.function(event.pid, address, round);
            let frames = chain.frames(self.setting.kallsyms.as_deref(), space, &mut made);
            let whose = Whose { user, command, process: Arc::clone(&space.name) };
            *self.stacks.entry((whose, frames)).or_default() += 1;
        }
    }

    fn on_faults(&mut self, faults: Faults, time: u64) {
        let (segment, user) = self.whose_page(faults.pid, faults.address, time);
        if let Some(segment) = segment {
            self.by_segment.faults(segment, user, faults.count);
        }
    }

    /// The segment of an address and the user; no segment: of nobody who is recorded.
    fn whose_page(&mut self, pid: u32, address: u64, time: u64) -> (Option<u32>, Option<UserId>) {
        let Some(space) = space_of(&mut self.spaces, &self.gone, pid, &mut self.segments) else {
            return ((!self.setting.sessions_only).then_some(UNKNOWN), None);
        };
        if self.setting.sessions_only && space.leader == 0 {
            return (None, None);
        }
        let (mut segment, leader) = (space.find(address).0, space.leader);
        if segment == UNKNOWN && self.renewed.insert(pid) {
            segment = self.renew(pid).map_or(UNKNOWN, |space| space.find(address).0);
        }
        (Some(segment), self.setting.sessions.at(leader, time).0)
    }

    /// Reads what a living process has mapped again: memory that was moved (mremap) was not told.
    fn renew(&mut self, pid: u32) -> Option<&Space> {
        let now = Space::of_living(pid, &mut self.segments)?;
        let space = self.spaces.get_mut(&pid)?;
        space.renew(now);
        Some(space)
    }

    /// The rows of the span that ends; counting begins again.
    pub fn rows(&mut self, span: Span) -> Rows {
        let stacks = self.stack_rows(span);
        self.gone[0] = std::mem::take(&mut self.gone[1]);
        self.own_space = None;
        self.setting.sessions.forget_before(span.monotonic_ns);
        Rows {
            stacks,
            segments: self.by_segment.rows(span, &self.segments, self.setting.have),
            shares: std::mem::take(&mut self.shares),
            lost: std::mem::take(&mut self.lost),
        }
    }

    fn stack_rows(&mut self, span: Span) -> Vec<StackRow> {
        let stacks = std::mem::take(&mut self.stacks);
        self.symbols.find(stacks.keys().flat_map(|(_, frames)| frames.iter()), &self.segments);
        let mut named: HashMap<(Whose, String), u64> = HashMap::new();
        for ((whose, frames), samples) in stacks {
            let texts: Vec<String> = frames.iter().rev().map(|frame| self.text(*frame)).collect();
            *named.entry((whose, texts.join(";"))).or_default() += samples;
        }
        let row = |((whose, stack), samples): ((Whose, String), u64)| StackRow {
            at: span.at,
            span_ns: span.span_ns,
            user: whose.user,
            command: (whose.command as usize).checked_sub(1).and_then(|place| self.setting.commands.get(place).cloned()),
            process: whose.process,
            stack: stack.into(),
            samples,
        };
        let mut rows: Vec<StackRow> = named.into_iter().map(row).collect();
        rows.sort_by(|one, other| (&one.process, &one.stack, one.user).cmp(&(&other.process, &other.stack, other.user)));
        rows
    }

    fn text(&self, frame: Frame) -> String {
        self.symbols.text(frame, &self.segments, self.setting.kallsyms.as_deref(), &self.jits)
    }

    /// Files whose functions were asked for, with their build's id in hexadecimal.
    pub fn build_ids(&self) -> Vec<(Arc<str>, String)> {
        let of = |segment: &Segment| {
            let id = segment.build_id.as_ref()?;
            Some((Arc::clone(&segment.name), id.iter().map(|byte| format!("{byte:02x}")).collect()))
        };
        self.segments.iter().filter_map(of).collect()
    }
}

/// What a new process has of its parent.
fn inherited(parent: Option<&Space>) -> Space {
    parent.cloned().unwrap_or_else(|| Space::named("?".into()))
}

/// A process that is, was, or is found in /proc.
fn space_of<'a>(
    spaces: &'a mut HashMap<u32, Space>,
    gone: &'a [HashMap<u32, Space>; 2],
    pid: u32,
    segments: &mut Segments,
) -> Option<&'a Space> {
    match spaces.entry(pid) {
        Entry::Occupied(space) => Some(space.into_mut()),
        Entry::Vacant(place) => match gone[1].get(&pid).or_else(|| gone[0].get(&pid)) {
            Some(space) => Some(space),
            None => Some(place.insert(Space::of_living(pid, segments)?)),
        },
    }
}
