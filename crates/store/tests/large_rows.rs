//! Rows of many bytes, as a hostile host may send them: they become Parquet in parts, and are never all in memory.

use std::fs::File;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_ipc::writer::StreamWriter;
use loadgo_store::{Folder, Table, finish};
use parquet::file::reader::{FileReader as _, SerializedFileReader};

const ROWS: usize = 24;
const ROW_BYTES: usize = 8 << 20;

/// Letters that do not repeat, so that no compression makes them small.
fn letters(seed: u64) -> String {
    let mut state = seed * 2 + 1;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'0' + (state >> 58) as u8)
    };
    (0..ROW_BYTES).map(|_| letter()).collect()
}

fn batch_of_one_row(number: u64) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(UInt64Array::from(vec![number])),
        Arc::new(UInt32Array::from(vec![None])),
        Arc::new(StringArray::from(vec!["record"])),
        Arc::new(UInt64Array::from(vec![1])),
        Arc::new(StringArray::from(vec![letters(number)])),
    ];
    RecordBatch::try_new(Table::Lost.schema(), columns).expect("the columns of `lost`")
}

#[test]
fn rows_of_many_bytes_make_several_row_groups() {
    let place = tempfile::tempdir().expect("there is room");
    let folder = Folder::create(place.path().join("run"), "format = 1\n").expect("there is room");
    let file = File::create(folder.stream(Table::Lost)).expect("there is room");
    let mut stream = StreamWriter::try_new(file, &Table::Lost.schema()).expect("there is room");
    (0..ROWS as u64).for_each(|number| stream.write(&batch_of_one_row(number)).expect("there is room"));
    stream.finish().expect("there is room");
    finish(&folder, "format = 1\n", &[]).expect("the stream is whole");
    let parquet =
        SerializedFileReader::new(File::open(folder.parquet(Table::Lost)).expect("it is there")).expect("it is Parquet");
    assert_eq!(parquet.metadata().file_metadata().num_rows(), ROWS as i64);
    assert_eq!(parquet.num_row_groups(), 2, "one of over 128 MiB, and the rest");
}
