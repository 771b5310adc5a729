"use strict";
// Draws every chart in the page's own colours, and again when the reader switches between light and dark.
// Opens folded sections for print, and for a link to them.
(() => {
  const specs = JSON.parse(document.getElementById("specs").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const folded = () => [...document.querySelectorAll("details:not([open])")];
  const config = () => {
    const style = getComputedStyle(document.documentElement);
    const [ink, faint, line] = ["--ink", "--faint", "--line"].map((name) => style.getPropertyValue(name).trim());
    const axis = { labelColor: faint, titleColor: faint, gridColor: line, domainColor: line, tickColor: line, labelLimit: 240 };
    return {
      background: "transparent", font: "system-ui, 'DejaVu Sans', sans-serif", view: { stroke: null },
      axis: { ...axis, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 400 },
      legend: { labelColor: faint, titleColor: faint, titleFontWeight: 400, labelFontSize: 12, symbolFillColor: ink, orient: "top" },
      point: { color: ink }, rule: { color: ink }, text: { color: faint }, title: { color: faint },
    };
  };
  // Panels below each other cannot follow the page's width by themselves: they get it here.
  const fitted = (spec, box) => {
    if (!spec.vconcat) return spec;
    const width = Math.max(120, box.clientWidth - spec.usermeta.beside_px);
    return { ...spec, vconcat: spec.vconcat.map((panel) => ({ ...panel, width })) };
  };
  // A box is busy until the last drawing that was begun or put off for it is there.
  const drawings = new Map();
  const count = (box, more) => {
    drawings.set(box, (drawings.get(box) ?? 0) + more);
    if (drawings.get(box)) box.setAttribute("aria-busy", "true"); else box.removeAttribute("aria-busy");
  };
  const boxes = Object.entries(specs).map(([name, spec]) => ({ box: document.getElementById(`chart-${name}`), spec }));
  const views = new Map(), widths = new Map();
  const draw = (chosen) => {
    for (const { box, spec } of chosen) {
      count(box, 1);
      widths.set(box, box.clientWidth);
      const options = { mode: "vega-lite", actions: false, renderer: "svg", config: config() };
      views.get(box)?.finalize();
      // The tables have a chart's figures, so that a screen reader leaves the drawing out.
      window.vegaEmbed(box, fitted(spec, box), options).then((view) => {
        views.set(box, view);
        box.querySelector("svg").setAttribute("aria-hidden", "true");
      }).catch((mistake) => {
        box.textContent = `This chart could not be drawn: ${mistake.message}`;
      }).finally(() => count(box, -1));
    }
  };
  dark.addEventListener("change", () => draw(boxes));
  // A legend keeps its columns, and panels their width, until they are drawn anew.
  const outgrown = () => boxes.filter(({ box }) => box.clientWidth && box.clientWidth !== widths.get(box));
  let awaited = [], later = null;
  const openTarget = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const section = target && target.closest("details");
    if (section) section.open = true;
  };
  addEventListener("resize", () => {
    if (later === null) {
      awaited = outgrown();
      for (const { box } of awaited) count(box, 1);
    }
    clearTimeout(later);
    later = setTimeout(() => {
      later = null;
      draw(outgrown());
      for (const { box } of awaited) count(box, -1);
    }, 150);
  });
  draw(boxes);
  // A chart in a folded section has no width until it is opened.
  for (const section of document.querySelectorAll("details")) {
    section.addEventListener("toggle", () => window.dispatchEvent(new Event("resize")));
  }
  let opened = [];
  window.addEventListener("beforeprint", () => { opened = folded(); for (const section of opened) section.open = true; });
  window.addEventListener("afterprint", () => { for (const section of opened) section.open = false; });
  window.addEventListener("hashchange", openTarget);
  openTarget();
})();
