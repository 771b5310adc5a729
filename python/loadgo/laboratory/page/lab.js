"use strict";
// The page of a laboratory: gets the list, keeps it up to date, and does what is clicked.
const PERIOD_MS = 5000;
const READING_PERIOD_MS = 2000;
const KEPT = ["text", "script", "system", "host", "outcome", "tag", "from", "to", "figure", "by"];

const EXPERIMENTS = { ab: "two variants run in pairs", capacity: "the search for a capacity", sweep: "a sweep of simulated machines" };

async function refresh() {
  try {
    const answer = await fetch(address("runs", { revision: laboratory.list.revision ?? "" }));
    if (answer.status === 200) {
      laboratory.list = await answer.json();
      showList();
    } else if (answer.status !== 204) throw new Error(answer.statusText);
    byId("state").classList.remove("bad");
  } catch {
    byId("state").textContent = "The laboratory does not answer: it may have ended. The list is as it was.";
    byId("state").classList.add("bad");
  }
}

function showList() {
  const { folder, runs, experiments, commands, reading } = laboratory.list;
  byId("folder").textContent = folder;
  const broken = runs.filter((run) => run.outcome === "broken").length;
  const inExperiments = runs.filter((run) => run.experiment).length;
  const counted = `${runs.length.toLocaleString("en")} ${runs.length === 1 ? "run" : "runs"}${inExperiments ? `, ${inExperiments.toLocaleString("en")} of them in experiments` : ""}`;
  const parts = [counted, reading ? `reading ${reading.toLocaleString("en")} runs…` : "", broken ? `${broken} broken, shown last` : ""];
  byId("state").textContent = parts.filter(Boolean).join("; ");
  for (const name of Object.keys(FILTERS)) setOptions(byId(name), runs.map(FILTERS[name]), "any");
  setOptions(byId("tag"), runs.flatMap((run) => run.tags), "any");
  const whole = runs.filter((run) => run.outcome === "done" && !run.experiment);
  const likes = new Map();
  for (const run of whole) {
    const kind = `${run.script}, ${run.users} users, ${run.host || run.system}`;
    if (!likes.has(kind)) likes.set(kind, run.name);
  }
  const like = byId("like");
  const chosen = like.value;
  like.replaceChildren(element("option", { value: "", textContent: "the newest run" }),
    ...[...likes].map(([kind, name]) => element("option", { value: name, textContent: kind })));
  like.value = [...likes.values()].includes(chosen) ? chosen : "";
  const figures = ["p90", "p50", "mean", "throughput", "errors", "cpu", ...commands.map((name) => `p90(${name})`)];
  byId("figures").replaceChildren(...figures.map((value) => element("option", { value })));
  byId("experiments").hidden = !experiments.length;
  byId("experiment-list").replaceChildren(...experiments.map(({ name, kind }) =>
    element("li", {}, element("a", { href: address("experiment", { name, kind }), textContent: name }), `, ${EXPERIMENTS[kind] ?? kind}`)));
  showRows(restoreFilters());
  document.body.dataset.reading = String(reading);
}

// The filters of the address that are not set yet: the name of a script is no option before a run of it is read.
const unset = new Map(new URLSearchParams(location.hash.slice(1)));
byId("parts").checked = unset.has("parts");
// On a phone the list comes first: the further filters are folded, unless one of them is set.
const phone = matchMedia("(max-width: 720px)");
const FURTHER = [...KEPT.filter((name) => byId("further").contains(byId(name))), "parts"];
const isSet = (name) => unset.has(name) || (name === "parts" ? byId(name).checked : byId(name).value !== "");
const foldFilters = () => { byId("further").open = !phone.matches || FURTHER.some(isSet); };
foldFilters();
phone.addEventListener("change", foldFilters);
// Whether the filters changed.
function restoreFilters() {
  const before = unset.size;
  for (const [name, value] of [...unset]) {
    if (KEPT.includes(name)) byId(name).value = value;
    if (!KEPT.includes(name) || byId(name).value === value || !laboratory.list.reading) unset.delete(name);
  }
  return unset.size < before;
}

function keepFilters() {
  const kept = KEPT.map((name) => [name, byId(name).value]).filter(([, value]) => value);
  if (byId("parts").checked) kept.push(["parts", "1"]);
  history.replaceState(null, "", `#${new URLSearchParams(kept)}`);
}

function choose(name) {
  if (laboratory.chosen === null || laboratory.chosen === name) {
    laboratory.chosen = laboratory.chosen === name ? null : name;
    byId("chosen").textContent = laboratory.chosen === null ? ""
      : `A is ${name}. Click "compare" at another run, which is B.`;
    for (const row of document.querySelectorAll("#runs tbody tr")) {
      const isChosen = row.dataset.run === laboratory.chosen;
      row.classList.toggle("chosen", isChosen);
      const button = row.querySelector("[data-does=compare]");
      if (button) button.ariaPressed = String(isChosen);
    }
    return;
  }
  byId("chosen").textContent = `comparing ${laboratory.chosen} with ${name}…`;
  location.href = address("compare", { a: laboratory.chosen, b: name });
}

let noted = null;
function openNotes(name) {
  noted = laboratory.list.runs.find((run) => run.name === name);
  byId("notes-title").textContent = `Notes of ${name}`;
  byId("tags").value = noted.tags.join(", ");
  byId("note").value = noted.note;
  byId("notes-state").textContent = noted.notes_damage;
  byId("notes").showModal();
}

async function saveNotes(event) {
  event.preventDefault();
  const tags = byId("tags").value.split(",").map((tag) => tag.trim()).filter(Boolean);
  const given = { run: noted.name, tags, note: byId("note").value, mark: noted.mark };
  let refused = "";
  try {
    const answer = await fetch("notes", {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(given),
    });
    const written = await answer.json();
    if (answer.ok) Object.assign(noted, written, { notes_damage: "" });
    else {
      refused = written.refused;
      if (answer.status === 409) {
        noted.mark = written.mark;
        refused += ` Theirs: ${[...written.tags, written.note].join(", ")}. Save again to replace them.`;
      }
    }
  } catch {
    refused = "The laboratory does not answer: nothing is saved.";
  }
  byId("notes-state").textContent = refused;
  if (refused) return;
  byId("notes").close();
  setOptions(byId("tag"), laboratory.list.runs.flatMap((run) => run.tags), "any");
  showRows(false);
}

byId("filters").addEventListener("input", () => { unset.clear(); showRows(); keepFilters(); });
byId("filters").addEventListener("submit", (event) => event.preventDefault());
byId("filters").addEventListener("reset", () => setTimeout(() => { unset.clear(); showRows(); keepFilters(); }));
byId("history").addEventListener("submit", (event) => {
  event.preventDefault();
  keepFilters();
  location.href = address("history", { figure: byId("figure").value, by: byId("by").value, like: byId("like").value });
});
document.querySelector("#runs tbody").addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const name = button.closest("tr").dataset.run;
  if (button.dataset.does === "compare") choose(name);
  else openNotes(name);
});
byId("notes-form").addEventListener("submit", saveNotes);
byId("more").addEventListener("click", () => {
  const first = document.querySelector("#runs tbody").rows.length;
  drawMoreRows();
  document.querySelector("#runs tbody").rows[first]?.querySelector("a, button")?.focus();
});
addEventListener("beforeprint", () => drawRows(shown.length));
byId("cancel").addEventListener("click", () => byId("notes").close());
document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
async function keepUp() {
  if (!document.hidden && !byId("notes").open) await refresh();
  setTimeout(keepUp, laboratory.list.reading ? READING_PERIOD_MS : PERIOD_MS);
}
keepUp();
