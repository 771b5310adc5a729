//! A solver for small Markov chains in continuous time: the states that can be reached, and how long the chain is in each.

use std::collections::HashMap;
use std::hash::Hash;

/// A chain: for each state, where it goes and at which rate.
pub struct Chain<S> {
    states: Vec<S>,
    /// For each state, whence it is entered: (from, rate).
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

    /// The part of the time that it is in each state, by Gauss and Seidel's iteration until nothing moves by more than 1e-13.
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
