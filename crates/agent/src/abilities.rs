//! The abilities of the host that this runs on: what `loadgo doctor` shows of it, here and elsewhere.

use crate::message::Ability;
use loadgo_host::doctor::{self, Answer, State};
use loadgo_meters::MeterRefusal;
use loadgo_meters::available::{MeterAvailability, MeterQuality, host_meters};
use loadgo_transfer_meters::sockets;

/// Tries every ability and every meter of this host; takes about a tenth of a second and leaves nothing behind.
pub fn host_abilities() -> Vec<Ability> {
    let (answers, mut meters) = (doctor::probe(), host_meters());
    meters.extend([sockets::availability(), loadgo_observation::availability()]);
    answers.iter().map(of_answer).chain(meters.iter().map(of_meter)).collect()
}

fn of_meter(meter: &MeterAvailability) -> Ability {
    let (state, how, refusal) = match &meter.quality {
        MeterQuality::Exact if meter.meter.is_only_exact() => ("exact", "every event, with the exact meters", None),
        MeterQuality::Exact => ("exact", "every event", None),
        MeterQuality::Estimated { how, why_not } => ("estimated", how.as_str(), why_not.as_ref()),
        MeterQuality::Absent(refusal) => ("absent", "", Some(refusal)),
    };
    let why_not = refusal.map_or_else(String::new, MeterRefusal::why_not);
    let remedy = refusal.map_or("", MeterRefusal::remedy);
    ability([&format!("meter: {}", meter.meter.name()), state, how, &why_not, remedy])
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

#[cfg(test)]
mod tests {
    use super::*;
    use loadgo_meters::Meter;

    #[test]
    fn an_absent_meter_has_its_reason_and_its_remedy_apart() {
        let refusal = MeterRefusal::new("it takes root").with_remedy("sudo loadgo …");
        let found = of_meter(&MeterAvailability { meter: Meter::Queue, quality: MeterQuality::Absent(refusal.clone()) });
        assert_eq!((found.why_not.as_str(), found.remedy.as_str()), ("it takes root", "sudo loadgo …"));
        let quality = MeterQuality::estimated_since("a command of yours: yes", refusal);
        let found = of_meter(&MeterAvailability { meter: Meter::ClockProfile, quality });
        assert_eq!((found.how.as_str(), found.why_not.as_str()), ("a command of yours: yes", "it takes root"));
        assert_eq!(found.remedy, "sudo loadgo …");
    }
}
