//! Partial results by name, in a table of a fixed size.

/// Largest number of names. The table is searched from its beginning at each use.
const MOST_NAMES: usize = 64;
/// Largest length of a name. A name with its length and value then takes 24 bytes.
const MOST_NAME_BYTES: usize = 15;

/// The values that have names.
#[derive(Clone, Debug)]
pub struct Names {
    values: [NamedValue; MOST_NAMES],
    count: usize,
}

#[derive(Clone, Copy, Debug)]
struct NamedValue {
    name: [u8; MOST_NAME_BYTES],
    length: u8,
    value: i64,
}

impl NamedValue {
    fn has_name(&self, name: &[u8]) -> bool {
        &self.name[..usize::from(self.length)] == name
    }
}

impl Default for Names {
    fn default() -> Names {
        Names { values: [NamedValue { name: [0; MOST_NAME_BYTES], length: 0, value: 0 }; MOST_NAMES], count: 0 }
    }
}

impl Names {
    /// The value of `name`; `None` if it has none.
    pub fn get(&self, name: &[u8]) -> Option<i64> {
        self.values[..self.count].iter().find(|named| named.has_name(name)).map(|named| named.value)
    }

    /// Gives `name` this value. Returns false if the name is too long or the table is full.
    pub fn set(&mut self, name: &[u8], new_value: i64) -> bool {
        if let Some(named) = self.values[..self.count].iter_mut().find(|named| named.has_name(name)) {
            named.value = new_value;
            return true;
        }
        if name.len() > MOST_NAME_BYTES || self.count == MOST_NAMES {
            return false;
        }
        let named = &mut self.values[self.count];
        named.name[..name.len()].copy_from_slice(name);
        *named = NamedValue { length: name.len() as u8, value: new_value, ..*named };
        self.count += 1;
        true
    }
}
