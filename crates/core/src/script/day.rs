//! Reads and prints the rates of arrivals over the day: `"09:00" = "30/h"`.

use crate::arrivals::DayRate;
use crate::notation::mistakes::SyntaxMistake;
use crate::notation::rates::number_and_period;
use crate::notation::table::{KeyDescription, KeyedTable, PlacedText, string};

const ARRIVALS: KeyDescription =
    KeyDescription { key: "arrivals", value: "a table of rates", example: "[arrivals] \"09:00\" = \"30/h\"" };
const RATE: KeyDescription = KeyDescription { key: "arrivals", value: "each rate as a string", example: "\"09:00\" = \"30/h\"" };

/// Bounds of a rate over 0, in arrivals an hour: one in 40 days, and a million a second.
const LEAST_PER_HOUR: f64 = 0.001;
const MOST_PER_HOUR: f64 = 3.6e9;

/// The rates of a script, in the order of the day; empty if it has none.
pub(super) fn day_rates(script: &KeyedTable<'_>) -> Result<Vec<DayRate>, SyntaxMistake> {
    let Some(table) = script.table(ARRIVALS)? else { return Ok(Vec::new()) };
    let mut rates = Vec::new();
    for (key, value) in table.in_order() {
        let (time, at) = (key.get_ref().as_ref(), key.span().start);
        let minute = minute(time).ok_or_else(|| {
            SyntaxMistake::new(at, format!("{time:?} is no time of the day: write hours and minutes, as in \"09:00\" = \"30/h\""))
        })?;
        let rate = string(table.text, value).ok_or_else(|| RATE.wrong(value))?;
        rates.push(DayRate { minute, per_hour: per_hour(&rate)? });
    }
    if !rates.iter().any(|rate| rate.per_hour > 0.0) {
        let message = "nobody ever arrives: give a time of the day a rate over 0, as in \"09:00\" = \"30/h\"";
        return Err(SyntaxMistake::new(script.key_at("arrivals"), message));
    }
    rates.sort_by_key(|rate| rate.minute);
    Ok(rates)
}

/// The minute of a time such as `09:30`; `None` for other texts.
pub(super) fn minute(time: &str) -> Option<u32> {
    let bytes = time.as_bytes();
    let is_time = bytes.len() == 5 && bytes[2] == b':' && [0, 1, 3, 4].iter().all(|place| bytes[*place].is_ascii_digit());
    let (hour, minute) = is_time.then(|| (time[..2].parse::<u32>().ok(), time[3..].parse::<u32>().ok()))?;
    hour.zip(minute).filter(|(hour, minute)| *hour < 24 && *minute < 60).map(|(hour, minute)| 60 * hour + minute)
}

/// The time of a minute, such as `09:30`.
pub fn print_minute(minute: u32) -> String {
    format!("{:02}:{:02}", minute / 60, minute % 60)
}

fn per_hour(text: &PlacedText<'_>) -> Result<f64, SyntaxMistake> {
    let Some((number, seconds)) = number_and_period(text.value) else {
        let message = format!("{:?} is not a rate: write it as in \"09:00\" = \"30/h\", with /s, /min or /h", text.value);
        return Err(text.wrong_whole(message));
    };
    let per_hour = number * (3600.0 / seconds);
    if per_hour == 0.0 || (LEAST_PER_HOUR..=MOST_PER_HOUR).contains(&per_hour) {
        return Ok(per_hour);
    }
    Err(text.wrong_whole("users arrive at a rate of 0, or from 0.001/h to 1000000/s"))
}
