//! What the two ends say to each other, and how they find each other for the data.

pub mod control;
pub mod meeting;
pub mod wire;
