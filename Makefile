# The two commands of the README, and the smaller ones behind them.
.PHONY: demo test setup check bench lock

demo:
	@scripts/demo

test:
	@scripts/test

setup:
	@scripts/setup dev

check:
	@scripts/check

bench:
	@scripts/bench

lock:
	@scripts/lock
