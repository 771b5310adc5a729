//! Begin and end of an interaction: a process takes a command up, and its result.

use super::errand::{Aim, Errand};
use super::execution::{Execution, too_many};
use super::process::ROUTE_START_INDEX;
use super::told::Answer;
use crate::disciplines::{Facts, Job};
use loadgo_core::system::Usage;

impl Execution {
    /// Gives `job` its entries in the segment table, where there is one.
    ///
    /// # Errors
    /// The table is full.
    pub fn enter_segment_table(&mut self, job: Job) -> Result<(), String> {
        let Some(table) = &mut self.segment_table else { return Ok(()) };
        let Some(spec) = &self.commands.machine.supervisor.table else { return Ok(()) };
        table.attach(job).map_err(|_| {
            let (entries, each) = (spec.entries, spec.per_user);
            format!("the system table is full: of its {entries} entries a user needs {each}")
        })
    }

    /// Lets `job`, whose user logs in at `now`, begin with the creation of its process.
    pub fn begin_creation(&mut self, job: Job, now: u64) {
        let step = self.commands.costs.process_creation();
        let process = &mut self.processes[job];
        process.take_up(0, now);
        process.on_errand = true;
        let stream = process.stream.branch();
        let errand = process.errand.get_or_insert_with(|| Box::new(Errand::of(self.seed, job)));
        errand.clear(Aim::Creation, stream);
        errand.previous = None;
        errand.steps.push_back(step);
    }

    /// Lets `job` take a command up at `now`, with the words after its name as far as they are numbers.
    #[inline(always)]
    pub fn begin_command(&mut self, job: Job, command: u32, arguments: &[f64], now: u64) {
        let process = &mut self.processes[job];
        process.take_up(command, now);
        process.on_errand = self.commands.first_station(command).is_none();
        if process.on_errand {
            self.begin_errand(job, arguments, now);
        } else {
            process.stage = ROUTE_START_INDEX;
        }
    }

    #[inline]
    fn begin_errand(&mut self, job: Job, arguments: &[f64], now: u64) {
        let taken = self.segment_table.as_mut().map_or(0, |table| table.touch(job, now));
        let process = &mut self.processes[job];
        let (command, costs) = (self.commands.get(process.command), &self.commands.costs);
        let stream = process.stream.branch();
        let errand = process.errand.get_or_insert_with(|| Box::new(Errand::of(self.seed, job)));
        errand.clear(Aim::Command, stream);
        let (work_ns, pages) = errand.draw(command, arguments, costs.speed, costs.message_bytes);
        process.left_ns = work_ns;
        if let Some(what) = errand.too_many {
            self.failure.get_or_insert_with(|| too_many(&command.name, what));
        }
        let program = self.commands.program(process.command);
        let same = errand.previous == Some(program);
        errand.fresh = !same;
        errand.previous = Some(program);
        errand.steps.push_back(costs.line_in());
        errand.steps.extend((0..taken).map(|_| costs.segment_fault()));
        if let Some(paging) = &mut self.memory.paging {
            paging.frames.begin(job, pages, command.common, same, now);
        }
    }

    /// What a discipline may know of `job` when it asks to be eligible; `begins`: an interaction begins.
    #[inline(always)]
    pub fn candidate_facts(&self, job: Job, begins: bool) -> Facts {
        let process = &self.processes[job];
        let (priority, nice) = self.commands.rank(process.command);
        let Some(errand) = process.errand.as_ref().filter(|_| process.on_errand) else {
            return Facts { image_words: 0, pages: 0, priority, nice, begins };
        };
        let pages = self.memory.paging.as_ref().map_or(0, |paging| paging.frames.working_set(job));
        Facts { image_words: errand.image_words, pages, priority, nice, begins }
    }

    /// Whether the process of `job` is being created.
    #[inline]
    pub fn is_being_created(&self, job: Job) -> bool {
        let process = &self.processes[job];
        process.on_errand && process.errand.as_ref().is_some_and(|errand| errand.aim == Aim::Creation)
    }

    /// The result of the command of `job`, with this status or the one that the machine's file gives the command.
    #[inline]
    pub fn answer(&self, job: Job, status: Option<u8>) -> Answer {
        let process = &self.processes[job];
        let exit_status = status.or(self.commands.get(process.command).exit_status);
        let errand = process.errand.as_ref().filter(|_| process.on_errand);
        Answer {
            usage: Usage {
                cpu_user_ns: Some(process.cpu_user_ns),
                cpu_system_ns: Some(errand.map_or(0, |errand| errand.cpu_system_ns)),
                faults_minor: Some(0),
                faults_major: Some(errand.map_or(0, |errand| errand.faults_major)),
                ready_wait_ns: Some(process.ready_wait_ns),
                paging_wait_ns: Some(errand.map_or(0, |errand| errand.paging_wait_ns)),
                io_wait_ns: Some(process.io_wait_ns),
            },
            first_output: errand.and_then(|errand| errand.first_output),
            bytes_out: errand.map_or(0, |errand| errand.bytes_out),
            exit_status,
        }
    }
}
