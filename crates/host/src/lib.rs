//! A live Linux host as the system under test.
