//! A run put together: on this host (here) or on a simulated machine (`machine`); the driver, the host, the meters and the run folder put together.
//!
//! The driver has a thread to itself; a second thread samples the meters once a second, a third writes. The calling
//! thread waits, tells how the run stands, and may stop it. All that can fail at the start fails before anybody logs in.
//! Metering without a load (`meter`) is a run too, without users.

mod account;
mod asked;
mod beside;
mod commands;
mod conditions;
mod finished;
mod host;
mod machine;
mod meter;
mod metering;
mod progress;
mod refusal;
mod request;
mod sampling;
mod sections;
mod users;

pub use asked::Asked;
pub use finished::Finished;
pub use host::run;
pub use machine::{OnMachine, run_on_machine};
pub use meter::{HostMeter, Look, MeterOrder, Metered};
pub use metering::TierAsked;
pub use progress::Progress;
pub use refusal::Refusal;
pub use request::Request;
