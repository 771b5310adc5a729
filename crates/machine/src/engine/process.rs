//! A user's process: where it is, and what is left of its work.

use super::errand::Errand;
use loadgo_core::random::RandomStream;

/// No stage: the interaction does not follow a route.
pub(crate) const NO_STAGE: u32 = u32::MAX;

/// A route is to be followed from its beginning.
pub(crate) const ROUTE_START_INDEX: u32 = NO_STAGE - 1;

/// Where a process is.
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

/// A process. What every event touches is here, in two cache lines, not three; what only commands with needs of many kinds have is
/// in its errand.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Process {
    /// What its user's work is drawn from.
    pub stream: RandomStream,
    /// Work left until the end of the command, or of the burst where it follows a route.
    pub left_ns: u64,
    /// Since when it is where it is.
    pub since: u64,
    /// When the command was given.
    pub began: u64,
    /// Processor time of its work in this interaction.
    pub cpu_user_ns: u64,
    /// Time that it could run and did not.
    pub ready_wait_ns: u64,
    /// Time that it waited for stores.
    pub io_wait_ns: u64,
    /// The command.
    pub command: u32,
    /// The stage of its route.
    pub stage: u32,
    /// Whose answers to its requests still count: those of an abandoned command do not.
    pub generation: u16,
    /// The processor that it has.
    pub processor: u16,
    /// Where it is.
    pub state: ProcessState,
    /// Whether it is on an errand (else it follows a route).
    pub on_errand: bool,
    /// What is left of its needs, where it is on an errand.
    pub errand: Option<Box<Errand>>,
}

impl Process {
    /// One that has never done anything.
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

    /// A command is given to it.
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

    /// Its errand.
    #[inline]
    pub(crate) fn errand(&mut self) -> &mut Errand {
        self.errand.as_mut().expect("a process on an errand has one")
    }
}
