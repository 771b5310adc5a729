//! A user's process: its state, and the rest of its work.

use super::errand::Errand;
use loadgo_core::random::RandomStream;

/// No stage: the interaction does not follow a route.
pub(crate) const NO_STAGE: u32 = u32::MAX;

/// The stage before the first stage of a route.
pub(crate) const ROUTE_START_INDEX: u32 = NO_STAGE - 1;

/// The state of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessState {
    /// There is no such process.
    Absent,
    /// The user is thinking; the process has no work.
    Thinking,
    /// The process asks to be eligible.
    Asking,
    /// The process can run, and has no processor.
    Ready,
    /// The process has a processor, or a share of the processors.
    Running,
    /// The process has a processor, and its program is being brought in.
    Loading,
    /// The process waits for a page.
    PageWait,
    /// The process waits for another device.
    DiskWait,
}

/// A process. The values that each event touches are here, in two cache lines. The rest is in the process's errand.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Process {
    /// Random numbers for the user's work.
    pub stream: RandomStream,
    /// Work left until the end of the command, or for a route until the end of the visit to the processors.
    pub left_ns: u64,
    /// When the process entered its state.
    pub since: u64,
    /// When the command was given.
    pub began: u64,
    /// Processor time of the work in this interaction.
    pub cpu_user_ns: u64,
    /// Time in which the process was ready and did not run.
    pub ready_wait_ns: u64,
    /// Time in which the process waited for stores.
    pub io_wait_ns: u64,
    /// The command.
    pub command: u32,
    /// The stage of the route.
    pub stage: u32,
    /// Generation of the requests that the process still waits for. Requests of an abandoned command have an earlier one.
    pub generation: u16,
    /// The processor that the process has.
    pub processor: u16,
    /// The state of the process.
    pub state: ProcessState,
    /// Whether the process is on an errand; otherwise it follows a route.
    pub on_errand: bool,
    /// The rest of the interaction's work for a process on an errand.
    pub errand: Option<Box<Errand>>,
}

impl Process {
    /// A process before its user's log-in.
    pub fn new(stream: RandomStream) -> Process {
        Process {
            stream,
            left_ns: 0,
            since: 0,
            began: 0,
            cpu_user_ns: 0,
            ready_wait_ns: 0,
            io_wait_ns: 0,
            command: 0,
            stage: NO_STAGE,
            generation: 0,
            processor: 0,
            state: ProcessState::Absent,
            on_errand: false,
            errand: None,
        }
    }

    /// Enters `state` at `now`, and returns how long the process was in the state before.
    #[inline(always)]
    pub(crate) fn enter(&mut self, state: ProcessState, now: u64) -> u64 {
        let stayed_ns = now - self.since;
        self.since = now;
        self.state = state;
        stayed_ns
    }

    /// Begins a command, whose work is not drawn yet.
    #[inline]
    pub(crate) fn take_up(&mut self, command: u32, now: u64) {
        self.command = command;
        self.began = now;
        self.since = now;
        self.left_ns = 0;
        self.cpu_user_ns = 0;
        self.ready_wait_ns = 0;
        self.io_wait_ns = 0;
    }

    /// The process's errand.
    #[inline]
    pub(crate) fn errand(&mut self) -> &mut Errand {
        self.errand.as_mut().expect("a process on an errand has one")
    }
}
