//! The parts that an agent and its controller share: frames, requests and answers, and the records that come out of frames.
//!
//! The agent is the program `loadgo-agent` on the host that is measured. The controller is the loadgo that has started it over
//! ssh. They speak frames over the agent's standard streams, and nothing else: no port, no daemon, no file that both open.

pub mod abilities;
pub mod frame;
pub mod message;
pub mod received;
