//! Events by name of process in a window: processor time, system calls and faults.
//!
//! The whole run's processor time of each name is known exactly. The events of a name over its time in windows, times its whole time, are an
//! estimate. It holds also where windows slow down some processes more than others.

use crate::part::{Context, MeterPart, RecordSpan};
use crate::programs::layout::named;
use crate::programs::load::map_array;
use crate::programs::map_sizes::process_name_entries;
use crate::programs::names::call_names;
use crate::refusal::MeterRefusal;
use crate::tables::faults::FAULT_KINDS;
use crate::tables::processes::{ProcessTimesTable, name_at};
use crate::tables::who::{FAULT_EVENT_INDEX, UserCommandTable};
use crate::wanted::MeterRequest;
use crate::windows::event_costs::EventCosts;
use crate::windows::programs::{WindowPrograms, request};
use loadgo_core::record::{MeterRows, WindowEventRow};
use loadgo_sys::mapped::MappedWords;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Events of each process name and kind of event.
type EventCounts = BTreeMap<(Arc<str>, Arc<str>), u64>;

/// The sums by name of process.
pub(crate) struct EventsByProcess {
    events: UserCommandTable,
    names: MappedWords,
    call_names: Vec<Arc<str>>,
    fault_kinds: Vec<Arc<str>>,
    /// Processor times by the programs that run at all times.
    times: Option<Box<dyn MeterPart>>,
}

impl EventsByProcess {
    /// Begins. `always` has the programs that run at all times, which serve `wanted`, and `windows` those of the windows.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn begin(
        always: &mut Context,
        wanted: &MeterRequest,
        windows: &mut WindowPrograms,
    ) -> Result<EventsByProcess, MeterRefusal> {
        let loaded = &mut windows.context.loaded;
        let names = map_array(loaded, "names", process_name_entries(&request()) as usize * named::WORDS * 8)?;
        Ok(EventsByProcess {
            events: UserCommandTable::begin(loaded)?,
            names,
            call_names: call_names(),
            fault_kinds: FAULT_KINDS.map(Arc::from).to_vec(),
            times: ProcessTimesTable::begin(always, wanted)?,
        })
    }

    /// Rows of all since the last call, until `span`.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn rows(
        &mut self,
        context: &mut Context,
        span: RecordSpan,
        costs: EventCosts,
    ) -> Result<Vec<WindowEventRow>, MeterRefusal> {
        let mut counts = EventCounts::new();
        let mut added_ns: BTreeMap<Arc<str>, f64> = BTreeMap::new();
        for (key, [count, ..]) in self.events.increases()? {
            let process = name_at(&self.names, key.slot as usize);
            let (event, cost_ns) = match key.event.checked_sub(FAULT_EVENT_INDEX) {
                None => (self.call_names.get(usize::from(key.event)), costs.call_ns),
                Some(kind) => (self.fault_kinds.get(usize::from(kind)), costs.fault_ns),
            };
            let Some(event) = event else { continue };
            *added_ns.entry(process.clone()).or_default() += count as f64 * cost_ns;
            *counts.entry((process, event.clone())).or_default() += count;
        }
        let mut times = MeterRows::default();
        if let Some(table) = &mut self.times {
            table.read(context);
            table.rows(context, span, &mut times)?;
        }
        let time_rows = times.processes.into_iter().map(|row| {
            let added_ns = added_ns.get(&row.who).copied().unwrap_or(0.0) as u64;
            let added_ns = added_ns.min(row.cpu_ns);
            let (cpu_ns, added_ns) = (Some(row.cpu_ns - added_ns), Some(added_ns));
            WindowEventRow { at: span.at, span_ns: span.span_ns, process: row.who, event: None, count: 0, cpu_ns, added_ns }
        });
        let event_rows = counts.into_iter().map(|((process, event), count)| event_row(span, process, event, count));
        Ok(time_rows.chain(event_rows).collect())
    }
}

fn event_row(span: RecordSpan, process: Arc<str>, event: Arc<str>, count: u64) -> WindowEventRow {
    WindowEventRow { at: span.at, span_ns: span.span_ns, process, event: Some(event), count, cpu_ns: None, added_ns: None }
}
