//! What a command needs: work, pages and other demands on a machine, or a route through its stations.

use crate::draw::Draw;

/// What a command needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Command {
    /// Its name: a script's `as`.
    pub name: String,
    /// The program that it is, to the memory: commands with the same one are the same program. Empty: the one of its own name.
    pub program: String,
    /// Processor time of the work itself.
    pub cpu: Draw,
    /// Pages that it refers to in all; with demand paging. 0: as many as there are frames (faults never end by themselves).
    pub pages: Draw,
    /// Of the pages held from the command before, the part that is of use to this one, 0 to 1, unless it is the same program.
    pub common: f64,
    /// The words of its image; with swapping.
    pub image_words: Draw,
    /// Segment faults, bound faults, wall crossings and processes made.
    pub segment_faults: Draw,
    /// Bound faults.
    pub bound_faults: Draw,
    /// Wall crossings.
    pub wall_crossings: Draw,
    /// Processes that it makes.
    pub processes: Draw,
    /// Lines to the terminal.
    pub lines_out: Draw,
    /// Bytes a line to the terminal.
    pub line_bytes: Draw,
    /// What each line to the terminal takes beside the supervisor's `line_out`: processor time, faults of pages, wall crossings.
    pub line_cpu: Draw,
    /// Page faults for each line to the terminal.
    pub line_faults: Draw,
    /// Wall crossings for each line to the terminal.
    pub line_walls: Draw,
    /// Bytes to or from the network.
    pub network_bytes: Amount,
    /// Processor time of the command's own work for each of these bytes.
    pub network_byte_cpu: Draw,
    /// Requests to stores: (store, how many).
    pub requests: Vec<(usize, Draw)>,
    /// Low is good; for `priority`.
    pub priority: u32,
    /// For `linux`: -20 to 19.
    pub nice: i32,
    /// Its exit status; `None` is not told, and then it is as the script has it.
    pub exit_status: Option<u8>,
    /// Where it goes instead of all this: a route through stations.
    pub route: Option<Route>,
}

impl Command {
    /// A command that needs nothing.
    pub fn without_needs(name: &str) -> Command {
        Command { name: name.into(), ..Command::default() }
    }
}

/// An amount: drawn, or read from the line that was typed.
#[derive(Clone, Debug, PartialEq)]
pub enum Amount {
    /// Drawn from a law.
    Drawn(Draw),
    /// The number that is the n-th word after the command's name, from 1.
    Argument(u32),
}

impl Default for Amount {
    fn default() -> Amount {
        Amount::Drawn(Draw::ZERO)
    }
}

/// A route through stations, as a queueing network has it; it begins at the first stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// The stages.
    pub stages: Vec<Stage>,
}

/// A visit to a station.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// The store; `None` is the processors.
    pub store: Option<usize>,
    /// The service asked for (ns).
    pub service: Draw,
    /// Where next, with weights that add up to 1; `None`: the interaction is over.
    pub then: Vec<(f64, Option<usize>)>,
}
