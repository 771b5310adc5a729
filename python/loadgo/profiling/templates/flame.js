"use strict";
// Draws the flame graph of a profile: callers above the functions that they called, each as wide as its samples.
(() => {
  const ROW_PX = 22, LEAST_PX = 1.5, PADDING_PX = 7, COLORS = 8, LEAST_LEGEND_SHARE = 0.001;
  const element = (name) => document.getElementById(`flame-${name}`);
  const data = JSON.parse(element("calls").textContent);
  const [graph, details, found, search, legend] = ["graph", "details", "found", "search", "legend"].map(element);
  const number = (count) => count.toLocaleString("en-US");
  const share = (samples) => `${number(samples)} sample${samples === 1 ? "" : "s"}, ${(100 * samples / data.samples).toFixed(1)} %`;

  // The calls of a tree as linked objects. `start` is the sample at which a call's part of the picture begins.
  function grown(tree) {
    const root = { name: null, samples: data.samples, own: 0, start: 0, next: 0, caller: null, callees: [] };
    const path = [root];
    for (let i = 0; i < tree.calls.length; i += 4) {
      const [name, depth, samples, own] = tree.calls.slice(i, i + 4);
      path.length = depth + 1;
      const caller = path[depth];
      const call = { name: data.names[name], samples, own, start: caller.next, next: caller.next, caller, callees: [] };
      caller.next += samples;
      caller.callees.push(call);
      path.push(call);
    }
    return root;
  }

  const roots = data.trees.map(grown);
  let root = roots[0], zoomed = root, current = root;
  let matches = null; // a function that says whether a call is marked, or null
  let drawn = []; // { call, row, item } of each box, row by row

  const full = (call) => call.name === null ? "all" : call.name.forms[0];
  const segmentOf = (call) => call.name === null || call.name.segment < 0 ? null : data.segments[call.name.segment];

  function colorOf(call) {
    if (call.name === null || call.name.segment < 0) return "group";
    return call.name.segment < COLORS ? call.name.segment : "other";
  }

  function description(call) {
    const segment = segmentOf(call);
    const place = segment === null || segment.name === full(call) ? "" : `in ${segment.name}: `;
    const own = call.callees.length && call.own ? `; ${share(call.own)} in itself` : "";
    return `${place}${share(call.samples)}${own}`;
  }

  function show(call) {
    const name = document.createElement("strong");
    name.textContent = full(call);
    details.replaceChildren(name, ` ${description(call)}`);
  }

  // The longest form of a name that the box has room for.
  function label(call, chars) {
    if (chars < 3) return "";
    const forms = call.name === null ? [`all: ${share(call.samples)}`, "all"] : call.name.forms;
    return forms.find((form) => form.length <= chars) ?? `${forms.at(-1).slice(0, chars - 1)}…`;
  }

  const ruler = document.createElement("span");
  ruler.className = "flame-call";
  ruler.textContent = "0".repeat(100);
  ruler.style.visibility = "hidden";

  function charPx() {
    graph.append(ruler);
    const width = (ruler.getBoundingClientRect().width - PADDING_PX) / 100;
    ruler.remove();
    return width;
  }

  function box(call, row, left, width, chars) {
    const item = document.createElement("div");
    const marked = matches !== null && call.name !== null && matches(call);
    item.className = `flame-call flame-${colorOf(call)}${marked ? " flame-match" : ""}`;
    item.setAttribute("role", "treeitem");
    item.setAttribute("aria-level", row + 1);
    item.setAttribute("aria-label", `${full(call)} ${description(call)}`);
    if (call.callees.length) item.setAttribute("aria-expanded", "true");
    item.tabIndex = -1;
    Object.assign(item.style, { left: `${left}%`, width: `${width}%`, top: `${row * ROW_PX}px` });
    item.textContent = label(call, chars);
    drawn.push({ call, row, item });
  }

  // A box for neighbours that are each too narrow for one: a gap would look like the caller's own time.
  function small(calls, row, pixels, chars) {
    const samples = calls.reduce((sum, call) => sum + call.samples, 0), px = samples * pixels;
    if (px < LEAST_PX) return [];
    const item = document.createElement("div"), words = `${number(calls.length)} narrow`;
    item.className = "flame-small";
    item.setAttribute("aria-hidden", "true");
    item.title = `${words}: ${share(samples)}. Zoom in to see them.`;
    item.textContent = words.length <= chars(px) ? words : "";
    const left = 100 * (calls[0].start - zoomed.start) / zoomed.samples;
    Object.assign(item.style, { left: `${left}%`, width: `${100 * samples / zoomed.samples}%`, top: `${row * ROW_PX}px` });
    return [item];
  }

  // The narrow calls of a row, in lists of neighbours with one caller.
  function neighbours(calls) {
    const lists = [];
    for (const call of calls) {
      const last = lists.at(-1)?.at(-1);
      if (last && last.caller === call.caller && last.start + last.samples === call.start) lists.at(-1).push(call);
      else lists.push([call]);
    }
    return lists;
  }

  function draw() {
    const width = graph.clientWidth, perChar = charPx();
    if (!width) return; // the page is not laid out yet: the observer below draws when it is
    const pixels = width / zoomed.samples;
    const chars = (px) => Math.floor((px - PADDING_PX) / perChar);
    let narrow = 0, rows = 0;
    const others = [];
    drawn = [];
    const callers = [];
    for (let call = zoomed.caller; call; call = call.caller) callers.unshift(call);
    callers.forEach((call, row) => box(call, row, 0, 100, chars(width)));
    let level = [zoomed];
    for (let row = callers.length; level.length; row += 1) {
      const below = [], hidden = level.filter((call) => call.samples * pixels < LEAST_PX);
      const boxes = neighbours(hidden).flatMap((calls) => small(calls, row, pixels, chars));
      narrow += hidden.length;
      others.push(...boxes);
      for (const call of level) {
        const px = call.samples * pixels;
        if (px < LEAST_PX) continue;
        box(call, row, 100 * (call.start - zoomed.start) / zoomed.samples, 100 * call.samples / zoomed.samples, chars(px));
        below.push(...call.callees);
      }
      rows = boxes.length || below.length ? row + 1 : rows;
      level = below;
    }
    graph.replaceChildren(...drawn.map(({ item }) => item), ...others);
    graph.classList.toggle("flame-marked", matches !== null);
    graph.style.height = `${Math.max(drawn.at(-1).row + 1, rows) * ROW_PX}px`;
    element("narrow").textContent = narrow ? `${number(narrow)} narrower than a pixel or two stand together in grey boxes: zoom in to see them.` : "";
    if (!drawn.some(({ call }) => call === current)) current = zoomed;
    drawn.find(({ call }) => call === current).item.tabIndex = 0;
  }

  function moveTo(call) {
    for (const one of drawn) one.item.tabIndex = one.call === call ? 0 : -1;
    current = call;
    drawn.find((one) => one.call === call).item.focus();
  }

  function zoom(call) {
    zoomed = current = call;
    draw();
    show(call);
  }

  function zoomAndFocus(call) {
    zoom(call);
    moveTo(call);
  }

  function beside(step) {
    const here = drawn.find(({ call }) => call === current);
    const row = drawn.filter((one) => one.row === here.row);
    return row[row.indexOf(here) + step]?.call;
  }

  const steps = {
    ArrowDown: () => current.callees.find((callee) => drawn.some(({ call }) => call === callee)),
    ArrowUp: () => current.caller,
    ArrowLeft: () => beside(-1),
    ArrowRight: () => beside(1),
    Home: () => root,
  };

  const callAt = (event) => drawn.find(({ item }) => item === event.target)?.call;
  graph.addEventListener("click", (event) => { const call = callAt(event); if (call) zoomAndFocus(call); });
  graph.addEventListener("mouseover", (event) => { const call = callAt(event); if (call) show(call); });
  graph.addEventListener("mouseleave", () => show(current));
  graph.addEventListener("focusin", (event) => { const call = callAt(event); if (call) { current = call; show(call); } });
  graph.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") zoomAndFocus(current);
    else if (event.key === "Escape") zoomAndFocus(root);
    else if (event.key in steps) { const call = steps[event.key](); if (call) moveTo(call); }
    else return;
    event.preventDefault();
  });

  function* everyCall(from) {
    const waiting = [from];
    while (waiting.length) {
      const call = waiting.pop();
      yield call;
      waiting.push(...call.callees);
    }
  }

  // Samples of the marked calls. Those inside of a marked call count once.
  function markedSamples(call) {
    if (call.name !== null && matches(call)) return call.samples;
    return call.callees.reduce((sum, callee) => sum + markedSamples(callee), 0);
  }

  let ranked = [], at = -1; // the marked calls, the widest first, and the one that Enter showed last

  function rank() {
    at = -1;
    ranked = matches === null ? [] : [...everyCall(root)].filter((call) => call.name !== null && matches(call)).sort((a, b) => b.samples - a.samples);
  }

  function mark(test, words) {
    matches = test;
    rank();
    found.textContent = test === null ? "" : words();
    draw();
  }

  function markSearched() {
    const wanted = search.value.trim().toLowerCase();
    for (const button of legend.children) button.setAttribute("aria-pressed", "false");
    if (!wanted) return mark(null);
    return mark((call) => full(call).toLowerCase().includes(wanted), () => `found in ${share(markedSamples(root))}`);
  }

  function markSegment(index, button) {
    const pressed = button.getAttribute("aria-pressed") === "true";
    search.value = "";
    for (const other of legend.children) other.setAttribute("aria-pressed", String(other === button && !pressed));
    mark(pressed ? null : (call) => call.name.segment === index, () => `${share(data.segments[index].samples)} in this mapping itself`);
  }

  search.addEventListener("input", markSearched);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { search.value = ""; markSearched(); }
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (ranked.length) { at = (at + 1) % ranked.length; zoom(ranked[at]); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.matches("input[type=search]")) return;
    event.preventDefault();
    search.focus();
  });
  element("all").addEventListener("click", () => { search.value = ""; markSearched(); zoom(root); });
  element("tools").addEventListener("submit", (event) => event.preventDefault());

  data.trees.forEach((tree, index) => {
    const choice = document.createElement("label"), input = document.createElement("input");
    Object.assign(input, { type: "radio", name: "grouping", value: tree.grouping, checked: index === 0 });
    input.addEventListener("change", () => {
      root = zoomed = current = roots[index];
      const pressed = [...legend.children].findIndex((button) => button.getAttribute("aria-pressed") === "true");
      if (pressed < 0) markSearched(); else { rank(); draw(); }
      show(root);
    });
    choice.append(input, ` ${tree.grouping}`);
    element("groupings").append(choice);
  });

  data.segments.slice(0, COLORS).forEach((segment, index) => {
    if (segment.samples < LEAST_LEGEND_SHARE * data.samples) return;
    const button = document.createElement("button"), chip = document.createElement("i");
    button.type = "button";
    button.setAttribute("aria-pressed", "false");
    chip.className = `flame-${index}`;
    button.append(chip, `${segment.short} ${(100 * segment.samples / data.samples).toFixed(1)} %`);
    button.title = segment.name;
    button.addEventListener("click", () => markSegment(index, button));
    legend.append(button);
  });

  document.getElementById("flame").hidden = false;
  new ResizeObserver(() => { const focused = graph.contains(document.activeElement); draw(); if (focused) moveTo(current); }).observe(graph);
  zoom(root);
})();
