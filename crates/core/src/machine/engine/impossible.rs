//! Configurations that cannot work, told in words before anything moves.

use crate::machine::spec::{
    Class, Command, Discipline, Headway, Limit, Machine, Paging, Population, Replacement, Residence, Route, StoreKind, Swapping,
};

use super::clockwork::{MOST_JOBS, MOST_PROCESSORS, MOST_STORES};

/// Weights of a route's branches may differ from 1 by so much in all.
const ROUNDING: f64 = 1e-6;

/// Looks for what cannot work.
///
/// # Errors
/// The first thing found, with what would help.
pub fn refuse(machine: &Machine) -> Result<(), String> {
    processors(machine)?;
    if machine.stores.len() > MOST_STORES {
        return Err(format!("{} stores are more than {MOST_STORES}, the most that a machine may have", machine.stores.len()));
    }
    machine.stores.iter().try_for_each(|store| store_kind(&store.name, &store.kind))?;
    match &machine.residence {
        Residence::Everything => {}
        Residence::Swapping(swapping) => swaps(machine, swapping)?,
        Residence::Paging(paging) => pages(machine, paging)?,
    }
    limit(machine)?;
    table(machine)?;
    machine.commands.iter().try_for_each(|command| asks(machine, command))?;
    machine.load.iter().try_for_each(|class| load(machine, class))
}

fn processors(machine: &Machine) -> Result<(), String> {
    let processors = &machine.processors;
    if processors.count == 0 || processors.count as usize > MOST_PROCESSORS {
        return Err(format!("{} processors: a machine has between 1 and {MOST_PROCESSORS}", processors.count));
    }
    if !(processors.speed > 0.0 && processors.speed.is_finite()) {
        return Err(format!("a processor of speed {} never ends any work: `speed` is above 0", processors.speed));
    }
    let missing = match &processors.discipline {
        Discipline::RoundRobin { quantum_ns: 0, .. } => "a quantum of nothing: use discipline = \"sharing\", its limit",
        Discipline::Ctss { quantum_ns: 0, .. } => "a quantum of nothing: `quantum` is above 0",
        Discipline::Ctss { words_per_quantum: 0, .. } => "no words move in a quantum: `words_per_quantum` is above 0",
        Discipline::Ctss { levels: 0, .. } => "no levels: `levels` is 1 or more",
        Discipline::Multics { first_ns, last_ns, .. } if *first_ns == 0 || *last_ns == 0 => {
            "a quantum of nothing: `first` and `last` are above 0"
        }
        Discipline::Tenex { queues, .. } if queues.is_empty() => "no queues: `quanta` names one or more",
        Discipline::Tenex { queues, .. } if queues.iter().any(|queue| queue.quantum_ns == 0) => {
            "a queue with a quantum of nothing: `quanta` are above 0"
        }
        Discipline::Linux { slice_ns: 0, .. } => "a slice of nothing: `slice` is above 0",
        _ => return Ok(()),
    };
    Err(format!("the discipline has {missing}"))
}

fn store_kind(name: &str, kind: &StoreKind) -> Result<(), String> {
    let wrong = match kind {
        StoreKind::Server { servers: 0, .. } => "has no servers: `servers` is 1 or more",
        StoreKind::Drum { revolution_ns: 0, .. } => "does not turn: `revolution` is above 0",
        StoreKind::Drum { sectors: Some(0), .. } => "has no sectors: `sectors` is 1 or more",
        StoreKind::Drum { words_per_second: Some(rate), .. } | StoreKind::Bulk { words_per_second: Some(rate), .. }
            if *rate <= 0.0 =>
        {
            "never ends a transfer: `words_per_second` is above 0"
        }
        StoreKind::Bulk { channels: 0, .. } | StoreKind::Disk { channels: 0, .. } => "has no channel: `channels` is 1 or more",
        StoreKind::Disk { units: 0, .. } => "has no unit: `units` is 1 or more",
        StoreKind::Disk { words_per_second, .. } if *words_per_second <= 0.0 => {
            "never ends a transfer: `words_per_second` is above 0"
        }
        _ => return Ok(()),
    };
    Err(format!("storage {name:?} {wrong}"))
}

fn swaps(machine: &Machine, swapping: &Swapping) -> Result<(), String> {
    there(machine, swapping.store, "programs are swapped to")?;
    swapping.first.map_or(Ok(()), |first| there(machine, first, "commands are kept on"))?;
    if machine.processors.count > 1 || machine.processors.discipline == Discipline::Sharing {
        return Err("with swapping one program is in core and runs: one processor, and a discipline other than sharing".into());
    }
    for command in &machine.commands {
        let words = command.image_words.mean();
        if words > swapping.words as f64 {
            return Err(format!(
                "command {:?} has a program of {words:.0} words, and core holds {}: it can never run; \
                 raise memory.words, or lower its `image_words`",
                command.name, swapping.words
            ));
        }
    }
    Ok(())
}

fn pages(machine: &Machine, paging: &Paging) -> Result<(), String> {
    there(machine, paging.store, "pages come from")?;
    paging.behind.map_or(Ok(()), |behind| there(machine, behind.store, "is behind the paging device"))?;
    if paging.wired >= paging.frames {
        return Err(format!(
            "of {} frames the supervisor holds {}: none is left for processes; raise memory.frames, or lower `wired`",
            paging.frames, paging.wired
        ));
    }
    if !(0.0..=1.0).contains(&paging.dirty) {
        return Err(format!("dirty = {} is no part between 0 and 1", paging.dirty));
    }
    let rises = match &paging.headway {
        Headway::Linear { ns_per_page } => *ns_per_page > 0.0,
        Headway::Chamberlin { b_ns, c_pages } => *b_ns > 0.0 && *c_pages > 0.0,
        Headway::Curve(points) => !points.is_empty() && points.iter().all(|(_, ns)| *ns > 0.0),
    };
    if !rises {
        return Err("with a headway of nothing a process faults for ever and never works: `headway` is above 0".into());
    }
    if paging.replacement == Replacement::Equal && !matches!(machine.limit, Limit::Fixed(_)) {
        return Err("equal shares are frames over the limit: give multiprogramming a `limit`".into());
    }
    Ok(())
}

fn limit(machine: &Machine) -> Result<(), String> {
    match machine.limit {
        Limit::Fixed(0) | Limit::WorkingSets { most: 0 } | Limit::DeviceBusy { most: 0, .. } => {
            Err("a multiprogramming limit of 0 lets nobody run: `limit` and `most` are 1 or more".into())
        }
        Limit::WorkingSets { .. } if !matches!(machine.residence, Residence::Paging(_)) => {
            Err("a control by working sets needs demand paging: residence = \"paging\", or a `limit`".into())
        }
        Limit::DeviceBusy { store, .. } if store >= machine.stores.len() => {
            there(machine, store, "the multiprogramming control looks at")
        }
        Limit::DeviceBusy { every_ns: 0, .. } => Err("the control looks at its device without end: `every` is above 0".into()),
        Limit::DeviceBusy { target, .. } if !(target > 0.0 && target <= 1.0) => {
            Err(format!("target = {target} is no part of the device's time: it is above 0 and at most 1"))
        }
        _ => Ok(()),
    }
}

fn table(machine: &Machine) -> Result<(), String> {
    match &machine.supervisor.table {
        Some(table) if table.per_user > table.entries => Err(format!(
            "a user needs {} entries of a system table of {}: nobody can log in; raise `entries`",
            table.per_user, table.entries
        )),
        _ => Ok(()),
    }
}

fn there(machine: &Machine, store: usize, what: &str) -> Result<(), String> {
    if store < machine.stores.len() {
        return Ok(());
    }
    Err(format!("there is no storage that {what}: name one of its [storage] tables as the `device`"))
}

fn asks(machine: &Machine, command: &Command) -> Result<(), String> {
    for (store, _) in &command.requests {
        there(machine, *store, &format!("command {:?} sends requests to", command.name))?;
    }
    let Some(route) = &command.route else { return Ok(()) };
    let wrong = |why: String| format!("the route of command {:?} {why}", command.name);
    route_is_whole(machine, route).map_err(wrong)?;
    if machine.processors.discipline == Discipline::Sharing && machine.supervisor.device_interrupt_ns > 0 {
        return Err(wrong("has no processor for device interrupts where processors are shared: use another discipline".into()));
    }
    Ok(())
}

fn route_is_whole(machine: &Machine, route: &Route) -> Result<(), String> {
    if route.stages.is_empty() {
        return Err("has no stages".into());
    }
    for (number, stage) in route.stages.iter().enumerate() {
        if stage.store.is_some_and(|store| store >= machine.stores.len()) {
            return Err(format!("goes to a storage that is not there at stage {number}"));
        }
        if stage.then.iter().any(|(weight, to)| *weight < 0.0 || to.is_some_and(|to| to >= route.stages.len())) {
            return Err(format!("leads from stage {number} to one that is not there, or by a weight below 0"));
        }
        let sum: f64 = stage.then.iter().map(|(weight, _)| weight).sum();
        if !stage.then.is_empty() && (sum - 1.0).abs() > ROUNDING {
            return Err(format!("leads on from stage {number} with weights that add up to {sum}, not to 1"));
        }
    }
    match stage_without_end(route) {
        Some(stage) => Err(format!("never ends once it has come to stage {stage}: let `then` lead to done from there")),
        None => Ok(()),
    }
}

/// A stage that the route comes to, and from which it never ends.
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

fn load(machine: &Machine, class: &Class) -> Result<(), String> {
    let wrong = |why: &str| Err(format!("load {:?} {why}", class.name));
    if class.commands.is_empty() || class.commands.iter().any(|command| *command >= machine.commands.len()) {
        return wrong("gives no command, or one that is not there: `commands` names some of [commands]");
    }
    match class.population {
        Population::Closed(0) => wrong("has no users: `users` is 1 or more"),
        Population::Closed(users) if users as usize > MOST_JOBS => wrong(&format!("has more than {MOST_JOBS} users")),
        Population::Open(rate) if !(rate > 0.0 && rate.is_finite()) => wrong("never comes: `arrivals` is above 0"),
        Population::Open(_) if machine.supervisor.table.is_some() => {
            wrong("comes and goes, and a system table is for users who stay: give it `users`, or the machine no `table`")
        }
        _ => Ok(()),
    }
}
