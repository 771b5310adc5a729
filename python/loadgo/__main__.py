"""`python -m loadgo` is the command `loadgo`."""

from loadgo.cli import main

main()
