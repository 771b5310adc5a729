//! Writes a machine as TOML that [`super::parse`] reads back as the same value, without keys that have their default.

use super::{supervisor, tariff};
use crate::draw::AmountLaw;
use crate::notation::law::AmountUnit;
use crate::notation::written::{self, TomlText, inline, law, list, number, quoted, span};
use crate::spec::{
    Amount, Command, Discipline, EligibilityLimit, Fit, GetworkCharge, HeadwaySpec, InterruptCharge, LockedPath, Machine,
    Parameter, Population, Replacement, Residence, Route, Store, Supervisor, SystemTable, UserClass, WhenTableFull,
};

/// Writes `machine` as one TOML text, with times as spans, and without instructions and `like`.
pub fn print(machine: &Machine) -> String {
    let mut rows = TomlText::default();
    rows.key("title", quoted(&machine.title));
    rows.key("source", quoted(&machine.source));
    processors(&mut rows, machine);
    memory(&mut rows, machine);
    limit(&mut rows, machine);
    machine.stores.iter().for_each(|each_store| store(&mut rows, each_store));
    if machine.supervisor != Supervisor::default() {
        costs(&mut rows, &machine.supervisor);
    }
    prices(&mut rows, machine);
    machine.commands.iter().for_each(|each_command| command(&mut rows, each_command, &machine.stores));
    machine.load.iter().for_each(|class| load(&mut rows, class, &machine.commands));
    machine.fit.iter().for_each(|machine_fit| fit(&mut rows, machine_fit));
    rows.text
}

fn processors(rows: &mut TomlText, machine: &Machine) {
    let processors = &machine.processors;
    rows.heading("[processors]");
    rows.key("count", processors.count.to_string());
    rows.key("speed", number(processors.speed));
    if let Some(rate) = processors.instructions_per_second {
        rows.key("instructions_per_second", number(rate));
    }
    if let Some(factor) = processors.cpu_when_busy {
        rows.key("cpu_when_busy", number(factor));
    }
    rows.key("discipline", quoted(discipline(&processors.discipline)));
    match &processors.discipline {
        Discipline::FirstCome | Discipline::Sharing => (),
        Discipline::RoundRobin { quantum_ns, switch_ns, dispatch_ns } => {
            rows.spans(&[("quantum", *quantum_ns), ("switch", *switch_ns)]);
            rows.costs(&[("dispatch", *dispatch_ns)]);
        }
        Discipline::Priority { preemptive } => rows.key("preemptive", preemptive.to_string()),
        Discipline::Ctss { quantum_ns, words_per_quantum, levels, rise_ns } => {
            rows.spans(&[("quantum", *quantum_ns)]);
            rows.key("words_per_quantum", words_per_quantum.to_string());
            rows.key("levels", levels.to_string());
            rows.costs(&[("rise", *rise_ns)]);
        }
        Discipline::Multics { first_ns, last_ns, most_ns } => {
            rows.spans(&[("first", *first_ns), ("last", *last_ns), ("most", *most_ns)]);
        }
        Discipline::Tenex { queues, credit_ns } => {
            rows.key("quanta", list(queues.iter().map(|queue| span(queue.quantum_ns))));
            rows.key("bases", list(queues.iter().map(|queue| number(queue.base))));
            rows.key("shifts", list(queues.iter().map(|queue| queue.shift.to_string())));
            rows.spans(&[("credit", *credit_ns)]);
        }
        Discipline::Linux { slice_ns, tick_ns, switch_ns, packs } => {
            rows.spans(&[("slice", *slice_ns), ("tick", *tick_ns), ("switch", *switch_ns)]);
            rows.key("packs", packs.to_string());
        }
    }
}

fn discipline(discipline: &Discipline) -> &'static str {
    match discipline {
        Discipline::FirstCome => "first-come",
        Discipline::Sharing => "sharing",
        Discipline::RoundRobin { .. } => "round-robin",
        Discipline::Priority { .. } => "priority",
        Discipline::Ctss { .. } => "ctss",
        Discipline::Multics { .. } => "multics",
        Discipline::Tenex { .. } => "tenex",
        Discipline::Linux { .. } => "linux",
    }
}

fn memory(rows: &mut TomlText, machine: &Machine) {
    let store = |index: usize| quoted(&machine.stores[index].name);
    match &machine.residence {
        Residence::Everything => (),
        Residence::Swapping(swapping) => {
            rows.heading("[memory]");
            rows.key("residence", quoted("swapping"));
            rows.key("words", swapping.words.to_string());
            rows.key("device", store(swapping.store));
            if let Some(first) = swapping.first {
                rows.key("first", store(first));
            }
            rows.key("conditions_words", swapping.conditions_words.to_string());
            rows.key("onion_skin", swapping.onion_skin.to_string());
        }
        Residence::Paging(paging) => {
            rows.heading("[memory]");
            rows.key("residence", quoted("paging"));
            rows.key("frames", paging.frames.to_string());
            rows.key("frame_words", paging.frame_words.to_string());
            rows.key("wired", paging.wired.to_string());
            rows.key("replacement", quoted(replacement(paging.replacement)));
            headway(rows, &paging.headway);
            rows.key("dirty", number(paging.dirty));
            rows.key("device", store(paging.store));
            if let Some(behind) = paging.behind {
                rows.key("behind", store(behind.store));
                rows.key("device_pages", behind.pages.to_string());
            }
        }
    }
}

fn replacement(replacement: Replacement) -> &'static str {
    match replacement {
        Replacement::Lru => "lru",
        Replacement::Clock => "clock",
        Replacement::Equal => "equal",
    }
}

fn headway(rows: &mut TomlText, headway: &HeadwaySpec) {
    let time = |ns: f64| law(&AmountLaw::Fixed(ns), AmountUnit::Time);
    match headway {
        HeadwaySpec::Linear { ns_per_page } => rows.key("headway_per_page", time(*ns_per_page)),
        HeadwaySpec::Chamberlin { b_ns, c_pages } => {
            rows.key("headway", inline(&[("b".into(), time(*b_ns)), ("c".into(), number(*c_pages))]));
        }
        HeadwaySpec::Curve(points) => {
            let point = |(pages, ns): &(f64, f64)| list([number(*pages), time(*ns)].into_iter());
            rows.key("headway_curve", list(points.iter().map(point)));
        }
    }
}

fn limit(rows: &mut TomlText, machine: &Machine) {
    if machine.limit == EligibilityLimit::None {
        return;
    }
    rows.heading("[multiprogramming]");
    match &machine.limit {
        EligibilityLimit::None => (),
        EligibilityLimit::Fixed(limit) => rows.key("limit", limit.to_string()),
        EligibilityLimit::WorkingSets { most } => {
            rows.key("control", quoted("working sets"));
            rows.key("most", most.to_string());
        }
        EligibilityLimit::DeviceBusy { store, target, every_ns, most } => {
            rows.key("control", quoted("device busy"));
            rows.key("device", quoted(&machine.stores[*store].name));
            rows.key("target", number(*target));
            rows.key("every", span(*every_ns));
            rows.key("most", most.to_string());
        }
    }
}

fn store(rows: &mut TomlText, store: &Store) {
    rows.heading(&format!("[storage.{}]", written::key(&store.name)));
    store.kind.write(rows);
    if !store.interrupts {
        rows.key("interrupts", "false".into());
    }
}

fn costs(rows: &mut TomlText, costs: &Supervisor) {
    rows.heading("[supervisor]");
    match costs.page_fault.as_slice() {
        [] => (),
        [(name, ns)] if name == supervisor::SINGLE_STEP => rows.key("page_fault", span(*ns)),
        steps => {
            let steps: Vec<_> = steps.iter().map(|(name, ns)| (written::key(name), span(*ns))).collect();
            rows.key("page_fault", inline(&steps));
        }
    }
    rows.costs(&[
        ("segment_fault", costs.segment_fault_ns),
        ("bound_fault", costs.bound_fault_ns),
        ("device_interrupt", costs.device_interrupt_ns),
        ("getwork", costs.getwork_ns),
        ("wall_crossing", costs.wall_crossing_ns),
        ("line_in", costs.line_in_ns),
        ("line_out", costs.line_out_ns),
        ("process_creation", costs.process_creation_ns),
        ("network_byte", costs.network_byte_ns),
        ("network_message", costs.network_message_ns),
    ]);
    if costs.message_bytes > 0 {
        rows.key("message_bytes", costs.message_bytes.to_string());
    }
    if let Some(SystemTable { entries, per_user, full }) = costs.table {
        let full = quoted(if full == WhenTableFull::Take { "take" } else { "refuse" });
        let entries = [("entries", entries.to_string()), ("per_user", per_user.to_string()), ("full", full)];
        rows.key("table", inline(&entries.map(|(key, value)| (key.into(), value))));
    }
    if !costs.locks.is_empty() {
        let key = |wanted| LockedPath::ALL.iter().find(|(_, path)| *path == wanted).expect("every path has a key").0;
        let locks: Vec<_> = costs.locks.iter().map(|(path, name)| (key(*path).to_string(), quoted(name))).collect();
        rows.key("locks", inline(&locks));
    }
    if costs.interrupt_charge == InterruptCharge::Interrupted {
        rows.key("charge_interrupt", quoted("interrupted"));
    }
    if costs.getwork_charge == GetworkCharge::Nobody {
        rows.key("charge_getwork", quoted("nobody"));
    }
}

fn prices(rows: &mut TomlText, machine: &Machine) {
    if machine.tariff.is_empty() && machine.paging_wait_hour == 0.0 {
        return;
    }
    rows.heading("[tariff]");
    match machine.tariff.as_slice() {
        [] => (),
        [(shift, price)] if shift == tariff::SINGLE_SHIFT => rows.key("cpu_hour", number(*price)),
        shifts => {
            let shifts: Vec<_> = shifts.iter().map(|(shift, price)| (written::key(shift), number(*price))).collect();
            rows.key("shifts", inline(&shifts));
        }
    }
    if machine.paging_wait_hour > 0.0 {
        rows.key("paging_wait_hour", number(machine.paging_wait_hour));
    }
}

fn command(rows: &mut TomlText, command: &Command, stores: &[Store]) {
    rows.heading(&format!("[commands.{}]", written::key(&command.name)));
    match &command.route {
        Some(route) => rows.key("route", stages(route, stores)),
        None => needs(rows, command, stores),
    }
    if command.priority > 0 {
        rows.key("priority", command.priority.to_string());
    }
    if command.nice != 0 {
        rows.key("nice", command.nice.to_string());
    }
    if let Some(status) = command.exit_status {
        rows.key("status", status.to_string());
    }
}

fn needs(rows: &mut TomlText, command: &Command, stores: &[Store]) {
    let processor = AmountUnit::Processor(None);
    if !command.program.is_empty() {
        rows.key("program", quoted(&command.program));
    }
    rows.key("cpu", law(&command.cpu, processor));
    if let Some(factor) = command.cpu_when_busy {
        rows.key("cpu_when_busy", number(factor));
    }
    rows.law("pages", &command.pages, AmountUnit::Number);
    if command.common > 0.0 {
        rows.key("common", number(command.common));
    }
    if let Some(factor) = command.headway_factor {
        rows.key("headway_factor", number(factor));
    }
    rows.law("image_words", &command.image_words, AmountUnit::Number);
    rows.law("segment_faults", &command.segment_faults, AmountUnit::Number);
    rows.law("bound_faults", &command.bound_faults, AmountUnit::Number);
    rows.law("wall_crossings", &command.wall_crossings, AmountUnit::Number);
    rows.law("processes", &command.processes, AmountUnit::Number);
    rows.law("lines_out", &command.lines_out, AmountUnit::Number);
    rows.law("line_bytes", &command.line_bytes, AmountUnit::Number);
    rows.law("line_cpu", &command.line_cpu, processor);
    rows.law("line_faults", &command.line_faults, AmountUnit::Number);
    rows.law("line_walls", &command.line_walls, AmountUnit::Number);
    match &command.network_bytes {
        Amount::Drawn(bytes) => rows.law("network_bytes", bytes, AmountUnit::Number),
        Amount::Argument(number) => rows.key("network_bytes", quoted(&format!("argument({number})"))),
    }
    rows.law("network_byte_cpu", &command.network_byte_cpu, processor);
    laws_by_store(rows, "network_wait", (&command.network_wait, AmountUnit::Time), stores);
    laws_by_store(rows, "requests", (&command.requests, AmountUnit::Number), stores);
    rows.number("request_correlation", command.request_correlation);
}

fn laws_by_store(rows: &mut TomlText, key: &str, (laws, unit): (&[(usize, AmountLaw)], AmountUnit), stores: &[Store]) {
    if !laws.is_empty() {
        let named = |(store, drawn): &(usize, AmountLaw)| (written::key(&stores[*store].name), law(drawn, unit));
        rows.key(key, inline(&laws.iter().map(named).collect::<Vec<_>>()));
    }
}

fn stages(route: &Route, stores: &[Store]) -> String {
    let rows = route.stages.iter().map(|stage| {
        let name = stage.store.map_or("processor", |store| &stores[store].name);
        let unit = if stage.store.is_none() { AmountUnit::Processor(None) } else { AmountUnit::Time };
        let way = |way: &Option<usize>| way.map_or("done".into(), |next| next.to_string());
        let then: Vec<_> = stage.then.iter().map(|(weight, next)| (way(next), number(*weight))).collect();
        inline(&[("at".into(), quoted(name)), ("service".into(), law(&stage.service, unit)), ("then".into(), inline(&then))])
    });
    let rows: String = rows.map(|row| format!("    {row},\n")).collect();
    format!("[\n{rows}]")
}

fn load(rows: &mut TomlText, class: &UserClass, commands: &[Command]) {
    rows.heading("[[load]]");
    rows.key("name", quoted(&class.name));
    match class.population {
        Population::Closed(users) => {
            rows.key("users", users.to_string());
            rows.law("think", &class.think, AmountUnit::Time);
        }
        Population::Open(rate) => rows.key("arrivals", quoted(&format!("{rate}/s"))),
    }
    rows.key("commands", list(class.commands.iter().map(|index| quoted(&commands[*index].name))));
}

/// Writes `[fit]`.
fn fit(rows: &mut TomlText, fit: &Fit) {
    rows.heading("[fit]");
    if !fit.script.is_empty() {
        rows.key("script", quoted(&fit.script));
    }
    rows.key("runs", list(fit.runs.iter().map(|run| quoted(run))));
    rows.key("users", list(fit.users.iter().map(u32::to_string)));
    rows.key("interactions", fit.interactions.to_string());
    if !fit.reference.is_empty() {
        rows.key("reference", quoted(&fit.reference));
    }
    rows.key("assumed", block(fit.assumed.iter().map(|words| quoted(words))));
    if !fit.warnings.is_empty() {
        rows.key("warnings", block(fit.warnings.iter().map(|words| quoted(words))));
    }
    rows.key("parameters", block(fit.parameters.iter().map(parameter)));
    rows.key("covariance", block(fit.covariance.iter().map(|row| list(row.iter().map(|value| number(*value))))));
}

fn parameter(parameter: &Parameter) -> String {
    let Parameter { key, of, value, low, high, source } = parameter;
    let mut fields = vec![("key", key), ("of", of), ("value", value)];
    fields.extend(low.iter().map(|low| ("low", low)));
    fields.extend(high.iter().map(|high| ("high", high)));
    fields.push(("source", source));
    inline(&fields.into_iter().map(|(key, value)| (key.into(), quoted(value))).collect::<Vec<_>>())
}

/// A list with a row of the file for each item.
fn block(items: impl Iterator<Item = String>) -> String {
    let rows: String = items.map(|item| format!("    {item},\n")).collect();
    if rows.is_empty() { "[]".into() } else { format!("[\n{rows}]") }
}
