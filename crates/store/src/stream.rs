//! The Arrow IPC stream of one table, which grows by complete batches.

use std::io::{self, SeekFrom};

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;

use crate::disk::DiskFile;
use crate::{Error, Folder, Result, Table};

/// A stream that is open for appending. The file never ends within a batch: a batch that does not fit is cut off again.
pub struct Stream {
    file: Box<dyn DiskFile>,
    length: u64,
    encoder: StreamWriter<Vec<u8>>,
}

impl Stream {
    /// Begins `table`'s stream in `folder` with its schema.
    pub fn create(folder: &Folder, table: Table) -> Result<Stream> {
        let path = folder.stream(table);
        let begin = || {
            let file = folder.disk().create_new(&path)?;
            let encoder = StreamWriter::try_new(Vec::new(), &table.schema()).map_err(io::Error::other)?;
            let mut stream = Stream { file, length: 0, encoder };
            stream.put()?;
            Ok(stream)
        };
        begin().map_err(Error::refused("write", &path))
    }

    /// Appends `batch`. After an error the file is as before, and a later batch can be appended when there is room again.
    pub fn append(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.encoder.write(batch).map_err(io::Error::other)?;
        self.put()
    }

    /// Ends the stream with its end mark.
    pub fn end(&mut self) -> io::Result<()> {
        self.encoder.finish().map_err(io::Error::other)?;
        self.put()
    }

    /// Writes the encoded bytes to the file: all of them, or none.
    fn put(&mut self) -> io::Result<()> {
        let bytes = self.encoder.get_mut();
        let written = self.file.write_all(bytes);
        match written {
            Ok(()) => self.length += bytes.len() as u64,
            Err(_) => take_back(&mut *self.file, self.length)?,
        }
        bytes.clear();
        written
    }
}

/// Cuts `file` to `length`, the end of its last complete batch.
fn take_back(file: &mut dyn DiskFile, length: u64) -> io::Result<()> {
    file.cut(length)?;
    file.seek(SeekFrom::Start(length))?;
    Ok(())
}
