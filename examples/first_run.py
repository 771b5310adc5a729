"""A first run from Python, cell by cell: load this host, look at the tables, draw a chart.

It runs as a script (`python examples/first_run.py`) and, cell by cell, in any editor that knows `# %%`.
"""

# %% Load this host: six typical users, who think a tenth of what people do.
import os

import loadgo
import polars as pl

run = loadgo.run(
    "typical-user",
    users=int(os.environ.get("USERS", "6")),
    passes=1,
    think=os.environ.get("THINK", "uniform(0.2s, 1.5s)"),
    fail_if=["errors > 0"],
)
print(f"{run.outcome}: the records are in {run.folder}")

# %% The report, as the command line prints it.
print(loadgo.report(run, width=100))

# %% The records: one row an interaction, as Polars frames, in nanoseconds, not rounded.
tables = loadgo.tables(run)
rows = tables.interactions.with_columns(
    response_ms=(pl.col("ready_ns").cast(pl.Int64) - pl.col("sent_ns").cast(pl.Int64)) / 1e6,
    cpu_ms=(pl.col("cpu_user_ns") + pl.col("cpu_system_ns")) / 1e6,
    command=pl.col("command").cast(pl.String),
)
print(rows.select("user", "line", "command", "response_ms", "cpu_ms").head(8))

# %% What do people wait for? Beyond the processor time that a command needs, for each other.
by_command = (
    rows.group_by("command", maintain_order=True)
    .agg(
        pl.len().alias("count"),
        pl.col("response_ms", "cpu_ms").mean(),
    )
    .with_columns(stretch=pl.col("response_ms") / pl.col("cpu_ms"))
)
print(by_command)

# %% The same question in SQL.
print(
    loadgo.query("SELECT command, count(*) AS n, avg(bytes_out) AS bytes FROM interactions GROUP BY command", run=run)
)

# %% The sums of the summary: where the users' own time went.
classes = run.summary.classes
thinking_s, waiting_s, total_s = (ns / 1e9 for ns in (classes.thinking_ns, classes.waiting_ns, classes.total_ns))
print(f"thinking {thinking_s:.1f} s, waiting for the system {waiting_s:.1f} s, of {total_s:.1f} s")

# %% A chart of every interaction, beside the run: open it in a browser.
import altair as alt  # noqa: E402

chart = (
    alt.Chart(alt.Data(values=rows.select("command", "response_ms", "cpu_ms", "user").to_dicts()))
    .mark_circle(opacity=0.6)
    .encode(
        x=alt.X("cpu_ms:Q", title="processor time (ms)").scale(type="log"),
        y=alt.Y("response_ms:Q", title="response time (ms)").scale(type="log"),
        color="command:N",
        tooltip=["user:Q", "command:N", "response_ms:Q"],
    )
)
picture = run.folder / "first_run.html"
chart.save(picture)
print(f"the chart is {picture}")
