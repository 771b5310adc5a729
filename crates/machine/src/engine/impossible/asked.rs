//! Checks of the work for a machine: commands' needs, routes without an end, and classes of users.

use super::super::errand::MOST_STOPS;
use super::super::error::EngineError;
use super::super::events::MOST_PROCESSES;
use super::soundness::check_store;
use crate::devices::StoreKind;
use crate::draw::{AmountLaw, is_positive};
use crate::spec::{Amount, Command, Discipline, Machine, Population, Route, UserClass};

/// Drawn counts of a command of which each costs an event or more.
const COUNTS: [&str; 8] =
    ["segment_faults", "bound_faults", "wall_crossings", "processes", "lines_out", "line_faults", "line_walls", "requests"];
/// Largest difference from 1 of the sum of a branch's weights, which are rounded decimals.
const WEIGHT_SUM_TOLERANCE: f64 = 1e-6;

/// Checks a command for needs that this machine cannot serve.
///
/// # Errors
/// The first mistake, with what would help.
pub fn command(machine: &Machine, command: &Command) -> Result<(), EngineError> {
    if let Some((key, law)) = laws(command).into_iter().find(|(_, law)| !law.is_sound()) {
        let (name, mean) = (&command.name, law.mean());
        return Err(EngineError::impossible(format!(
            "`{key}` of command {name:?} has a mean of {mean}: a law's mean is a number, 0 or more"
        )));
    }
    let mut counts = laws(command).into_iter().filter(|(key, _)| COUNTS.contains(key));
    if let Some((key, law)) = counts.find(|(_, law)| law.mean() > MOST_STOPS as f64) {
        let (name, mean) = (&command.name, law.mean());
        return Err(EngineError::impossible(format!(
            "`{key}` of command {name:?} has a mean of {mean:e}: a command has at most {MOST_STOPS} of a kind"
        )));
    }
    if !(0.0..=1.0).contains(&command.common) {
        return Err(EngineError::impossible(format!(
            "`common` of command {:?} is {}, no part between 0 and 1",
            command.name, command.common
        )));
    }
    if let Some(correlation) = command.request_correlation
        && (!(-1.0..=1.0).contains(&correlation) || command.requests.is_empty())
    {
        return Err(EngineError::impossible(format!(
            "`request_correlation` of command {:?} is {correlation}, with {} kinds of requests: it is from -1 to 1, and needs \
             `requests`",
            command.name,
            command.requests.len()
        )));
    }
    for (store, _) in &command.requests {
        check_store(machine, *store, &format!("command {:?} sends requests to", command.name))?;
    }
    for (store, _) in &command.network_wait {
        check_store(machine, *store, &format!("the network messages of command {:?} wait for", command.name))?;
        if !matches!(machine.stores[*store].kind, StoreKind::Server(_)) {
            return Err(EngineError::impossible(format!(
                "the network messages of command {:?} wait for {:?}, which has times of its own: let them wait for a \
                 store with kind = \"server\", and servers = \"any\" where they do not queue",
                command.name, machine.stores[*store].name
            )));
        }
    }
    let Some(route) = &command.route else { return Ok(()) };
    check_route(machine, &command.name, route)?;
    if machine.processors.discipline == Discipline::Sharing && machine.supervisor.device_interrupt_ns > 0 {
        return Err(wrong_route(
            &command.name,
            "has no processor for device interrupts where processors are shared: use another discipline",
        ));
    }
    Ok(())
}

/// The laws of a command, by their keys in a machine file.
fn laws(command: &Command) -> Vec<(&'static str, &AmountLaw)> {
    let mut laws = vec![
        ("cpu", &command.cpu),
        ("pages", &command.pages),
        ("image_words", &command.image_words),
        ("segment_faults", &command.segment_faults),
        ("bound_faults", &command.bound_faults),
        ("wall_crossings", &command.wall_crossings),
        ("processes", &command.processes),
        ("lines_out", &command.lines_out),
        ("line_bytes", &command.line_bytes),
        ("line_cpu", &command.line_cpu),
        ("line_faults", &command.line_faults),
        ("line_walls", &command.line_walls),
        ("network_byte_cpu", &command.network_byte_cpu),
    ];
    if let Amount::Drawn(law) = &command.network_bytes {
        laws.push(("network_bytes", law));
    }
    laws.extend(command.requests.iter().map(|(_, law)| ("requests", law)));
    laws.extend(command.network_wait.iter().map(|(_, law)| ("network_wait", law)));
    let stages = command.route.iter().flat_map(|route| &route.stages);
    laws.extend(stages.map(|stage| ("service", &stage.service)));
    laws
}

fn check_route(machine: &Machine, command: &str, route: &Route) -> Result<(), EngineError> {
    if route.stages.is_empty() {
        return Err(wrong_route(command, "has no stages"));
    }
    for (number, stage) in route.stages.iter().enumerate() {
        if stage.store.is_some_and(|store| store >= machine.stores.len()) {
            return Err(wrong_route(command, &format!("goes to a storage that is not there at stage {number}")));
        }
        if stage.then.iter().any(|(weight, to)| *weight < 0.0 || weight.is_nan() || to.is_some_and(|to| to >= route.stages.len()))
        {
            return Err(wrong_route(
                command,
                &format!("leads from stage {number} to one that is not there, or by a weight below 0"),
            ));
        }
        let sum: f64 = stage.then.iter().map(|(weight, _)| weight).sum();
        if !stage.then.is_empty() && (sum - 1.0).abs() > WEIGHT_SUM_TOLERANCE {
            return Err(wrong_route(
                command,
                &format!("leads on from stage {number} with weights that add up to {sum}, not to 1"),
            ));
        }
    }
    match stage_without_end(route) {
        Some(stage) => Err(wrong_route(
            command,
            &format!("never ends once it has come to stage {stage}: let `then` lead to done from there"),
        )),
        None => Ok(()),
    }
}

fn wrong_route(command: &str, why: &str) -> EngineError {
    EngineError::impossible(format!("the route of command {command:?} {why}"))
}

/// A stage that the route can reach, and from which it never ends.
fn stage_without_end(route: &Route) -> Option<usize> {
    let leads = |from: usize| route.stages[from].then.iter().filter(|(weight, _)| *weight > 0.0).map(|(_, to)| *to);
    let count = route.stages.len();
    let mut ends: Vec<bool> = (0..count).map(|from| leads(from).next().is_none()).collect();
    let mut reached = vec![false; count];
    reached[0] = true;
    for _ in 0..count {
        for from in 0..count {
            ends[from] |= leads(from).any(|to| to.is_none_or(|to| ends[to]));
            if reached[from] {
                leads(from).flatten().for_each(|to| reached[to] = true);
            }
        }
    }
    (0..count).find(|stage| reached[*stage] && !ends[*stage])
}

/// Checks a class of users.
///
/// # Errors
/// The first mistake, with what would help.
pub fn load(machine: &Machine, class: &UserClass) -> Result<(), EngineError> {
    let wrong = |why: &str| Err(EngineError::impossible(format!("load {:?} {why}", class.name)));
    if !class.think.is_sound() {
        return wrong("has a think time that is none: its mean is a number, 0 or more");
    }
    if class.commands.is_empty() || class.commands.iter().any(|command| *command >= machine.commands.len()) {
        return wrong("gives no command, or one that is not there: `commands` names some of [commands]");
    }
    match class.population {
        Population::Closed(0) => wrong("has no users: `users` is 1 or more"),
        Population::Closed(users) if users as usize > MOST_PROCESSES => wrong(&format!("has more than {MOST_PROCESSES} users")),
        Population::Open(rate) if !is_positive(rate) => wrong("never comes: `arrivals` is above 0"),
        Population::Open(_) if machine.supervisor.table.is_some() => {
            wrong("comes and goes, and a system table is for users who stay: give it `users`, or the machine no `table`")
        }
        _ => Ok(()),
    }
}
