//! Keys that decide which other keys their table may have: a discipline, a residence, a kind of store, a control.

use loadgo_core::notation::mistakes::{SyntaxMistake, list_names, nearest};
use loadgo_core::notation::shape::{ChoiceShape, OptionShape, key_names};
use loadgo_core::notation::table::{KeyDescription, KeyedTable, PlacedText};
use toml::de::DeTable;

/// A key whose value decides which other keys its table may have.
pub(crate) struct DecidingKey {
    /// The keys of such a table.
    pub shape: &'static ChoiceShape,
    /// The table of the key.
    pub table: &'static str,
    /// The kind of value, in words, such as `discipline`.
    pub noun: &'static str,
}

impl DecidingKey {
    /// The value in `table`, if it has the key.
    pub fn of<'a>(&self, table: &KeyedTable<'a>) -> Result<Option<&'static str>, SyntaxMistake> {
        let wanted = KeyDescription { key: self.shape.key, value: self.noun, example: self.shape.options[0].name };
        table.string(wanted)?.map(|name| self.option(&name)).transpose()
    }

    fn option(&self, name: &PlacedText<'_>) -> Result<&'static str, SyntaxMistake> {
        let names: Vec<_> = self.shape.options.iter().map(|option| option.name).collect();
        one_of(name, &names, self.noun)
    }

    /// Refuses keys that do not belong to the value `chosen`.
    pub fn only(&self, table: &KeyedTable<'_>, chosen: Option<&str>) -> Result<(), SyntaxMistake> {
        let known_keys = [vec![self.shape.key], key_names(self.shape.shared), self.keys(chosen)].concat();
        let fits = |key: &str| known_keys.contains(&key);
        let misplaced = table.in_order().into_iter().find(|(key, _)| !fits(key.get_ref()));
        let Some((key, _)) = misplaced else { return Ok(()) };
        let name = key.get_ref().as_ref();
        let others: Vec<_> = self.shape.options.iter().filter(|option| has(option, name)).map(|option| option.name).collect();
        let (at, word) = (key.span().start, self.shape.key);
        if !others.is_empty() {
            let others = list_names(&others).replace(" and ", " or ");
            let message = match chosen {
                Some(chosen) => format!("`{name}` has no meaning with {word} = \"{chosen}\": leave it out, or choose {others}"),
                None => format!("`{name}` needs a {word}, which is missing: add {word} = \"…\", {others}"),
            };
            return Err(SyntaxMistake::new(at, message));
        }
        table.only(&known_keys, &known_keys, self.table)
    }

    /// Whether a key of an older table stays under the value in a newer one.
    pub fn keeps(&self, newer: &DeTable<'_>, key: &str) -> bool {
        let Some(chosen) = newer.get(self.shape.key).and_then(|value| value.get_ref().as_str()) else { return true };
        let known = self.shape.options.iter().any(|option| option.name == chosen);
        let elsewhere = self.shape.options.iter().any(|option| has(option, key));
        !known || !elsewhere || self.keys(Some(chosen)).contains(&key)
    }

    fn keys(&self, chosen: Option<&str>) -> Vec<&'static str> {
        let option = self.shape.options.iter().find(|option| Some(option.name) == chosen);
        option.map_or(Vec::new(), |option| key_names(option.keys))
    }
}

fn has(option: &OptionShape, key: &str) -> bool {
    option.keys.iter().any(|shape| shape.key == key)
}

/// Reads one of `names`; `noun` says what they name.
pub(crate) fn one_of(name: &PlacedText<'_>, names: &[&'static str], noun: &str) -> Result<&'static str, SyntaxMistake> {
    if let Some(known) = names.iter().find(|known| **known == name.value) {
        return Ok(known);
    }
    let all = list_names(names);
    Err(name.wrong_whole(match nearest(&name.value.to_ascii_lowercase(), names.iter().copied()) {
        Some(near) => format!("{:?} is not a {noun}; did you mean \"{near}\"? There are {all}", name.value),
        None => format!("{:?} is not a {noun}; there are {all}", name.value),
    }))
}
