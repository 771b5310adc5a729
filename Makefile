# The two commands of the README, and the smaller ones behind them.
.PHONY: demo test setup check check-fast bench dist dist-check docs lock fuzz

demo:
	@scripts/demo

test:
	@scripts/test

setup:
	@scripts/setup dev

check:
	@scripts/check

check-fast:
	@scripts/setup dev
	@scripts/check fast

bench:
	@scripts/bench

dist:
	@scripts/dist

dist-check:
	@scripts/dist-check

docs:
	@scripts/docs

lock:
	@scripts/lock

# Hours of fuzzing: `make fuzz SECONDS=600 TARGETS='script cast'`.
fuzz:
	@scripts/fuzz $(or $(SECONDS),3600) $(TARGETS)
