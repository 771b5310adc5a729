//! A whole run: the driver, its system (this host or a simulated machine), the meters and the run folder.
//!
//! `host` runs a script on this host, `machine` on a simulated machine, and `meter` meters this host without users. The driver
//! has a thread to itself; a second thread samples the meters once a second, a third writes. The calling thread waits, reports
//! the progress, and may stop the run. Whatever can fail at the start fails before the first log-in.

mod beside;
mod clock;
mod commands;
mod conditions;
mod driver;
mod finished;
mod following;
mod host;
mod load_order;
mod machine;
mod meter;
mod metering;
mod progress;
mod refusal;
mod request;
mod run_spec;
mod run_toml;
mod running;
mod sampling;
mod sections;
mod span_end;
mod told_lines;
mod users;

pub use conditions::driven_from_here;
pub use finished::Finished;
pub use host::{begin_folder, run};
pub use load_order::{LoadOrder, WrongOrder};
pub use loadgo_host::terminals::orders::{ControllerTerms, DriverOrder, DriverOrders, GivenUp};
pub use machine::{OnMachine, run_on_machine};
pub use meter::{HostMeter, MeterOrder, MeteringProgress, MeteringResult};
pub use metering::{NamedTier, TierAsked};
pub use progress::{Decision, Progress};
pub use refusal::{Failure, RunRefusal};
pub use request::{OtherHost, Request, UsersOfHost};
pub use run_spec::RunSpec;
pub use told_lines::ToldLines;
