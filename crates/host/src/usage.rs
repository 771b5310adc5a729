//! Usage of users and processors: an interaction's account at each ready mark, and the host's once a second.
//!
//! `meter` meters users from the best of `sources`: control groups, taskstats (`taskstats`, `exits`), `/proc`. `sampler` and
//! `memory` make rows of the whole host. `reference_work` measures how fast its processors are. Finer meters of
//! waits implement `waits`.

mod by_user;
pub mod exits;
mod faults;
mod interval;
mod limit_costs;
mod living;
pub mod memory;
pub mod meter;
pub mod proc;
pub mod reference_work;
pub mod sampler;
pub mod sources;
pub mod split;
pub mod taskstats;
pub mod waits;
pub mod working_sets;
