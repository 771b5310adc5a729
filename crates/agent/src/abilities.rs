//! The abilities of the host that this runs on: what `loadgo doctor` shows of it, here and elsewhere.

use crate::message::Ability;
use loadgo_host::doctor::{self, Answer, State};
use loadgo_meters::available::{MeterAvailability, MeterQuality, host_meters};
use loadgo_transfer_meters::sockets;

/// Tries every ability and every meter of this host; takes about a tenth of a second and leaves nothing behind.
pub fn host_abilities() -> Vec<Ability> {
    let (answers, mut meters) = (doctor::probe(), host_meters());
    meters.push(sockets::availability());
    answers.iter().map(of_answer).chain(meters.iter().map(of_meter)).collect()
}

fn of_meter(meter: &MeterAvailability) -> Ability {
    let (state, how, why_not) = match &meter.quality {
        MeterQuality::Exact if meter.meter.is_only_exact() => ("exact", "every event, with the exact meters", ""),
        MeterQuality::Exact => ("exact", "every event", ""),
        MeterQuality::Estimated(how) => ("estimated", how.as_str(), ""),
        MeterQuality::Absent(why) => ("absent", "", why.as_str()),
    };
    let remedy = ""; // it is part of `why_not`
    ability([&format!("meter: {}", meter.meter.name()), state, how, why_not, remedy])
}

fn of_answer(answer: &Answer) -> Ability {
    let state = match answer.state {
        State::Exact => "exact",
        State::Estimated => "estimated",
        State::Absent => "absent",
    };
    ability([answer.ability, state, &answer.how, &answer.why_not, &answer.remedy])
}

fn ability(values: [&str; 5]) -> Ability {
    let [ability, state, how, why_not, remedy] = values.map(str::to_owned);
    Ability { ability, state, how, why_not, remedy }
}
