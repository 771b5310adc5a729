"""The command line: what was typed becomes a call, and its answer is printed; nothing else prints or exits."""
