//! Writes the shape of a file as a JSON Schema of Draft 4, which is what editors of TOML know.
//!
//! A file that is like another one may leave keys out and address entries of lists by their name or index. So its schema
//! has two forms: that of a whole file, and that of a change to one.

use super::shape::{ChoiceShape, FileShape, KeyRule, KeyShape, MapShape, NumberRange, OptionShape, ValueShape};

/// Whether a table stands for itself or changes another one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Whole,
    Change,
}

/// The JSON Schema of a file, as JSON text.
pub fn json_schema(file: &FileShape, title: &str, description: &str) -> String {
    let forms: &[Form] = if file.like.is_some() { &[Form::Whole, Form::Change] } else { &[Form::Whole] };
    let mut members = vec![
        ("$schema", quoted("http://json-schema.org/draft-04/schema#")),
        ("title", quoted(title)),
        ("description", quoted(description)),
    ];
    let parts = forms.iter().flat_map(|form| file.parts.iter().map(|(name, part)| (part_name(name, *form), value(part, *form))));
    let definitions: Vec<(String, String)> = parts.collect();
    if !definitions.is_empty() {
        members.push(("definitions", object(definitions.iter().map(|(name, text)| (name.as_str(), text.clone())))));
    }
    match file.like {
        None => members.extend(table(file.root.keys, file.root.rules, Form::Whole)),
        Some(like) => {
            let mut change = table(file.root.keys, file.root.rules, Form::Change);
            change.push(("required", list([quoted(like)])));
            let whole = object(table(file.root.keys, file.root.rules, Form::Whole));
            members.push(("anyOf", list([whole, object(change)])));
        }
    }
    object(members)
}

fn part_name(name: &str, form: Form) -> String {
    if form == Form::Whole { name.into() } else { format!("changed-{name}") }
}

fn value(shape: &ValueShape, form: Form) -> String {
    match shape {
        ValueShape::Text(notation) => object([("type", quoted("string")), ("format", quoted(notation))]),
        ValueShape::OneOf(names) => object([("enum", list(names.iter().map(|name| quoted(name))))]),
        ValueShape::Whole(least, most) => {
            object([("type", quoted("integer")), ("minimum", least.to_string()), ("maximum", most.to_string())])
        }
        ValueShape::Number(range) => number(range),
        ValueShape::Flag => object([("type", quoted("boolean"))]),
        ValueShape::List(item, fewest) => items(item, *fewest, form),
        ValueShape::Pair(values) => object([
            ("type", quoted("array")),
            ("items", list(values.iter().map(|item| value(item, form)))),
            ("minItems", "2".into()),
            ("maxItems", "2".into()),
        ]),
        ValueShape::Map(map) => object(map_members(map, form)),
        ValueShape::Table(shape) => object(table(shape.keys, shape.rules, form)),
        ValueShape::Chosen(choice) => any_of(choice_tables(choice, form)),
        ValueShape::Any(shapes) => any_of(shapes.iter().map(|shape| value(shape, form))),
        ValueShape::Part(name) => object([("$ref", quoted(&format!("#/definitions/{}", part_name(name, form))))]),
    }
}

fn number(range: &NumberRange) -> String {
    let mut members = vec![("type", quoted("number")), ("minimum", format!("{:?}", range.least))];
    if range.above_least {
        members.push(("exclusiveMinimum", "true".into()));
    }
    members.push(("maximum", format!("{:?}", range.most)));
    object(members)
}

/// A list; in a change also a table, whose keys are the names or indices of entries of the other file's list.
fn items(item: &ValueShape, fewest: usize, form: Form) -> String {
    let item = value(item, form);
    let whole = object([("type", quoted("array")), ("items", item.clone()), ("minItems", fewest.to_string())]);
    match form {
        Form::Whole => whole,
        Form::Change => any_of([whole, object([("type", quoted("object")), ("additionalProperties", item)])]),
    }
}

fn map_members(map: &MapShape, form: Form) -> Vec<(&'static str, String)> {
    let fewest = if form == Form::Whole { map.fewest } else { 0 };
    let entry = value(&map.value, form);
    let mut members = vec![("type", quoted("object")), ("minProperties", fewest.to_string())];
    if map.names.is_empty() {
        members.push(("additionalProperties", entry));
    } else {
        members.push(("additionalProperties", "false".into()));
        members.push(("patternProperties", object([(map.names, entry)])));
    }
    members
}

fn table(keys: &[KeyShape], rules: &[KeyRule], form: Form) -> Vec<(&'static str, String)> {
    let mut members = vec![
        ("type", quoted("object")),
        ("additionalProperties", "false".into()),
        ("properties", object(keys.iter().map(|shape| (shape.key, value(&shape.value, form))))),
    ];
    let needed: Vec<_> = keys.iter().filter(|shape| shape.needed && form == Form::Whole).map(|shape| shape.key).collect();
    if !needed.is_empty() {
        members.push(("required", list(needed.into_iter().map(quoted))));
    }
    let rules: Vec<_> = rules.iter().filter_map(|rule| key_rule(rule, form)).collect();
    if !rules.is_empty() {
        members.push(("allOf", list(rules)));
    }
    members
}

fn key_rule(rule: &KeyRule, form: Form) -> Option<String> {
    let has = |keys: &[&str]| object([("required", list(keys.iter().map(|key| quoted(key))))]);
    match rule {
        KeyRule::ExactlyOne(keys) if form == Form::Whole => Some(object([("oneOf", list(keys.iter().map(|key| has(&[key]))))])),
        KeyRule::AtMostOne(keys) | KeyRule::ExactlyOne(keys) => {
            let pairs = keys.iter().enumerate().flat_map(|(index, key)| keys[..index].iter().map(move |other| [*other, *key]));
            Some(object([("not", any_of(pairs.map(|pair| has(&pair))))]))
        }
        KeyRule::Together(first, second) if form == Form::Whole => {
            let both = [(*first, list([quoted(second)])), (*second, list([quoted(first)]))];
            Some(object([("dependencies", object(both))]))
        }
        KeyRule::Together(..) => None,
    }
}

/// The tables of all values of a deciding key, and of its absence.
fn choice_tables(choice: &ChoiceShape, form: Form) -> Vec<String> {
    let options = choice.options.iter().map(|option| option_table(choice, option, form));
    let without = (!choice.needed && form == Form::Whole).then(|| object(table(choice.shared, &[], form)));
    options.chain(without).collect()
}

fn option_table(choice: &ChoiceShape, option: &OptionShape, form: Form) -> String {
    let keys: Vec<KeyShape> = choice.shared.iter().chain(option.keys).copied().collect();
    let mut properties: Vec<_> = keys.iter().map(|shape| (shape.key, value(&shape.value, form))).collect();
    properties.push((choice.key, object([("enum", list([quoted(option.name)]))])));
    let mut members = table(&keys, option.rules, form);
    members.retain(|(name, _)| !["properties", "required"].contains(name));
    members.push(("properties", object(properties)));
    if form == Form::Whole {
        let needed = keys.iter().filter(|shape| shape.needed).map(|shape| shape.key).chain([choice.key]);
        members.push(("required", list(needed.map(quoted))));
    }
    object(members)
}

fn any_of(schemas: impl IntoIterator<Item = String>) -> String {
    object([("anyOf", list(schemas))])
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(","))
}

fn object<'a>(members: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let members: Vec<_> = members.into_iter().map(|(name, text)| format!("{}:{text}", quoted(name))).collect();
    format!("{{{}}}", members.join(","))
}

/// A string of JSON. Panics for a text with control characters, which no text of a schema has.
fn quoted(text: &str) -> String {
    assert!(!text.contains(char::is_control), "a text of a schema has no control characters: {text:?}");
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
