//! What has been shown of sums that divide time, so that each span's parts add up to it exactly, and none shrinks.
//!
//! A reading is some microseconds later than the span's end, and idle time that was divided while it lasted may turn out to be
//! divided otherwise when it ends. What is too much now is taken from the largest part, and comes again in the next span.

/// By how much each part has grown, all together by exactly the span; what is missing is of the part `rest`.
pub(crate) fn grown<const N: usize>(now: &[u64; N], shown: &mut [u64; N], span_ns: u64, rest: usize) -> [u64; N] {
    let mut grown: [u64; N] = std::array::from_fn(|index| (now[index].wrapping_sub(shown[index]) as i64).max(0) as u64);
    let sum: u64 = grown.iter().sum();
    grown[rest] += span_ns.saturating_sub(sum);
    let mut excess = sum.saturating_sub(span_ns);
    while excess > 0 {
        let largest = grown.iter_mut().max().expect("time is divided into parts");
        let taken = excess.min(*largest);
        *largest -= taken;
        excess -= taken;
    }
    for (shown, grown) in shown.iter_mut().zip(&grown) {
        *shown = shown.wrapping_add(*grown);
    }
    grown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_to_the_span_though_the_reading_is_late() {
        let mut shown = [0, 0, 0];
        assert_eq!(grown(&[0, 700, 350], &mut shown, 1000, 0), [0, 650, 350]);
        assert_eq!(shown, [0, 650, 350]);
    }

    #[test]
    fn what_was_too_much_comes_again_in_the_next_span() {
        assert_eq!(grown(&[0, 700, 1300], &mut [0, 650, 350], 1000, 0), [0, 50, 950]);
    }

    #[test]
    fn idle_that_is_divided_otherwise_when_it_ends_adds_up_all_the_same() {
        assert_eq!(grown(&[0, 900, 1100], &mut [0, 1000, 0], 1000, 0), [0, 0, 1000]);
    }

    #[test]
    fn what_a_processor_did_before_it_was_seen_is_the_rest() {
        assert_eq!(grown(&[0, 400, 0], &mut [0, 0, 0], 1000, 0), [600, 400, 0]);
    }
}
