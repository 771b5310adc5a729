//! The atomics of the ring. Its model check (`tests/ring_model.rs`) uses those of loom instead.

pub(super) use std::sync::Arc;
pub(super) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
