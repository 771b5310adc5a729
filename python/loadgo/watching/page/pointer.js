// The moment that is pointed at and the stretch that is chosen, in all small charts at once, by hand and by keys.
import { leftOf } from "./axes.js";
import { $, drawValue, pointed } from "./panels.js";
import { duration, moment } from "./words.js";

const MOVED_PX = 4;
let drag = null, shown = null;

/** Where the server has the report of this stretch of the run. */
export function reportOf(start, end) { return `report?from=${Math.max(0, Math.floor(start))}&to=${Math.ceil(end)}`; }

/** Listens in every chart; `show(stretch)` makes the page show a stretch alone. */
export function listenToCharts(charts, windowNow, show) {
  shown = charts;
  for (const element of document.querySelectorAll("#series canvas, #by-host canvas")) {
    const at = event => {
      const { start, end } = windowNow(), left = leftOf(element.clientWidth), part = (event.offsetX - left) / Math.max(element.clientWidth - left - 1, 1);
      return start + Math.max(0, Math.min(1, part)) * (end - start);
    };
    element.addEventListener("pointermove", event => {
      if (drag && Math.abs(event.clientX - drag.x) >= MOVED_PX) drag.moved = true;
      point(at(event), drag && drag.moved ? ordered(drag.at, at(event)) : pointed.stretch);
    });
    element.addEventListener("pointerdown", event => { element.setPointerCapture(event.pointerId); drag = { x: event.clientX, at: at(event), moved: false }; });
    element.addEventListener("pointerup", event => { const { moved } = drag || {}; drag = null; if (!moved) point(at(event), null); });
    element.addEventListener("pointercancel", () => { drag = null; });
    element.addEventListener("pointerleave", () => { if (!drag) point(null, pointed.stretch); });
    element.addEventListener("blur", () => point(null, pointed.stretch));
    element.addEventListener("keydown", event => { if (key(event, charts, windowNow, show)) event.preventDefault(); });
  }
  $("chosen-show").addEventListener("click", () => { show(pointed.stretch); point(null, null); });
  $("chosen-leave").addEventListener("click", () => point(null, null));
}

function ordered(a, b) { return a < b ? [a, b] : [b, a]; }

/** What a key does in a chart; false for a key that does nothing. */
function key(event, charts, windowNow, show) {
  const chart = [...charts.values()].find(one => one.element === event.target), { start, end } = windowNow();
  if (!chart) return false;
  const width = (end - start) / chart.columns, before = pointed.moment ?? end - width / 2;
  const to = { ArrowLeft: before - width, ArrowRight: before + width, Home: start + width / 2, End: end - width / 2 }[event.key];
  if (to !== undefined) {
    const next = pointed.moment === null && event.key === "ArrowLeft" ? before : Math.max(start, Math.min(to, end)), anchor = pointed.anchor ?? before;
    point(next, event.shiftKey ? ordered(anchor, next) : pointed.stretch, event.shiftKey ? anchor : null);
    return true;
  }
  if (event.key === "Enter" && pointed.stretch) { show(pointed.stretch); point(null, null); return true; }
  if (event.key === "Escape" && pointed.stretch) { point(pointed.moment, null); return true; }
  return false;
}

/** Points at a moment and chooses a stretch. `anchor` is where a stretch by keys began, until anything else points. */
function point(at, stretch, anchor = null) {
  pointed.anchor = anchor;
  if (at === pointed.moment && stretch === pointed.stretch) return;
  [pointed.moment, pointed.stretch] = [at, stretch];
  for (const [name, chart] of shown) { chart.redraw(); drawValue(name); }
  $("chosen").hidden = !stretch;
  if (!stretch) return;
  $("chosen-text").textContent = `Chosen: ${moment(stretch[0])} to ${moment(stretch[1])} (${duration(stretch[1] - stretch[0])})`;
  $("chosen-report").href = reportOf(...stretch);
}
