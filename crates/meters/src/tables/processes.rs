//! Makes rows of processor time and ready wait of processes, by name and user.
//!
//! The kernel programs charge all time on a processor to the process's name, separately for each session. So the times of thousands
//! of short processes are as exact as those of one long process.

use crate::part::{Context, MeterPart, RecordSpan};
use crate::programs::layout::{category, counter, named, processor};
use crate::programs::load::map_array;
use crate::programs::map_sizes::process_name_entries;
use crate::refusal::MeterRefusal;
use crate::tables::processors::{ProcessorMap, ProcessorWords};
use crate::wanted::MeterRequest;
use loadgo_core::record::{LostRow, MeterRows, ProcessRow, process_name};
use loadgo_core::system::UserId;
use loadgo_sys::mapped::MappedWords;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

/// Name for processes that got their name when the table of names was full.
const OTHERS_NAME: &str = "others";

/// The names' times at the last reading.
pub(crate) struct ProcessTimesTable {
    table: MappedWords,
    counters: MappedWords,
    processors: ProcessorMap,
    running: HashMap<usize, RunningNames>,
    /// Times in the rows so far, by index of the name.
    shown: Vec<ProcessTimes>,
    lost: u64,
}

/// Processor time and ready wait in nanoseconds.
type ProcessTimes = [u64; 2];

/// The names in the rows of one span, by the words in which the kernel programs have them.
type KnownNames = HashMap<[u64; 2], Arc<str>>;

/// A name whose processes were running at the reading.
#[derive(Default)]
struct RunningNames {
    /// Nanoseconds charged to the name so far.
    charged_ns: u64,
    /// For each running process, the time from which on it is not charged yet.
    since: Vec<u64>,
}

impl ProcessTimesTable {
    pub fn begin(context: &mut Context, wanted: &MeterRequest) -> Result<Option<Box<dyn MeterPart>>, MeterRefusal> {
        let loaded = &context.loaded;
        let table = map_array(loaded, "names", process_name_entries(wanted) as usize * named::WORDS * 8)?;
        let counters = map_array(loaded, "counters", counter::WORDS * 8)?;
        Ok(Some(Box::new(ProcessTimesTable {
            table,
            counters,
            processors: ProcessorMap::open(loaded)?,
            running: HashMap::new(),
            shown: Vec::new(),
            lost: 0,
        })))
    }

    fn counter(&self, index: usize) -> u64 {
        self.counters.words()[index].load(Relaxed)
    }

    /// Increase of a name's times since the last rows, including the running processes' time until `now`.
    fn increase(&mut self, index: usize, now: u64) -> ProcessTimes {
        let words = &self.table.words()[index * named::WORDS..][..named::WORDS];
        let cpu_ns = match self.running.get(&index) {
            Some(RunningNames { charged_ns, since }) => {
                charged_ns + since.iter().map(|since| now.saturating_sub(*since)).sum::<u64>()
            }
            None => words[named::CPU].load(Relaxed),
        };
        let now = [cpu_ns, words[named::READY_WAIT].load(Relaxed)];
        let shown = &mut self.shown[index];
        let increase = std::array::from_fn(|index| now[index].saturating_sub(shown[index]));
        *shown = std::array::from_fn(|index| shown[index].max(now[index]));
        increase
    }

    /// The name and the user at an index. Thousands of users have processes of one name, which `known` then has once.
    fn name_and_user(&self, index: usize, context: &Context, known: &mut KnownNames) -> (Arc<str>, Option<UserId>) {
        if index == 0 {
            return (OTHERS_NAME.into(), None);
        }
        let words = &self.table.words()[index * named::WORDS..][..named::WORDS];
        let user = context.user_of(words[named::SLOT].load(Relaxed) as u32);
        let text = known.entry(name_words(words)).or_insert_with(|| name_of_words(name_words(words)));
        (Arc::clone(text), user)
    }
}

impl MeterPart for ProcessTimesTable {
    fn read(&mut self, _: &Context) {
        self.running.clear();
        let charged = |state: &ProcessorWords| self.table.words()[name_index(state) * named::WORDS + named::CPU].load(Acquire);
        for (state, charged_ns) in self.processors.read_with(charged) {
            let idle = state.at(processor::CATEGORY) as u32 as usize == category::IDLE;
            if state.began().is_some() && !idle && name_index(&state) != 0 {
                let running = self.running.entry(name_index(&state)).or_default();
                running.charged_ns = running.charged_ns.max(charged_ns);
                running.since.push(state.at(processor::SINCE));
            }
        }
    }

    fn rows(&mut self, context: &mut Context, span: RecordSpan, sample: &mut MeterRows) -> Result<(), MeterRefusal> {
        let most_names = self.table.words().len() / named::WORDS;
        let names = (self.counter(counter::NAMES_GIVEN) as usize + 1).min(most_names);
        self.shown.resize(names, [0; 2]);
        let mut used: BTreeMap<(Arc<str>, Option<UserId>), ProcessTimes> = BTreeMap::new();
        let mut known = KnownNames::new();
        for index in 0..names {
            let increase = self.increase(index, span.monotonic_ns);
            if increase != [0; 2] {
                let sum = used.entry(self.name_and_user(index, context, &mut known)).or_default();
                *sum = std::array::from_fn(|index| sum[index] + increase[index]);
            }
        }
        sample.processes.extend(used.into_iter().map(|((who, user), [cpu_ns, ready_wait_ns])| ProcessRow {
            at: span.at,
            span_ns: span.span_ns,
            who,
            cpu_ns,
            memory_bytes: None,
            user,
            ready_wait_ns: Some(ready_wait_ns),
        }));
        Ok(())
    }

    fn take_lost(&mut self, _: &Context, span: RecordSpan) -> Vec<LostRow> {
        let lost = self.counter(counter::NAMES_LOST) + self.counter(counter::TASKS_LOST);
        let count = lost - std::mem::replace(&mut self.lost, lost);
        let reason = format!("more names of processes than there is room for: the rest are `{OTHERS_NAME}`");
        if count == 0 { Vec::new() } else { vec![LostRow { at: span.at, user: None, what: "usage", count, reason }] }
    }
}

/// The name with an index in the map `names`.
pub(crate) fn name_at(names: &MappedWords, index: usize) -> Arc<str> {
    if index == 0 {
        return OTHERS_NAME.into();
    }
    name_of_words(name_words(&names.words()[index * named::WORDS..][..named::WORDS]))
}

/// The two words of a name in an entry of the map `names`.
fn name_words(words: &[AtomicU64]) -> [u64; 2] {
    [0, 1].map(|word| words[named::NAME + word].load(Relaxed))
}

/// The name of processes in two words of characters.
fn name_of_words(words: [u64; 2]) -> Arc<str> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).take_while(|byte| *byte != 0).collect();
    process_name(without_processor(&String::from_utf8_lossy(&bytes)))
}

/// The index of the name of a processor's running process.
fn name_index(state: &ProcessorWords) -> usize {
    state.at(processor::NAME) as u32 as usize
}

/// Removes the processor from names of kernel threads such as `kworker/3:1` and `ksoftirqd/3`.
fn without_processor(name: &str) -> &str {
    match name.split_once('/') {
        Some((name, suffix))
            if !name.is_empty() && suffix.trim_start_matches('u').starts_with(|first: char| first.is_ascii_digit()) =>
        {
            name
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_each_processor_have_one_name() {
        let names = ["kworker/u4:1", "kworker/0:0H", "ksoftirqd/11", "migration/0", "sh", "a/b", "/0"].map(without_processor);
        assert_eq!(names, ["kworker", "kworker", "ksoftirqd", "migration", "sh", "a/b", "/0"]);
    }
}
