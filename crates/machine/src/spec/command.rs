//! A command's work: processor time, pages and other demands on a machine, or a route through its stations.

use crate::draw::AmountLaw;

/// A command and its work.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Command {
    /// Name of the command: a script's `as`.
    pub name: String,
    /// Name of the program. Commands of one program share it in memory. If empty, it is the command's own name.
    pub program: String,
    /// Processor time of the work itself.
    pub cpu: AmountLaw,
    /// Processor time when all processors are busy, over that when all are idle; `None`: as the machine's processors have it.
    pub cpu_when_busy: Option<f64>,
    /// Number of pages that the command refers to, with demand paging. If 0, page faults never end by themselves.
    pub pages: AmountLaw,
    /// Share of the pages of the command before that this command uses too, 0 to 1. The same program uses all of them.
    pub common: f64,
    /// Processor time between its page faults, over what the machine's headway law says; `None`: 1.
    pub headway_factor: Option<f64>,
    /// Words of the program's image, with swapping.
    pub image_words: AmountLaw,
    /// Segment faults.
    pub segment_faults: AmountLaw,
    /// Bound faults.
    pub bound_faults: AmountLaw,
    /// Wall crossings.
    pub wall_crossings: AmountLaw,
    /// Created processes.
    pub processes: AmountLaw,
    /// Lines to the terminal.
    pub lines_out: AmountLaw,
    /// Bytes of a line to the terminal.
    pub line_bytes: AmountLaw,
    /// Processor time for each line to the terminal, in addition to the supervisor's `line_out`.
    pub line_cpu: AmountLaw,
    /// Page faults for each line to the terminal.
    pub line_faults: AmountLaw,
    /// Wall crossings for each line to the terminal.
    pub line_walls: AmountLaw,
    /// Bytes to or from the network.
    pub network_bytes: Amount,
    /// Processor time of the command's own work for each of these bytes.
    pub network_byte_cpu: AmountLaw,
    /// Stores for which each message but the first waits: the other host's time for a byte, drawn once for a command.
    pub network_wait: Vec<(usize, AmountLaw)>,
    /// Stores with the number of requests to each.
    pub requests: Vec<(usize, AmountLaw)>,
    /// Correlation of the normal variables behind processor time and numbers of requests; `None`: they are independent.
    pub request_correlation: Option<f64>,
    /// Priority for the discipline `priority`; low is good.
    pub priority: u32,
    /// Nice value for the discipline `linux`, -20 to 19.
    pub nice: i32,
    /// Exit status; `None`: the script accepts the command.
    pub exit_status: Option<u8>,
    /// Route through stations, which replaces all other work.
    pub route: Option<Route>,
}

impl Command {
    /// A command without work.
    pub fn without_work(name: &str) -> Command {
        Command { name: name.into(), ..Command::default() }
    }
}

/// An amount that is drawn, or read from the typed line.
#[derive(Clone, Debug, PartialEq)]
pub enum Amount {
    /// Drawn from a law.
    Drawn(AmountLaw),
    /// The number in the n-th word after the command's name, from 1.
    Argument(u32),
}

impl Default for Amount {
    fn default() -> Amount {
        Amount::Drawn(AmountLaw::ZERO)
    }
}

/// A route through the stations of a queueing network. It begins at the first stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// The stages.
    pub stages: Vec<RouteStage>,
}

/// A visit to a station.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteStage {
    /// The store; `None`: the processors.
    pub store: Option<usize>,
    /// Requested service, in ns.
    pub service: AmountLaw,
    /// The next stages with their weights, which add up to 1. `None` ends the interaction.
    pub then: Vec<(f64, Option<usize>)>,
}
