/* A program whose profile and page faults are known: tests/host/test_profile_live.py measures it.
 *
 *     known_work spin A B C      so many milliseconds of processor time in one_function, in another_function, in the library
 *     known_work touch FILE N    N pages each of a file's mapping, of anonymous memory, of the heap and of the stack
 *
 *     known_work loop spin|fault N   the same work each time: what a meter costs is what it takes longer
 *
 * It prints what each part took: nanoseconds, or minor faults as rusage has them. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096 };
unsigned long spin_in_library(unsigned long turns);
static volatile unsigned long sink;

static long long spent(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

__attribute__((noinline)) void one_function(unsigned long turns)
{
	for (unsigned long turn = 0; turn < turns; turn++)
		sink += turn * turn;
}

__attribute__((noinline)) void another_function(unsigned long turns)
{
	for (unsigned long turn = 0; turn < turns; turn++)
		sink ^= turn * 3;
}

__attribute__((noinline)) void library(unsigned long turns)
{
	sink += spin_in_library(turns);
}

static void take(const char *name, void (*part)(unsigned long), long long milliseconds)
{
	long long began = spent();
	while (spent() - began < milliseconds * 1000000)
		part(200000);
	printf("%s %lld\n", name, spent() - began);
}

static long faults(void)
{
	struct rusage used;
	getrusage(RUSAGE_SELF, &used);
	return used.ru_minflt;
}

static void touch(char *from, long pages)
{
	for (long page = 0; page < pages; page++)
		from[page * PAGE] = 1;
}

__attribute__((noinline)) void touch_stack(long pages)
{
	char frame[pages * PAGE];
	for (long page = pages - 1; page >= 0; page--)
		((volatile char *)frame)[page * PAGE] = 1;
}

static void touch_all(const char *path, long pages)
{
	int file = open(path, O_RDWR);
	char *mapped = mmap(0, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
	char *anonymous = mmap(0, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(anonymous, pages * PAGE, MADV_NOHUGEPAGE);
	printf("ready\n");
	long at[5] = { faults() };
	at[0] = faults();
	touch(mapped, pages);
	at[1] = faults();
	touch(anonymous, pages);
	at[2] = faults();
	touch(sbrk(pages * PAGE), pages);
	at[3] = faults();
	touch_stack(pages);
	at[4] = faults();
	printf("%s %ld\n[anon] %ld\n[heap] %ld\n[stack] %ld\nall %ld\n", path, at[1] - at[0], at[2] - at[1], at[3] - at[2],
	       at[4] - at[3], faults());
}

static void same_work(int faulting, long turns)
{
	enum { PAGES = 1024 };
	long long began = spent();
	for (long turn = 0; turn < turns; turn++) {
		if (!faulting) {
			one_function(1000000);
			continue;
		}
		char *memory = mmap(0, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		madvise(memory, PAGES * PAGE, MADV_NOHUGEPAGE);
		touch(memory, PAGES);
		munmap(memory, PAGES * PAGE);
	}
	printf("%lld\n", spent() - began);
}

int main(int count, char **words)
{
	if (count == 5 && !strcmp(words[1], "spin")) {
		take("one_function", one_function, atol(words[2]));
		take("another_function", another_function, atol(words[3]));
		take("library", library, atol(words[4]));
	} else if (count == 4 && !strcmp(words[1], "touch")) {
		touch_all(words[2], atol(words[3]));
	} else if (count == 4 && !strcmp(words[1], "loop")) {
		same_work(!strcmp(words[2], "fault"), atol(words[3]));
	} else {
		return 2;
	}
	return 0;
}
