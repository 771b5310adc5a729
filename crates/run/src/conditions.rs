//! `run.toml`: what was run, on what, under which conditions; written when the run begins and again when it ends.

use crate::request::{Refusal, Request};
use crate::users::Prepared;
use jiff::Timestamp;
use loadgo_core::load::Model;
use loadgo_host::conditions::{Conditions, Description, conditions, describe, version_of};
use loadgo_host::limit::Swap;
use loadgo_host::scheduling::Granted;
use loadgo_host::sources::Sources;
use loadgo_store::Folder;
use serde::Serialize;
use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Instant;
use toml::value::Datetime;

/// The account of a run as it stands.
pub(crate) struct Account {
    file: File,
    began: Instant,
}

#[derive(Serialize)]
struct File {
    format: u32,
    loadgo: &'static str,
    id: String,
    name: String,
    script: String,
    started: Datetime,
    finished: bool,
    ended: Option<Datetime>,
    wall_s: Option<f64>,
    outcome: Option<&'static str>,
    command: Vec<String>,
    notes: Vec<String>,
    load: LoadPart,
    system: SystemPart,
    conditions: ConditionsPart,
    limit: Option<LimitPart>,
    usage: Option<UsagePart>,
    driver: Option<DriverPart>,
}

#[derive(Serialize)]
struct LoadPart {
    model: &'static str,
    users: u32,
    passes: Option<u32>,
    duration_s: Option<f64>,
    think: String,
    typing: Option<String>,
    seed: u64,
    arrivals_per_second: Option<f64>,
}

#[derive(Serialize)]
struct SystemPart {
    kind: &'static str,
    name: &'static str,
    hostname: String,
    kernel: String,
    distribution: String,
    architecture: String,
    processors: usize,
    processor: String,
    memory_bytes: u64,
    login: String,
    versions: BTreeMap<String, String>,
    paging_devices: Vec<PagingPart>,
}

#[derive(Serialize)]
struct PagingPart {
    name: String,
    size_bytes: u64,
    used_bytes: u64,
}

#[derive(Serialize)]
struct ConditionsPart {
    load_average: [f64; 3],
    load_average_end: Option<[f64; 3]>,
    users_logged_in: Option<usize>,
    memory_available_bytes: u64,
    memory_available_end_bytes: Option<u64>,
}

#[derive(Serialize)]
struct LimitPart {
    memory_bytes: Option<u64>,
    cpus: Option<f64>,
    swap: Option<String>,
}

#[derive(Serialize)]
struct UsagePart {
    cpu: String,
    faults: String,
    waits: String,
    cpu_resolution_ns: u64,
    every: u32,
    split: String,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct DriverPart {
    scheduling: String,
    processor: Option<usize>,
    proof: String,
    notes: Vec<String>,
}

impl Account {
    /// The account of a run that begins now.
    pub(crate) fn begin(request: &Request) -> Account {
        let file = File {
            format: 1,
            loadgo: env!("CARGO_PKG_VERSION"),
            id: request.id.clone(),
            name: request.script.name.clone(),
            script: request.asked.clone(),
            started: now(),
            finished: false,
            ended: None,
            wall_s: None,
            outcome: None,
            command: request.command.clone(),
            notes: Vec::new(),
            load: load_part(request),
            system: system_part(request, describe()),
            conditions: conditions_part(conditions()),
            limit: limit_part(request),
            usage: None,
            driver: None,
        };
        Account { file, began: Instant::now() }
    }

    /// What was found when the users' ground was prepared.
    pub(crate) fn prepared(&mut self, prepared: &Prepared) {
        self.file.usage = Some(usage_part(&prepared.sources));
    }

    /// How the driver's thread is scheduled.
    pub(crate) fn driver(&mut self, granted: &Granted) {
        let Granted { scheduling, processor, proof, notes } = granted.clone();
        self.file.driver = Some(DriverPart { scheduling, processor, proof, notes });
    }

    /// Something that the reader of the run should know.
    pub(crate) fn notes(&mut self, notes: &[String]) {
        self.file.notes.extend_from_slice(notes);
    }

    /// The run is over.
    pub(crate) fn ended(&mut self, outcome: &'static str) {
        let end = conditions();
        self.file.finished = true;
        self.file.ended = Some(now());
        self.file.wall_s = Some(self.began.elapsed().as_secs_f64());
        self.file.outcome = Some(outcome);
        self.file.conditions.load_average_end = Some(end.load_average);
        self.file.conditions.memory_available_end_bytes = Some(end.memory_available_bytes);
    }

    /// The text of `run.toml`.
    pub(crate) fn toml(&self) -> String {
        toml::to_string(&self.file).expect("plain values make TOML")
    }

    /// Brings `run.toml` up to date.
    pub(crate) fn write(&self, folder: &Folder) -> Result<(), Refusal> {
        Ok(folder.write_run_toml(&self.toml())?)
    }
}

fn now() -> Datetime {
    let text = Timestamp::now().to_string();
    Datetime::from_str(&text).expect("a timestamp is written as RFC 3339")
}

fn load_part(request: &Request) -> LoadPart {
    let load = &request.load;
    let (model, arrivals_per_second) = match load.model {
        Model::Closed => ("closed", None),
        Model::Open(rate) => ("open", Some(rate)),
    };
    LoadPart {
        model,
        users: load.users,
        passes: load.passes,
        duration_s: load.duration.map(|span| span.as_secs_f64()),
        think: request.script.think.to_string(),
        typing: request.script.typing_chars_per_second.map(|rate| format!("{rate} chars/s")),
        seed: load.seed,
        arrivals_per_second,
    }
}

fn system_part(request: &Request, here: Description) -> SystemPart {
    let login = request.script.login.split_whitespace().next().unwrap_or("").to_string();
    let mut programs: Vec<String> = request.script.needs.clone();
    programs.push(login);
    let versions = programs.into_iter().filter_map(|program| version_of(&program).map(|version| (program, version))).collect();
    let paging = |device: loadgo_host::conditions::PagingDevice| PagingPart {
        name: device.name,
        size_bytes: device.size_bytes,
        used_bytes: device.used_bytes,
    };
    SystemPart {
        kind: "host",
        name: "here",
        hostname: here.hostname,
        kernel: here.kernel,
        distribution: here.distribution,
        architecture: here.architecture,
        processors: here.processors,
        processor: here.processor,
        memory_bytes: here.memory_bytes,
        login: request.script.login.clone(),
        versions,
        paging_devices: here.paging_devices.into_iter().map(paging).collect(),
    }
}

fn conditions_part(before: Conditions) -> ConditionsPart {
    ConditionsPart {
        load_average: before.load_average,
        load_average_end: None,
        users_logged_in: before.users_logged_in,
        memory_available_bytes: before.memory_available_bytes,
        memory_available_end_bytes: None,
    }
}

fn limit_part(request: &Request) -> Option<LimitPart> {
    let limit = request.limit.as_ref()?;
    Some(LimitPart { memory_bytes: limit.memory_bytes, cpus: limit.cpus, swap: limit.swap.map(in_words) })
}

fn in_words(swap: Swap) -> String {
    match swap {
        Swap::None => "none".into(),
        Swap::Zram(bytes) => format!("zram:{bytes}"),
        Swap::File(bytes) => format!("file:{bytes}"),
    }
}

fn usage_part(sources: &Sources) -> UsagePart {
    UsagePart {
        cpu: sources.cpu.to_string(),
        faults: sources.faults.to_string(),
        waits: sources.waits.to_string(),
        cpu_resolution_ns: sources.cpu_resolution_ns,
        every: sources.every,
        split: sources.split.to_string(),
        notes: sources.notes.clone(),
    }
}
