/* The library of known_work.c. */
static volatile unsigned long sink;

unsigned long spin_in_library(unsigned long turns)
{
	for (unsigned long turn = 0; turn < turns; turn++)
		sink += turn ^ sink;
	return sink;
}
