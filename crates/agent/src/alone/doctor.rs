//! `loadgo-agent doctor`: what can be measured on this host, and why not the rest.

use super::typed::Typed;
use loadgo_agent::abilities::host_abilities;
use loadgo_agent::message::Ability;
use std::ffi::OsString;
use std::io::{self, Write as _};

/// Prints the abilities.
///
/// # Errors
/// The command line is wrong, or the output is closed.
pub(super) fn run(words: Vec<OsString>) -> Result<u8, String> {
    let typed = Typed::read(words, &[], &["--full"])?;
    if !typed.command.is_empty() {
        return Err("doctor runs no command: write loadgo-agent doctor [--full]".into());
    }
    let report = report(&host_abilities(), typed.option("--full").is_some());
    io::stdout().write_all(report.as_bytes()).map_err(|error| format!("the report cannot be written: {error}"))?;
    Ok(0)
}

/// The abilities that are missing or estimated, each with its reason and remedy, and the names of the others; `full`, all of them.
fn report(abilities: &[Ability], full: bool) -> String {
    let (exact, estimated) = (count_of(abilities, "exact"), count_of(abilities, "estimated"));
    let in_part = if estimated > 0 { format!(", {estimated} in part") } else { String::new() };
    let mut lines = vec![format!("{exact} of {} abilities are here{in_part}", abilities.len())];
    for ability in abilities.iter().filter(|ability| full || ability.state != "exact") {
        let state = if ability.state == "absent" { "not here" } else { ability.state.as_str() };
        let how = if ability.how.is_empty() { String::new() } else { format!(", {}", ability.how) };
        lines.push(format!("{}: {state}{how}", ability.ability));
        lines.extend([("why", &ability.why_not), ("remedy", &ability.remedy)].into_iter().filter_map(line));
    }
    if !full {
        let exact: Vec<_> =
            abilities.iter().filter(|ability| ability.state == "exact").map(|ability| &*ability.ability).collect();
        lines.push(format!("exact: {}", exact.join("; ")));
    }
    lines.join("\n") + "\n"
}

fn count_of(abilities: &[Ability], state: &str) -> usize {
    abilities.iter().filter(|ability| ability.state == state).count()
}

fn line((name, text): (&str, &String)) -> Option<String> {
    (!text.is_empty()).then(|| format!("  {name}: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ability(name: &str, state: &str, how: &str, why_not: &str) -> Ability {
        let remedy = if why_not.is_empty() { "" } else { "as root" };
        Ability { ability: name.into(), state: state.into(), how: how.into(), why_not: why_not.into(), remedy: remedy.into() }
    }

    #[test]
    fn what_is_missing_has_its_reason_and_remedy_and_the_rest_its_names() {
        let abilities = [
            ability("terminals", "exact", "16384", ""),
            ability("waits", "estimated", "/proc", "no taskstats"),
            ability("meter: faults", "absent", "", "it takes root"),
        ];
        let short = "1 of 3 abilities are here, 1 in part\nwaits: estimated, /proc\n  why: no taskstats\n  remedy: as root\n\
            meter: faults: not here\n  why: it takes root\n  remedy: as root\nexact: terminals\n";
        assert_eq!(report(&abilities, false), short);
        assert!(report(&abilities, true).contains("\nterminals: exact, 16384\n"));
    }
}
