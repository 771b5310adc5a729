/* Idle, divided by cause: an integral of the causes over time, copied when idle begins and subtracted when it ends.
 *
 * Of several idle processors as many have a cause as there are tasks that it holds for, in the order of `enum cause`; since
 * nobody can say which, each idle processor has its share of each cause. The integrals are changed under a lock, only when a
 * task begins or ends such a wait, or when the number of idle processors changes meanwhile. */
#pragma once

struct {
	MAP_UINT(type, MAP_ARRAY);
	MAP_UINT(max_entries, 1);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct waiting);
} waits SECTION(".maps");

INLINE struct waiting *all_waits(void)
{
	u32 zero = 0;
	return map_lookup(&waits, &zero);
}

/* Brings the integrals up to `now`, and the weights to the numbers of tasks and idle processors. */
INLINE void bring_up(struct waiting *all, u64 now)
{
	u64 span = now > all->since ? now - all->since : 0;
	u32 free = all->idle;
#pragma unroll
	for (u32 cause = LOADING; cause <= DISK_WAIT; cause++) {
		u32 taken = all->tasks[cause] < free ? all->tasks[cause] : free;
		all->integral[cause] += span * all->weight[cause];
		all->weight[cause] = all->idle ? ((u64)taken << WHOLE_SHIFT) / all->idle : 0;
		free -= taken;
	}
	all->since += span;
}

/* A task begins (`change` 1) or ends (-1) a wait. */
INLINE void wait_changes(u64 now, u32 cause, s32 change)
{
	struct waiting *all = all_waits();
	if (!all)
		return;
	spin_lock(&all->lock);
	all->tasks[cause & (CAUSES - 1)] += change;
	all->all += change;
	bring_up(all, now);
	spin_unlock(&all->lock);
}

/* A processor becomes idle (`change` 1) or busy (-1). */
INLINE void idle_changes(struct waiting *all, u64 now, s32 change)
{
	__sync_fetch_and_add(&all->idle, change);
	if (!all->all)
		return;
	spin_lock(&all->lock);
	bring_up(all, now);
	spin_unlock(&all->lock);
}

INLINE u64 integral_at(struct waiting *all, u32 cause, u64 now)
{
	u64 since = all->since;
	return all->integral[cause] + (now > since ? (now - since) * all->weight[cause] : 0);
}

INLINE void copy_integrals(struct processor *cpu, u64 now)
{
	struct waiting *all = all_waits();
	if (!all)
		return;
#pragma unroll
	for (u32 cause = LOADING; cause <= DISK_WAIT; cause++)
		cpu->idle_integral[cause] = integral_at(all, cause, now);
}

/* Divides the idle time that ends now; what has no cause is dispatch since `ready`, and zero before. */
INLINE void charge_idle(struct processor *cpu, u64 now, u64 ready)
{
	struct waiting *all = all_waits();
	u64 rest = now > cpu->last ? now - cpu->last : 0;
	if (!all || !cpu->last)
		return;
#pragma unroll
	for (u32 cause = LOADING; cause <= DISK_WAIT; cause++) {
		s64 part = (s64)(integral_at(all, cause, now) - cpu->idle_integral[cause]) >> WHOLE_SHIFT;
		u64 taken = part < 0 ? 0 : part > rest ? rest : part;
		cpu->time[IDLE_OF(cause)] += taken;
		rest -= taken;
	}
	u64 woken = ready && now > ready ? now - ready : 0;
	u64 dispatch = woken < rest ? woken : rest;
	cpu->time[IDLE_DISPATCH] += dispatch;
	cpu->time[IDLE_ZERO] += rest - dispatch;
}
