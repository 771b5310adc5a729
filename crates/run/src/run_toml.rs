//! `run.toml`: the run's load, its system and its conditions. It is written when the run begins, and again when it ends.

use crate::metering::{MetersPart, MetersState};
use crate::refusal::RunRefusal;
use crate::run_spec::RunSpec;
use crate::sections::{ConditionsPart, DriverPart, LimitEachPart, LimitPart, LoadPart, Setting, SystemPart, UsagePart};
use chrono::{SecondsFormat, Utc};
use loadgo_core::load::LoadModel;
use loadgo_core::script::print_minute;
use loadgo_store::{Folder, text_checksum};
use serde::Serialize;
use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Instant;
use toml::value::Datetime;

/// The contents of `run.toml` so far.
pub(crate) struct RunToml {
    file: File,
    began: Instant,
}

#[derive(Serialize)]
struct File {
    format: u32,
    loadgo: &'static str,
    id: String,
    kind: &'static str,
    name: String,
    script: Option<String>,
    started: Datetime,
    finished: bool,
    ended: Option<Datetime>,
    wall_s: Option<f64>,
    outcome: Option<&'static str>,
    command: Vec<String>,
    notes: Vec<String>,
    load: Option<LoadPart>,
    system: SystemPart,
    conditions: ConditionsPart,
    limit: Option<LimitPart>,
    limit_each: Option<LimitEachPart>,
    usage: Option<UsagePart>,
    meters: Option<MetersPart>,
    driver: Option<DriverPart>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fail_if: Vec<ConditionPart>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<&'static str, LaidFile>,
}

/// A file that the run lays into its folder, by which a reader sees that it has changed.
#[derive(Serialize)]
struct LaidFile {
    bytes: u64,
    crc32: u32,
}

/// A condition that fails the run: an entry of `[[fail_if]]`. Its result is known after the run only.
#[derive(Serialize)]
struct ConditionPart {
    condition: String,
}

/// A run's kind, id and name.
pub(crate) struct Title {
    /// `run`, or `meter` for metering without a load.
    pub kind: &'static str,
    pub id: String,
    pub name: String,
    pub script: Option<String>,
    /// The command line.
    pub command: Vec<String>,
}

impl RunToml {
    /// The contents for a run that begins now.
    pub(crate) fn begin(spec: &RunSpec, setting: Setting) -> RunToml {
        let RunSpec { id, script, script_name, command, .. } = spec.clone();
        let title = Title { kind: "run", id, name: script.name.clone(), script: Some(script_name), command };
        let mut run_toml = RunToml::begin_with(title, Some(load_part(spec)), setting);
        run_toml.file.fail_if = spec.fail_if.iter().map(|condition| ConditionPart { condition: condition.clone() }).collect();
        run_toml.laid("script.toml", &spec.script_text);
        run_toml
    }

    /// The contents for a run with `title` that begins now, with a load or without.
    pub(crate) fn begin_with(title: Title, load: Option<LoadPart>, setting: Setting) -> RunToml {
        let file = File {
            format: 1,
            loadgo: env!("CARGO_PKG_VERSION"),
            id: title.id,
            kind: title.kind,
            name: title.name,
            script: title.script,
            started: now(),
            finished: false,
            ended: None,
            wall_s: None,
            outcome: None,
            command: title.command,
            notes: Vec::new(),
            load,
            system: setting.system,
            conditions: setting.conditions,
            limit: setting.limit,
            limit_each: setting.limit_each,
            usage: None,
            meters: None,
            driver: None,
            fail_if: Vec::new(),
            files: BTreeMap::new(),
        };
        RunToml { file, began: Instant::now() }
    }

    /// Adds the checksum of a file that the run lays into its folder.
    pub(crate) fn laid(&mut self, name: &'static str, text: &str) {
        let (bytes, crc32) = text_checksum(text);
        self.file.files.insert(name, LaidFile { bytes, crc32 });
    }

    /// Sets the section that says where each interaction's usage comes from.
    pub(crate) fn usage(&mut self, usage: UsagePart) {
        self.file.usage = Some(usage);
    }

    /// Notes whether delay accounting was switched off during the run.
    pub(crate) fn delays_switched_off(&mut self, is_off: bool) {
        if let Some(usage) = &mut self.file.usage {
            usage.delays_switched_off = is_off;
        }
    }

    /// Sets the section of the meters, as they are at the beginning.
    pub(crate) fn meters(&mut self, meters: MetersPart) {
        self.file.meters = Some(meters);
    }

    /// Updates the section of the meters with their state at the run's end.
    pub(crate) fn update_meters(&mut self, meters: &MetersState) {
        if let Some(part) = &mut self.file.meters {
            part.update(meters);
        }
    }

    /// Sets the section that says how the driver's thread is scheduled.
    pub(crate) fn driver(&mut self, driver: DriverPart) {
        self.file.driver = Some(driver);
    }

    /// Sets how many of the users' processes the kernel has killed for want of memory, if that was counted.
    pub(crate) fn users_memory_kills(&mut self, kills: Option<u64>) {
        if let ConditionsPart::Host(conditions) = &mut self.file.conditions {
            conditions.users_memory_kills_end = kills;
        }
    }

    /// Adds notes for the reader of the run.
    pub(crate) fn notes(&mut self, notes: &[String]) {
        self.file.notes.extend_from_slice(notes);
    }

    /// Sets the run's `outcome` and end. `end` receives the elapsed seconds and adds the conditions at the end. It may return
    /// the run's length by a virtual clock.
    pub(crate) fn ended(&mut self, outcome: &'static str, end: impl FnOnce(&mut ConditionsPart, f64) -> Option<f64>) {
        let elapsed_s = self.began.elapsed().as_secs_f64();
        self.file.finished = true;
        self.file.ended = Some(now());
        self.file.wall_s = Some(end(&mut self.file.conditions, elapsed_s).unwrap_or(elapsed_s));
        self.file.outcome = Some(outcome);
    }

    /// Seconds since the run began, on this host's clock.
    pub(crate) fn elapsed_s(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    /// The text of `run.toml`.
    pub(crate) fn toml(&self) -> String {
        toml::to_string(&self.file).expect("plain values make TOML")
    }

    /// Writes `run.toml` into `folder`, in which the run goes on.
    pub(crate) fn write(&self, folder: &Folder) -> Result<(), RunRefusal> {
        Ok(folder.write_unfinished_run_toml(&self.toml())?)
    }
}

fn now() -> Datetime {
    let text = Utc::now().to_rfc3339_opts(SecondsFormat::Nanos, true);
    Datetime::from_str(&text).expect("a timestamp is written as RFC 3339")
}

fn load_part(request: &RunSpec) -> LoadPart {
    let load = &request.load;
    let (model, arrivals_per_second) = match load.model {
        LoadModel::Closed => ("closed", None),
        LoadModel::Open(rate) => ("open", Some(rate)),
    };
    LoadPart {
        model,
        users: load.users,
        passes: load.passes,
        duration_s: load.duration.map(|span| span.as_secs_f64()),
        think: request.script.think.to_string(),
        typing: request.script.typing_chars_per_second.map(|rate| format!("{rate} chars/s")),
        seed: load.seed,
        until: request.until.as_ref().map(ToString::to_string),
        arrivals_per_second,
        arrivals_from: load.day.as_ref().map(|day| print_minute(day.from_minute)),
    }
}
