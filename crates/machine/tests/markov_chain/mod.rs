//! A solver for small Markov chains in continuous time: the reachable states, and the share of time in each.

use std::collections::HashMap;
use std::hash::Hash;

/// A chain, as the states and the rates between them.
pub struct Chain<S> {
    states: Vec<S>,
    /// For each state, the states from which it is entered, with the rates.
    entered: Vec<Vec<(usize, f64)>>,
    /// For each state, the rate at which it is left.
    left: Vec<f64>,
}

impl<S: Copy + Eq + Hash> Chain<S> {
    /// The chain of all states that can be reached from `start`.
    pub fn reached(start: S, moves: impl Fn(S) -> Vec<(S, f64)>) -> Chain<S> {
        let mut chain = Chain { states: vec![start], entered: vec![Vec::new()], left: Vec::new() };
        let mut number = HashMap::from([(start, 0)]);
        while chain.left.len() < chain.states.len() {
            let from = chain.left.len();
            let mut rates = 0.0;
            for (state, rate) in moves(chain.states[from]).into_iter().filter(|(_, rate)| *rate > 0.0) {
                let to = *number.entry(state).or_insert_with(|| {
                    chain.states.push(state);
                    chain.entered.push(Vec::new());
                    chain.states.len() - 1
                });
                chain.entered[to].push((from, rate));
                rates += rate;
            }
            chain.left.push(rates);
        }
        chain
    }

    /// The share of time in each state, by Gauss-Seidel iteration until no share changes by more than 1e-13.
    pub fn balance(&self) -> Vec<(S, f64)> {
        let mut parts = vec![1.0 / self.states.len() as f64; self.states.len()];
        loop {
            let mut moved: f64 = 0.0;
            for state in 0..parts.len() {
                let inflow: f64 = self.entered[state].iter().map(|(from, rate)| parts[*from] * rate).sum();
                let part = inflow / self.left[state];
                moved = moved.max((part - parts[state]).abs());
                parts[state] = part;
            }
            let sum: f64 = parts.iter().sum();
            parts.iter_mut().for_each(|part| *part /= sum);
            if moved < 1e-13 {
                return self.states.iter().copied().zip(parts).collect();
            }
        }
    }
}
