// What every user did, against time: from interactions to shares of columns, for lanes of one user or of several.
import { STATES, WAITS } from "./states.js";
import { after, columnsOf } from "./table.js";

const ALL = STATES.length, UNKNOWN = ALL - 1;
const LANES = 64, BINS = 8192, DIRECT = 20_000, FIRST_BIN_NS = 1e8;

export class Users {
  constructor(interactions, sessions) {
    this.interactions = interactions;
    this.sessions = sessions;
    this.by = new Map();
    this.read = 0;
    this.logins = 0;
    this.grid = new Grid();
  }

  /** Takes in the rows that have come. */
  take() {
    const { columns, rows } = this.interactions;
    for (; this.read < rows; this.read++) {
      const user = this.user(columns.user[this.read]), ready = columns.sent_ns[this.read] + columns.response_ns[this.read];
      push(user, this.read, ready);
      if (ready < user.last) order(user); else user.last = ready;
      this.grid.add(this.interactions, this.read, columns.user[this.read], ready);
    }
    const told = this.sessions.columns;
    for (; this.logins < this.sessions.rows; this.logins++) {
      if (!this.read) this.grid.hold(told.user[this.logins]);
      const user = this.user(told.user[this.logins]), ended = told.ended_ns[this.logins];
      user.since = Math.min(user.since, told.started_ns[this.logins]);
      user.sessions.push([told.started_ns[this.logins], Number.isNaN(ended) ? Infinity : ended]);
      if (!Number.isNaN(ended)) user.left = user.left === Infinity ? ended : Math.max(user.left, ended);
    }
  }

  /** Takes in what interactions used that are here already: it comes later from another host. */
  charge(head, bytes) {
    const { columns } = this.interactions, { row: rows, ...used } = Object.fromEntries(columnsOf(head, bytes));
    rows.forEach((row, at) => {
      const changed = Object.keys(used).filter(name => !Object.is(columns[name][row], used[name][at]));
      if (!changed.length) return;
      const ready = columns.sent_ns[row] + columns.response_ns[row];
      this.grid.lay(this.interactions, row, columns.user[row], ready, -1);
      for (const name of changed) columns[name][row] = used[name][at];
      this.grid.lay(this.interactions, row, columns.user[row], ready);
    });
  }

  user(name) {
    let known = this.by.get(name);
    if (!known) this.by.set(name, known = { name, rows: new Int32Array(16), ready: new Float64Array(16), count: 0, last: 0, since: Infinity, left: Infinity, sessions: [] });
    return known;
  }

  /** Users that are logged in at that moment. A log-in's row comes when it has ended: who types and has none is there. */
  there(at) {
    let count = 0;
    for (const user of this.by.values()) {
      if (!user.sessions.length && user.count && this.interactions.columns.sent_ns[user.rows[0]] <= at) count += 1;
      for (const [from, to] of user.sessions) if (from <= at && to > at) count += 1;
    }
    return count;
  }

  /** Calls `use(row)` for each interaction that was answered in (start, end]; of one user, or of all. */
  answered(start, end, use, only = null) {
    for (const user of this.chosen(only)) {
      if (!user.count) continue;
      for (let at = after(user.ready, start, user.count); at < user.count && user.ready[at] <= end; at++) use(user.rows[at]);
    }
  }

  chosen(only) {
    return [...this.by.values()].filter(user => !only || (user.name >= only[0] && user.name <= only[1])).sort((a, b) => a.name - b.name);
  }

  /** The row of the user's interaction at `at`, or the nearest one `step` further. */
  at(name, at, step = 0) {
    const user = this.by.get(name);
    if (!user || !user.count) return null;
    const place = Math.min(after(user.ready, at, user.count), user.count - 1) + step;
    return user.rows[Math.max(0, Math.min(place, user.count - 1))];
  }

  /** Where the row is among its user's, and the row that is `step` from it. */
  beside(row, step) {
    const user = this.by.get(this.interactions.columns.user[row]);
    const ready = this.interactions.columns.sent_ns[row] + this.interactions.columns.response_ns[row];
    let place = Math.max(0, after(user.ready, ready, user.count) - 1);
    while (place > 0 && user.rows[place] !== row) place -= 1;
    return user.rows[Math.max(0, Math.min(place + step, user.count - 1))];
  }

  /** Shares of the columns from `start` to `end` for each lane: {lanes: [{label, first, last, users}], values, columns}. */
  bands(start, end, columns, only = null) {
    const chosen = this.chosen(only);
    let expected = 0, most = 0;
    for (const user of chosen) {
      if (user.count) expected += after(user.ready, end, user.count) - after(user.ready, start, user.count) + 1;
      most = Math.max(most, user.name);
    }
    const shift = chosen.length <= LANES ? 0 : shiftOf(most), lanes = [], place = new Map();
    for (const user of chosen) {
      const key = user.name >> shift;
      if (!place.has(key)) { place.set(key, lanes.length); lanes.push({ key, first: user.name, last: user.name, users: 0 }); }
      const lane = lanes[place.get(key)];
      lane.last = user.name;
      lane.users += 1;
    }
    for (const lane of lanes) lane.label = lane.first === lane.last ? `user ${lane.first}` : `users ${lane.first}–${lane.last}`;
    const values = new Float32Array(lanes.length * columns * ALL), width = (end - start) / columns;
    const rough = !only && expected > DIRECT && this.grid.lanes(values, lanes, start, end, columns);
    for (const user of chosen) {
      const into = place.get(user.name >> shift) * columns * ALL;
      if (!rough) this.exactly(user, values, into, start, end, columns, width);
      const since = user.count ? user.last : user.since === Infinity ? 0 : user.since, until = Math.min(user.left, end);
      if (until > Math.max(since, start)) spread(values, into + UNKNOWN, since, until, 1, start, width, columns);
    }
    return { lanes, values, columns, rough };
  }

  exactly(user, values, into, start, end, columns, width) {
    if (!user.count) return;
    for (let at = after(user.ready, start, user.count); at < user.count; at++) {
      if (lay(values, into, this.interactions.columns, user.rows[at], user.ready[at], start, width, columns) >= end) break;
    }
  }
}

function push(user, row, ready) {
  if (user.count === user.rows.length) {
    const [rows, times] = [new Int32Array(2 * user.count), new Float64Array(2 * user.count)];
    rows.set(user.rows);
    times.set(user.ready);
    [user.rows, user.ready] = [rows, times];
  }
  user.rows[user.count] = row;
  user.ready[user.count] = ready;
  user.count += 1;
}

function order(user) {
  const places = [...Array(user.count).keys()].sort((a, b) => user.ready[a] - user.ready[b]);
  user.rows = Int32Array.from(places, at => user.rows[at]);
  user.ready = Float64Array.from(places, at => user.ready[at]);
  user.last = user.ready[user.count - 1];
}

function known(x) { return x === x ? x : 0; }

/** Adds one interaction's states to the columns from `into` on, each part with its share of the time in which it lay; returns when its user began to think. */
function lay(values, into, told, row, ready, start, width, columns, sign = 1) {
  const sent = told.sent_ns[row], typing = sent - known(told.typing_ns[row]), thought = typing - known(told.think_ns[row]);
  const running = known(told.cpu_ns[row]), queued = known(told.ready_wait_ns[row]), paging = known(told.paging_wait_ns[row]), disk = known(told.io_wait_ns[row]);
  const sum = running + queued + paging + disk, whole = Math.max(sum, ready - sent, 1);
  if (running > 0) spread(values, into, sent, ready, sign * running / whole, start, width, columns);
  if (queued > 0) spread(values, into + 1, sent, ready, sign * queued / whole, start, width, columns);
  if (paging > 0) spread(values, into + 2, sent, ready, sign * paging / whole, start, width, columns);
  if (disk > 0) spread(values, into + 3, sent, ready, sign * disk / whole, start, width, columns);
  spread(values, into + WAITS - 1, sent, ready, sign * (1 - sum / whole), start, width, columns);
  spread(values, into + WAITS, typing, sent, sign, start, width, columns);
  spread(values, into + WAITS + 1, thought, typing, sign, start, width, columns);
  return thought;
}

/** Adds the stretch's share of every column that it touches. */
function spread(values, into, from, to, weight, start, width, columns) {
  if (!weight || to <= from) return;
  const left = (from - start) / width, right = (to - start) / width;
  const first = left < 0 ? 0 : Math.floor(left), last = right >= columns ? columns - 1 : Math.floor(right);
  if (first === last) { values[into + first * ALL] += weight * (Math.min(right, first + 1) - Math.max(left, first)); return; }
  for (let column = first; column <= last; column++) {
    const covered = Math.min(right, column + 1) - Math.max(left, column);
    if (covered > 0) values[into + column * ALL] += weight * covered;
  }
}

function shiftOf(most) {
  let shift = 0;
  while (most >> shift >= LANES) shift += 1;
  return shift;
}

/** Everybody's time in coarse bins, kept as the rows come, for pictures of more than anybody can draw one by one. */
class Grid {
  width = FIRST_BIN_NS;
  shift = 0;
  values = new Float32Array(LANES * BINS * ALL);
  answers = new Float64Array(BINS);

  /** Bins wide enough for a run that is known to reach so far, before there are rows in them. */
  expect(reach) { while (reach >= this.width * BINS) this.width *= 2; }

  /** Lanes for a user of that number, before there are rows in them. */
  hold(user) { while (user >> this.shift >= LANES) this.shift += 1; }

  add(table, row, user, ready) {
    while (user >> this.shift >= LANES) this.joinLanes();
    while (ready >= this.width * BINS) this.joinBins();
    this.lay(table, row, user, ready);
    this.answers[Math.floor(ready / this.width)] += 1;
  }

  /** Lays one interaction into the bins, or takes it out again with the `sign` -1. */
  lay(table, row, user, ready, sign = 1) {
    lay(this.values, (user >> this.shift) * BINS * ALL, table.columns, row, ready, 0, this.width, BINS, sign);
  }

  joinLanes() {
    const size = BINS * ALL, old = this.values;
    this.values = new Float32Array(old.length);
    for (let at = 0; at < old.length; at++) this.values[(Math.floor(at / size) >> 1) * size + at % size] += old[at];
    this.shift += 1;
  }

  joinBins() {
    const old = this.values, answers = this.answers;
    this.values = new Float32Array(old.length);
    this.answers = new Float64Array(BINS);
    for (let lane = 0; lane < LANES; lane++) for (let bin = 0; bin < BINS; bin++) for (let state = 0; state < ALL; state++)
      this.values[(lane * BINS + (bin >> 1)) * ALL + state] += old[(lane * BINS + bin) * ALL + state] / 2;
    for (let bin = 0; bin < BINS; bin++) this.answers[bin >> 1] += answers[bin];
    this.width *= 2;
  }

  /** Fills `values` as `bands` does, from the bins; false when they are too coarse or in other lanes. */
  lanes(values, lanes, start, end, columns) {
    const width = (end - start) / columns;
    if (width * 4 < this.width || lanes.length > LANES || lanes.some(lane => lane.first >> this.shift !== lane.key)) return false;
    lanes.forEach((lane, place) => {
      for (let column = 0; column < columns; column++) {
        const from = (start + column * width) / this.width, to = from + width / this.width;
        for (let bin = Math.max(0, Math.floor(from)); bin < Math.min(to, BINS); bin++) {
          const part = (Math.min(to, bin + 1) - Math.max(from, bin)) / (to - from);
          const source = (lane.key * BINS + bin) * ALL, into = (place * columns + column) * ALL;
          for (let state = 0; state < ALL - 1; state++) values[into + state] += part * this.values[source + state];
        }
      }
    });
    return true;
  }

  /** Answers in each column. */
  answered(start, end, columns) {
    const counts = new Float64Array(columns), width = (end - start) / columns;
    for (let column = 0; column < columns; column++) {
      const from = (start + column * width) / this.width, to = from + width / this.width;
      for (let bin = Math.max(0, Math.floor(from)); bin < Math.min(to, BINS); bin++) counts[column] += this.answers[bin] * (Math.min(to, bin + 1) - Math.max(from, bin));
    }
    return counts;
  }
}
