//! Makes the parts of each span's time add up to the span exactly, without a negative part.
//!
//! A reading comes some microseconds after the span's end. Idle time that is divided while it lasts may be divided differently when
//! it ends. An excess is taken from the largest part, and counts in the next span.

/// Increases of the parts since the last call, whose values `shown` has. They add up to the span: missing time is added to the part
/// `rest_index`.
pub(crate) fn increases_of_span<const N: usize>(
    now: &[u64; N],
    shown: &mut [u64; N],
    span_ns: u64,
    rest_index: usize,
) -> [u64; N] {
    let mut increases: [u64; N] = std::array::from_fn(|index| (now[index].wrapping_sub(shown[index]) as i64).max(0) as u64);
    let sum: u64 = increases.iter().sum();
    increases[rest_index] += span_ns.saturating_sub(sum);
    let mut excess = sum.saturating_sub(span_ns);
    while excess > 0 {
        let largest = increases.iter_mut().max().expect("time is divided into parts");
        let taken = excess.min(*largest);
        *largest -= taken;
        excess -= taken;
    }
    for (shown, increase) in shown.iter_mut().zip(&increases) {
        *shown = shown.wrapping_add(*increase);
    }
    increases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_to_the_span_though_the_reading_is_late() {
        let mut shown = [0, 0, 0];
        assert_eq!(increases_of_span(&[0, 700, 350], &mut shown, 1000, 0), [0, 650, 350]);
        assert_eq!(shown, [0, 650, 350]);
    }

    #[test]
    fn an_excess_counts_in_the_next_span() {
        assert_eq!(increases_of_span(&[0, 700, 1300], &mut [0, 650, 350], 1000, 0), [0, 50, 950]);
    }

    #[test]
    fn idle_time_that_is_divided_differently_at_its_end_still_adds_up() {
        assert_eq!(increases_of_span(&[0, 900, 1100], &mut [0, 1000, 0], 1000, 0), [0, 0, 1000]);
    }

    #[test]
    fn missing_time_is_added_to_the_part_for_it() {
        assert_eq!(increases_of_span(&[0, 400, 0], &mut [0, 0, 0], 1000, 0), [600, 400, 0]);
    }
}
