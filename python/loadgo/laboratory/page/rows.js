"use strict";
// The rows of the list, and the filters that choose them. All texts of runs are set as text, never as markup.
const laboratory = { list: { runs: [], experiments: [], commands: [] }, chosen: null };

const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};
const byId = (name) => document.getElementById(name);
const address = (path, parameters) => `${path}?${new URLSearchParams(parameters)}`;

const FILTERS = {
  script: (run) => run.script, system: (run) => run.system, host: (run) => run.host, outcome: (run) => run.outcome,
};

const textOf = (run) =>
  [run.name, run.script, run.system, run.host, run.outcome, run.version, run.kernel, run.damage, run.remarks, run.note, ...run.tags]
    .join(" ").toLowerCase();

function filtered(runs) {
  const words = byId("text").value.toLowerCase().split(/\s+/).filter(Boolean);
  // A date that is not whole yet chooses nothing.
  const [from, to] = ["from", "to"].map((name) => (byId(name).validity.valid ? byId(name).value : ""));
  const tag = byId("tag").value;
  const values = Object.entries(FILTERS).map(([name, value]) => [byId(name).value, value]);
  const parts = byId("parts").checked;
  return runs.filter((run) => {
    const day = (run.started ?? "").slice(0, 10);
    const text = words.length ? textOf(run) : "";
    return (parts || !run.experiment) && (!from || day >= from) && (!to || (day && day <= to))
      && (!tag || run.tags.includes(tag)) && values.every(([wanted, value]) => !wanted || value(run) === wanted)
      && words.every((word) => text.includes(word));
  });
}

function setOptions(select, names, first) {
  const chosen = select.value;
  const options = [...new Set(names)].filter(Boolean).sort();
  select.replaceChildren(element("option", { value: "", textContent: first }),
    ...options.map((name) => element("option", { value: name, textContent: name })));
  select.value = options.includes(chosen) ? chosen : "";
}

function rowOf(run) {
  const name = run.damage
    ? element("th", { scope: "row" }, run.name, element("small", { className: "bad", textContent: run.damage }))
    : element("th", { scope: "row" }, element("a", { href: address("report", { run: run.name }), textContent: run.name }));
  const place = element("td", { className: "words" }, run.system);
  if (run.host) place.append(element("small", { textContent: run.host }));
  const isGood = ["done", "not read yet"].includes(run.outcome) && !run.unfit;
  const outcome = element("td", { className: isGood ? "outcome" : "outcome bad" }, run.outcome);
  // The remarks count the records that were lost.
  if (run.unfit && !(run.unfit === "records were lost" && /\brecords? lost\b/.test(run.remarks))) outcome.append(element("small", { textContent: run.unfit }));
  if (run.remarks) outcome.append(element("small", { className: "bad", textContent: run.remarks }));
  const words = element("td", { className: "words" });
  for (const tag of run.tags) words.append(element("span", { className: "tag", textContent: tag }));
  words.append(run.note);
  if (run.notes_damage) words.append(element("small", { className: "bad", textContent: run.notes_damage }));
  const started = run.started ? run.started.slice(0, 16).replace("T", " ") : "";
  const row = element("tr", {}, name, element("td", { className: "words", textContent: run.script }), place,
    element("td", { className: "figure", textContent: run.users ?? "" }),
    element("td", { className: "started", textContent: started }), outcome,
    element("td", { className: "figure", textContent: run.p90 }), words, actionsOf(run));
  ["", "", "", "users", "", "", "p90"].forEach((label, i) => { if (label) row.cells[i].dataset.name = label; });
  row.dataset.run = run.name;
  row.madeOf = JSON.stringify(run);
  row.classList.toggle("chosen", laboratory.chosen === run.name);
  return row;
}

function actionsOf(run) {
  const actions = element("td", { className: "actions" });
  if (run.damage) return actions;
  const compare = element("button", { type: "button", textContent: "compare" });
  compare.ariaPressed = String(laboratory.chosen === run.name);
  compare.ariaLabel = `compare ${run.name}`;
  compare.dataset.does = "compare";
  const notes = element("button", { type: "button", textContent: "notes" });
  notes.ariaLabel = `notes of ${run.name}`;
  notes.dataset.does = "notes";
  actions.append(compare, " ", notes);
  return actions;
}

const ROWS_AT_ONCE = 100;
let shown = [];

// Draws the rows that the filters choose: as many as were drawn before, or the first ones after a change of the filters.
function showRows(isAnew = true) {
  const focus = focusIn(document.activeElement);
  const drawn = isAnew ? 0 : document.querySelector("#runs tbody").rows.length;
  shown = filtered(laboratory.list.runs);
  drawRows(Math.max(drawn, ROWS_AT_ONCE));
  restoreFocus(focus);
  const all = laboratory.list.runs.filter((run) => byId("parts").checked || !run.experiment).length;
  byId("count").textContent = shown.length === all
    ? `${all.toLocaleString("en")} run${all === 1 ? "" : "s"}`
    : `${shown.length.toLocaleString("en")} of ${all.toLocaleString("en")} runs`;
  const cells = new Set(shown.flatMap((run) => [run.p90, run.outcome]));
  byId("meanings").textContent = Object.entries(laboratory.list.meanings ?? {})
    .filter(([word]) => cells.has(word)).map(([word, meaning]) => `“${word}”: ${meaning}`).join("; ");
  document.body.dataset.shown = String(shown.length);
}

// Draws the first `count` rows. A row that has not changed stays, since a thousand new ones would take a browser seconds.
function drawRows(count) {
  const body = document.querySelector("#runs tbody");
  const drawn = new Map([...body.rows].map((row) => [row.dataset.run, row]));
  let next = body.firstElementChild;
  for (const run of shown.slice(0, count)) {
    const old = drawn.get(run.name);
    const row = old?.madeOf === JSON.stringify(run) ? old : rowOf(run);
    if (old && old !== row) {
      if (old === next) next = old.nextElementSibling;
      old.remove();
    }
    if (row === next) next = next.nextElementSibling;
    else body.insertBefore(row, next);
  }
  while (next) {
    const after = next.nextElementSibling;
    next.remove();
    next = after;
  }
  const left = shown.length - body.rows.length;
  const more = byId("more");
  more.hidden = left === 0;
  more.textContent = `Show ${Math.min(left, ROWS_AT_ONCE)} more of ${left.toLocaleString("en")} further runs`;
  // Observed anew, since an observer reports a button that stays in view once only.
  nearEnd.unobserve(more);
  if (left) nearEnd.observe(more);
}

function drawMoreRows() {
  drawRows(document.querySelector("#runs tbody").rows.length + ROWS_AT_ONCE);
}

const nearEnd = new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting)) drawMoreRows(); },
  { rootMargin: "800px" });

function focusIn(focused) {
  const row = focused?.closest("#runs tbody tr");
  return row ? { run: row.dataset.run, index: [...row.querySelectorAll("a, button")].indexOf(focused) } : null;
}

function restoreFocus(focus) {
  const row = focus && [...document.querySelectorAll("#runs tbody tr")].find((one) => one.dataset.run === focus.run);
  row?.querySelectorAll("a, button")[focus.index]?.focus({ preventScroll: true });
}
