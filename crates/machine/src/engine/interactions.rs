//! Beginning and end of an interaction: a process takes up a command, and the command's result.

use super::errand::{Errand, ErrandPurpose};
use super::error::EngineError;
use super::execution::{Execution, too_many};
use super::process::ROUTE_START_INDEX;
use super::told::CommandResult;
use crate::disciplines::{CandidateFacts, ProcessId};
use loadgo_core::system::Usage;

impl Execution {
    /// Gives `pid` its entries in the segment table, where there is one.
    ///
    /// # Errors
    /// The table is full.
    pub fn enter_segment_table(&mut self, pid: ProcessId) -> Result<(), EngineError> {
        let Some(table) = &mut self.segment_table else { return Ok(()) };
        let Some(spec) = &self.commands.machine.supervisor.table else { return Ok(()) };
        table.attach(pid).map_err(|_| EngineError::TableFull { entries: spec.entries, per_user: spec.per_user })
    }

    /// Lets `pid`, whose user logs in at `now`, begin with the creation of its process.
    pub fn begin_creation(&mut self, pid: ProcessId, now: u64) {
        let step = self.commands.costs.process_creation();
        let process = &mut self.processes[pid];
        process.take_up(0, now);
        process.on_errand = true;
        let stream = process.stream.branch();
        let errand = process.errand.get_or_insert_with(|| Box::new(Errand::of(self.seed, pid)));
        errand.clear(ErrandPurpose::Creation, stream);
        errand.previous = None;
        errand.steps.push_back(step);
    }

    /// Lets `pid` take up a command at `now`, with the numbers among the words after its name.
    #[inline(always)]
    pub fn begin_command(&mut self, pid: ProcessId, command: u32, arguments: &[f64], now: u64) {
        let process = &mut self.processes[pid];
        process.take_up(command, now);
        process.on_errand = self.commands.first_station(command).is_none();
        if process.on_errand {
            self.begin_errand(pid, arguments, now);
        } else {
            process.stage = ROUTE_START_INDEX;
        }
    }

    #[inline]
    fn begin_errand(&mut self, pid: ProcessId, arguments: &[f64], now: u64) {
        let taken_entries = self.segment_table.as_mut().map_or(0, |table| table.touch(pid, now));
        let process = &mut self.processes[pid];
        let (command, costs) = (self.commands.get(process.command), &self.commands.costs);
        let stream = process.stream.branch();
        let errand = process.errand.get_or_insert_with(|| Box::new(Errand::of(self.seed, pid)));
        errand.clear(ErrandPurpose::Command, stream);
        let demand_share = self.commands.demand_share(process.command, self.load);
        let speed = demand_share.map_or(costs.speed, |share| costs.speed / share);
        let demand = self.commands.demand(process.command);
        let (work_ns, pages) = errand.draw(demand, arguments, speed, costs.message_bytes);
        process.left_ns = work_ns;
        if let Some(what) = errand.too_many {
            self.failure.get_or_insert_with(|| too_many(&command.name, what));
        }
        let program = self.commands.program(process.command);
        let same = errand.previous == Some(program);
        errand.fresh = !same;
        errand.previous = Some(program);
        errand.steps.push_back(costs.line_in());
        errand.steps.extend((0..taken_entries).map(|_| costs.segment_fault()));
        if let Some(paging) = &mut self.memory.paging {
            paging.frames.begin(pid, pages, command.common, same, now);
            paging.frames.set_headway_factor(pid, command.headway_factor.unwrap_or(1.0));
        }
    }

    /// Facts for the discipline about `pid`, which asks to be eligible; `begins`: an interaction begins.
    #[inline(always)]
    pub fn candidate_facts(&self, pid: ProcessId, begins: bool) -> CandidateFacts {
        let process = &self.processes[pid];
        let (priority, nice) = self.commands.rank(process.command);
        let Some(errand) = process.errand.as_ref().filter(|_| process.on_errand) else {
            return CandidateFacts { image_words: 0, pages: 0, priority, nice, begins };
        };
        let pages = self.memory.paging.as_ref().map_or(0, |paging| paging.frames.working_set(pid));
        CandidateFacts { image_words: errand.image_words, pages, priority, nice, begins }
    }

    /// Whether the process of `pid` is being created.
    #[inline]
    pub fn is_being_created(&self, pid: ProcessId) -> bool {
        let process = &self.processes[pid];
        process.on_errand && process.errand.as_ref().is_some_and(|errand| errand.aim == ErrandPurpose::Creation)
    }

    /// The result of the command of `pid`, with this status or the one that the machine's file gives the command.
    #[inline]
    pub fn answer(&self, pid: ProcessId, status: Option<u8>) -> CommandResult {
        let process = &self.processes[pid];
        let exit_status = status.or(self.commands.get(process.command).exit_status);
        let errand = process.errand.as_ref().filter(|_| process.on_errand);
        CommandResult {
            usage: Usage {
                cpu_user_ns: Some(process.cpu_user_ns),
                cpu_system_ns: Some(errand.map_or(0, |errand| errand.cpu_system_ns)),
                faults_minor: Some(0),
                faults_major: Some(errand.map_or(0, |errand| errand.faults_major)),
                ready_wait_ns: Some(process.ready_wait_ns),
                paging_wait_ns: Some(errand.map_or(0, |errand| errand.paging_wait_ns)),
                io_wait_ns: Some(process.io_wait_ns),
                throttled_ns: None,
            },
            first_output: errand.and_then(|errand| errand.first_output),
            bytes_out: errand.map_or(0, |errand| errand.bytes_out),
            exit_status,
        }
    }
}
