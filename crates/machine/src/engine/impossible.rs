//! Checks for configurations that cannot work, before a machine runs.

use crate::spec::{
    Discipline, EligibilityLimit, HeadwaySpec, Machine, Paging, Replacement, Residence, Supervisor, Swapping, TenexQueue,
};

use super::error::EngineError;
use super::events::{MOST_PROCESSORS, MOST_STORES};
use crate::draw::is_positive;
use crate::limits::UserLimits;
use soundness::check_store;

mod asked;
mod soundness;

/// Checks a machine's configuration.
///
/// # Errors
/// The first mistake, with what would help.
pub fn refuse(machine: &Machine) -> Result<(), EngineError> {
    processors(machine)?;
    if machine.stores.len() > MOST_STORES {
        return Err(EngineError::impossible(format!(
            "{} stores are more than {MOST_STORES}, the most that a machine may have",
            machine.stores.len()
        )));
    }
    machine.stores.iter().try_for_each(|store| {
        store.kind.check().map_err(|why| EngineError::impossible(format!("storage {:?} {why}", store.name)))
    })?;
    match &machine.residence {
        Residence::Everything => {}
        Residence::Swapping(swapping) => swaps(machine, swapping)?,
        Residence::Paging(paging) => pages(machine, paging)?,
    }
    limit(machine)?;
    table(&machine.supervisor)?;
    locks(machine)?;
    machine.commands.iter().try_for_each(|command| asked::command(machine, command))?;
    machine.load.iter().try_for_each(|class| asked::load(machine, class))
}

/// Checks whether the machine's discipline can hold users to these limits.
///
/// # Errors
/// The first limit that it cannot hold, with what would help.
pub fn refuse_limits(machine: &Machine, limits: &UserLimits) -> Result<(), EngineError> {
    let discipline = &machine.processors.discipline;
    if limits.all().any(|limit| limit.nice.is_some()) && !matches!(discipline, Discipline::Linux { .. }) {
        return Err(EngineError::impossible(
            "`nice` of a user is a weight, which the machine's discipline does not have: leave `nice` out, or set \
             processors.discipline=linux and processors.slice=3ms",
        ));
    }
    if limits.all().any(|limit| limit.cpus.is_some()) && *discipline == Discipline::Sharing {
        return Err(EngineError::impossible(
            "the discipline `sharing` runs all processes at once, so that no turn ends when a quota is used up: set \
             processors.discipline=round-robin and processors.quantum=1ms, which is near it",
        ));
    }
    let wrong = limits.all().filter_map(|limit| limit.cpus).find(|cpus| !is_positive(*cpus));
    wrong.map_or(Ok(()), |cpus| Err(EngineError::impossible(format!("a quota of {cpus} processors lets nobody run"))))
}

fn processors(machine: &Machine) -> Result<(), EngineError> {
    let processors = &machine.processors;
    if processors.count == 0 || processors.count as usize > MOST_PROCESSORS {
        return Err(EngineError::impossible(format!(
            "{} processors: a machine has between 1 and {MOST_PROCESSORS}",
            processors.count
        )));
    }
    if !is_positive(processors.speed) {
        return Err(EngineError::impossible(format!(
            "a processor of speed {} never ends any work: `speed` is above 0",
            processors.speed
        )));
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
        Discipline::Tenex { queues, .. } if queues.iter().any(|TenexQueue { base, .. }| !base.is_finite()) => {
            "a queue without a priority: `bases` are numbers"
        }
        Discipline::Linux { slice_ns: 0, .. } => "a slice of nothing: `slice` is above 0",
        _ => return Ok(()),
    };
    Err(EngineError::impossible(format!("the discipline has {missing}")))
}

fn swaps(machine: &Machine, swapping: &Swapping) -> Result<(), EngineError> {
    check_store(machine, swapping.store, "programs are swapped to")?;
    swapping.first.map_or(Ok(()), |first| check_store(machine, first, "commands are kept on"))?;
    if machine.processors.count > 1 || machine.processors.discipline == Discipline::Sharing {
        return Err(EngineError::impossible(
            "with swapping one program is in core and runs: one processor, and a discipline other than sharing",
        ));
    }
    for command in &machine.commands {
        let words = command.image_words.mean();
        if words > swapping.words as f64 {
            return Err(EngineError::impossible(format!(
                "command {:?} has a program of {words:.0} words, and core holds {}: it can never run; \
                 raise memory.words, or lower its `image_words`",
                command.name, swapping.words
            )));
        }
    }
    Ok(())
}

fn pages(machine: &Machine, paging: &Paging) -> Result<(), EngineError> {
    check_store(machine, paging.store, "pages come from")?;
    paging.behind.map_or(Ok(()), |behind| check_store(machine, behind.store, "is behind the paging device"))?;
    if paging.wired >= paging.frames {
        return Err(EngineError::impossible(format!(
            "of {} frames the supervisor holds {}: none is left for processes; raise memory.frames, or lower `wired`",
            paging.frames, paging.wired
        )));
    }
    if !(0.0..=1.0).contains(&paging.dirty) {
        return Err(EngineError::impossible(format!("dirty = {} is no part between 0 and 1", paging.dirty)));
    }
    headway(&paging.headway, machine)?;
    if paging.replacement == Replacement::Equal && !matches!(machine.limit, EligibilityLimit::Fixed(_)) {
        return Err(EngineError::impossible("equal shares are frames over the limit: give multiprogramming a `limit`"));
    }
    Ok(())
}

/// Checks that a process with one page works for a nanosecond at least. Otherwise it would fault for ever at one instant.
fn headway(law: &HeadwaySpec, machine: &Machine) -> Result<(), EngineError> {
    let speed = machine.processors.speed;
    let at_one_page_ns = match law {
        HeadwaySpec::Linear { ns_per_page } => *ns_per_page,
        HeadwaySpec::Chamberlin { b_ns, c_pages } => 2.0 * b_ns / (1.0 + c_pages * c_pages),
        HeadwaySpec::Curve(points) => {
            if points.windows(2).any(|pair| !(pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1)) {
                return Err(EngineError::impossible("the points of `headway_curve` rise in pages and in headway"));
            }
            points.first().map_or(0.0, |(_, ns)| *ns)
        }
    };
    if !is_positive(at_one_page_ns) || at_one_page_ns / speed < 1.0 {
        return Err(EngineError::impossible(format!(
            "with one page a process works for {at_one_page_ns} ns and faults again, without end: raise the headway, to 1 ns of this \
             machine's processors at least"
        )));
    }
    let too_short = |factor: &f64| !is_positive(*factor) || factor * at_one_page_ns / speed < 1.0;
    for command in &machine.commands {
        if let Some(factor) = command.headway_factor.filter(too_short) {
            return Err(EngineError::impossible(format!(
                "`headway_factor` of command {:?} is {factor}: with one page it works for {:e} ns and faults again, without end; raise \
                 it, to 1 ns of this machine's processors at least",
                command.name,
                factor * at_one_page_ns / speed,
            )));
        }
    }
    Ok(())
}

fn limit(machine: &Machine) -> Result<(), EngineError> {
    match machine.limit {
        EligibilityLimit::Fixed(0) | EligibilityLimit::WorkingSets { most: 0 } | EligibilityLimit::DeviceBusy { most: 0, .. } => {
            Err(EngineError::impossible("a multiprogramming limit of 0 lets nobody run: `limit` and `most` are 1 or more"))
        }
        EligibilityLimit::WorkingSets { .. } if !matches!(machine.residence, Residence::Paging(_)) => {
            Err(EngineError::impossible("a control by working sets needs demand paging: residence = \"paging\", or a `limit`"))
        }
        EligibilityLimit::DeviceBusy { store, .. } if store >= machine.stores.len() => {
            check_store(machine, store, "the multiprogramming control looks at")
        }
        EligibilityLimit::DeviceBusy { every_ns: 0, .. } => {
            Err(EngineError::impossible("the control looks at its device without end: `every` is above 0"))
        }
        EligibilityLimit::DeviceBusy { target, .. } if !(target > 0.0 && target <= 1.0) => Err(EngineError::impossible(format!(
            "target = {target} is no part of the device's time: it is above 0 and at most 1"
        ))),
        _ => Ok(()),
    }
}

fn locks(machine: &Machine) -> Result<(), EngineError> {
    if machine.supervisor.locks.is_empty() || machine.processors.discipline != Discipline::Sharing {
        return Ok(());
    }
    Err(EngineError::impossible(
        "the discipline `sharing` runs all processes at once, so that no processor waits for a lock: leave `locks` out, or set \
         processors.discipline=round-robin and processors.quantum=1ms, which is near it",
    ))
}

fn table(supervisor: &Supervisor) -> Result<(), EngineError> {
    match &supervisor.table {
        Some(table) if table.per_user > table.entries => Err(EngineError::impossible(format!(
            "a user needs {} entries of a system table of {}: nobody can log in; raise `entries`",
            table.per_user, table.entries
        ))),
        _ => Ok(()),
    }
}
