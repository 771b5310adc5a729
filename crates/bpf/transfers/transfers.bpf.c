/* The kernel programs of transfers' meters: bytes that a command's sockets move, and interrupt time for the command or for each end. */
#include "../kernel.h"
#include "marked.h"
#include "connections.h"
#include "moving.h"
#include "network.h"
#include "devices.h"

char terms[] SECTION("license") = "GPL";
