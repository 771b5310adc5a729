//! The atomics of the ring; its model check (`tests/ring_model.rs`) puts loom's in their place.

pub(super) use std::sync::Arc;
pub(super) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
