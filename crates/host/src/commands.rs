//! Single programs of this host: one command that is metered, and programs that run beside the users.

pub mod beside;
pub mod cold;
pub mod oneshot;
