//! Converts streams to Parquet when a run ends, row group by row group, so that a run of any size takes little memory.

use std::fs;
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{RecordBatch, new_null_array};
use arrow_schema::{DataType, FieldRef};
use arrow_select::coalesce::BatchCoalescer;
use loadgo_core::record::LostRow;
use loadgo_core::time::Instant;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

use crate::checksum::{Summing, file_checksum, without_checksum_line};
use crate::folder::neighbour;
use crate::follow::each_batch;
use crate::{Error, Folder, Result, Table};

/// Rows of a Parquet row group.
const ROW_GROUP_ROWS: usize = 1 << 17;

/// Number of rows that the encoder gets in one call. It is fixed, so that the same rows give the same bytes, whatever batches
/// the stream has.
const ENCODER_ROWS: usize = 1 << 13;

/// Number of bytes of rows that the encoder gets in one call at most, up to the end of a batch. Rows of a run never have so many;
/// those of another host may be made to fill the memory here.
const MOST_ENCODER_BYTES: usize = 64 << 20;

/// Number of encoded bytes after which a row group ends, for the same reason.
const MOST_ROW_GROUP_BYTES: usize = 128 << 20;

/// Finishes the run in `folder`: writes Parquet files, then `run.toml` from `run_toml` and the `unwritten` losses, then removes
/// the streams.
///
/// Errors: the system's refusal, mostly a full disk. The streams then stay, and can be read instead.
pub fn finish(folder: &Folder, run_toml: &str, unwritten: &[LostRow]) -> Result<()> {
    let converted = convert(folder);
    let (cut, manifest) = match &converted {
        Ok(made) => (&made.cut[..], print_manifest(&made.tables)),
        Err(_) => (&[][..], String::new()),
    };
    let files = print_files(folder, run_toml)?;
    folder.write_run_toml(&format!("{run_toml}{}{}{manifest}{files}", print_losses(unwritten), print_losses(cut)))?;
    converted?;
    for table in Table::ALL {
        remove(&folder.stream(table))?;
    }
    Ok(())
}

/// Completes the folder of a run that was killed. Its complete batches become Parquet, `outcome` becomes `"killed"`, and
/// `finished` stays false.
///
/// Errors: [`Error::Running`] while a process still writes the run; those of [`finish`].
pub fn complete(folder: &Folder) -> Result<()> {
    let path = folder.run_toml();
    if folder.is_being_written()? {
        return Err(Error::Running(folder.dir().into()));
    }
    let text = fs::read_to_string(&path).map_err(Error::refused("read", &path))?;
    let mut run: toml::Table = text.parse().map_err(|error: toml::de::Error| Error::damaged(&path)(error.to_string()))?;
    run.insert("outcome".into(), "killed".into());
    run.insert("finished".into(), false.into());
    run.remove(MANIFEST_KEY); // the tables are about to be made
    finish(folder, &printed(&run, &path)?, &[])
}

/// The text of a finished `run.toml` from elsewhere, without the manifest of the tables there: those here are made anew, by
/// [`finish`].
///
/// # Errors
/// It is no TOML.
pub fn without_manifest(folder: &Folder, text: &str) -> Result<String> {
    let path = folder.run_toml();
    let mut run: toml::Table = text.parse().map_err(|error: toml::de::Error| Error::damaged(&path)(error.to_string()))?;
    if forget_manifest(&mut run) { printed(&run, &path) } else { Ok(without_checksum_line(text).to_owned()) }
}

/// Removes what [`finish`] writes of tables and files. Returns whether there was any of it.
fn forget_manifest(run: &mut toml::Table) -> bool {
    let entries = [MANIFEST_KEY, FILES_KEY].map(|key| run.remove(key));
    entries.iter().any(Option::is_some)
}

fn printed(run: &toml::Table, path: &Path) -> Result<String> {
    toml::to_string(run).map_err(|error| Error::damaged(path)(error.to_string()))
}

/// The section of `run.toml` that names each table's rows, bytes and checksum.
const MANIFEST_KEY: &str = "tables";

/// The section of `run.toml` that names the bytes and the checksum of each of [`LAID_FILES`].
const FILES_KEY: &str = "files";

/// The files that a run lays into its folder beside the tables: its script, and a simulated machine's file.
const LAID_FILES: [&str; 2] = ["script.toml", "machine.toml"];

/// The result of a conversion.
struct Converted {
    /// A loss for each incomplete batch.
    cut: Vec<LostRow>,
    /// The tables that are Parquet files now.
    tables: Vec<ConvertedTable>,
}

/// A table's Parquet file.
struct ConvertedTable {
    table: Table,
    rows: u64,
    bytes: u64,
    checksum: u32,
}

/// Converts every stream. If one conversion fails, no Parquet file is left.
fn convert(folder: &Folder) -> Result<Converted> {
    let streamed = || Table::ALL.into_iter().filter(|table| folder.stream(*table).exists());
    let mut conversion = Converted { cut: Vec::new(), tables: Vec::new() };
    for table in streamed() {
        let part = neighbour(&folder.parquet(table));
        match convert_table(folder, &part, table) {
            Ok((converted, leftover)) => {
                conversion.tables.push(converted);
                conversion.cut.extend(leftover.map(|reason| cut_off(table, &reason)));
            }
            Err(error) => {
                for table in Table::ALL {
                    let _ = fs::remove_file(neighbour(&folder.parquet(table)));
                }
                return Err(error);
            }
        }
    }
    for table in streamed() {
        let path = folder.parquet(table);
        fs::rename(neighbour(&path), &path).map_err(Error::refused("name", &path))?;
    }
    Ok(conversion)
}

/// The loss of an incomplete batch at the end of the stream of `table`. It counts as 1, because its number of rows is unknown.
fn cut_off(table: Table, reason: &str) -> LostRow {
    let reason = format!("{} ends in a batch that is not whole: {reason}", table.name());
    LostRow { at: Instant(0), user: None, what: "record", count: 1, reason }
}

/// Converts one stream. Returns a description of the bytes after its last complete batch, if there are any.
fn convert_table(folder: &Folder, parquet: &Path, table: Table) -> Result<(ConvertedTable, Option<String>)> {
    let file = folder.disk().create(parquet).map_err(Error::refused("write", parquet))?;
    let writer =
        ArrowWriter::try_new(Summing::new(BufWriter::with_capacity(1 << 20, file)), table.schema(), Some(properties(table)));
    let mut writer = writer.map_err(io::Error::from).map_err(Error::refused("write", parquet))?;
    let mut pieces = BatchCoalescer::new(table.schema(), ENCODER_ROWS);
    let mut write_pieces = |pieces: &mut BatchCoalescer| -> io::Result<()> {
        while let Some(piece) = pieces.next_completed_batch() {
            writer.write(&piece)?;
            if writer.in_progress_size() > MOST_ROW_GROUP_BYTES {
                writer.flush()?;
            }
        }
        Ok(())
    };
    let (mut collected_bytes, mut rows) = (0, 0);
    let leftover = each_batch(&folder.stream(table), |batch| {
        collected_bytes += bytes_of(&batch);
        rows += batch.num_rows() as u64;
        pieces.push_batch(widened(&batch, table)).map_err(io::Error::other)?;
        if collected_bytes > MOST_ENCODER_BYTES {
            pieces.finish_buffered_batch().map_err(io::Error::other)?;
        }
        if pieces.has_completed_batch() {
            collected_bytes = 0;
        }
        write_pieces(&mut pieces)
    })?;
    let last = pieces.finish_buffered_batch().map_err(io::Error::other).and_then(|()| write_pieces(&mut pieces));
    last.map_err(Error::refused("write", parquet))?;
    let written = writer.into_inner().map_err(io::Error::from).and_then(|summed| {
        let (bytes, checksum) = (summed.bytes, summed.checksum());
        summed.inner.into_inner()?.sync()?;
        Ok(ConvertedTable { table, rows, bytes, checksum })
    });
    Ok((written.map_err(Error::refused("write", parquet))?, leftover))
}

/// Number of bytes of the values in `batch`.
fn bytes_of(batch: &RecordBatch) -> usize {
    batch.columns().iter().map(|column| column.to_data().get_slice_memory_size().unwrap_or(0)).sum()
}

/// Gives `batch` the columns that `table` has today. A column that an earlier loadgo did not write is null (not measured).
fn widened(batch: &RecordBatch, table: Table) -> RecordBatch {
    let column = |field: &FieldRef| match batch.column_by_name(field.name()) {
        Some(column) => Arc::clone(column),
        None => new_null_array(field.data_type(), batch.num_rows()),
    };
    let columns = table.schema().fields().iter().map(column).collect();
    RecordBatch::try_new(table.schema(), columns).expect("only columns that may be null are ever added")
}

/// The Parquet encodings: dictionaries for words, and differences for numbers, because successive times differ little.
fn properties(table: Table) -> WriterProperties {
    let mut properties =
        WriterProperties::builder().set_compression(Compression::SNAPPY).set_max_row_group_row_count(Some(ROW_GROUP_ROWS));
    for field in table.schema().fields() {
        if matches!(field.data_type(), DataType::UInt32 | DataType::UInt64) {
            let column = ColumnPath::from(field.name().as_str());
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
        }
    }
    properties.build()
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::refused("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Prints the tables as the section `tables` of `run.toml`, by which a reader sees that a file has changed.
fn print_manifest(tables: &[ConvertedTable]) -> String {
    let entry = |ConvertedTable { table, rows, bytes, checksum }: &ConvertedTable| {
        format!("\n[{MANIFEST_KEY}.{}]\nrows = {rows}\nbytes = {bytes}\ncrc32 = {checksum}\n", table.name())
    };
    tables.iter().map(entry).collect()
}

/// Prints the files that the run laid into its folder as the section `files` of `run.toml`, but for those that `run_toml` has
/// since its beginning.
fn print_files(folder: &Folder, run_toml: &str) -> Result<String> {
    let known: toml::Table = run_toml.parse().unwrap_or_default();
    let is_known = |name: &str| known.get(FILES_KEY).and_then(|files| files.get(name)).is_some();
    let mut printed = String::new();
    for name in LAID_FILES {
        let path = folder.dir().join(name);
        if path.is_file() && !is_known(name) {
            let (bytes, checksum) = file_checksum(&path).map_err(Error::refused("read", &path))?;
            printed += &format!("\n[{FILES_KEY}.\"{name}\"]\nbytes = {bytes}\ncrc32 = {checksum}\n");
        }
    }
    Ok(printed)
}

/// Prints losses that are in no table as `[[lost]]` entries of `run.toml`.
fn print_losses(unwritten: &[LostRow]) -> String {
    let entry = |lost: &LostRow| {
        let reason = toml::Value::from(lost.reason.as_str());
        format!("\n[[lost]]\nat_ns = {}\nwhat = \"{}\"\ncount = {}\nreason = {reason}\n", lost.at.0, lost.what, lost.count)
    };
    unwritten.iter().map(entry).collect()
}
