// The page's parts filled: series, tables, the legend, what a single interaction was.
import { heat, memoryRows, waits } from "./figures.js";
import { topOf } from "./axes.js";
import { drawHeat, drawPointed, drawSeries, drawStack, QUIET, STACK } from "./pictures.js";
import { COLOURS, nameOf, STATES, WAITS } from "./states.js";
import { NONE } from "./table.js";
import { CATEGORIES } from "./terms.js";
import { bytes, duration, moment, number, share } from "./words.js";

export const $ = id => document.getElementById(id);

const FIGURE = /(\d[\d.,]* (?:%|[pnµm]?s|min|h|[kMGT]?B)(?!\w))/;

/** Sets the text of an element, in which no line parts a figure from its unit. */
export function write(element, text) {
  if (element.textContent === text) return;
  element.replaceChildren(...text.split(FIGURE).map((part, at) => at % 2 ? Object.assign(document.createElement("span"), { className: "whole", textContent: part }) : part));
}

const SERIES = [["responses", "Response time, p90"], ["answers", "Answers a second"], ["busy", "Processors busy"], ["ready", "Run queue, length"],
                ["faults", "Page faults a second"], ["account", "Processors' time by category"], ["memory", "Memory"]];
const TALL = ["responses", "account", "memory"];
const TITLES = {};

/** The small charts by name, as they were drawn last: {element, columns, redraw(), words(column)}. */
export const charts = new Map();
/** What is pointed at in all small charts at once: a moment, a stretch that is chosen, and where it began if keys chose it. */
export const pointed = { moment: null, stretch: null, anchor: null };

/** Makes the legend and the places of the series. */
export function prepare() {
  for (const [at, state] of STATES.entries()) { const item = entry(COLOURS[at], state); item.classList.toggle("of-users", at > 1); $("legend").append(item); }
  const nobody = entry("transparent", "not logged in");
  nobody.className = "of-users";
  $("legend").append(nobody);
  for (const [name, title] of SERIES) {
    const part = chartPart(name, title, TALL.includes(name) ? 150 : 104);
    if (name === "account" || name === "memory") { const list = document.createElement("ul"); list.id = `legend-${name}`; part.append(list); }
    if (name === "answers" || name === "responses") part.className = "of-users";
    if (name === "memory") part.className = "of-one";
    $("series").append(part);
  }
}

/** The place of a small chart: its heading, the chart, and a line for its value at a moment. */
export function chartPart(name, title, height) {
  const part = document.createElement("section"), head = document.createElement("h2"), now = document.createElement("span"), drawn = document.createElement("canvas"), value = document.createElement("p");
  [part.id, now.id, drawn.id, value.id, now.className, value.className] = [`part-${name}`, `now-${name}`, `series-${name}`, `value-${name}`, "now", "about value"];
  TITLES[name] = title;
  head.append(title, now);
  drawn.setAttribute("height", String(height));
  drawn.setAttribute("role", "img");
  drawn.tabIndex = 0;
  drawn.setAttribute("aria-describedby", `value-${name}`);
  value.setAttribute("aria-live", "polite");
  part.append(head, drawn, value);
  return part;
}

function entry(colour, name) {
  const item = document.createElement("li"), square = document.createElement("i");
  square.style.background = colour;
  item.append(square, name);
  return item;
}

function last(values) {
  for (let at = values.length - 1; at >= 0; at--) if (!Number.isNaN(values[at])) return values[at];
  return null;
}

function known(values) { return Array.from(values).filter(value => !Number.isNaN(value)); }

function mean(values) { const told = known(values); return told.length ? told.reduce((a, b) => a + b, 0) / told.length : null; }

/** The heading of a chart: its title, and what there is to say of the window, if anything. */
export function headed(name, text) {
  const now = $(`now-${name}`), title = TITLES[name] + (text ? ": " : "");
  if (now.previousSibling.textContent !== title) now.previousSibling.textContent = title;
  write(now, text);
}

/** Charts that had a value at some time. The others take no room. */
const filled = new Set();

/** Draws a series, and says its mean over the window (`whole`, where its columns have different weights) and, where a column is long enough for one, its largest value. */
function series(name, values, words, window, { caption = null, most = true, whole = null, ...settings } = {}) {
  const told = known(values), list = Array.from(values), isEmpty = !told.length && !(settings.dots || []).length;
  if (!isEmpty) filled.add(name);
  $(`series-${name}`).hidden = !filled.has(name);
  show(name, list.length, window, () => drawSeries($(`series-${name}`), list, { ...window, words, ...settings }), column => {
    const over = settings.over ? `, ${words(settings.over[column])} waited for a device` : "";
    return Number.isNaN(list[column]) ? settings.dots ? "too few answers for a p90" : "not measured" : words(list[column]) + over;
  });
  headed(name, isEmpty ? "not measured" : caption ?? `${words(whole ?? mean(values))} on the mean${most ? `, most ${words(Math.max(...told))}` : ""}`);
  $(`series-${name}`).setAttribute("aria-label", $(`part-${name}`).querySelector("h2").textContent);
}

/** Draws a small chart, and keeps how, so that what is pointed at can be drawn over it; `legend(column)` fills the legend of a chart that has one. */
export function show(name, columns, window, draw, words, legend = null) {
  const element = $(`series-${name}`);
  const redraw = () => { draw(); drawPointed(element, window, pointed.moment, pointed.stretch); };
  charts.set(name, { element, columns, window, redraw, words, legend });
  redraw();
  drawValue(name);
}

/** The chart's value at the moment that is pointed at: a line below it, or the figures of its legend, where the line is heard only. */
export function drawValue(name) {
  const { columns, words, legend, window: { start, end } } = charts.get(name), { moment: at } = pointed, width = (end - start) / columns;
  const column = at === null || at < start || at > end ? null : Math.min(columns - 1, Math.floor((at - start) / width));
  const line = $(`value-${name}`), range = column === null ? "" : `${moment(start + column * width)} to ${moment(start + (column + 1) * width)}: `;
  const text = column === null ? "" : range + words(column);
  if (legend) legend(column);
  if (line.textContent === text) return;
  line.textContent = legend ? range : text;
  if (legend && text) line.append(Object.assign(document.createElement("span"), { className: "heard", textContent: words(column) }));
}

const SHORT_NS = 1e8;

/** What is drawn anew in every frame while one moves; `response` are the window's response times, when they are known. */
export function drawMoving(found, answered, response, target, window) {
  const { start, end, bins } = window, most = (end - start) / found.faults.length >= SHORT_NS, waited = mean(found.major);
  series("busy", found.busy, share, window, { top: 1, whole: found.busyShare });
  series("ready", found.ready, number, window);
  series("faults", found.faults, number, window, { over: Array.from(found.major), most });
  if (waited !== null) $("now-faults").textContent += ` (orange: ${number(waited)} waited for a device)`;
  if (answered) series("answers", answered, number, window, { most: (end - start) / bins >= SHORT_NS });
  if (response) series("responses", response.drawn, duration, window, { bound: target, dots: response.dots, caption: response.p90 === null ? "few answers" : `${duration(response.p90)} in all${response.dots.length ? "; a dot is an answer" : ""}${response.drawn.some(Number.isNaN) ? "; a bar needs 10 answers" : ""}` });
  stack("memory", found.memory, null, bytes, window);
}

const ownColours = new Map();

/** The colour of a part that has none of its own: the next one when the part is first seen, and the same from then on. */
function colourOf(part) {
  if (part.quiet) return QUIET;
  if (!ownColours.has(part.name)) ownColours.set(part.name, STACK[ownColours.size % STACK.length]);
  return ownColours.get(part.name);
}

/** Parts upon one another. */
function stack(name, parts, most, told, window) {
  const list = parts.filter(part => part.drawn.some(value => value > (most || 0) / 1000)), columns = list.length ? list[0].drawn.length : 0;
  list.forEach(part => { part.colour ??= colourOf(part); });
  let full = most;
  for (let column = 0; !most && column < columns; column++) full = Math.max(full || 0, list.reduce((sum, part) => sum + (part.drawn[column] || 0), 0));
  full = most || topOf(full);
  const words = column => list.filter(part => part.drawn[column] > 0).map(part => `${part.name} ${told(part.drawn[column])}`).join(", ") || "not measured";
  const legend = column => fillLegend(name, list, part => told(part === undefined ? most ? 0 : null : column === null ? part.share ?? last(part.drawn) : part.drawn[column]));
  show(name, columns || 1, window, () => drawStack($(`series-${name}`), list, full, { ...window, words: told }), words, legend);
  headed(name, list.length ? most ? "shares of this time" : "as it is at the end of this time" : "not measured");
  $(`series-${name}`).setAttribute("aria-label", `${name}: ${list.map(part => `${part.name} ${told(last(part.drawn))}`).join(", ")}`);
}

const legends = new Map();

/** Writes the figure of each part behind its name. A part that was once seen keeps its place, so that the page does not move. */
function fillLegend(name, list, figure) {
  if (!legends.has(name)) legends.set(name, new Map());
  const kept = legends.get(name), now = new Map(list.map(part => [part.name, part])), isNew = list.some(part => !kept.has(part.name));
  for (const part of list.filter(part => !kept.has(part.name))) {
    const item = entry(part.colour, `${part.name} `), value = document.createElement("span");
    item.append(value);
    kept.set(part.name, { item, value });
  }
  for (const [part, { value }] of kept) { const text = figure(now.get(part)); if (value.textContent !== text) value.textContent = text; }
  if (isNew) $(`legend-${name}`).replaceChildren(...[...kept].sort(([a], [b]) => PALETTE.indexOf(a) - PALETTE.indexOf(b)).map(([, one]) => one.item));
}

const PALETTE = Object.values(CATEGORIES).map(category => category.name);

/** A category's term as a cell: its text, no class, and its sentence. */
function term(category) { const known = CATEGORIES[category]; return known ? [known.name, "", known.meaning] : [category, ""]; }

/** The categories as the report stacks them: busy ones first, from the axis up. */
function inPaletteOrder(time) { const order = Object.keys(CATEGORIES); return [...time].sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name)); }

function colour(category) { return CATEGORIES[category]?.colour; }

/** Fills a table; a cell may be a text, its class and its sentence. */
export function rows(table, heads, lines) {
  const row = (cells, kind) => {
    const line = document.createElement("tr");
    cells.forEach((cell, at) => {
      const one = document.createElement(kind || (at ? "td" : "th")), [text, mark, meaning] = Array.isArray(cell) ? cell : [cell, ""];
      if (kind || !at) one.scope = kind ? "col" : "row";
      one.textContent = text;
      if (meaning) one.title = meaning;
      if (mark) one.className = mark;
      line.append(one);
    });
    return line;
  };
  const head = document.createElement("thead"), body = document.createElement("tbody");
  head.append(row(heads, "th"));
  lines.forEach(line => body.append(row(line)));
  $(table).replaceChildren(head, body);
}

/** The tables and the heat maps. */
export function drawSettled(store, window, told) {
  const over = value => target(store) !== null && value !== null && value > target(store) ? [`${duration(value)} over`, "over"] : value === null ? "few" : duration(value);
  rows("commands", ["command", "count", "p50", "p90", "CPU, mean"], told.commands.map(one => [one.name, number(one.count), duration(one.p50), over(one.p90), duration(one.cpu)]));
  $("legend").children[STATES.length - 1].lastChild.data = nameOf(STATES.at(-1), store.ended);
  const sums = told.states.map(values => values.reduce((a, b) => a + b, 0)), all = sums.reduce((a, b) => a + b, 0) || 1, parts = waits(told.states);
  rows("states", ["state", "of their time", "of response times"], STATES.map((name, at) => [nameOf(name, store.ended), share(sums[at] / all), at < WAITS && parts ? share(parts[at]) : ""]));
  rows("waiting", ["user", "of all waits", "mean", "longest"], told.waiting.most.map(one => [`user ${one.user}`, share(one.sum / told.waiting.total), duration(one.each), duration(one.longest)]));
  rows("time", ["category", "share"], told.time.filter(one => one.share > 0).map(one => [term(one.name), share(one.share)]));
  rows("processes", ["process", "share"], told.processes.map(one => [one.name, share(one.share)]));
  $("processes-part").hidden = !told.processes.length;
  stack("account", inPaletteOrder(told.time).map(one => ({ ...one, name: term(one.name)[0], colour: colour(one.name) })), 1, share, window);
  memory(store, window);
  for (const [id, per, what] of [["heat-cpu", "cpu_ns", "processor time"], ["heat-wait", "wait_ns", "wait"]]) drawOneHeat(store, window, id, per, what);
}

export function target(store) { return store.settings.target_ns ?? null; }

function memory(store, window) {
  const told = memoryRows(store, window);
  const page = value => value === value && value !== undefined ? number(value) : "–";
  rows("memory", ["whose", "resident", "on device", "taken", "brought"], told.map(one => [one.name, bytes(one.resident), bytes(one.device) + (one.size > 0 && one.device >= 0 ? ` of ${bytes(one.size)}` : ""), page(one.taken), page(one.brought)]));
  const losing = told.filter(one => one.user && one.taken > 0).slice(0, 3).map(one => one.name), winning = told.filter(one => one.user && one.brought > 0).sort((a, b) => b.brought - a.brought).slice(0, 3).map(one => one.name);
  $("memory-note").textContent = !told.length ? "not measured" : losing.length || winning.length ? `Pages are taken from ${losing.join(", ") || "nobody that is known"}, and brought in for ${winning.join(", ") || "nobody that is known"}.` : "Pages taken and brought in: in this window; – is not measured.";
}

function drawOneHeat(store, window, id, per, what) {
  const told = heat(store, window, per), range = drawHeat($(id), told, window, duration);
  $(id).hidden = !range;
  const text = !store.tables.faults.rows ? "not measured: the exact meters have it (--meters exact)" : !told.total ? "none in this window" : !range ? `of ${number(told.total)} faults none has a ${what} of 1 ns or more, as the mean of its kind` :
    `${duration(range[0])} at the bottom to ${duration(range[1])} at the top, each row ${(2 ** (1 / told.steps)).toFixed(1)} times the one below; ${number(told.clocked)} of ${number(told.total)} faults have one, ${told.apart ? (per === "wait_ns" ? "with its handling" : "one by one") : "as the mean of their kind in the span"}`;
  $(`${id}-note`).textContent = text;
  $(id).setAttribute("aria-label", `${what} of page faults against time: ${text}`);
}

/** One interaction, with its ready message. */
export function drawDetail(store, row) {
  $("detail").hidden = row === null;
  if (row === null) return;
  const table = store.tables.interactions, one = name => table.columns[name][row], command = table.word("command", row);
  const ready = one("sent_ns") + one("response_ns"), cpu = one("cpu_ns"), of = cpu === cpu ? ` (${share(cpu / one("response_ns"))})` : "";
  const count = value => value === value ? number(value) : "–";
  const lines = [
    `user ${one("user")}, pass ${one("pass") === NONE ? "–" : one("pass")}, line ${one("line") === NONE ? "–" : one("line")}: ${command}`,
    `real ${duration(one("response_ns"))}, CPU ${duration(cpu)}${of}, page faults ${count(one("faults_minor"))} minor and ${count(one("faults_major"))} major`,
    `thought ${duration(one("think_ns"))}, typed ${duration(one("typing_ns"))}, sent at ${moment(one("sent_ns"))}, ${duration(one("late_ns"))} late; ready at ${moment(ready)}`,
    `waits: CPU ${duration(one("ready_wait_ns"))}, pages ${duration(one("paging_wait_ns"))}, disk ${duration(one("io_wait_ns"))}`,
    `outcome ${table.word("outcome", row)}${one("exit_status") === one("exit_status") ? `, exit status ${one("exit_status")}` : ""}`,
  ];
  $("detail").replaceChildren(...lines.map(text => { const line = document.createElement("p"); line.textContent = text; return line; }));
}
