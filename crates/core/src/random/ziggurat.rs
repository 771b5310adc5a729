//! The exponential law by a ziggurat of 256 layers. Of 100 draws, 98 take one random number, one product and one comparison.
//!
//! The area under e^-x is cut into layers of equal area; a point in a layer is nearly always under the curve. Source: Marsaglia
//! and Tsang, "The ziggurat method for generating random variables", Journal of Statistical Software 5(8), 2000. The tables are
//! computed by libm, so they have the same bits on every host.

use rand_core::Rng;
use std::sync::LazyLock;

const LAYERS: usize = 256;
/// The quantile at which the lowest layer's tail begins. It follows from the number of layers.
const TAIL_QUANTILE: f64 = 7.697_117_470_131_487;
/// The area of each layer under the curve, which is a probability. It follows from the number of layers.
const LAYER_PROBABILITY: f64 = 0.003_949_659_822_581_557;

static LAYER_TABLES: LazyLock<ZigguratLayers> = LazyLock::new(ZigguratLayers::new);

/// The right edges of the layers, from the lowest up, and the height of the curve at each.
struct ZigguratLayers {
    edge: [f64; LAYERS + 1],
    curve: [f64; LAYERS + 1],
}

impl ZigguratLayers {
    fn new() -> ZigguratLayers {
        let mut edge = [0.0; LAYERS + 1];
        edge[0] = LAYER_PROBABILITY * libm::exp(TAIL_QUANTILE);
        edge[1] = TAIL_QUANTILE;
        for layer in 1..LAYERS - 1 {
            edge[layer + 1] = -libm::log(LAYER_PROBABILITY / edge[layer] + libm::exp(-edge[layer]));
        }
        ZigguratLayers { edge, curve: edge.map(|x| libm::exp(-x)) }
    }
}

/// A number drawn from the exponential law with mean 1.
#[inline]
pub fn exponential(random: &mut impl Rng) -> f64 {
    let layers = &*LAYER_TABLES;
    let bits = random.next_u64();
    let layer = (bits & 0xff) as usize;
    let x = unit(bits) * layers.edge[layer];
    if x < layers.edge[layer + 1] {
        return x;
    }
    draw_at_edge(random, layers, layer, x)
}

/// Finishes a draw whose point may be above the curve, or is in the tail.
#[cold]
fn draw_at_edge(random: &mut impl Rng, layers: &ZigguratLayers, layer: usize, x: f64) -> f64 {
    if layer == 0 {
        return TAIL_QUANTILE - libm::log1p(-unit(random.next_u64()));
    }
    let (low, high) = (layers.curve[layer], layers.curve[layer + 1]);
    if low + (high - low) * unit(random.next_u64()) < libm::exp(-x) {
        return x;
    }
    exponential(random)
}

fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::{LAYER_PROBABILITY, LAYER_TABLES, LAYERS, exponential};
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn the_layers_have_equal_areas_and_the_last_ends_at_the_top() {
        let layers = &*LAYER_TABLES;
        for layer in 1..LAYERS - 1 {
            let area = layers.edge[layer] * (layers.curve[layer + 1] - layers.curve[layer]);
            assert!((area / LAYER_PROBABILITY - 1.0).abs() < 1e-9, "layer {layer}: {area}");
        }
        let last = layers.edge[LAYERS - 1] * (1.0 - layers.curve[LAYERS - 1]);
        assert!((last / LAYER_PROBABILITY - 1.0).abs() < 1e-6, "{last}");
    }

    #[test]
    fn draws_follow_the_exponential_law() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let draws = 4_000_000;
        let mut over = [0u64; 16];
        let mut sum = 0.0;
        for _ in 0..draws {
            let x = exponential(&mut random);
            sum += x;
            (0..over.len()).filter(|tail| x > *tail as f64).for_each(|tail| over[tail] += 1);
        }
        let z = (sum / f64::from(draws) - 1.0) * f64::from(draws).sqrt();
        assert!(z.abs() < 4.0, "mean: z = {z}");
        for (tail, count) in over.iter().enumerate().skip(1).take(11) {
            let expected = f64::from(draws) * (-(tail as f64)).exp();
            let z = (*count as f64 - expected) / expected.sqrt();
            assert!(z.abs() < 4.0, "beyond {tail}: {count}, expected {expected}");
        }
    }
}
