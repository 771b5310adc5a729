/* Page faults by region of memory: counted where they happen, and assigned to mappings by the reader, which knows what was mapped.
 *
 * Looking up the mapping here would cost ten times the fault. Each processor has lines, one for each of its latest regions of 64
 * pages, with a count and a bit for each page. A line that must make room goes to the reader as a record. So the reader knows the
 * pages, and a program that touches its memory in order causes one record for 64 faults. */
#pragma once
#include "clock.h"

enum { PAGE_BITS = 12, REGION_BITS = 18, TGID_BITS = 22, REGION_LINES = 256, NO_WAKEUP = 1 };

const volatile u32 count_regions = 0; /* whether the exact tier's programs count regions, too */

struct region_line {
	u64 key; /* region << TGID_BITS | process */
	u64 pages; /* a bit for each page that faulted */
	u32 count;
	u32 turn; /* how often this line has been given away */
};

struct region_lines {
	struct region_line line[REGION_LINES];
};

struct region_record {
	struct region_line line;
	u32 processor;
	u32 number;
};

struct {
	MAP_UINT(type, MAP_ARRAY);
	MAP_UINT(max_entries, MOST_PROCESSORS);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct region_lines);
} region_lines SECTION(".maps");

struct {
	MAP_UINT(type, MAP_RINGBUF);
	MAP_UINT(max_entries, 4 << 20);
} region_records SECTION(".maps");

/* Number of faults whose records found no room. */
struct {
	MAP_UINT(type, MAP_ARRAY);
	MAP_UINT(max_entries, 1);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, u64);
} regions_lost SECTION(".maps");

INLINE void give_away(struct region_line *line, u32 processor, u32 number)
{
	struct region_record record = { .line = *line, .processor = processor, .number = number };
	u32 zero = 0;
	u64 *lost = map_lookup(&regions_lost, &zero);
	if (ringbuf_output(&region_records, &record, sizeof(record), NO_WAKEUP) && lost)
		__sync_fetch_and_add(lost, line->count);
}

/* Counts a fault of the running process at `address`. */
INLINE void count_region(struct processor *cpu, u64 address)
{
	u32 processor = this_processor();
	struct region_lines *lines = map_lookup(&region_lines, &processor);
	u32 tgid = cpu->tgid ? cpu->tgid : current_pid_tgid() >> 32;
	if (!lines || (s64)address < 0)
		return;
	u64 region = address >> REGION_BITS;
	u64 page = 1ULL << (address >> PAGE_BITS & 63);
	u64 key = region << TGID_BITS | tgid;
	u32 number = (region ^ region >> 8 ^ tgid * 0x9e37) & (REGION_LINES - 1);
	struct region_line *line = &lines->line[number];
	if (line->key == key) {
		line->pages |= page;
		line->count++;
		return;
	}
	if (line->count)
		give_away(line, processor, number);
	line->key = key;
	line->pages = page;
	line->count = 1;
	line->turn++;
}

/* In the cheap tier, only these programs run at a fault. */
SECTION("tp_btf/page_fault_user")
int on_region(u64 *context)
{
	struct processor *cpu = processor_now();
	if (cpu)
		count_region(cpu, context[0]);
	return 0;
}

/* Faults of the kernel itself. Where it has disabled faults, as while it reads a sample's stack, they bring in no page. */
SECTION("tp_btf/page_fault_kernel")
int on_region_in_kernel(u64 *context)
{
	struct processor *cpu = processor_now();
	struct task_struct *task = current_task_btf();
	if (cpu && !task->pagefault_disabled)
		count_region(cpu, context[0]);
	return 0;
}

_Static_assert(sizeof(struct region_line) == 3 * 8, "region_line");
_Static_assert(sizeof(struct region_record) == 4 * 8, "region_record");
