/* What each busy processor does at the ticks of a clock, in the cheap tier: counted here, by the innermost kernel function that shows it. */
#pragma once
#include "causes.h"

/* Activities, in the order of `enum SampledActivity` of the reader. */
enum activity { SHOWS_NONE, IN_USER, IN_PRIMITIVE, IN_PAGE_FAULT, IN_INTERRUPT, IN_SOFT_INTERRUPT, IN_GETWORK, IN_KERNEL_THREAD, ACTIVITIES };

enum { FUNCTIONS_BITS = 13, MOST_FUNCTIONS = 1 << FUNCTIONS_BITS, ACTIVITY_BITS = 8, MOST_SAMPLED_FRAMES = 64 };

/* Lowest mark in a stack (PERF_CONTEXT_MAX); greater words are no addresses. */
#define LOWEST_MARK ((u64)-4095)

const volatile u32 keep_samples = 0; /* for tests: samples go to the ring of their event too */

/* The kernel's functions in the order of their addresses: each word has the address from which on all functions show the same activity,
 * and the activity in its last bits. Kernel addresses begin with ones, which the shift drops. The words after the last are all ones. */
struct functions {
	u64 word[MOST_FUNCTIONS];
};

struct {
	MAP_UINT(type, MAP_ARRAY);
	MAP_UINT(max_entries, 1);
	MAP_UINT(map_flags, MMAPABLE);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct functions);
} functions SECTION(".maps");

/* Ticks of one processor, by activity. */
struct activity_counts {
	u64 count[ACTIVITIES];
};

struct {
	MAP_UINT(type, MAP_ARRAY);
	MAP_UINT(max_entries, MOST_PROCESSORS);
	MAP_UINT(map_flags, MMAPABLE);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct activity_counts);
} activity_counts SECTION(".maps");

struct sampled_stack {
	u64 address[MOST_SAMPLED_FRAMES];
};

struct {
	MAP_UINT(type, MAP_PERCPU_ARRAY);
	MAP_UINT(max_entries, 1);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct sampled_stack);
} sampled_stacks SECTION(".maps");

/* The activity that the function at `address` shows. The search has no branches, so that the verifier follows a single path. The function
 * is not static, so that the kernel checks it once by itself, and not again for each frame. */
__attribute__((noinline)) u32 activity_at(u64 address)
{
	u32 zero = 0;
	struct functions *all = map_lookup(&functions, &zero);
	if (!all)
		return SHOWS_NONE;
	u64 key = address << ACTIVITY_BITS | ((1 << ACTIVITY_BITS) - 1);
	u64 place = 0;
#pragma unroll
	for (u32 bit = FUNCTIONS_BITS; bit--;) {
		u64 next = all->word[(place + (1 << bit)) & (MOST_FUNCTIONS - 1)];
		u64 is_before = ~(key - next) >> 63; /* 1 if `next` begins at the address or before; a mask of -1 or 0 would be two paths since Linux 6.18 */
		asm volatile("" : "+r"(is_before));
		place += is_before << bit;
		asm volatile("" : "+r"(place)); /* else the mask of the index is left out, and Linux 6.1 knows no bounds of an OR */
	}
	u64 word = all->word[place & (MOST_FUNCTIONS - 1)];
	return word <= key ? word & ((1 << ACTIVITY_BITS) - 1) : SHOWS_NONE;
}

/* The activity of the innermost function that shows one. Outer addresses are return addresses, which follow the call. A stack that an event
 * keeps too begins with a mark. */
INLINE u32 activity_on_stack(struct sampled_stack *stack, u32 depth)
{
	u32 first = stack->address[0] >= LOWEST_MARK;
	u32 activity = activity_at(stack->address[first]);
	for (u32 frame = first + 1; activity == SHOWS_NONE && frame < MOST_SAMPLED_FRAMES && frame < depth; frame++)
		activity = activity_at(stack->address[frame] - 1);
	return activity;
}

/* A tick of the clock on a busy processor. */
SECTION("perf_event")
int on_clock(void *context)
{
	u32 zero = 0, here = this_processor();
	struct sampled_stack *stack = map_lookup(&sampled_stacks, &zero);
	struct activity_counts *counts = map_lookup(&activity_counts, &here);
	struct task_struct *task = current_task_btf();
	if (!stack || !counts)
		return 0;
	long bytes = get_stack(context, stack, sizeof(*stack), 0);
	u32 activity = bytes > 0 ? activity_on_stack(stack, (u64)bytes / 8) : IN_USER;
	if (activity == SHOWS_NONE)
		activity = task->flags & PF_KTHREAD ? IN_KERNEL_THREAD : IN_PRIMITIVE;
	counts->count[activity & (ACTIVITIES - 1)]++;
	return keep_samples;
}

_Static_assert(sizeof(struct activity_counts) == 8 * 8, "activity_counts");
