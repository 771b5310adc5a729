//! The kernel programs of the meters: their hooks (`hooks`), how they are loaded (`load`, `interrupted_load`), and the memory that they share with the
//! reader (`layout`).

pub(crate) mod addresses;
pub mod bare;
pub(crate) mod hooks;
pub mod interrupted_load;
pub(crate) mod layout;
pub(crate) mod load;
pub(crate) mod map_sizes;
pub(crate) mod names;
mod swap_counters;
