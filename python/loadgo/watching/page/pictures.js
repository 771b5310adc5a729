// Canvases: bands of users, series against time, stacked areas, heat maps.
import { ABOVE, BELOW, brief, decades, drawAxes, drawMoments, drawValues, leftOf, momentLabel, momentStep, plotOf, topOf } from "./axes.js";
import { COLOURS, STATES } from "./states.js";

export const STACK = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#7a7a7a", "#b8a900", "#5b3a9e", "#8c564b", "#006d5b", "#ff6db6", "#920000", "#b66dff", "#b3b300", "#003f5c"];
export const QUIET = "#99999940";
const OPAQUE_LENGTH = "#rrggbb".length;

/** The canvas made as fine as the screen: [pen, width, height]. */
function surface(element) {
  const ratio = devicePixelRatio || 1, width = Math.max(element.clientWidth, 1), height = +(element.dataset.tall ||= element.getAttribute("height"));
  if (element.width !== Math.round(width * ratio) || element.height !== Math.round(height * ratio)) {
    [element.width, element.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    element.style.height = height + "px";
  }
  const pen = element.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return [pen, width, height];
}

export function ink(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

/** A colour as a pixel of a little-endian picture. */
function pixel(colour) {
  const part = at => parseInt(colour.slice(at, at + 2) || "ff", 16);
  return (part(7) << 24 | part(5) << 16 | part(3) << 8 | part(1)) >>> 0;
}

const PIXELS = COLOURS.map(pixel);
let sheet = null;

/** The room at the left of the bands for their names: with the border it is that of the charts below. */
export function gutter(width) { return leftOf(width + 2 * BORDER) - BORDER; }

const BORDER = 1;

const LANE = 16, LOWEST = 120, HIGHEST = 460;
/** The room below the bands for the moments of the run. */
export const BELOW_BANDS = 14;

/** A band for each lane, with its name at the left, divided by height among the states; `marked` is the lane that the keys are at. */
export function drawBands(element, { lanes, values, columns }, marked, window) {
  element.dataset.tall = Math.max(LOWEST, Math.min(lanes.length * LANE, HIGHEST)) + BELOW_BANDS;
  const [pen, width, whole] = surface(element), height = whole - BELOW_BANDS, tall = Math.round(height * (devicePixelRatio || 1)), all = STATES.length;
  sheet ||= document.createElement("canvas");
  [sheet.width, sheet.height] = [columns, tall];
  const into = sheet.getContext("2d"), picture = into.createImageData(columns, tall), pixels = new Uint32Array(picture.data.buffer);
  lanes.forEach((lane, place) => {
    const top = Math.floor(place * tall / lanes.length), room = Math.floor((place + 1) * tall / lanes.length) - top;
    const used = room > 5 ? room - 1 : room;
    for (let column = 0; column < columns; column++) {
      let sum = 0, y = top;
      for (let state = 0; state < all; state++) {
        sum += values[(place * columns + column) * all + state] / lane.users;
        const until = Math.min(top + used, top + Math.round(Math.min(sum, 1) * used));
        for (; y < until; y++) pixels[y * columns + column] = PIXELS[state];
      }
    }
  });
  into.putImageData(picture, 0, 0);
  pen.imageSmoothingEnabled = false;
  const names = gutter(width);
  pen.drawImage(sheet, names, 0, width - names, height);
  name(pen, lanes, height / lanes.length, names - 6);
  marks(pen, names, width, height, window);
  if (marked !== null && lanes[marked]) {
    pen.strokeStyle = ink("--ink");
    pen.lineWidth = 2;
    pen.strokeRect(1, marked * height / lanes.length, width - 2, height / lanes.length);
  }
}

/** A frame around one interaction, from when it was typed until it was ready. */
export function drawChosen(element, lanes, lane, begun, ready, { start, end }) {
  const pen = element.getContext("2d"), width = element.clientWidth, height = +element.dataset.tall - BELOW_BANDS, left = gutter(width), each = height / lanes;
  const at = moment => left + Math.max(0, Math.min(1, (moment - start) / (end - start))) * (width - left);
  pen.strokeStyle = ink("--ink");
  pen.lineWidth = 2;
  pen.setLineDash([4, 2]);
  pen.strokeRect(at(begun), lane * each + 1, Math.max(at(ready) - at(begun), 3), each - 2);
  pen.setLineDash([]);
}

/** Moments of the run at round numbers of seconds: lines across the bands, which are `height` tall, and their names below. */
function marks(pen, left, width, height, { start, end }) {
  const step = momentStep(start, end, width - left, 110);
  pen.font = "10px system-ui, sans-serif";
  pen.textBaseline = "bottom";
  for (let at = Math.ceil(start / step) * step; at < end; at += step) {
    const x = left + (at - start) / (end - start) * (width - left), text = momentLabel(at, step), room = pen.measureText(text).width;
    pen.globalAlpha = 0.4;
    pen.fillStyle = ink("--faint");
    pen.fillRect(x, 0, 1, height + BELOW_BANDS);
    pen.globalAlpha = 1;
    if (x + room + 4 > width) continue;
    pen.fillStyle = ink("--ink");
    pen.fillText(text, x + 3, height + BELOW_BANDS - 1);
  }
}

/** The lanes' names, as many as have room. */
function name(pen, lanes, each, room) {
  const every = Math.max(1, Math.ceil(13 / each));
  pen.fillStyle = ink("--ink");
  pen.font = `${Math.max(9, Math.min(12, each * every - 2))}px system-ui, sans-serif`;
  pen.textBaseline = "middle";
  lanes.forEach((lane, place) => { if (place % every === 0) pen.fillText(lane.label, 3, Math.max((place + 0.5) * each, 6), room); });
}

/** The left edge and the width of a column, on whole pixels of the screen: no seams are between bars, and none is too narrow to be seen. */
function placed(left, step, at) {
  const ratio = devicePixelRatio || 1, edge = place => Math.round((left + place * step) * ratio) / ratio, from = edge(at);
  return [from, Math.max(edge(at + 1) - from, 1 / ratio)];
}

/**
 * Bars against time on axes, {start, end, most, words}; `over` are drawn before them in another colour, `bound` is a line across, `dots` are [moment, value].
 * A value that is not known leaves a gap.
 */
export function drawSeries(element, values, { start, end, words, top = null, over = null, bound = null, dots = [] }) {
  const [pen, width, height] = surface(element), known = values.filter(value => !Number.isNaN(value)), seen = [...known, ...dots.map(dot => dot[1])];
  if (!seen.length) return;
  const most = top || topOf(seen.reduce((a, b) => Math.max(a, b), bound || 0)), plot = plotOf(width, height, { start, end }, most), step = plot.width / values.length;
  const bars = (list, colour) => {
    pen.fillStyle = colour;
    list.forEach((value, at) => { const y = Math.min(plot.y(value), plot.y(0) - 1); const [x, wide] = placed(plot.left, step, at); if (value > 0) pen.fillRect(x, y, wide, plot.y(0) - y); });
  };
  drawAxes(pen, plot, { start, end }, most, words, ink);
  bars(values, ink("--drawn"));
  if (over) bars(over, ink("--over"));
  pen.fillStyle = ink("--ink");
  for (const [at, value] of dots) { pen.beginPath(); pen.arc(plot.x(at), plot.y(value), 1.8, 0, 7); pen.fill(); }
  if (bound) {
    pen.strokeStyle = ink("--bad");
    pen.setLineDash([6, 4]);
    pen.beginPath();
    pen.moveTo(plot.left, plot.y(bound));
    pen.lineTo(plot.left + plot.width, plot.y(bound));
    pen.stroke();
    pen.setLineDash([]);
    pen.fillStyle = ink("--bad");
    pen.textAlign = "right";
    pen.textBaseline = "top";
    pen.fillText(`target ${brief(words(bound))}`, plot.left + plot.width - 4, plot.y(bound) + 3);
    pen.textAlign = "left";
  }
}

const LANE_HEIGHTS = [[8, 30], [24, 20], [Infinity, 14]], DOT = 1.6;

/**
 * A lane of bars for each of `lanes`, {name, values, dots, lost, told}, with the name at the left and the figure of the window at the right; all up to `most`.
 * From the moment at which a lane was lost it is hatched; `bound` is a line across each.
 */
export function drawLanes(element, lanes, most, { start, end, bound }) {
  const each = LANE_HEIGHTS.find(([count]) => lanes.length <= count)[1];
  element.dataset.tall = lanes.length * each + ABOVE + BELOW;
  const [pen, width, height] = surface(element), plot = plotOf(width, height, { start, end }, 1), line = ink("--line"), tall = each - 3;
  drawMoments(pen, plot, { start, end }, ink);
  lanes.forEach(({ name, values, dots, lost, told }, place) => {
    const floor = plot.top + (place + 1) * each - 1, step = plot.width / Math.max(values.length, 1), y = value => floor - Math.min(value / most, 1) * tall;
    pen.fillStyle = line;
    pen.fillRect(plot.left, floor, plot.width, 1);
    pen.fillStyle = ink("--drawn");
    values.forEach((value, at) => { const [x, wide] = placed(plot.left, step, at), top = Math.min(y(value), floor - 1); if (value > 0) pen.fillRect(x, top, wide, floor - top); });
    pen.fillStyle = ink("--ink");
    for (const [at, value] of dots) { pen.beginPath(); pen.arc(plot.x(at), y(value), DOT, 0, 7); pen.fill(); }
    if (bound) { pen.fillStyle = ink("--bad"); pen.fillRect(plot.left, y(bound), plot.width, 1); }
    if (lost !== null) hatch(pen, plot, Math.max(plot.x(lost), plot.left), floor - tall, tall);
    write(pen, plot, name, told, floor - tall / 2, lost !== null);
  });
}

/** Lines over what comes after a loss. */
function hatch(pen, plot, from, top, tall) {
  const right = plot.left + plot.width;
  if (from >= right) return;
  pen.save();
  pen.beginPath();
  pen.rect(from, top, right - from, tall);
  pen.clip();
  pen.strokeStyle = ink("--faint");
  pen.globalAlpha = 0.5;
  pen.beginPath();
  for (let x = from - tall; x < right; x += 6) { pen.moveTo(x, top + tall); pen.lineTo(x + tall, top); }
  pen.stroke();
  pen.restore();
}

/** The name of a lane, cut to its room, and its figure at the right on a ground of its own. */
function write(pen, plot, name, told, middle, lost) {
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  pen.fillStyle = ink(lost ? "--bad" : "--ink");
  pen.fillText(cut(pen, name, plot.left - 8), plot.left - 5, middle);
  const text = lost ? "lost" : told, room = pen.measureText(text).width + 6, right = plot.left + plot.width;
  pen.globalAlpha = 0.8;
  pen.fillStyle = ink("--ground");
  pen.fillRect(right - room, middle - 7, room, 14);
  pen.globalAlpha = 1;
  pen.fillStyle = ink(lost ? "--bad" : "--ink");
  pen.fillText(text, right - 3, middle);
  pen.textAlign = "left";
}

/** As much of a text as has room, with an ellipsis where it is cut. */
function cut(pen, text, room) {
  let shown = text;
  while (shown.length > 1 && pen.measureText(shown === text ? shown : `${shown}…`).width > room) shown = shown.slice(0, -1);
  return shown === text ? text : `${shown}…`;
}

/** Parts one upon another against time: [{name, drawn, colour}], and the height that is full. */
export function drawStack(element, parts, most, { start, end, words }) {
  const [pen, width, height] = surface(element);
  if (!parts.length) return;
  const plot = plotOf(width, height, { start, end }, most), columns = parts[0].drawn.length, step = plot.width / columns, base = new Float64Array(columns);
  drawAxes(pen, plot, { start, end }, most, words, ink);
  for (const { drawn, colour } of parts) {
    for (let column = 0; column < columns; column++) {
      const tall = (drawn[column] || 0) / most * plot.height, [x, wide] = placed(plot.left, step, column);
      // Columns narrower than a pixel lie upon each other: a colour that lets the ground through would get stripes.
      for (const fill of colour.length > OPAQUE_LENGTH ? [ink("--ground"), colour] : [colour]) {
        pen.fillStyle = fill;
        if (tall > 0) pen.fillRect(x, plot.y(0) - base[column] - tall, wide, tall);
      }
      base[column] += tall;
    }
  }
}

/** A line at the moment that is pointed at, and a shade over the stretch that is chosen. */
export function drawPointed(element, { start, end }, moment, stretch) {
  const pen = element.getContext("2d"), plot = plotOf(Math.max(element.clientWidth, 1), +element.dataset.tall, { start, end }, 1);
  const x = at => Math.max(plot.left, Math.min(plot.x(at), plot.left + plot.width));
  pen.fillStyle = ink("--ink");
  if (stretch) {
    pen.globalAlpha = 0.15;
    pen.fillRect(x(stretch[0]), plot.top, x(stretch[1]) - x(stretch[0]), plot.height);
    pen.globalAlpha = 1;
  }
  if (moment !== null && moment >= start && moment <= end) pen.fillRect(x(moment), plot.top, 1, plot.height);
}

/** How many of each length there were, column by column; the darker the more, on a scale of roots. Lengths are logarithmic. */
export function drawHeat(element, { counts, steps }, { start, end, columns }, words) {
  const [pen, width, height] = surface(element), rows = counts.length / columns, most = counts.reduce((a, b) => Math.max(a, b), 0);
  let low = rows, high = 0;
  for (let row = 0; row < rows; row++) for (let column = 0; column < columns; column++) if (counts[row * columns + column]) { low = Math.min(low, row); high = Math.max(high, row); }
  if (most === 0) return null;
  [low, high] = [Math.max(0, low - 1), Math.min(rows, high + 2)];
  const plot = plotOf(width, height, { start, end }, 1), floor = plot.top + plot.height, each = plot.height / (high - low), step = plot.width / columns;
  const range = [2 ** (low / steps), 2 ** (high / steps)];
  drawValues(pen, plot, decades(...range), value => floor - (Math.log2(value) * steps - low) * each, words, ink);
  drawMoments(pen, plot, { start, end }, ink);
  const over = ink("--over"), part = at => parseInt(over.slice(at, at + 2), 16);
  for (let row = low; row < high; row++) for (let column = 0; column < columns; column++) {
    const count = counts[row * columns + column];
    if (!count) continue;
    pen.fillStyle = `rgb(${part(1)} ${part(3)} ${part(5)} / ${0.15 + 0.85 * Math.sqrt(count / most)})`;
    const [x, wide] = placed(plot.left, step, column);
    pen.fillRect(x, floor - (row - low + 1) * each, wide, each);
  }
  return range;
}
