//! The types of columns, and the macro that makes tables and their batches of one list of columns.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, StringArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field};

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The column's name.
    pub name: &'static str,
    /// The type as `docs/run-folder.md` names it: `uint64`; with `?` if a value may be missing (*not measured*).
    pub kind: &'static str,
    data_type: DataType,
}

impl Column {
    pub(crate) fn of<K: ColumnType>(name: &'static str) -> Column {
        Column { name, kind: K::NAME, data_type: K::DATA_TYPE }
    }

    pub(crate) fn field(&self) -> Field {
        Field::new(self.name, self.data_type.clone(), self.kind.ends_with('?'))
    }
}

/// The type of a column's values.
pub(crate) trait ColumnType {
    /// The value of a row.
    type Value<'a>;
    /// The type's name in [`Column::kind`].
    const NAME: &'static str;
    /// The type in Arrow.
    const DATA_TYPE: DataType;
    /// The values of `rows`.
    fn array<'a, R>(rows: &'a [R], value: impl Fn(&'a R) -> Self::Value<'a>) -> ArrayRef;
}

/// Text with few different values.
pub(crate) struct Word;

/// Text with many different values.
pub(crate) struct Text;

macro_rules! column_types {
    ($($column_type:ty: $name:literal, $data_type:ident, $value:ty, $array:ident::$collect:ident;)*) => {$(
        impl ColumnType for $column_type {
            type Value<'a> = $value;
            const NAME: &'static str = $name;
            const DATA_TYPE: DataType = DataType::$data_type;

            fn array<'a, R>(rows: &'a [R], value: impl Fn(&'a R) -> Self::Value<'a>) -> ArrayRef {
                Arc::new($array::$collect(rows.iter().map(value)))
            }
        }
    )*};
}

column_types! {
    u16: "uint16", UInt16, u16, UInt16Array::from_iter_values;
    u32: "uint32", UInt32, u32, UInt32Array::from_iter_values;
    u64: "uint64", UInt64, u64, UInt64Array::from_iter_values;
    f64: "float64", Float64, f64, Float64Array::from_iter_values;
    Word: "word", Utf8, &'a str, StringArray::from_iter_values;
    Text: "utf8", Utf8, &'a str, StringArray::from_iter_values;
    Option<u8>: "uint8?", UInt8, Option<u8>, UInt8Array::from_iter;
    Option<u16>: "uint16?", UInt16, Option<u16>, UInt16Array::from_iter;
    Option<u32>: "uint32?", UInt32, Option<u32>, UInt32Array::from_iter;
    Option<u64>: "uint64?", UInt64, Option<u64>, UInt64Array::from_iter;
    Option<Word>: "word?", Utf8, Option<&'a str>, StringArray::from_iter;
}

/// Makes the enum `Table`, and a function for each table that makes a batch of rows, in the module `batch`.
///
/// A table is its name, its arguments (the rows first), a name for each row, and its columns: name, [`ColumnType`], value.
macro_rules! tables {
    ($($(#[$about:meta])* $table:ident, $name:ident($rows:ident: $rows_type:ty $(, $argument:ident: $argument_type:ty)*), $row:ident {
        $($column:ident: $column_type:ty = $value:expr,)*
    })*) => {
        /// A table of a run folder.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Table { $($(#[$about])* $table,)* }

        impl Table {
            /// All tables.
            pub const ALL: [Table; [$(Table::$table),*].len()] = [$(Table::$table),*];

            /// The table's name, which is its files' name too.
            pub fn name(self) -> &'static str {
                match self { $(Table::$table => stringify!($name),)* }
            }

            /// The table's columns, in their order.
            pub fn columns(self) -> Vec<Column> {
                match self { $(Table::$table => vec![$(Column::of::<$column_type>(stringify!($column))),*],)* }
            }
        }

        /// Rows as a batch: one function for each table.
        pub(crate) mod batch {
            use super::*;

            $(pub fn $name($rows: $rows_type $(, $argument: $argument_type)*) -> RecordBatch {
                let columns = vec![$(<$column_type>::array($rows, |$row| $value)),*];
                RecordBatch::try_new(Table::$table.schema(), columns).expect("the columns are those of the table's schema")
            })*
        }
    };
}

pub(crate) use tables;
