//! Prints the rows of a sample as lines, without rows by user and histograms.

use loadgo_core::record::MeterRows;

/// A line for each row: table, names, values.
pub fn lines(sample: &MeterRows) -> Vec<String> {
    let mut lines = Vec::new();
    for row in &sample.time {
        if let Some(processor) = row.processor {
            lines.push(format!("time\t{processor}\t{}\t{}\t{}", row.category, row.time_ns, row.span_ns));
        }
    }
    for row in sample.faults.iter().filter(|row| row.user.is_none() && row.command.is_none() && row.bucket_ns.is_none()) {
        if row.device.is_none() {
            lines.push(format!("faults\t{}\t{}\t{}", row.kind, row.count, row.cpu_ns.unwrap_or(0)));
        }
    }
    for row in sample.primitives.iter().filter(|row| row.user.is_none() && row.command.is_none() && row.bucket_ns.is_none()) {
        lines.push(format!("primitives\t{}\t{}\t{}", row.name, row.count, row.time_ns.unwrap_or(0)));
    }
    for row in &sample.queue {
        lines.push(format!("queue\t{}\t{}", row.measure, row.value));
    }
    for row in &sample.processes {
        lines.push(format!("processes\t{}\t{}\t{}", row.who, row.cpu_ns, row.ready_wait_ns.unwrap_or(0)));
    }
    lines.extend(
        sample.segments.iter().filter(|row| row.user.is_none()).map(|row| {
            format!("segments\t{}\t{}\t{}", row.segment, row.faults_minor.unwrap_or(0), row.faults_major.unwrap_or(0))
        }),
    );
    lines
}
