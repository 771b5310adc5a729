/* The kernel's half of a command's transfer: what its sockets moved, and the interrupts that worked for them. */
#include "kernel.h"
#include "marked.h"
#include "connections.h"
#include "moving.h"
#include "network.h"

char terms[] SECTION("license") = "GPL";
