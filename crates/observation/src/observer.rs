//! Loads the kernel programs that observe sessions, and gathers their records.

use crate::gathered::Gathered;
use aya::maps::{Array, HashMap, MapData, PerCpuArray, RingBuf};
use aya::programs::BtfTracePoint;
use aya::{Ebpf, EbpfLoader};
use loadgo_meters::available::{BTF_PATH, MeterAvailability, MeterQuality, check_kernel_programs, tracepoints};
use loadgo_meters::programs::interrupted_load::load_despite_signals;
use loadgo_meters::{Meter, MeterRefusal, kernel_types};
use loadgo_sys::clock::monotonic_ns;
use std::collections::BTreeSet;
use std::fs;

/// The tracepoints with the programs. Switches come last: they begin sessions, whose forks must be seen.
const PROGRAMS: [(&str, &str); 4] = [
    ("sched_process_fork", "on_session_fork"),
    ("sched_process_exec", "on_session_program"),
    ("workqueue_execute_start", "on_input"),
    ("sched_switch", "on_session_switch"),
];
/// The flag in the map `people` of those who are observed.
const WANTED_FLAG: u32 = 1;
/// The flag in the map `people` of those who are not.
const LEFT_OUT_FLAG: u32 = 2;
/// Names of the words of the map `losses`.
const LOSSES: [&str; 3] =
    ["records of lines, since the buffer was full", "sessions, beyond 8,192 at once", "processes, for want of memory"];

/// The people who are observed, by the numbers of their accounts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedPeople {
    /// Only these; all if it is empty.
    pub wanted: BTreeSet<u32>,
    /// None of these.
    pub left_out: BTreeSet<u32>,
}

/// An observation under way; dropping it unloads the programs.
pub struct Observer {
    object: Ebpf,
    records: RingBuf<MapData>,
    gathered: Gathered,
}

impl Observer {
    /// Loads and attaches the programs.
    ///
    /// # Errors
    /// The kernel takes no programs, or refuses one.
    pub fn begin(people: &ObservedPeople) -> Result<Observer, MeterRefusal> {
        check_kernel_programs()?;
        let btf = kernel_types()?;
        let mut object = EbpfLoader::new()
            .btf(Some(&btf))
            .allow_unsupported_maps()
            .override_global("observed_since", &monotonic_ns(), true)
            .override_global("only_wanted", &u32::from(!people.wanted.is_empty()), true)
            .load(loadgo_bpf::SESSIONS_OBJECT)
            .map_err(|error| MeterRefusal::from_error(&error))?;
        choose_people(&mut object, people)?;
        for (tracepoint, name) in PROGRAMS {
            let program = object.program_mut(name).ok_or("it is not in the object")?;
            let program: &mut BtfTracePoint = program.try_into()?;
            load_despite_signals(|| program.load(tracepoint, &btf)).map_err(|error| MeterRefusal::from(error).trying(name))?;
        }
        for (_, name) in PROGRAMS {
            let program: &mut BtfTracePoint = object.program_mut(name).ok_or("it is not in the object")?.try_into()?;
            program.attach()?;
        }
        let records = RingBuf::try_from(object.take_map("records").ok_or("the map records is not there")?)?;
        loadgo_sys::heap::release_freed_memory(); // what loading the programs needed
        Ok(Observer { object, records, gathered: Gathered::default() })
    }

    /// Gathers the records so far. To be called some times a second: the buffer has room for 5,000.
    pub fn gather(&mut self) -> &Gathered {
        while let Some(record) = self.records.next() {
            self.gathered.add(&record);
        }
        &self.gathered
    }

    /// The losses so far: a number, and what is lost.
    ///
    /// # Errors
    /// The map cannot be read.
    pub fn losses(&self) -> Result<Vec<(u64, &'static str)>, MeterRefusal> {
        let map = self.object.map("losses").ok_or("the map losses is not there")?;
        let map: Array<&MapData, u64> = map.try_into()?;
        let mut losses = Vec::new();
        for (index, what) in LOSSES.into_iter().enumerate() {
            losses.push((map.get(&(index as u32), 0)?, what));
        }
        losses.push((self.gathered.lines_lost, "lines, beyond 500,000"));
        losses.push((self.gathered.unreadable, "records that could not be read"));
        losses.retain(|(count, _)| *count > 0);
        Ok(losses)
    }

    /// Number of lines that have not ended.
    ///
    /// # Errors
    /// The map cannot be read.
    pub fn open_lines(&self) -> Result<u64, MeterRefusal> {
        let is_open = |session: &[u64; SESSION_WORDS]| session[LINE_INDEX] != 0;
        Ok(self.sessions()?.iter().filter(|session| is_open(session)).count() as u64)
    }

    /// All bytes that the programs keep of sessions, for the test that nothing typed is among them.
    ///
    /// # Errors
    /// A map cannot be read.
    pub fn kept_bytes(&self) -> Result<Vec<u8>, MeterRefusal> {
        let drafts = self.object.map("drafts").ok_or("the map drafts is not there")?;
        let drafts: PerCpuArray<&MapData, [u64; SESSION_WORDS + 2]> = drafts.try_into()?;
        let drafts = drafts.get(&0, 0)?;
        let words = drafts.iter().flatten().copied().chain(self.sessions()?.into_iter().flatten());
        Ok(words.flat_map(u64::to_ne_bytes).collect())
    }

    /// The entries of the map of sessions.
    fn sessions(&self) -> Result<Vec<[u64; SESSION_WORDS]>, MeterRefusal> {
        let map = self.object.map("sessions").ok_or("the map sessions is not there")?;
        let map: HashMap<&MapData, u32, [u64; SESSION_WORDS]> = map.try_into()?;
        map.iter().map(|entry| Ok(entry?.1)).collect()
    }
}

/// Number of words of an entry of the map `sessions`.
const SESSION_WORDS: usize = 24;
/// Index of the word with the number of the open line.
const LINE_INDEX: usize = 3;

fn choose_people(object: &mut Ebpf, people: &ObservedPeople) -> Result<(), MeterRefusal> {
    let map = object.map_mut("people").ok_or("the map people is not there")?;
    let mut map: HashMap<&mut MapData, u32, u32> = map.try_into()?;
    for (numbers, choice) in [(&people.wanted, WANTED_FLAG), (&people.left_out, LEFT_OUT_FLAG)] {
        for number in numbers {
            map.insert(number, choice, 0)?;
        }
    }
    Ok(())
}

/// Whether sessions can be observed on this host. No program is loaded for the answer.
pub fn availability() -> MeterAvailability {
    let known = || tracepoints(&fs::read(BTF_PATH).unwrap_or_default());
    let quality = match check_kernel_programs() {
        Err(refusal) => MeterQuality::Absent(refusal),
        Ok(()) => match PROGRAMS.into_iter().find(|(tracepoint, _)| !known().contains(*tracepoint)) {
            Some((tracepoint, _)) => MeterQuality::Absent(format!("this kernel has no tracepoint {tracepoint}").into()),
            None => MeterQuality::Exact,
        },
    };
    MeterAvailability { meter: Meter::Sessions, quality }
}
