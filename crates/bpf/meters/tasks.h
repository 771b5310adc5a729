/* The maps of tasks, processes and sessions. */
#pragma once
#include "clock.h"

struct {
	MAP_UINT(type, MAP_TASK_STORAGE);
	MAP_UINT(map_flags, NO_PREALLOC);
	MAP_TYPE(key, s32);
	MAP_TYPE(value, struct task_record);
} tasks SECTION(".maps");

/* Sessions; the first entry is not used. The reader has this memory mapped, reads it and writes to it. */
struct {
	MAP_UINT(type, MAP_ARRAY);
	MAP_UINT(max_entries, 1);
	MAP_UINT(map_flags, MMAPABLE);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct account);
} accounts SECTION(".maps");

struct {
	MAP_UINT(type, MAP_HASH);
	MAP_UINT(max_entries, 1);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, u32);
} slot_of_pid SECTION(".maps");

/* Free accounts, which the reader adds. */
struct {
	MAP_UINT(type, MAP_QUEUE);
	MAP_UINT(max_entries, 1);
	MAP_TYPE(value, u32);
} free_accounts SECTION(".maps");

/* Times of the processes of each name. The first entry is for processes whose name found no room. */
struct {
	MAP_UINT(type, MAP_ARRAY);
	MAP_UINT(max_entries, 1);
	MAP_UINT(map_flags, MMAPABLE);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct named);
} names SECTION(".maps");

struct {
	MAP_UINT(type, MAP_HASH);
	MAP_UINT(max_entries, 1);
	MAP_TYPE(key, struct name_key);
	MAP_TYPE(value, u32);
} name_places SECTION(".maps");

struct {
	MAP_UINT(type, MAP_ARRAY);
	MAP_UINT(max_entries, COUNTERS);
	MAP_UINT(map_flags, MMAPABLE);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, u64);
} counters SECTION(".maps");

const volatile u32 most_names = 1;

INLINE void add(u64 *to, u64 value)
{
	__sync_fetch_and_add(to, value);
}

/* Adds 1 to a counter, and returns its value before. */
INLINE u64 count(u32 what)
{
	u64 *counter = map_lookup(&counters, &what);
	return counter ? __sync_fetch_and_add(counter, 1) : 0;
}

/* The record of a task that existed when the meters began or was forked since. It is not created here, because no memory can be
 * allocated while the scheduler is locked. */
INLINE struct task_record *record_of(struct task_struct *task)
{
	return task_storage_get(&tasks, task, 0, 0);
}

INLINE struct task_record *create_record(struct task_struct *task)
{
	struct task_record *record = task_storage_get(&tasks, task, 0, STORAGE_CREATE);
	if (!record)
		count(TASKS_LOST);
	return record;
}

INLINE struct account *account_of(u32 slot)
{
	return slot ? map_lookup(&accounts, &slot) : 0;
}

/* Takes a free entry for a name. */
static __attribute__((noinline)) u32 new_name(struct name_key *key)
{
	u32 index = count(NAMES_GIVEN) + 1;
	struct named *named = map_lookup(&names, &index);
	if (!named) {
		count(NAMES_LOST);
		return 0;
	}
	named->slot = key->slot;
	__builtin_memcpy(named->name, key->name, sizeof(named->name));
	if (!map_update(&name_places, key, &index, 1))
		return index;
	u32 *first_index = map_lookup(&name_places, key); /* another processor was first; our entry stays unused */
	return first_index ? *first_index : 0;
}

/* The entry of the processes in the session `slot` that have this task's name. */
INLINE u32 name_of(struct task_struct *task, u32 slot)
{
	struct name_key key = { .slot = slot };
	__builtin_memcpy(key.name, task->group_leader->comm, sizeof(key.name));
	u32 *index = map_lookup(&name_places, &key);
	return index ? *index : new_name(&key);
}

/* Charges a task's name with the time that it owes. This is done rarely, because other processors charge the same name. */
INLINE void charge_name(struct task_record *record)
{
	u32 name = record->name;
	struct named *named = map_lookup(&names, &name);
	if (!named)
		return;
	add(&named->cpu_ns, record->owed_cpu);
	add(&named->ready_wait, record->owed_ready);
	record->owed_cpu = record->owed_ready = 0;
}

/* Charges `ran` ns on the processor to the task's session; and to its name if the task owes much, ends, or gets another name. */
INLINE void charge_run(struct processor *cpu, struct task_record *record, u64 ran, u32 is_last)
{
	struct account *account = account_of(cpu->slot);
	if (account)
		add(&account->cpu_ns, ran);
	record->owed_cpu += ran;
	if (is_last || record->owed_cpu >= MOST_OWED_NS)
		charge_name(record);
}

/* Charges `ran` ns of a task that is no longer known, to the name and the session that the processor has noted for it. */
INLINE void charge_unknown(struct processor *cpu, u64 ran)
{
	u32 name = cpu->name;
	struct named *named = map_lookup(&names, &name);
	struct account *account = account_of(cpu->slot);
	if (named)
		add(&named->cpu_ns, ran);
	if (account)
		add(&account->cpu_ns, ran);
}

/* Charges a wait that is over to the session, the time asleep by its cause; and the time ready to the name too. */
INLINE void charge_wait(struct task_record *record, u64 waited, u64 was_ready)
{
	struct account *account = account_of(record->slot);
	record->owed_ready += was_ready;
	if (!account)
		return;
	if (was_ready)
		add(&account->ready_wait, was_ready);
	if (record->cause == PAGE_WAIT)
		add(&account->page_wait, waited);
	else if (record->cause == DISK_WAIT)
		add(&account->disk_wait, waited);
	else if (record->cause != NO_CAUSE)
		add(&account->other_wait, waited);
}
