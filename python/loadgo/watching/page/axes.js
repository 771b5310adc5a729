// The axes of the small charts: values with their unit at the left, moments of the run below.

/** Room above, and below for the moments. */
export const BELOW = 16, ABOVE = 7;

/** Room at the left for the values: that of the users' names, so that moments of charts of one width stand in line. */
export function leftOf(width) { return width < 500 ? 64 : 85; }

/** The least of 1, 2 or 5 times a power of ten that is not below `value`. */
export function roundUp(value) {
  if (!(value > 0) || !Number.isFinite(value)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map(step => step * power).find(step => step >= value * (1 - 1e-9));
}

const TOPS = [1, 1.5, 2, 3, 4, 5, 6, 8, 10];

/** The top of an axis whose largest value is `value`: little room is left above, and the half of it is round too. */
export function topOf(value) {
  if (!(value > 0) || !Number.isFinite(value)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return TOPS.map(step => step * power).find(step => step >= value * (1 - 1e-9));
}

/** The step of round moments, at least `room` apart. */
export function momentStep(start, end, width, room) { return roundUp((end - start) / Math.max(2, width / room)); }

/** A moment as a label, with the digits that the step needs. */
export function momentLabel(at, step) {
  const places = Math.min(9, Math.max(0, -Math.floor(Math.log10(step / 1e9) + 1e-9)));
  return `${(at / 1e9).toFixed(places)} s`;
}

/** A figure without zeros that say nothing: `2.00 s` is `2 s`. */
export function brief(text) { return text.replace(/(\.\d*?)0+(?= |$)/, "$1").replace(/\.(?= |$)/, ""); }

/** The part of a canvas in which values are drawn: {left, top, width, height, x(moment), y(value)}. */
export function plotOf(width, height, { start, end }, most) {
  const left = leftOf(width), inner = { left, top: ABOVE, width: Math.max(width - left - 1, 1), height: Math.max(height - ABOVE - BELOW, 1) };
  return { ...inner, x: at => left + (at - start) / (end - start) * inner.width, y: value => ABOVE + inner.height * (1 - Math.min(value / most, 1)) };
}

/** Powers of ten from `low` to `high`; with fewer than two, 2 and 5 times them too. */
export function decades(low, high) {
  const within = steps => {
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) found.push(...steps.map(step => step * 10 ** power));
    return found.filter(value => value >= low && value <= high);
  };
  const tens = within([1]);
  return tens.length > 1 ? tens : within([1, 2, 5]);
}

/** Draws lines and labels at `values` of an axis, whose height is y(value). */
export function drawValues(pen, plot, values, y, words, ink) {
  pen.font = "11px system-ui, sans-serif";
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const value of values) {
    const at = Math.round(y(value)) + 0.5;
    pen.fillStyle = ink("--line");
    pen.fillRect(plot.left, at - 0.5, plot.width, 1);
    pen.fillStyle = ink("--faint");
    pen.fillText(brief(words(value)), plot.left - 5, at, plot.left - 6);
  }
  pen.textAlign = "left";
}

/** Draws lines and labels: 0, the half and the whole of `most` in `words`, and round moments. */
export function drawAxes(pen, plot, window, most, words, ink) {
  drawValues(pen, plot, [0, most / 2, most], plot.y, words, ink);
  drawMoments(pen, plot, window, ink);
}

/** Draws lines and labels of round moments. */
export function drawMoments(pen, plot, { start, end }, ink) {
  const step = momentStep(start, end, plot.width, 90);
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "top";
  for (let place = Math.ceil(start / step - 1e-9); place * step <= end; place++) {
    const x = plot.x(place * step), text = momentLabel(place * step, step), half = pen.measureText(text).width / 2;
    pen.fillStyle = ink("--line");
    pen.fillRect(Math.round(x), plot.top, 1, plot.height + 3);
    pen.fillStyle = ink("--faint");
    pen.textAlign = x - half < plot.left ? "left" : x + half > plot.left + plot.width ? "right" : "center";
    pen.fillText(text, Math.max(plot.left, Math.min(x, plot.left + plot.width)), plot.top + plot.height + 4);
  }
  pen.textAlign = "left";
}
