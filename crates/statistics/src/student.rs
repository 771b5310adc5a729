//! Student's t distribution for whole degrees of freedom, by finite sums, and its quantiles, by bisection.

use libm::{atan, cos, sin, sqrt};
use std::f64::consts::PI;

/// The quantile of Student's t with `degrees` of freedom (1 or more) at the probability `p`, from 0.5 to below 1.
///
/// It bisects the closed sums of Abramowitz and Stegun 26.7.3 and 26.7.4 to the last bit, so each host computes the same bits.
pub fn quantile(p: f64, degrees: u32) -> f64 {
    assert!((0.5..1.0).contains(&p) && degrees >= 1, "a quantile of Student's t needs 0.5 <= p < 1 and a degree of freedom");
    let (mut low, mut high) = (0.0, 1.0);
    while within(high, degrees) < 2.0 * p - 1.0 {
        high *= 2.0;
    }
    for _ in 0..64 {
        let middle = (low + high) / 2.0;
        if within(middle, degrees) < 2.0 * p - 1.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

/// The probability that Student's t lies between `-t` and `t`.
fn within(t: f64, degrees: u32) -> f64 {
    let theta = atan(t / sqrt(f64::from(degrees)));
    let (cosine, sine) = (cos(theta), sin(theta));
    let odd = degrees % 2 == 1;
    let (mut term, mut sum) = (if odd { cosine } else { 1.0 }, 0.0);
    for k in (if odd { 1 } else { 0 }..degrees.saturating_sub(1)).step_by(2) {
        sum += term;
        term *= cosine * cosine * f64::from(k + 1) / f64::from(k + 2);
    }
    if odd { 2.0 / PI * (theta + sine * sum) } else { sine * sum }
}

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    fn quantiles_are_those_of_the_printed_tables() {
        let table = [(0.975, 1, 12.706), (0.975, 2, 4.303), (0.975, 9, 2.262), (0.95, 10, 1.812), (0.975, 29, 2.045)];
        let second_table = [(0.995, 29, 2.756), (0.975, 30, 2.042), (0.975, 120, 1.980), (0.995, 5, 4.032), (0.9, 3, 1.638)];
        for (p, degrees, t) in table.into_iter().chain(second_table) {
            assert!((quantile(p, degrees) - t).abs() < 0.0006, "p {p}, {degrees} degrees: {} for {t}", quantile(p, degrees));
        }
        assert!((quantile(0.975, 4000) - 1.960_551).abs() < 1e-5);
    }

    #[test]
    fn the_median_is_zero() {
        assert!(quantile(0.5, 7) < 1e-12);
    }
}
