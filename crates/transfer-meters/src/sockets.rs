//! The sockets of one command and of all its descendants: their exact bytes, and the interrupt time for them.
//!
//! The programs (`bpf/transfers/transfers.bpf.c`) follow tasks from the command's fork on. A TCP socket is read when it closes. Where
//! the kernel still has data to send, that is after the command's end, so [`SocketMeter::end`] waits for a bounded time.

use crate::charge::{InterruptCharge, UNCLEAR_CHARGE_NOTE, find_charge};
use crate::programs::{DEVICE_PROGRAMS, SOFT_INTERRUPT_PROGRAMS, TracepointProgram, TransferPrograms};
use crate::sums::{MOVED_WORDS, NetworkInterruptTime, SOCKET_KINDS, SocketTotals};
use aya::maps::{HashMap, MapData, PerCpuArray};
use aya::programs::tp_btf::BtfTracePointLink;
use loadgo_meters::Meter;
use loadgo_meters::MeterRefusal;
use loadgo_meters::available::{BTF_PATH, MeterAvailability, MeterQuality, check_kernel_programs, tracepoints};
use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

/// A figure of a command's sockets that needs programs of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TrafficFigure {
    Bytes,
    Calls,
    Interrupts,
}

impl TrafficFigure {
    fn label(self) -> &'static str {
        match self {
            TrafficFigure::Bytes => "the bytes of its sockets",
            TrafficFigure::Calls => "messages, datagrams, Unix sockets and connections that it accepts",
            TrafficFigure::Interrupts => "the interrupts that worked for it",
        }
    }
}

/// Why a figure is not known, or not in full.
#[derive(Debug)]
enum UnmeasuredTraffic {
    /// The kernel refuses the program at this tracepoint.
    NoProgram { figure: TrafficFigure, tracepoint: &'static str, reason: MeterRefusal },
    /// The kernel's way to charge interrupts is not known.
    UnclearCharge,
}

impl UnmeasuredTraffic {
    fn figure(&self) -> Option<TrafficFigure> {
        match self {
            UnmeasuredTraffic::NoProgram { figure, .. } => Some(*figure),
            UnmeasuredTraffic::UnclearCharge => None,
        }
    }
}

impl fmt::Display for UnmeasuredTraffic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnmeasuredTraffic::NoProgram { figure, tracepoint, reason } => {
                write!(out, "{}: not known in full: nothing runs at {tracepoint}: {reason}", figure.label())
            }
            UnmeasuredTraffic::UnclearCharge => out.write_str(UNCLEAR_CHARGE_NOTE),
        }
    }
}

/// Programs that follow a command's sockets, each with the figure that needs it.
const SOCKET_PROGRAMS: [(TracepointProgram, TrafficFigure); 4] = [
    (("inet_sock_set_state", "on_state"), TrafficFigure::Bytes),
    (("tcp_destroy_sock", "on_destroy"), TrafficFigure::Bytes),
    (("sock_send_length", "on_send"), TrafficFigure::Calls),
    (("sock_recv_length", "on_receive"), TrafficFigure::Calls),
];
/// The program that follows forks. It is attached last, so that no task is followed before all other programs run.
const FORK_PROGRAM: (TracepointProgram, TrafficFigure) = (("sched_process_fork", "on_command_fork"), TrafficFigure::Bytes);

/// Number of words of four bytes in `struct connection`.
const CONNECTION_WORDS: usize = 12;
/// Index of the word of `struct connection` that is not 0 once the connection is counted.
const COUNTED_INDEX: usize = 10;
/// Index of the word of `struct connection` that is not 0 if no process holds the socket.
const ORPHAN_INDEX: usize = 11;

/// Time for sockets that no process holds to send their remaining data.
const SOCKET_DRAIN_TIMEOUT: Duration = Duration::from_secs(5);
/// Time between two looks at sockets that still send.
const POLL_PERIOD: Duration = Duration::from_millis(5);

/// The command's account, as `bpf/transfers/flows.h` numbers it.
const COMMAND_ACCOUNT: u32 = 1;

/// The attached programs; dropping this unloads them.
pub(crate) struct SocketMeter {
    programs: TransferPrograms,
    _links: Vec<BtfTracePointLink>,
    missing: Vec<UnmeasuredTraffic>,
    before: NetworkInterruptTime,
    charge: InterruptCharge,
}

/// Traffic of a command's sockets, and the interrupt time for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandTraffic {
    /// Totals by kind of socket, in the order of [`SOCKET_KINDS`].
    pub moved: [SocketTotals; SOCKET_KINDS.len()],
    /// Interrupt time; None if the kernel has no tracepoints for it.
    pub interrupts: Option<NetworkInterruptTime>,
    /// Connections that another process still holds, with their counts so far.
    pub held: u64,
    /// Connections that no process holds and that had data left after the waiting time, with their counts so far.
    pub unsent: u64,
    /// Tasks and connections for which a map had no room. If there are any, bytes and interrupts are lower bounds.
    pub lost: u64,
    /// Whether the command's processor time contains interrupts.
    pub charge: InterruptCharge,
}

impl SocketMeter {
    /// Loads the programs, which takes about a tenth of a second.
    ///
    /// # Errors
    /// Not even bytes can be counted.
    pub fn begin() -> Result<SocketMeter, MeterRefusal> {
        SocketMeter::with_map_entries(&[])
    }

    /// As [`SocketMeter::begin`]; `map_entries` sets the number of entries of some maps.
    fn with_map_entries(map_entries: &[(&'static str, u32)]) -> Result<SocketMeter, MeterRefusal> {
        let mut programs = TransferPrograms::open(map_entries)?;
        let (mut missing, mut links) = (Vec::new(), Vec::new());
        for ((tracepoint, program), figure) in followed_tracepoints() {
            match programs.load((tracepoint, program)).and_then(|()| programs.attach((tracepoint, program))) {
                Ok(link) => links.push(link),
                Err(reason) if figure == TrafficFigure::Bytes => {
                    return Err(reason.trying(format!("the kernel does not take {program} at {tracepoint}")));
                }
                Err(reason) => missing.push(UnmeasuredTraffic::NoProgram { figure, tracepoint, reason }),
            }
        }
        for program in ["on_command", "on_look", "on_enter"] {
            programs.load_own(program)?;
        }
        let before = NetworkInterruptTime::default();
        let mut meter = SocketMeter { programs, _links: links, missing, before, charge: InterruptCharge::ToTheInterrupted };
        if meter.has_interrupts() {
            meter.charge = find_charge(&mut meter.programs);
        }
        if meter.charge == InterruptCharge::Unclear {
            meter.missing.push(UnmeasuredTraffic::UnclearCharge);
        }
        Ok(meter)
    }

    /// A sentence for each figure that is not known in full, with the reason.
    pub fn missing(&self) -> Vec<String> {
        self.missing.iter().map(ToString::to_string).collect()
    }

    fn has_interrupts(&self) -> bool {
        !self.missing.iter().any(|missing| missing.figure() == Some(TrafficFigure::Interrupts))
    }

    /// Makes the next process that this one forks the command.
    ///
    /// # Errors
    /// The kernel's words.
    pub(crate) fn follow_next(&mut self) -> Result<(), MeterRefusal> {
        self.before = self.programs.interrupts(COMMAND_ACCOUNT)?;
        self.programs.run("on_command", [0; 2])
    }

    /// The traffic of the command, which has ended. Waits for sockets that still send, for [`SOCKET_DRAIN_TIMEOUT`] at most.
    ///
    /// # Errors
    /// The kernel's words.
    pub fn end(&mut self) -> Result<CommandTraffic, MeterRefusal> {
        let until = Instant::now() + SOCKET_DRAIN_TIMEOUT;
        let (mut held, mut orphans) = self.open_connections()?;
        while !orphans.is_empty() && Instant::now() < until {
            thread::sleep(POLL_PERIOD);
            (held, orphans) = self.open_connections()?;
        }
        for socket in held.iter().chain(&orphans) {
            self.programs.run("on_look", [*socket, 1])?;
        }
        Ok(CommandTraffic {
            moved: self.totals()?,
            interrupts: if self.has_interrupts() { Some(self.programs.interrupts(COMMAND_ACCOUNT)? - self.before) } else { None },
            held: held.len() as u64,
            unsent: orphans.len() as u64,
            lost: self.programs.lost()?,
            charge: self.charge,
        })
    }

    /// The sockets that are not closed: those that a process holds, and those that none holds.
    fn open_connections(&mut self) -> Result<(Vec<u64>, Vec<u64>), MeterRefusal> {
        for socket in self.connections(|connection| connection[COUNTED_INDEX] == 0)? {
            self.programs.run("on_look", [socket, 0])?;
        }
        let held = self.connections(|connection| connection[COUNTED_INDEX] == 0 && connection[ORPHAN_INDEX] == 0)?;
        Ok((held, self.connections(|connection| connection[COUNTED_INDEX] == 0 && connection[ORPHAN_INDEX] != 0)?))
    }

    fn connections(&self, wanted: impl Fn(&[u32; CONNECTION_WORDS]) -> bool) -> Result<Vec<u64>, MeterRefusal> {
        let map: HashMap<&MapData, u64, [u32; CONNECTION_WORDS]> = self.programs.map("connections")?;
        let mut sockets = Vec::new();
        for entry in map.iter() {
            let (socket, connection) = entry?;
            if wanted(&connection) {
                sockets.push(socket);
            }
        }
        Ok(sockets)
    }

    fn totals(&self) -> Result<[SocketTotals; SOCKET_KINDS.len()], MeterRefusal> {
        let map: PerCpuArray<&MapData, [u64; MOVED_WORDS]> = self.programs.map("moved")?;
        let mut totals = [SocketTotals::default(); SOCKET_KINDS.len()];
        for (number, sum) in totals.iter_mut().enumerate() {
            let processors = map.get(&(number as u32), 0)?;
            processors.iter().for_each(|counts| *sum += SocketTotals::from_words(*counts));
        }
        Ok(totals)
    }
}

/// Whether a command's sockets can be followed on this host. No program is loaded for the answer.
pub fn availability() -> MeterAvailability {
    let tracepoints = || tracepoints(&fs::read(BTF_PATH).unwrap_or_default());
    let quality = check_kernel_programs().map_or_else(MeterQuality::Absent, |()| quality_with(&tracepoints()));
    MeterAvailability { meter: Meter::SocketsOfCommand, quality }
}

fn quality_with(tracepoints: &HashSet<String>) -> MeterQuality {
    let absent = followed_tracepoints().find(|((tracepoint, _), _)| !tracepoints.contains(*tracepoint));
    let Some(((tracepoint, _), figure)) = absent else {
        return MeterQuality::Exact;
    };
    let refusal = MeterRefusal::new(format!("this kernel has no tracepoint {tracepoint}"));
    match figure {
        TrafficFigure::Bytes => MeterQuality::Absent(refusal),
        figure => MeterQuality::estimated_since(format!("without {}", figure.label()), refusal),
    }
}

/// The tracepoints with their programs, in the order in which they are attached, each with the figure that needs it.
fn followed_tracepoints() -> impl Iterator<Item = (TracepointProgram, TrafficFigure)> {
    let interrupts = SOFT_INTERRUPT_PROGRAMS.into_iter().chain(DEVICE_PROGRAMS);
    let interrupts = interrupts.map(|program| (program, TrafficFigure::Interrupts));
    SOCKET_PROGRAMS.into_iter().chain(interrupts).chain([FORK_PROGRAM])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{self, Write};
    use std::net::TcpListener;

    #[test]
    fn without_the_tracepoints_of_calls_the_bytes_of_connections_are_known() {
        let all: HashSet<String> = followed_tracepoints().map(|((tracepoint, _), _)| tracepoint.to_owned()).collect();
        let without = |name: &str| quality_with(&all.iter().filter(|known| *known != name).cloned().collect());
        assert_eq!(quality_with(&all), MeterQuality::Exact);
        assert!(matches!(without("sock_send_length"), MeterQuality::Estimated { how, .. } if how.contains("messages")));
        let refusal = MeterRefusal::new("this kernel has no tracepoint inet_sock_set_state");
        assert_eq!(without("inet_sock_set_state"), MeterQuality::Absent(refusal));
    }

    /// A shell command that makes `connections` connections to `port` and uses each `uses` times.
    fn connecting_command(port: u16, connections: usize, uses: usize) -> std::process::Command {
        let words = format!(
            "for i in $(seq {connections}); do exec {{fd}}<>/dev/tcp/127.0.0.1/{port}; \
             for j in $(seq {uses}); do echo $j >&$fd; done; done"
        );
        let mut command = std::process::Command::new("bash");
        command.args(["-c", &words]);
        command
    }

    #[test]
    fn connections_without_room_are_counted_each_once_however_often_they_are_used() {
        let mut meter = match SocketMeter::with_map_entries(&[("connections", 2)]) {
            Ok(meter) => meter,
            Err(refusal) => {
                let _ = writeln!(io::stderr(), "not tried: connections without room: {refusal}");
                return;
            }
        };
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its address").port();
        meter.follow_next().expect("the kernel answers");
        let ended = connecting_command(port, 7, 20).status().expect("bash runs");
        assert!(ended.success());
        drop(listener); // with all that nobody has accepted
        let traffic = meter.end().expect("the kernel answers");
        assert_eq!(traffic.lost, 5);
        assert_eq!(traffic.moved[1].sockets, 2);
    }
}
