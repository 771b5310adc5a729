/* The kernel programs that observe log-in sessions. Of what is typed they see when it came, and nothing of what it was. */
#include "../kernel.h"
#include "terminals.h"
#include "lines.h"
#include "prompts.h"
#include "processes.h"

char terms[] SECTION("license") = "GPL";
