// Numbers as people read them, with the digits that notation/figures.py gives them.
const NOT_MEASURED = "–", NEVER = "never";
const TIMES = [[1e-3, "ps"], [1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]];
const BYTES = [[1, "B"], [1e3, "kB"], [1e6, "MB"], [1e9, "GB"], [1e12, "TB"]];
const COUNTS = [[1, ""], [1e6, "M"], [1e9, "G"]];
const MINUTES_FROM_NS = 600e9;

/** Three significant digits, never an exponent; a negative number has a minus sign. */
function digits(value) {
  if (value === 0 || !Number.isFinite(value)) return value === 0 ? "0" : NEVER;
  const rounded = Math.abs(value) < 1000 ? +value.toPrecision(3) : value;
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(rounded))));
  return rounded.toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: places }).replace("-", "−");
}

function scaled(value, units) {
  if (value === null || value === undefined || Number.isNaN(value)) return NOT_MEASURED;
  if (value === 0) return "0";
  if (!Number.isFinite(value)) return NEVER;
  const [scale, unit] = units.filter(one => one[0] <= Math.max(Math.abs(value), units[0][0]) * 1.0005).pop();
  const figure = scale === 1 && Number.isInteger(value) && Math.abs(value) < 1000 ? String(value) : digits(value / scale);
  return `${figure} ${unit}`.trimEnd();
}

export function number(x) { return scaled(x, COUNTS); }

export function lostRecords(count) { return `${number(count)} ${count === 1 ? "RECORD" : "RECORDS"} LOST`; }

export function bytes(x) { return scaled(x, BYTES); }

export function share(x) { return x === null || x === undefined || Number.isNaN(x) ? NOT_MEASURED : (100 * x).toFixed(1) + " %"; }

/** Nanoseconds in the unit that leaves a number of few digits. */
export function duration(ns) {
  if (ns >= MINUTES_FROM_NS && Number.isFinite(ns)) return ns / 6e10 < 120 ? `${digits(ns / 6e10)} min` : `${digits(ns / 3.6e12)} h`;
  return scaled(ns, TIMES);
}

/** A moment of the run. */
export function moment(ns) { return (ns / 1e9).toFixed(ns < 100e9 ? 2 : 1) + " s"; }
