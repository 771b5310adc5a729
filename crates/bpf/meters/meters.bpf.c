/* The kernel's half of the meters: one program a hook, since each costs its own 70 ns an event whatever it does. */
#include "../kernel.h"
#include "layout.h"
#include "histogram.h"
#include "clock.h"
#include "regions.h"
#include "tasks.h"
#include "switch.h"
#include "begin.h"
#include "calls.h"
#include "faults.h"
#include "interrupts.h"

char terms[] SECTION("license") = "GPL";
