// What a model of the machine expects, beside what was measured in the window.
import { $ } from "./panels.js";
import { duration, number, share } from "./words.js";

function mean(values) {
  const known = Array.from(values).filter(value => !Number.isNaN(value));
  return known.length ? known.reduce((a, b) => a + b, 0) / known.length : null;
}

/** Fills the table, where a model was given. */
export function expectation(store, told, found) {
  const { expected } = store;
  $("expected-part").hidden = !expected;
  if (!expected) return;
  const lines = [
    ["response time, p50", told.response.p50, expected.p50_ns, duration], ["response time, p90", told.response.p90, expected.p90_ns, duration],
    ["answers a second", told.perSecond, expected.per_second, number], ["processors busy", mean(found.busy), expected.busy, share],
    ["ready list, length", mean(found.ready), expected.ready, number],
    ...told.commands.map(one => [`${one.name}, p50`, one.p50, (expected.commands[one.name] || {}).p50_ns ?? null, duration]),
  ];
  const table = document.createElement("tbody"), head = document.createElement("thead");
  const row = (cells, kind) => { const line = document.createElement("tr"); cells.forEach((text, at) => { const cell = document.createElement(kind || (at ? "td" : "th")); cell.textContent = text; line.append(cell); }); return line; };
  head.append(row(["", "measured", "expected", "measured / expected"], "th"));
  for (const [name, is, should, words] of lines) table.append(row([name, words(is), words(should), is !== null && should ? number(is / should) : "–"]));
  $("expected").replaceChildren(head, table);
  $("expected-note").textContent = expected.note;
}

