/* The kernel programs of the meters: only one for each hook, since every program costs about 70 ns an event. */
#include "../kernel.h"
#include "layout.h"
#include "histogram.h"
#include "clock.h"
#include "regions.h"
#include "activities.h"
#include "tasks.h"
#include "switch.h"
#include "begin.h"
#include "calls.h"
#include "faults.h"
#include "interrupts.h"
#include "locks.h"
#include "empty.h"

char terms[] SECTION("license") = "GPL";
