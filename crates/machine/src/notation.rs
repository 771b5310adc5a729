//! How single values of machine files are read and written: amounts, laws, and keys that decide about other keys.

pub(crate) mod choice;
pub(crate) mod law;
pub(crate) mod values;
pub(crate) mod written;
