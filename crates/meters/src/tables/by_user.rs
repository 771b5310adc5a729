//! Rows of primitives and faults by user and command.

use crate::part::Span;
use crate::part::{Context, Part};
use crate::programs::names::names;
use crate::tables::faults::{CLOCKED, KINDS};
use crate::tables::who::{FAULT, Key, Tally, Who};
use crate::wanted::{Tier, Wanted};
use loadgo_core::record::{FaultRow, Lost, PrimitiveRow, Sample};
use loadgo_core::system::UserId;
use std::sync::Arc;

/// What makes the rows.
pub(crate) struct ByUser {
    who: Who,
    names: Vec<Arc<str>>,
    commands: Vec<Arc<str>>,
}

impl ByUser {
    /// Begins; `None` in the cheap tier.
    pub fn begin(context: &mut Context, wanted: &Wanted) -> Result<Option<Box<dyn Part>>, String> {
        if wanted.tier == Tier::Cheap {
            return Ok(None);
        }
        Ok(Some(Box::new(ByUser { who: Who::begin(&mut context.loaded)?, names: names(), commands: wanted.commands.clone() })))
    }

    fn command_of(&self, key: Key) -> Option<Arc<str>> {
        usize::from(key.command).checked_sub(1).and_then(|index| self.commands.get(index)).cloned()
    }
}

impl Part for ByUser {
    fn rows(&mut self, context: &mut Context, span: Span, sample: &mut Sample) -> Result<(), String> {
        for (key, tally) in self.who.grown()? {
            let (user, command) = (context.user_of(key.slot), self.command_of(key));
            if user.is_none() && command.is_none() {
                continue; // of a child of our own that is nobody's session
            }
            match key.what.checked_sub(FAULT) {
                None => sample.primitives.push(called(&self.names[usize::from(key.what)], user, command, tally, span)),
                Some(kind) => sample.faults.push(faulted(usize::from(kind), user, command, tally, span)),
            }
        }
        Ok(())
    }

    fn take_lost(&mut self, _: &Context, span: Span) -> Vec<Lost> {
        let reason =
            "more users, commands and primitives in a span than there is room for: the sums of all have them".to_string();
        let lost = Lost { at: span.at, user: None, what: "usage", count: self.who.take_lost(), reason };
        Vec::from_iter((lost.count > 0).then_some(lost))
    }
}

fn called(
    name: &Arc<str>,
    user: Option<UserId>,
    command: Option<Arc<str>>,
    [count, errors, time, wait]: Tally,
    span: Span,
) -> PrimitiveRow {
    PrimitiveRow {
        at: span.at,
        span_ns: span.span_ns,
        name: Arc::clone(name),
        user,
        command,
        bucket_ns: None,
        count,
        errors: Some(errors),
        time_ns: Some(time),
        wait_ns: Some(wait),
        faults: None,
    }
}

fn faulted(kind: usize, user: Option<UserId>, command: Option<Arc<str>>, [count, _, cpu, wait]: Tally, span: Span) -> FaultRow {
    FaultRow {
        at: span.at,
        span_ns: span.span_ns,
        kind: KINDS[kind],
        device: None,
        user,
        command,
        bucket_ns: None,
        count,
        cpu_ns: (kind < CLOCKED).then_some(cpu),
        wait_ns: (kind < CLOCKED).then_some(wait),
    }
}
