// What a model of the machine expects, beside what was measured in the window.
import { $, rows } from "./panels.js";
import { duration, number, share } from "./words.js";

const WORDS = { throughput: number };

function mean(values) {
  const known = Array.from(values).filter(value => !Number.isNaN(value));
  return known.length ? known.reduce((a, b) => a + b, 0) / known.length : null;
}

/** What was measured of a figure that the model has. */
function measured(told, { command, measure }) {
  if (command) return (told.commands.find(one => one.name === command) || { mean: null }).mean;
  return { "response": told.response.mean, "p50 response": told.response.p50, "p90 response": told.response.p90, "throughput": told.perSecond, "cpu": told.cpu }[measure] ?? null;
}

/** Fills the table, where a model was given. */
export function expectation(store, told, found) {
  const { expected } = store;
  $("expected-part").hidden = !expected;
  if (!expected) return;
  const lines = expected.figures.map(one => line(`${one.command ? one.command + ", " : ""}${one.measure}`, measured(told, one), one, WORDS[one.measure] || duration));
  lines.push(line("processors busy", told.busyShare, { value: expected.busy }, share), line("run queue", mean(found.ready), { value: expected.ready }, number));
  rows("expected", ["", "measured", "expected", "low to high", "measured / expected"], lines);
  $("expected-note").textContent = expected.note;
}

function line(name, is, { value, low, high }, words) {
  const outside = low !== undefined && is !== null && (is < low || is > high);
  const ratio = is !== null && value ? number(is / value) : "–";
  return [name, words(is), words(value), low === undefined ? "" : `${words(low)} to ${words(high)}`, outside ? [`${ratio} outside`, "over"] : ratio];
}
