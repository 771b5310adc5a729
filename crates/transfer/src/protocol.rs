//! The protocol of the two ends: their messages, and how they open a data connection.

pub mod control;
pub(crate) mod meeting;
pub mod wire;
