//! How spans, shares and bytes are written in the reports of a few lines.

/// A span with three digits and a unit: `4.50 ms`.
pub(super) fn span(ns: u64) -> String {
    let (value, unit) = match ns {
        0 => return "0".into(),
        1..1_000 => return format!("{ns} ns"),
        1_000..1_000_000 => (ns as f64 / 1e3, "µs"),
        1_000_000..1_000_000_000 => (ns as f64 / 1e6, "ms"),
        _ => (ns as f64 / 1e9, "s"),
    };
    let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.digits$} {unit}")
}

/// A share in per cent; `–` of nothing.
pub(super) fn share(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.1} %", 100.0 * part / whole) } else { "–".into() }
}

/// A size in decimal units: `24.3 MB`.
pub(super) fn bytes(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.2} GB", bytes as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_their_unit() {
        let spans = [0, 12, 1_234, 45_678, 4_500_000, 123_456_789, 9_996_000_000];
        assert_eq!(spans.map(span), ["0", "12 ns", "1.23 µs", "45.7 µs", "4.50 ms", "123 ms", "10.0 s"]);
        assert_eq!((share(1.0, 8.0), share(1.0, 0.0), bytes(24_300_000)), ("12.5 %".into(), "–".into(), "24.3 MB".into()));
    }
}
