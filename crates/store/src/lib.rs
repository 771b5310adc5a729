//! The run folder: append, read back, follow while it grows.
