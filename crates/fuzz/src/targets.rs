//! The list of all targets.

mod cuts;
mod frames;
mod marks;
mod records;
mod streams;
mod texts;

/// A reader under test.
#[derive(Debug)]
pub struct Target {
    /// The name of the target and of its corpus.
    pub name: &'static str,
    /// Feeds an input; panics if the reader breaks a law.
    pub feed: fn(&[u8]),
}

/// All targets.
pub const ALL_TARGETS: [Target; 7] = [
    Target { name: "script", feed: texts::feed_script },
    Target { name: "machine", feed: texts::feed_machine },
    Target { name: "cast", feed: texts::feed_cast },
    Target { name: "stream", feed: streams::feed_stream },
    Target { name: "ready", feed: marks::feed_marks },
    Target { name: "transfer", feed: records::feed_transfer },
    Target { name: "agent", feed: frames::feed_frames },
];
