//! Reads rates, such as `2/s`, `30/min` and `100/h`.

/// The number of a rate, and the seconds of its unit; `None` if the text is no rate.
pub fn number_and_period(text: &str) -> Option<(f64, f64)> {
    let (number, unit) = text.trim().split_once('/')?;
    let seconds = match unit.trim() {
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    number.trim().parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| (number, seconds))
}
