/* The kernel's half of a transfer: what a command's sockets moved, and the interrupts that worked for it, or for each end apart. */
#include "../kernel.h"
#include "marked.h"
#include "connections.h"
#include "moving.h"
#include "network.h"
#include "devices.h"

char terms[] SECTION("license") = "GPL";
