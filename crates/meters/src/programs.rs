//! The kernel programs of the meters: which run where (`hooks`), how they are brought into the kernel (`load`), and the memory
//! that they share with us (`layout`).

pub(crate) mod addresses;
pub(crate) mod hooks;
pub(crate) mod layout;
pub(crate) mod load;
pub(crate) mod map_sizes;
pub(crate) mod names;
mod swap_counters;
