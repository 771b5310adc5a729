//! The keys of scripts and of their lines, groups and choices, each with the kind of its value.

use super::signs::{SCREEN_COLUMNS, SCREEN_ROWS};
use crate::notation::shape::{
    FileShape, KeyRule, KeyShape, MapShape, NumberRange, PLAIN_NAME, TableShape, ValueShape, key, needed,
};

/// The shape of a script.
pub const SCRIPT_SHAPE: FileShape = FileShape {
    root: &SCRIPT_TABLE_SHAPE,
    parts: &[
        ("entry", ValueShape::Any(&[LINE_TEXT, table(&LINE), table(&KEYS), table(&GROUP), table(&CHOICE)])),
        (
            "alternative",
            ValueShape::Any(&[
                LINE_TEXT,
                table(&WEIGHTED_LINE),
                table(&WEIGHTED_KEYS),
                table(&WEIGHTED_GROUP),
                table(&WEIGHTED_CHOICE),
            ]),
        ),
    ],
    like: None,
};

const LINE_TEXT: ValueShape = ValueShape::Text("typed line");
const NAME_TEXT: ValueShape = ValueShape::Text("name");
const COMMAND_TEXT: ValueShape = ValueShape::Text("command");
const EXIT_STATUS: ValueShape = ValueShape::Whole(0, 255);
const TIMES: ValueShape = ValueShape::Whole(1, (1 << 32) - 1);
const ENTRIES: ValueShape = ValueShape::List(&ValueShape::Part("entry"), 1);

const THINK: KeyShape = key("think", ValueShape::Text("law of think times"));
const THINK_AFTER: KeyShape = key("think_after", ValueShape::Text("law of think times"));
const UNTIL: KeyShape = key("until", ValueShape::Text("regular expression"));
const SILENCE: KeyShape = key("silence", ValueShape::Text("positive time"));
const SETTLE: KeyShape = key("settle", ValueShape::Text("positive time"));
const SHOWS: KeyShape = key("shows", ValueShape::Text("regular expression"));
const CURSOR: KeyShape = key("cursor", ValueShape::Pair(&[ROW, COLUMN]));
const ROW: ValueShape = ValueShape::Whole(1, SCREEN_ROWS as i64);
const COLUMN: ValueShape = ValueShape::Whole(1, SCREEN_COLUMNS as i64);
const TIMEOUT: KeyShape = key("timeout", ValueShape::Text("positive time"));
const STATUS: KeyShape = key("status", ValueShape::Any(&[EXIT_STATUS, ValueShape::List(&EXIT_STATUS, 1)]));
const REPEAT: KeyShape = key("repeat", TIMES);
const WEIGHT_VALUE: ValueShape = ValueShape::Number(NumberRange { least: 0.0, above_least: false, most: LARGEST_WEIGHT });
const THEN: KeyShape = key("then", ValueShape::Map(&MapShape { names: PLAIN_NAME, value: WEIGHT_VALUE, fewest: 1 }));
const WEIGHT: KeyShape = key("weight", WEIGHT_VALUE);

const READY_RULES: &[KeyRule] = &[KeyRule::AtMostOne(&["until", "silence"])];

/// Largest weight of an alternative.
pub(super) const LARGEST_WEIGHT: f64 = 1e9;
/// Names of variables of the environment.
const VARIABLE_NAME: &str = "^[A-Za-z_][A-Za-z0-9_]*$";
/// Times of the day.
const DAY_TIME: &str = "^([01][0-9]|2[0-3]):[0-5][0-9]$";
/// Names of lists of words.
const LIST_NAME: &str = "^[A-Za-z_][A-Za-z0-9_-]*$";
/// Paths inside a home: relative, without empty parts and without parts of dots.
const HOME_PATH: &str = r"^(?![~/])(?!.*/$)(?!.*//)(?!(.*/)?\.{1,2}(/|$))[^\x00-\x1f\x7f-\x9f]{1,1024}$";

/// The keys of a script.
pub(super) const SCRIPT_TABLE_SHAPE: TableShape = TableShape {
    keys: &[
        key("name", NAME_TEXT),
        key("login", COMMAND_TEXT),
        key("logout", COMMAND_TEXT),
        key("passes", TIMES),
        THINK,
        key("typing", ValueShape::Text("typing rate")),
        key("needs", ValueShape::List(&ValueShape::Text("program"), 0)),
        TIMEOUT,
        UNTIL,
        SILENCE,
        SETTLE,
        STATUS,
        key("files", ValueShape::Map(&MapShape { names: HOME_PATH, value: ValueShape::Text("text"), fewest: 0 })),
        key("env", ValueShape::Map(&MapShape { names: VARIABLE_NAME, value: ValueShape::Text("value"), fewest: 0 })),
        key("beside", ValueShape::Map(&MapShape { names: VARIABLE_NAME, value: COMMAND_TEXT, fewest: 0 })),
        key("arrivals", ValueShape::Map(&MapShape { names: DAY_TIME, value: ValueShape::Text("rate of arrivals"), fewest: 1 })),
        key("words", ValueShape::Map(&MapShape { names: LIST_NAME, value: WORD_LIST, fewest: 0 })),
        needed("lines", ENTRIES),
    ],
    rules: READY_RULES,
};

const WORD_LIST: ValueShape = ValueShape::List(&ValueShape::Text("word"), 1);

/// The keys of a line, of keys, of a group and of a choice inside a choice. `then` and a weight are the last.
pub(super) const WEIGHTED_LINE: TableShape = TableShape {
    keys: &[
        needed("type", LINE_TEXT),
        key("as", NAME_TEXT),
        THINK,
        THINK_AFTER,
        UNTIL,
        SILENCE,
        SETTLE,
        SHOWS,
        CURSOR,
        TIMEOUT,
        STATUS,
        REPEAT,
        THEN,
        WEIGHT,
    ],
    rules: READY_RULES,
};
/// The keys of a line of typed keys inside a choice.
pub(super) const WEIGHTED_KEYS: TableShape = TableShape {
    keys: &[
        needed("keys", ValueShape::Text("typed keys")),
        key("as", NAME_TEXT),
        THINK,
        THINK_AFTER,
        UNTIL,
        SILENCE,
        SETTLE,
        SHOWS,
        CURSOR,
        TIMEOUT,
        STATUS,
        REPEAT,
        THEN,
        WEIGHT,
    ],
    rules: READY_RULES,
};
/// The keys of a group of lines inside a choice.
pub(super) const WEIGHTED_GROUP: TableShape = TableShape {
    keys: &[needed("lines", ENTRIES), THINK, THINK_AFTER, UNTIL, SILENCE, SETTLE, TIMEOUT, STATUS, REPEAT, THEN, WEIGHT],
    rules: READY_RULES,
};
/// The keys of a choice inside a choice.
pub(super) const WEIGHTED_CHOICE: TableShape = TableShape {
    keys: &[
        needed("choose", ValueShape::List(&ValueShape::Part("alternative"), 1)),
        THINK,
        THINK_AFTER,
        UNTIL,
        SILENCE,
        SETTLE,
        TIMEOUT,
        STATUS,
        REPEAT,
        THEN,
        WEIGHT,
    ],
    rules: READY_RULES,
};

const LINE: TableShape = outside_choice(&WEIGHTED_LINE);
const KEYS: TableShape = outside_choice(&WEIGHTED_KEYS);
const GROUP: TableShape = outside_choice(&WEIGHTED_GROUP);
const CHOICE: TableShape = outside_choice(&WEIGHTED_CHOICE);

/// The shape without its last two keys, `then` and the weight, which have a meaning only inside a choice.
const fn outside_choice(shape: &TableShape) -> TableShape {
    TableShape { keys: shape.keys.split_at(shape.keys.len() - 2).0, rules: shape.rules }
}

const fn table(shape: &'static TableShape) -> ValueShape {
    ValueShape::Table(shape)
}
