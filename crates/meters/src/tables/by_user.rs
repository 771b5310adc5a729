//! Makes rows of system calls and faults by user and command.

use crate::part::{Context, MeterPart, RecordSpan};
use crate::programs::names::call_names;
use crate::refusal::MeterRefusal;
use crate::tables::faults::{CLOCKED_KINDS_COUNT, FAULT_KINDS};
use crate::tables::who::{CountKey, FAULT_EVENT_INDEX, KeyTotals, UserCommandTable};
use crate::wanted::{MeterRequest, Tier};
use loadgo_core::record::{FaultRow, LostRow, MeterRows, PrimitiveRow};
use loadgo_core::system::UserId;
use std::sync::Arc;

/// The sums by user and command, with the names for their rows.
pub(crate) struct ByUser {
    who: UserCommandTable,
    names: Vec<Arc<str>>,
    commands: Vec<Arc<str>>,
}

impl ByUser {
    /// Begins the part; None outside of the exact tier.
    pub fn begin(context: &mut Context, wanted: &MeterRequest) -> Result<Option<Box<dyn MeterPart>>, MeterRefusal> {
        if wanted.tier != Tier::Exact {
            return Ok(None);
        }
        Ok(Some(Box::new(ByUser {
            who: UserCommandTable::begin(&mut context.loaded)?,
            names: call_names(),
            commands: wanted.commands.clone(),
        })))
    }

    fn command_of(&self, key: CountKey) -> Option<Arc<str>> {
        usize::from(key.command).checked_sub(1).and_then(|index| self.commands.get(index)).cloned()
    }
}

impl MeterPart for ByUser {
    fn rows(&mut self, context: &mut Context, span: RecordSpan, sample: &mut MeterRows) -> Result<(), MeterRefusal> {
        for (key, totals) in self.who.increases()? {
            let (user, command) = (context.user_of(key.slot), self.command_of(key));
            if user.is_none() && command.is_none() {
                continue; // of a child process that leads no session
            }
            match key.event.checked_sub(FAULT_EVENT_INDEX) {
                None => sample.primitives.push(call_row(&self.names[usize::from(key.event)], user, command, totals, span)),
                Some(kind) => sample.faults.push(fault_row(usize::from(kind), user, command, totals, span)),
            }
        }
        Ok(())
    }

    fn take_lost(&mut self, _: &Context, span: RecordSpan) -> Vec<LostRow> {
        let reason = "more users, commands and primitives in a span than there is room for: only the sums of all users have them"
            .to_string();
        let lost = LostRow { at: span.at, user: None, what: "usage", count: self.who.take_lost(), reason };
        Vec::from_iter((lost.count > 0).then_some(lost))
    }
}

fn call_row(
    name: &Arc<str>,
    user: Option<UserId>,
    command: Option<Arc<str>>,
    [count, errors, time, wait]: KeyTotals,
    span: RecordSpan,
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

fn fault_row(
    kind: usize,
    user: Option<UserId>,
    command: Option<Arc<str>>,
    [count, _, cpu, wait]: KeyTotals,
    span: RecordSpan,
) -> FaultRow {
    FaultRow {
        at: span.at,
        span_ns: span.span_ns,
        kind: FAULT_KINDS[kind],
        device: None,
        user,
        command,
        bucket_ns: None,
        count,
        cpu_ns: (kind < CLOCKED_KINDS_COUNT).then_some(cpu),
        wait_ns: (kind < CLOCKED_KINDS_COUNT).then_some(wait),
    }
}
