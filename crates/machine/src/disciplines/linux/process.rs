//! A process of Linux's run queues.

/// The state of a process in its queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RunState {
    /// Not runnable: the process waits, asks or has no work.
    Away,
    /// Not runnable either, but still in its queue, because it had more than its share.
    Delayed,
    /// Runnable, between a turn and becoming ready again: neither in the list nor on a processor.
    Between,
    /// Runnable, and waits for its processor.
    Ready,
    /// Runs since this instant.
    Runs { since: u64 },
}

/// A process.
#[derive(Clone, Copy, Debug)]
pub struct LinuxProcess {
    /// Weight by its nice value.
    pub weight: i128,
    /// Virtual time, up to its dispatch.
    pub virtual_time: i128,
    /// The virtual time at which its slice ends.
    pub deadline: i128,
    /// The virtual time up to which nobody takes its processor while it is eligible.
    pub protected: i128,
    /// Lag that it took along when it left.
    pub lag: i128,
    /// The state.
    pub state: RunState,
    /// The process's queue, or while it is away that of its last run. None for a process that was never runnable.
    pub queue: Option<u32>,
    /// When it last left its processor.
    pub left_at: u64,
}

impl LinuxProcess {
    /// A process that has not been runnable yet.
    pub fn new(weight: i128) -> LinuxProcess {
        LinuxProcess {
            weight,
            virtual_time: 0,
            deadline: 0,
            protected: 0,
            lag: 0,
            state: RunState::Away,
            queue: None,
            left_at: 0,
        }
    }

    /// The number of its queue.
    pub fn place(&self) -> usize {
        self.queue.expect("a runnable process has a queue") as usize
    }
}
