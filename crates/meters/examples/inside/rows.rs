//! A sample as lines: of everybody and everything together, without histograms.

use loadgo_core::record::Sample;

/// A line for each row: table, names, values.
pub fn told(sample: &Sample) -> Vec<String> {
    let mut told = Vec::new();
    for row in &sample.time {
        if let Some(processor) = row.processor {
            told.push(format!("time\t{processor}\t{}\t{}\t{}", row.category, row.time_ns, row.span_ns));
        }
    }
    for row in sample.faults.iter().filter(|row| row.user.is_none() && row.command.is_none() && row.bucket_ns.is_none()) {
        if row.device.is_none() {
            told.push(format!("faults\t{}\t{}\t{}", row.kind, row.count, row.cpu_ns.unwrap_or(0)));
        }
    }
    for row in sample.primitives.iter().filter(|row| row.user.is_none() && row.command.is_none() && row.bucket_ns.is_none()) {
        told.push(format!("primitives\t{}\t{}\t{}", row.name, row.count, row.time_ns.unwrap_or(0)));
    }
    for row in &sample.queue {
        told.push(format!("queue\t{}\t{}", row.measure, row.value));
    }
    for row in &sample.processes {
        told.push(format!("processes\t{}\t{}\t{}", row.who, row.cpu_ns, row.ready_wait_ns.unwrap_or(0)));
    }
    told.extend(
        sample.segments.iter().filter(|row| row.user.is_none()).map(|row| {
            format!("segments\t{}\t{}\t{}", row.segment, row.faults_minor.unwrap_or(0), row.faults_major.unwrap_or(0))
        }),
    );
    told
}
