//! Who used the processors: processor time and ready wait of processes, by name and user.
//!
//! The kernel's programs charge each stretch on a processor to the name that its process had, for each session by itself; so
//! thousands of processes that live for a millisecond are as exact as one that lives for a day.

use crate::part::Span;
use crate::part::{Context, Part};
use crate::programs::layout::{category, counter, named, processor};
use crate::programs::load::mapped;
use crate::programs::map_sizes::names_of_processes;
use crate::tables::processors::{Processors, State};
use crate::wanted::Wanted;
use loadgo_core::record::{Lost, ProcessRow, Sample, process_name};
use loadgo_core::system::UserId;
use loadgo_sys::mapped::MappedWords;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

/// What those are called that came when the table was full.
const OTHERS: &str = "others";

/// The processes as they were last shown.
pub(crate) struct Processes {
    table: MappedWords,
    counters: MappedWords,
    processors: Processors,
    running: HashMap<usize, Running>,
    /// Processor time and ready wait of each place.
    shown: Vec<Used>,
    lost: u64,
}

/// Processor time and ready wait in nanoseconds.
type Used = [u64; 2];

/// A place of whose name processes were running at the reading.
#[derive(Default)]
struct Running {
    /// What it had been charged until then.
    charged_ns: u64,
    /// When each of the stretches under way began: they are not in it.
    since: Vec<u64>,
}

impl Processes {
    pub fn begin(context: &mut Context, wanted: &Wanted) -> Result<Option<Box<dyn Part>>, String> {
        let loaded = &context.loaded;
        let table = mapped(loaded, "names", names_of_processes(wanted) as usize * named::WORDS * 8)?;
        let counters = mapped(loaded, "counters", counter::WORDS * 8)?;
        Ok(Some(Box::new(Processes {
            table,
            counters,
            processors: Processors::open(loaded)?,
            running: HashMap::new(),
            shown: Vec::new(),
            lost: 0,
        })))
    }

    fn counter(&self, number: usize) -> u64 {
        self.counters.words()[number].load(Relaxed)
    }

    /// What a place has used since it was last shown; processes that run have until `now`.
    fn grown(&mut self, place: usize, now: u64) -> Used {
        let words = &self.table.words()[place * named::WORDS..][..named::WORDS];
        let cpu_ns = match self.running.get(&place) {
            Some(Running { charged_ns, since }) => charged_ns + since.iter().map(|since| now.saturating_sub(*since)).sum::<u64>(),
            None => words[named::CPU].load(Relaxed),
        };
        let now = [cpu_ns, words[named::READY_WAIT].load(Relaxed)];
        let shown = &mut self.shown[place];
        let grown = std::array::from_fn(|index| now[index].saturating_sub(shown[index]));
        *shown = std::array::from_fn(|index| shown[index].max(now[index]));
        grown
    }

    fn whose(&self, place: usize, context: &Context) -> (Arc<str>, Option<UserId>) {
        let words = &self.table.words()[place * named::WORDS..][..named::WORDS];
        let user = context.user_of(words[named::SLOT].load(Relaxed) as u32);
        let name: Vec<u8> = [0, 1]
            .iter()
            .flat_map(|word| words[named::NAME + word].load(Relaxed).to_ne_bytes())
            .take_while(|byte| *byte != 0)
            .collect();
        if place == 0 { (OTHERS.into(), None) } else { (process_name(without_processor(&String::from_utf8_lossy(&name))), user) }
    }
}

impl Part for Processes {
    fn read(&mut self, _: &Context) {
        self.running.clear();
        let charged = |state: &State| self.table.words()[place_of(state) * named::WORDS + named::CPU].load(Acquire);
        for (state, charged_ns) in self.processors.read_with(charged) {
            let idle = state.at(processor::CATEGORY) as u32 as usize == category::IDLE;
            if state.began().is_some() && !idle && place_of(&state) != 0 {
                let running = self.running.entry(place_of(&state)).or_default();
                running.charged_ns = running.charged_ns.max(charged_ns);
                running.since.push(state.at(processor::SINCE));
            }
        }
    }

    fn rows(&mut self, context: &mut Context, span: Span, sample: &mut Sample) -> Result<(), String> {
        let places = self.table.words().len() / named::WORDS;
        let given = (self.counter(counter::NAMES_GIVEN) as usize + 1).min(places);
        self.shown.resize(given, [0; 2]);
        let mut used: BTreeMap<(Arc<str>, Option<UserId>), Used> = BTreeMap::new();
        for place in 0..given {
            let grown = self.grown(place, span.monotonic_ns);
            if grown != [0; 2] {
                let sum = used.entry(self.whose(place, context)).or_default();
                *sum = std::array::from_fn(|index| sum[index] + grown[index]);
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

    fn take_lost(&mut self, _: &Context, span: Span) -> Vec<Lost> {
        let lost = self.counter(counter::NAMES_LOST) + self.counter(counter::TASKS_LOST);
        let count = lost - std::mem::replace(&mut self.lost, lost);
        let reason = format!("more names of processes than places: they are `{OTHERS}`");
        if count == 0 { Vec::new() } else { vec![Lost { at: span.at, user: None, what: "usage", count, reason }] }
    }
}

/// The place of the name of the process that runs there.
fn place_of(state: &State) -> usize {
    state.at(processor::NAME) as u32 as usize
}

/// The kernel's threads of each processor are called alike: `kworker/3:1` and `ksoftirqd/3` without what follows.
fn without_processor(name: &str) -> &str {
    match name.split_once('/') {
        Some((name, rest))
            if !name.is_empty() && rest.trim_start_matches('u').starts_with(|first: char| first.is_ascii_digit()) =>
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
