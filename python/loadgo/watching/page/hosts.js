// The hosts of a run or metering of several, side by side: figures of each in the window, as watching/hosts.py has them.
import { isIdle, quantile, rate, spanned } from "./figures.js";
import { STATES } from "./states.js";
import { after } from "./table.js";
import { HOST_LIMITS } from "./terms.js";

const FEWEST_FOR_P90 = 10, MOST_DOTS = 500, FEWEST_BINS = 6, SHORTEST_BIN_NS = 1e9, FREE = "free";

/** The meters of each host in the window: {name, busy, ready, memory, share, seen}; cheap enough for every frame. */
export function hostMeters(store, window) {
  const { columns } = window, hosts = store.settings.hosts;
  const found = hosts.map(host => ({ ...host, time: meter(columns), queue: meter(columns), room: meter(columns) }));
  if (!found.length) return [];
  times(store.tables.time, window, found);
  queues(store.tables.queue, window, found);
  memories(store.tables.memory, window, found);
  return found.map(({ time, queue, room, ...host }) => ({
    ...host, busy: drawn(time, window), ready: drawn(queue, window), memory: drawn(room, window).map(free => 1 - free),
    share: whole(time), length: whole(queue), used: 1 - whole(room), seen: time.last,
  }));
}

function meter(columns) { return { sums: new Float64Array(columns), counts: new Float64Array(columns), last: 0 }; }

function put(meter, column, at, sum, count) {
  meter.sums[column] += sum;
  meter.counts[column] += count;
  meter.last = Math.max(meter.last, at);
}

/** The series of a meter: it ends with the host's own last span. */
function drawn({ sums, counts, last }, { start, end, columns }) { return rate(sums, counts, Math.round((Math.min(last, end) - start) / ((end - start) / columns))); }

function whole({ sums, counts }) {
  const count = counts.reduce((a, b) => a + b, 0);
  return count ? sums.reduce((a, b) => a + b, 0) / count : NaN;
}

function times(table, window, found) {
  const owner = [], idle = (table.words.category || []).map(isIdle);
  for (const host of found) for (let processor = host.first; processor <= host.last; processor++) owner[processor] = host;
  spanned(table, window, (row, column) => {
    const host = owner[table.columns.processor[row]], time = table.columns.time_ns[row];
    if (host) put(host.time, column, table.columns.at_ns[row], idle[table.columns.category[row]] ? 0 : time, time);
  });
}

/** Calls `use(host, row, column)` for each row of a host. */
function ofHosts(table, window, found, use) {
  const owner = (table.words.host || []).map(name => found.find(host => host.name === name));
  spanned(table, window, (row, column) => { const host = owner[table.columns.host[row]]; if (host) use(host, row, column); });
}

function queues(table, window, found) {
  ofHosts(table, window, found, (host, row, column) => put(host.queue, column, table.columns.at_ns[row], table.columns.value[row], 1));
}

/** What is free or file cache, of all memory, which the row of what is free has. */
function memories(table, window, found) {
  const free = (table.words.who || []).indexOf(FREE);
  ofHosts(table, window, found, (host, row, column) => {
    const { at_ns: at, who, resident_bytes: resident, size_bytes: size } = table.columns;
    if (resident[row] === resident[row]) put(host.room, column, at[row], resident[row], who[row] === free ? size[row] : 0);
  });
}

/** The hosts with all that is told of them at rest: answers of their users, and whether they are lost or late. */
export function hostFigures(store, window) {
  const hosts = hostMeters(store, window), everybody = store.users.by.size > 0, rows = hosts.map(host => everybody ? answered(store, window, host) : []);
  const all = rows.reduce((sum, own) => sum + own.length, 0), bins = binsOf(window, all / Math.max(hosts.length, 1));
  return hosts.map((host, at) => ({ ...host, ...responses(store, window, rows[at], bins, all <= MOST_DOTS), ...state(store, window, host) }));
}

function answered(store, { start, end }, host) {
  const rows = [];
  store.users.answered(start, end, row => rows.push(row), [host.first_user, host.last_user]);
  return rows;
}

/** How many bins the answers of a host are counted in: twice as many as a p90 takes in each, where they come evenly. */
function binsOf({ start, end, columns }, answers) {
  const seconds = (end - start) / SHORTEST_BIN_NS;
  return Math.max(1, Math.min(columns, Math.floor(Math.max(Math.min(seconds, answers / FEWEST_FOR_P90 / 2), Math.min(seconds, FEWEST_BINS)))));
}

function responses(store, { start, end }, rows, bins, apart) {
  const { sent_ns: sent, response_ns: response } = store.tables.interactions.columns, width = (end - start) / bins;
  const ready = row => sent[row] + response[row], lists = Array.from({ length: bins }, () => []);
  for (const row of rows) lists[Math.min(bins - 1, Math.max(0, Math.ceil((ready(row) - start) / width) - 1))].push(response[row]);
  const p90 = list => list.length >= FEWEST_FOR_P90 ? quantile(Float64Array.from(list).sort(), 0.9) : NaN;
  const sorted = Float64Array.from(rows, row => response[row]).sort();
  return {
    count: rows.length,
    p50: sorted.length ? quantile(sorted, 0.5) : null,
    p90: sorted.length >= FEWEST_FOR_P90 ? quantile(sorted, 0.9) : null,
    response: lists.map(p90),
    dots: apart ? rows.map(row => [ready(row), response[row]]) : [],
  };
}

/** Whether a host is lost by the window's end, and for how long its meters have not come, if that is long. */
function state(store, { end }, host) {
  const lost = host.lost_ns !== null && host.lost_ns <= end, latest = latestOf(store.tables.time, host, end);
  return { lost, silent: !lost && latest && end - latest > HOST_LIMITS.silent_ns ? end - latest : 0 };
}

/** When the host's last row of the processors' time ends that is not after `end`; 0 without one. */
function latestOf(table, host, end) {
  if (!table.rows) return 0;
  const { at_ns: at, processor } = table.columns;
  for (let row = after(at, end, table.rows) - 1; row >= 0; row--) if (host.first <= processor[row] && processor[row] <= host.last) return at[row];
  return 0;
}

/** The busy share of each host as a band, the busiest first, where nobody types. */
export function hostBands(store, window) {
  const hosts = hostMeters(store, window).filter(host => !Number.isNaN(host.share)).sort((a, b) => b.share - a.share || (a.name < b.name ? -1 : 1));
  const all = STATES.length, { columns } = window, values = new Float32Array(hosts.length * columns * all);
  hosts.forEach((host, lane) => { for (let column = 0; column < columns; column++) values[(lane * columns + column) * all] = host.busy[column] || 0; });
  return { lanes: hosts.map(host => ({ label: host.name, users: 1, first: 0, last: 0 })), values, columns, rough: false };
}

/** The users' bands, of which each that is of one host has its name. */
export function labelled(bands, hosts) {
  for (const lane of bands.lanes) {
    const host = hosts.find(one => one.first_user <= lane.first && lane.last <= one.last_user);
    if (host) lane.label = `${host.name} ${lane.first === lane.last ? lane.first : `${lane.first}–${lane.last}`}`;
  }
  return bands;
}
