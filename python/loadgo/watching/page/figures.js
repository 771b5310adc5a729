// The figures of a window of the run, from its rows; the terminal's view computes the same ones in watching/window.py.
import { STATES, WAITS } from "./states.js";
import { after, NONE } from "./table.js";
import { OTHER_WORK, OWNERS } from "./terms.js";

const WAITED = ["major", "swap-in", "major unclocked"], FAULTS = ["minor", "minor unclocked", "write-protect", "segment", "bound", ...WAITED];
const SHORTEST_BIN_NS = 1e9, FEWEST_BINS = 6, BIN_ANSWERS = 10, MOST_DOTS = 500;
const USERS = "users", SUPERVISOR = "supervisor", MOST = 8, HEAT_ROWS = 28, HEAT_STEPS = 2;

/** Which value a sorted list has at the probability, between its neighbours. */
export function quantile(sorted, probability) {
  const place = (sorted.length - 1) * probability, low = Math.floor(place);
  return sorted[low] + (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]) * (place - low);
}

/** Series against time that are cheap enough for every frame while one moves. */
export function series(store, window) {
  return { ...busy(store, window), ready: means(store.tables.queue, "ready", window), ...faults(store, window), ...memory(store, window) };
}

/** What happened in the window: answers, by command and in all, who waited, shares of time, losses. */
export function figures(store, window, bands) {
  const { start, end } = window, late = [];
  store.users.answered(start, end, row => late.push(row), window.only);
  const told = store.tables.interactions.columns, responses = Float64Array.from(late, row => told.response_ns[row]).sort();
  return {
    answered: late.length,
    silent: end - late.reduce((last, row) => Math.max(last, told.sent_ns[row] + told.response_ns[row]), start),
    unsteady: unsteady(store, late),
    perSecond: late.length / (end - start) * 1e9,
    response: { p50: responses.length > 1 ? quantile(responses, 0.5) : null, p90: responses.length > 9 ? quantile(responses, 0.9) : null, mean: mean(late, told.response_ns) },
    cpu: mean(late, told.cpu_ns),
    charged: store.provisional ? late.filter(row => told.cpu_ns[row] === told.cpu_ns[row]).length : null,
    lostHost: store.lostHost && store.lostHost.lost_ns <= end ? store.lostHost : null,
    commands: commands(store, late),
    waiting: waiting(store, late),
    lateness: late.length ? quantile(Float32Array.from(late, row => told.late_ns[row]).sort(), 0.99) : null,
    responses: overTime(store, late, window),
    time: shares(store, window),
    busyShare: busy(store, window).busyShare,
    processes: processes(store, window),
    usersShare: usersShare(store, window),
    meteredUntil: meteredUntil(store, window),
    supervisor: hasSupervisor(store, window),
    otherWork: otherWork(store, window),
    lost: lost(store, end),
    users: store.users.there(end),
    phase: phase(store, end),
    states: sums(bands),
  };
}

/** Mean number of users in each state, column by column. */
export function sums(bands) {
  const { lanes, values, columns } = bands, all = STATES.length;
  return STATES.map((_, state) => {
    const found = new Float64Array(columns);
    for (let lane = 0; lane < lanes.length; lane++) for (let column = 0; column < columns; column++) found[column] += values[(lane * columns + column) * all + state];
    return found;
  });
}

/** What response times consist of: shares of their sum, by state. */
export function waits(states) {
  const totals = states.slice(0, WAITS).map(values => values.reduce((a, b) => a + b, 0)), total = totals.reduce((a, b) => a + b, 0);
  return total ? totals.map(value => value / total) : null;
}

/** Answers a second, in the window's bins. */
export function answers(store, window) {
  const { start, end, bins } = window, counts = new Float64Array(bins), width = (end - start) / bins;
  const told = store.tables.interactions.columns;
  if (window.rough) return store.users.grid.answered(start, end, bins).map(count => count / width * 1e9);
  store.users.answered(start, end, row => { counts[Math.min(bins - 1, Math.max(0, Math.ceil((told.sent_ns[row] + told.response_ns[row] - start) / width) - 1))] += 1; }, window.only);
  return counts.map(count => count / width * 1e9);
}

/** How many bins answers are counted in: each is a second or longer, and holds ten answers at the mean rate of the run, unless there would be too few. */
export function binsOf(store, start, end, columns) {
  const seconds = (end - start) / SHORTEST_BIN_NS, answered = store.tables.interactions.rows * (end - start) / store.reach;
  const bins = Math.max(Math.min(seconds, answered / BIN_ANSWERS), Math.min(seconds, FEWEST_BINS));
  return Math.max(1, Math.min(columns, Math.floor(bins)));
}

function by(rows, key) {
  const found = new Map();
  for (const row of rows) { const name = key(row); if (found.has(name)) found.get(name).push(row); else found.set(name, [row]); }
  return found;
}

function mean(rows, column) {
  let sum = 0, count = 0;
  for (const row of rows) if (column[row] === column[row]) { sum += column[row]; count += 1; }
  return count ? sum / count : null;
}

function commands(store, late) {
  const table = store.tables.interactions, told = table.columns, found = [];
  for (const [code, rows] of by(late, row => told.command[row])) {
    const responses = Float64Array.from(rows, row => told.response_ns[row]).sort();
    found.push({ name: table.words.command[code], count: rows.length, p50: quantile(responses, 0.5), p90: rows.length > 9 ? quantile(responses, 0.9) : null, mean: mean(rows, told.response_ns), cpu: mean(rows, told.cpu_ns) });
  }
  return found.sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
}

function waiting(store, late) {
  const told = store.tables.interactions.columns, found = [];
  let total = 0;
  for (const [user, rows] of by(late, row => told.user[row])) {
    let sum = 0, longest = 0;
    for (const row of rows) if (told.ready_wait_ns[row] > 0) { sum += told.ready_wait_ns[row]; longest = Math.max(longest, told.ready_wait_ns[row]); }
    total += sum;
    if (sum > 0) found.push({ user, sum, longest, each: sum / rows.length });
  }
  return { total, most: found.sort((a, b) => b.sum - a.sum).slice(0, MOST) };
}

/** The p90 of every bin with ten answers or more, and where they are few every answer: [moment, response time]. */
function overTime(store, late, { start, end, bins }) {
  const told = store.tables.interactions.columns, width = (end - start) / bins, lists = Array.from({ length: bins }, () => []);
  const ready = row => told.sent_ns[row] + told.response_ns[row];
  for (const row of late) lists[Math.min(bins - 1, Math.max(0, Math.ceil((ready(row) - start) / width) - 1))].push(told.response_ns[row]);
  return {
    p90: lists.map(list => list.length >= BIN_ANSWERS ? quantile(Float64Array.from(list).sort(), 0.9) : NaN),
    dots: late.length <= MOST_DOTS ? late.map(row => [ready(row), told.response_ns[row]]) : [],
  };
}

export function isIdle(category) { return category.startsWith("idle") || category === "steal" || category === "iowait"; }

/** Calls `use(row, column)` for each row whose span touches the window; the column is that in which the span begins, or the first. Returns the column before which the last span ends. */
export function spanned(table, { start, end, columns }, use) {
  const [from, to] = table.between(start, end), width = (end - start) / columns, { at_ns: at, span_ns: span } = table.columns;
  let last = start;
  for (let row = from; row < to || (row < table.rows && at[row] - span[row] < end); row++) {
    use(row, Math.max(0, Math.min(columns - 1, Math.floor((at[row] - span[row] - start) / width))));
    last = Math.max(last, at[row]);
  }
  return Math.round((last - start) / width);
}

/** Means of columns; where spans are longer than columns, one holds until the next, the last to its span's end. */
export function rate(sums, spans, until) {
  const values = sums.map((sum, column) => spans[column] ? sum / spans[column] : NaN), at = [...values.keys()].filter(column => !Number.isNaN(values[column]));
  at.forEach((column, place) => values.fill(values[column], column, place + 1 < at.length ? at[place + 1] : Math.max(until, column + 1)));
  return values;
}

function means(table, measure, window) {
  const sums = new Float64Array(window.columns), counts = new Float64Array(window.columns), code = (table.words.measure || []).indexOf(measure);
  const until = spanned(table, window, (row, column) => { if (table.columns.measure[row] === code) { sums[column] += table.columns.value[row]; counts[column] += 1; } });
  return rate(sums, counts, until);
}

/** Rows of the processors one by one, where they are told so. */
function ofProcessors(table) {
  if (!table.rows) return () => false;
  table.apart ??= table.columns.processor.subarray(0, table.rows).some(one => one !== NONE);
  return row => !table.apart || table.columns.processor[row] !== NONE;
}

/** The busy share of the processors' time: column by column, and over the whole window, which is the page's one figure. */
function busy(store, window) {
  const table = store.tables.time, wanted = ofProcessors(table), idle = (table.words.category || []).map(isIdle);
  const sums = new Float64Array(window.columns), spans = new Float64Array(window.columns);
  const until = spanned(table, window, (row, column) => {
    if (!wanted(row)) return;
    spans[column] += table.columns.time_ns[row];
    if (!idle[table.columns.category[row]]) sums[column] += table.columns.time_ns[row];
  });
  const all = spans.reduce((a, b) => a + b, 0);
  return { busy: rate(sums, spans, until), busyShare: all ? sums.reduce((a, b) => a + b, 0) / all : NaN };
}

/** By category, the share of the processors' time over the window, and column by column. */
function shares(store, window) {
  const table = store.tables.time, wanted = ofProcessors(table), found = new Map(), spans = new Float64Array(window.columns);
  let total = 0;
  const until = spanned(table, window, (row, column) => {
    if (!wanted(row)) return;
    const name = table.word("category", row), time = table.columns.time_ns[row];
    if (!found.has(name)) found.set(name, { name, share: 0, drawn: new Float64Array(window.columns) });
    found.get(name).share += time;
    found.get(name).drawn[column] += time;
    spans[column] += time;
    total += time;
  });
  return [...found.values()].map(one => ({ name: one.name, share: one.share / total, drawn: rate(one.drawn, spans, until) })).sort((a, b) => b.share - a.share);
}

/** The processes that used most as bands: what they ran and waited for a processor, as shares of all processors. */
export function processBands(store, window) {
  const most = processes(store, window), all = STATES.length, columns = window.columns, values = new Float32Array(most.length * columns * all);
  most.forEach((one, lane) => {
    for (let column = 0; column < columns; column++) {
      const ran = one.cpu[column] || 0, into = (lane * columns + column) * all;
      values[into] = ran;
      values[into + 1] = Math.min(one.ready[column] || 0, Math.max(1 - ran, 0));
    }
  });
  return { lanes: most.map(one => ({ label: one.name, users: 1, first: 0, last: 0 })), values, columns, rough: false };
}

/** Names of processes that used most, as shares of all processors. */
function processes(store, window) {
  const table = store.tables.processes, found = new Map(), processors = countProcessors(store.tables.time), spans = new Float64Array(window.columns);
  const spansSeen = new Set();
  const until = spanned(table, window, (row, column) => {
    const at = table.columns.at_ns[row], name = table.word("who", row);
    if (OWNERS.includes(name)) return;
    if (!spansSeen.has(at)) { spansSeen.add(at); spans[column] += table.columns.span_ns[row]; }
    if (!found.has(name)) found.set(name, { name, used: 0, cpu: new Float64Array(window.columns), ready: new Float64Array(window.columns) });
    const one = found.get(name), wait = table.columns.ready_wait_ns[row];
    one.used += table.columns.cpu_ns[row];
    one.cpu[column] += table.columns.cpu_ns[row];
    one.ready[column] += wait === wait ? wait : 0;
  });
  const whole = spans.reduce((a, b) => a + b, 0);
  const most = [...found.values()].sort((a, b) => b.used - a.used || (a.name < b.name ? -1 : 1)).slice(0, MOST);
  return most.map(one => ({ name: one.name, share: one.used / whole / processors, cpu: rate(one.cpu, spans, until).map(x => x / processors), ready: rate(one.ready, spans, until).map(x => x / processors) }));
}

/** What all users' processes took of all processors' time; NaN where it was not measured. */
function usersShare(store, window) {
  const table = store.tables.processes, { cpu_ns, span_ns } = table.columns;
  let used = 0, whole = 0;
  spanned(table, window, row => { if (table.word("who", row) === USERS) { used += cpu_ns[row]; whole += span_ns[row]; } });
  return whole ? used / whole / countProcessors(store.tables.time) : NaN;
}

/** The end of the last row of the processors' time in the window; the window's end without one. */
function meteredUntil(store, window) {
  const table = store.tables.time, wanted = ofProcessors(table);
  let last = 0;
  spanned(table, window, row => { if (wanted(row)) last = Math.max(last, table.columns.at_ns[row]); });
  return last || window.end;
}

/** Whether a simulated machine's supervisor had a part of the processors' time. */
function hasSupervisor(store, window) {
  let found = false;
  spanned(store.tables.processes, window, row => { found ||= store.tables.processes.word("who", row) === SUPERVISOR; });
  return found;
}

/** Work of a host that is neither the users' nor loadgo's nor the kernel's own, as measures/other_work.py has it: its share of the processors' time, and the largest error of that; null where it was not measured. */
function otherWork(store, window) {
  const table = store.tables.time, wanted = ofProcessors(table), processors = new Set(), owned = new Map();
  let total = 0, rest = 0, ticked = false;
  spanned(table, window, row => {
    if (!wanted(row)) return;
    const name = table.word("category", row), time = table.columns.time_ns[row];
    total += time;
    if (!isIdle(name) && !OTHER_WORK.kernel.includes(name)) rest += time;
    ticked ||= OTHER_WORK.ticked.includes(name);
    processors.add(table.columns.processor[row]);
  });
  spanned(store.tables.processes, window, row => { const who = store.tables.processes.word("who", row); if (OWNERS.includes(who)) owned.set(who, (owned.get(who) || 0) + store.tables.processes.columns.cpu_ns[row]); });
  if (!total || !owned.has(USERS) || !owned.has("driver") || owned.has(SUPERVISOR)) return null;
  for (const used of owned.values()) rest -= used;
  return { share: Math.max(rest, 0) / total, error: ticked ? 2 * processors.size * OTHER_WORK.tick_ns / total : 0 };
}

function countProcessors(table) {
  const seen = new Set();
  for (let row = 0; row < Math.min(table.rows, 4096); row++) seen.add(table.columns.processor[row]);
  seen.delete(NONE);
  return Math.max(seen.size, 1);
}

function faults(store, window) {
  const table = store.tables.faults;
  if (!table.rows) return counted(store, window);
  const all = kinds(table, FAULTS), waited = kinds(table, WAITED);
  const sums = new Float64Array(window.columns), slow = new Float64Array(window.columns), spans = new Float64Array(window.columns), seen = new Set();
  const until = spanned(table, window, (row, column) => {
    const at = table.columns.at_ns[row];
    if (isPart(table, row)) return;
    if (!seen.has(at)) { seen.add(at); spans[column] += table.columns.span_ns[row] / 1e9; }
    if (all.has(table.columns.kind[row])) sums[column] += table.columns.count[row];
    if (waited.has(table.columns.kind[row])) slow[column] += table.columns.count[row];
  });
  return { faults: rate(sums, spans, until), major: rate(slow, spans, until) };
}

function kinds(table, list) { return new Set((table.words.kind || []).map((kind, code) => list.includes(kind) ? code : -1)); }

/** Whether the row counts those of a sum's faults that took so long. */
function isPart(table, row) { return !Number.isNaN(table.columns.bucket_ns[row]); }

/** Where faults are not metered by themselves, interactions have them: at their end, in the bins of answers. */
function counted(store, window) {
  const told = store.tables.interactions.columns, width = (window.end - window.start) / window.bins;
  const all = new Float64Array(window.bins), major = new Float64Array(window.bins);
  let known = 0;
  if (!window.rough) store.users.answered(window.start, window.end, row => {
    if (Number.isNaN(told.faults_major[row]) || Number.isNaN(told.faults_minor[row])) return;
    const bin = Math.max(0, Math.min(window.bins - 1, Math.ceil((told.sent_ns[row] + told.response_ns[row] - window.start) / width) - 1));
    all[bin] += told.faults_minor[row] + told.faults_major[row];
    major[bin] += told.faults_major[row];
    known += 1;
  }, window.only);
  const aSecond = counts => known ? counts.map(count => count / width * 1e9) : counts.fill(NaN);
  return { faults: aSecond(all), major: aSecond(major) };
}

/**
 * Page faults by how long each took, in all columns of the span in which they were counted, in steps of half a power of 2; `per` is cpu_ns or wait_ns.
 * Kinds that wait have their lengths, handling included, in the map of waits, and the others in that of processor time; what has no lengths counts as the mean of its kind.
 */
export function heat(store, window, per) {
  const table = store.tables.faults, counts = new Float64Array(HEAT_ROWS * HEAT_STEPS * window.columns), told = kinds(table, FAULTS), waited = kinds(table, WAITED);
  const width = (window.end - window.start) / window.columns, apart = new Set();
  let total = 0, clocked = 0, longest = 0;
  if (!table.rows) return { counts, total, clocked, steps: HEAT_STEPS, apart: 0 };
  spanned(table, window, row => { if (!isPart(table, row)) longest = Math.max(longest, table.columns.span_ns[row]); });
  // A simulated machine tells lengths phase by phase: its sums, second by second, show more.
  const tells = row => isPart(table, row) && table.columns.span_ns[row] <= longest;
  spanned(table, window, row => { const kind = table.columns.kind[row]; if (tells(row) && waited.has(kind) === (per === "wait_ns")) apart.add(kind); });
  spanned(table, window, (row, column) => {
    const kind = table.columns.kind[row], count = table.columns.count[row], sum = !isPart(table, row);
    if (!told.has(kind)) return;
    if (sum) total += count;
    if (apart.has(kind) ? !tells(row) : !sum) return;
    const time = sum ? table.columns[per][row] / count : table.columns.bucket_ns[row];
    if (!(time >= 1)) return;
    clocked += count;
    const place = Math.min(HEAT_ROWS * HEAT_STEPS - 1, Math.floor(Math.log2(time) * HEAT_STEPS)) * window.columns, begun = table.columns.at_ns[row] - table.columns.span_ns[row];
    const from = Math.max(0, Math.round((begun - window.start) / width)), until = Math.min(window.columns, Math.round((table.columns.at_ns[row] - window.start) / width));
    for (let at = Math.min(from, column); at < Math.max(until, column + 1); at++) counts[place + at] += count;
  });
  return { counts, total, clocked, steps: HEAT_STEPS, apart: apart.size };
}

/** Resident memory by who has it, all users together, column by column, in bytes. */
function memory(store, window) {
  const table = store.tables.memory, found = new Map();
  if (!table.rows || store.settings.hosts.length) return { memory: [] };
  const until = spanned(table, window, (row, column) => {
    const resident = table.columns.resident_bytes[row], name = table.word("who", row);
    if (table.columns.user[row] !== NONE || resident !== resident) return;
    if (!found.has(name)) found.set(name, { name, quiet: name === "free", sums: new Float64Array(window.columns), counts: new Float64Array(window.columns) });
    found.get(name).sums[column] += resident;
    found.get(name).counts[column] += 1;
  });
  return { memory: [...found.values()].map(({ name, quiet, sums, counts }) => ({ name, quiet, drawn: rate(sums, counts, until) })).sort((a, b) => a.quiet - b.quiet) };
}

/** The memory table's last span in the window: everybody's, and of users those that have most; taken and brought over the window. */
export function memoryRows(store, window) {
  const table = store.tables.memory, found = new Map();
  if (!table.rows || store.settings.hosts.length) return [];
  const [from, to] = table.between(window.start, window.end), told = table.columns;
  for (let row = from; row < to; row++) {
    const user = told.user[row], name = user === NONE ? table.word("who", row) : `user ${user}`;
    const one = found.get(name) || { name, user: user !== NONE, taken: NaN, brought: NaN };
    Object.assign(one, { at: told.at_ns[row], resident: told.resident_bytes[row], device: told.device_bytes[row], size: told.size_bytes[row] });
    for (const [key, column] of [["taken", "taken_pages"], ["brought", "brought_pages"]])
      if (told[column][row] === told[column][row]) one[key] = (one[key] === one[key] ? one[key] : 0) + told[column][row];
    found.set(name, one);
  }
  const rows = [...found.values()], users = rows.filter(one => one.user).sort((a, b) => (b.taken || 0) - (a.taken || 0) || (b.resident || 0) - (a.resident || 0));
  return [...rows.filter(one => !one.user), ...users.slice(0, MOST)];
}

function lost(store, end) {
  const table = store.tables.lost;
  let sum = 0;
  for (let row = 0; row < table.rows; row++) if (table.columns.at_ns[row] <= end) sum += table.columns.count[row];
  return sum;
}

/** How many of these were sent outside the steady phase, which alone a report is of; none in a run without that phase. */
function unsteady(store, rows) {
  const table = store.tables.phases, sent = store.tables.interactions.columns.sent_ns;
  let has = false;
  for (let row = 0; row < table.rows; row += 1) has ||= table.word("phase", row) === "steady";
  return has ? rows.filter(row => phase(store, sent[row]) !== "steady").length : 0;
}

function phase(store, end) {
  const table = store.tables.phases, at = after(table.columns.at_ns || [], end, table.rows);
  return at ? table.word("phase", at - 1) : "";
}
