//! Shapes of tables in files: the keys that a parser knows, each with the kind of its value.
//!
//! A parser takes the names of its keys from here, and `json_schema` makes the file's JSON Schema of the same lists.

/// The largest whole number of keys whose values have 31 bits.
pub const MOST_31_BITS: i64 = (1 << 31) - 1;

/// The names that no control character and no blank name spoils, as a pattern.
pub const PLAIN_NAME: &str = r"^(?=.*\S)[^\x00-\x1f\x7f-\x9f]+$";

/// The kind of a value in a file.
#[derive(Clone, Copy, Debug)]
pub enum ValueShape {
    /// A string; the notation of its content, such as `law of times`.
    Text(&'static str),
    /// A string from this list.
    OneOf(&'static [&'static str]),
    /// A whole number, from the first number to the second.
    Whole(i64, i64),
    /// A number, whole or not.
    Number(NumberRange),
    /// `true` or `false`.
    Flag,
    /// A list of values, with the fewest number of them.
    List(&'static ValueShape, usize),
    /// A list of two values.
    Pair(&'static [ValueShape; 2]),
    /// A table whose keys are names that the file chooses.
    Map(&'static MapShape),
    /// A table with known keys.
    Table(&'static TableShape),
    /// A table in which the value of one key decides which other keys there are.
    Chosen(&'static ChoiceShape),
    /// Any of these.
    Any(&'static [ValueShape]),
    /// The part of the file's shape with this name.
    Part(&'static str),
}

/// The bounds of a number.
#[derive(Clone, Copy, Debug)]
pub struct NumberRange {
    /// The least number.
    pub least: f64,
    /// Whether `least` itself is refused.
    pub above_least: bool,
    /// The greatest number.
    pub most: f64,
}

/// A number of 0 or more.
pub const NOT_NEGATIVE: ValueShape = ValueShape::Number(NumberRange { least: 0.0, above_least: false, most: f64::MAX });
/// A number over 0.
pub const POSITIVE_NUMBER: ValueShape = ValueShape::Number(NumberRange { least: 0.0, above_least: true, most: f64::MAX });
/// Any number.
pub const ANY_NUMBER: ValueShape = ValueShape::Number(NumberRange { least: f64::MIN, above_least: false, most: f64::MAX });
/// A number from 0 to 1.
pub const SHARE_VALUE: ValueShape = ValueShape::Number(NumberRange { least: 0.0, above_least: false, most: 1.0 });

/// A key with the kind of its value.
#[derive(Clone, Copy, Debug)]
pub struct KeyShape {
    /// The key.
    pub key: &'static str,
    /// The kind of its value.
    pub value: ValueShape,
    /// Whether a table without the key is refused.
    pub needed: bool,
}

/// A key that may be left out.
pub const fn key(key: &'static str, value: ValueShape) -> KeyShape {
    KeyShape { key, value, needed: false }
}

/// A key that a table must have.
pub const fn needed(key: &'static str, value: ValueShape) -> KeyShape {
    KeyShape { key, value, needed: true }
}

/// A table whose keys are names that the file chooses.
#[derive(Clone, Copy, Debug)]
pub struct MapShape {
    /// A regular expression for the names; empty for any names.
    pub names: &'static str,
    /// The kind of each value.
    pub value: ValueShape,
    /// The fewest number of entries.
    pub fewest: usize,
}

/// A table with known keys.
#[derive(Clone, Copy, Debug)]
pub struct TableShape {
    /// The keys.
    pub keys: &'static [KeyShape],
    /// The keys that exclude or need each other.
    pub rules: &'static [KeyRule],
}

/// A rule for keys of one table.
#[derive(Clone, Copy, Debug)]
pub enum KeyRule {
    /// The keys exclude each other.
    AtMostOne(&'static [&'static str]),
    /// The table has exactly one of the keys.
    ExactlyOne(&'static [&'static str]),
    /// The table has both keys, or neither.
    Together(&'static str, &'static str),
}

/// A table in which the value of one key decides which other keys there are.
#[derive(Clone, Copy, Debug)]
pub struct ChoiceShape {
    /// The deciding key.
    pub key: &'static str,
    /// The keys that the table may have with any value, without the deciding key.
    pub shared: &'static [KeyShape],
    /// The values, each with its own keys.
    pub options: &'static [OptionShape],
    /// Whether a table without the deciding key is refused.
    pub needed: bool,
}

/// A value of a deciding key.
#[derive(Clone, Copy, Debug)]
pub struct OptionShape {
    /// The value.
    pub name: &'static str,
    /// The keys that the table may have with this value.
    pub keys: &'static [KeyShape],
    /// The rules for all keys of such a table.
    pub rules: &'static [KeyRule],
}

/// The shape of a file.
#[derive(Clone, Copy, Debug)]
pub struct FileShape {
    /// The file's table.
    pub root: &'static TableShape,
    /// The parts that are named in it, such as those that contain themselves.
    pub parts: &'static [(&'static str, ValueShape)],
    /// The key by which a file names another one that it changes; then most keys may be missing.
    pub like: Option<&'static str>,
}

/// The names of the keys.
pub fn key_names(keys: &[KeyShape]) -> Vec<&'static str> {
    keys.iter().map(|shape| shape.key).collect()
}
