// The page: which window of the run is seen, and what hand and keys do to it.
import { answer, divided, judgedAfter, kindOf } from "./answer.js";
import { expectation } from "./expected.js";
import { follow } from "./feed.js";
import { answers, binsOf, figures, processBands, series } from "./figures.js";
import { $, charts, drawDetail, drawMoving, drawSettled, prepare, target, write } from "./panels.js";
import { drawHostMeters, drawHosts, prepareHosts } from "./host_panels.js";
import { hostBands, hostFigures, hostMeters, labelled } from "./hosts.js";
import { listenToCharts, reportOf } from "./pointer.js";
import { BELOW_BANDS, drawBands, drawChosen, gutter } from "./pictures.js";
import { Store } from "./store.js";
import { duration, lostRecords, moment, number } from "./words.js";

const NARROWEST = 1e6, SETTLED_MS = 150, OFTEN_MS = 500;
const store = new Store();
const view = { end: null, width: null, only: null, lane: null, row: null, playing: null, drag: null, before: null };
const measured = { frames: 0, longest: 0 };
let bands = null, settled = null, rested = 0, asked = false, told = null, gone = null, opened = false;

/** The window that is seen: `end` is null while it follows the run. */
function windowNow() {
  const end = Math.max(view.end ?? store.reach, 1), width = view.width ?? (store.ended && view.end === null ? store.reach : store.settings.width_ns);
  const columns = Math.max(60, Math.min(600, Math.floor($("users").clientWidth / 2) || Math.floor(document.body.clientWidth / 2)));
  const start = Math.max(end - width, 0);
  return { start, end, columns, bins: binsOf(store, start, end, columns), only: view.only };
}

function everybody() { return store.users.by.size; }

/** The interaction that is told of, in its band. */
function mark(window) {
  const told = store.tables.interactions.columns, user = told.user[view.row], lane = bands.lanes.findIndex(one => one.first <= user && user <= one.last);
  if (lane >= 0) drawChosen($("users"), bands.lanes.length, lane, told.sent_ns[view.row] - (told.typing_ns[view.row] || 0), told.sent_ns[view.row] + told.response_ns[view.row], window);
}

/** Where the command said that it should begin. */
function open() {
  const { begin_ns: begin, speed } = store.settings;
  if (begin === null && speed === null) { opened = true; return; }
  if (!store.ended && store.reach < (begin || 0)) return;
  opened = true;
  [view.width, view.end] = [store.settings.width_ns, Math.max(1, begin ?? 1)];
  if (speed !== null) playAt(speed);
}

/** Draws what moves at once, and the rest when it has come to rest. */
function draw() {
  asked = false;
  const begun = performance.now();
  if (!store.title) return;
  if (!opened) open();
  const window = windowNow();
  document.querySelectorAll(".of-users").forEach(part => { part.hidden = !everybody(); });
  const hosts = store.settings.hosts.length > 0;
  document.querySelectorAll(".of-one").forEach(part => { part.hidden = hosts; });
  for (const id of ["hosts-part", "hosts-charts"]) $(id).hidden = !hosts;
  $("expected-part").hidden = !store.expected;
  bands = everybody() ? labelled(store.users.bands(window.start, window.end, window.columns, window.only), store.settings.hosts) : hosts ? hostBands(store, window) : processBands(store, window);
  $("users-part").hidden = !bands.lanes.length;
  if (bands.lanes.length) {
    if (view.lane !== null) view.lane = Math.min(view.lane, bands.lanes.length - 1);
    drawBands($("users"), bands, view.lane, window);
    if (view.row !== null) mark(window);
    $("axis").textContent = `${moment(window.start)} to ${moment(window.end)} of ${moment(store.reach)} (${duration(window.end - window.start)})` + (view.lane !== null && bands.lanes[view.lane] ? `; at ${bands.lanes[view.lane].label}` : "");
    $("users-title").textContent = !everybody() ? (store.settings.hosts.length ? "Hosts: the busy share of each one's processors" : "Processes that used most: using a processor and waiting for one, as shares of all") : `${window.only ? `Users ${window.only[0]} to ${window.only[1]} of` : "Users,"} ${number(everybody())}` + (bands.lanes.some(lane => lane.users > 1) ? ", several to a band" : "");
    $("everybody").hidden = !window.only;
  }
  const moving = { ...window, rough: bands !== null && bands.rough };
  drawMoving(series(store, moving), everybody() ? answers(store, moving) : null, told && !view.drag && !view.playing ? responses() : null, target(store), window);
  if (hosts) drawHostMeters(hostMeters(store, window), window);
  if (!$("moment").matches(":active")) $("moment").value = Math.round(1000 * window.end / store.reach);
  $("moment").setAttribute("aria-valuetext", moment(window.end));
  clearTimeout(settled);
  // While it is played the picture never rests: its figures come along now and then.
  settled = setTimeout(settle, told === null || (view.playing && performance.now() - rested > OFTEN_MS) ? 0 : SETTLED_MS);
  measured.frames += 1;
  measured.longest = Math.max(measured.longest, performance.now() - begun);
}

/** The figures of the window, once it is at rest. */
function settle() {
  if (view.drag && view.drag.moved) return;
  const window = windowNow(), before = told && told.otherWork;
  told = { ...figures(store, window, bands), hosts: hostFigures(store, window) };
  told.otherWork = judgedAfter(told.otherWork, before);
  const found = series(store, window), sentence = answer(told, window, everybody(), target(store));
  const damaged = store.damage ? `${store.damage}; below is what was read before. ` : "";
  const mode = view.playing ? "played" : view.end !== null && !(store.ended && view.end >= store.reach) ? "held" : store.damage ? "not followed any more" : store.how;
  drawMoving(found, everybody() ? answers(store, window) : null, responses(), target(store), window);
  drawSettled(store, window, told);
  if (told.hosts.length) drawHosts(told.hosts, window, everybody() > 0, target(store));
  expectation(store, told, found);
  drawDetail(store, view.row);
  const [first, more] = divided(damaged + sentence);
  say("answer-first", more ? `${first} ` : first);
  say("answer-more", more);
  $("answer").className = damaged ? "bad" : kindOf(sentence);
  document.title = `${sentence.split(/[:;,.](?= )/)[0]} · ${store.title}`;
  const lost = told.lost ? ` · ${lostRecords(told.lost)}` : "";
  $("live").textContent = store.ended ? "To the end" : "Live";
  // After the end nobody is logged in: the number of users says more.
  const over = mode === "ended" && everybody() && !told.users;
  const users = everybody() ? `${over ? "" : `${number(told.users)} of `}${number(everybody())} ${over ? "users" : "logged in"} · ` : "";
  $("about").textContent = `${store.title} · ${users}${told.phase && !over ? told.phase + " · " : ""}${mode}${lost}${gone ? ` · ${gone}; what is here stays` : ""}`;
  $("report").href = reportOf(window.start, window.end);
  $("instrument").textContent = everybody() ? `${number(told.answered)} ${told.answered === 1 ? "answer" : "answers"} in ${duration(window.end - window.start)}; the driver was ${told.lateness === 0 ? "in time" : `${duration(told.lateness)} late (p99)`}, ${told.lost ? lostRecords(told.lost) : "nothing lost"}.${told.charged === null ? "" : ` What ${number(told.charged)} of them used on the other ${store.settings.hosts.length ? "hosts" : "host"} is known, provisionally until the run ends.`}` : `No users: ${duration(window.end - window.start)} of ${store.settings.hosts.length ? "the hosts'" : "this system's"} own work.`;
  rested = performance.now();
  document.body.dataset.drawn = String(+(document.body.dataset.drawn || 0) + 1);
}

/** The response times of the window that was measured last. */
function responses() { return { drawn: told.responses.p90, dots: told.responses.dots, p90: told.response.p90 }; }

function say(id, text) { write($(id), text); }

function soon() { if (!asked) { asked = true; requestAnimationFrame(draw); } }

function at(end) { pause(); view.end = Math.max(1, Math.min(end, store.reach)); soon(); }

/** Zooms so that the moment at `share` of the window stays where it is. */
function zoom(factor, share = 1) {
  const { start, end } = windowNow(), width = Math.max(NARROWEST, Math.min((end - start) * factor, Math.max(store.reach, NARROWEST)));
  const fixed = start + share * (end - start);
  view.width = width;
  if (view.end !== null || share < 1) view.end = Math.max(1, Math.min(fixed + (1 - share) * width, store.reach));
  soon();
}

function live() { pause(); view.end = null; soon(); }

function whole() { pause(); [view.width, view.end, view.only, view.lane] = [store.reach, store.ended ? store.reach : null, null, null]; soon(); }

function pause() { view.playing = null; $("play").textContent = "Play"; $("play").setAttribute("aria-pressed", "false"); }

function play() {
  if (view.playing) { pause(); return; }
  const speed = +$("speed").value, { start, end } = windowNow(), over = speed > 0 && (view.end === null || view.end >= store.reach);
  if (view.width === null) view.width = Math.min(store.settings.width_ns, store.reach);
  view.end = over ? Math.max(1, store.reach > view.width ? view.width : 1) : end > start ? end : store.reach;
  playAt(speed);
}

function playAt(speed) {
  view.playing = { end: view.end, since: performance.now(), speed };
  $("play").textContent = "Pause";
  $("play").setAttribute("aria-pressed", "true");
  requestAnimationFrame(step);
}

function step() {
  if (!view.playing) return;
  const { end, since, speed } = view.playing;
  view.end = end + (performance.now() - since) * 1e6 * speed;
  if (view.end <= 1 || (view.end >= store.reach && store.ended)) pause();
  view.end = Math.max(1, Math.min(view.end, store.reach));
  soon();
  requestAnimationFrame(step);
}

/** Marks one interaction, and moves the window to it where it lies outside. */
function choose(row) {
  view.row = row;
  if (row !== null) {
    const told = store.tables.interactions.columns, ready = told.sent_ns[row] + told.response_ns[row], { start, end } = windowNow();
    if (ready > end || told.sent_ns[row] < start) { pause(); view.end = Math.min(store.reach, ready + (end - start) / 4); }
  }
  drawDetail(store, row);
  soon();
}

function lane(step) {
  if (!bands || !bands.lanes.length) return;
  view.lane = view.lane === null ? 0 : Math.max(0, Math.min(view.lane + step, bands.lanes.length - 1));
  soon();
}

function marked() { return view.lane === null || !bands ? null : bands.lanes[view.lane]; }

function beside(step) {
  const one = marked() || (bands && bands.lanes[0]);
  if (!one || !everybody()) return;
  choose(view.row === null || store.tables.interactions.columns.user[view.row] < one.first || store.tables.interactions.columns.user[view.row] > one.last ? store.users.at(one.first, windowNow().start) : store.users.beside(view.row, step));
}

/** Into the band that is marked; of a single user, as close to the interaction as shows all of it. */
function enter() {
  const one = marked();
  if (one && one.users > 1) { view.only = [one.first, one.last]; view.lane = 0; soon(); return; }
  if (view.row === null) beside(0);
  if (view.row === null) return;
  view.before ??= [view.width, view.end];
  const told = store.tables.interactions.columns, ready = told.sent_ns[view.row] + told.response_ns[view.row];
  const length = told.response_ns[view.row] + (told.typing_ns[view.row] || 0);
  pause();
  view.width = Math.max(NARROWEST, length * 1.5);
  view.end = Math.min(store.reach, ready + view.width / 6);
  soon();
}

function leave() {
  if (view.row !== null && !view.before) { choose(null); return; }
  if (view.row !== null) choose(null);
  [view.width, view.end] = view.before || [null, view.end];
  [view.only, view.lane, view.before] = [null, null, null];
  soon();
}

const KEYS = {
  ArrowLeft: shift => shift ? beside(-1) : at(windowNow().end - (windowNow().end - windowNow().start) / 4),
  ArrowRight: shift => shift ? beside(1) : at(windowNow().end + (windowNow().end - windowNow().start) / 4),
  ArrowUp: () => lane(-1), ArrowDown: () => lane(1), Enter: enter, Escape: leave, Home: () => at(windowNow().end - windowNow().start), End: live,
  "+": () => zoom(0.5, 0.5), "=": () => zoom(0.5, 0.5), "-": () => zoom(2, 0.5),
};

function listen() {
  const users = $("users"), left = () => gutter(users.clientWidth), room = () => users.clientWidth - left(), share = event => Math.max(0, Math.min(1, (event.offsetX - left()) / room()));
  users.addEventListener("keydown", event => { const done = KEYS[event.key]; if (done) { event.preventDefault(); done(event.shiftKey); } });
  users.addEventListener("wheel", event => { event.preventDefault(); zoom(event.deltaY > 0 ? 1.25 : 0.8, share(event)); }, { passive: false });
  users.addEventListener("pointerdown", event => { users.setPointerCapture(event.pointerId); const { start, end } = windowNow(); view.drag = { x: event.clientX, end, per: (end - start) / room(), moved: false }; });
  users.addEventListener("pointermove", event => {
    if (!view.drag) return;
    const by = event.clientX - view.drag.x;
    view.drag.moved ||= Math.abs(by) > 3;
    if (view.drag.moved) { const { start, end } = windowNow(); view.width = end - start; at(view.drag.end - by * view.drag.per); }
  });
  users.addEventListener("pointerup", event => { const drag = view.drag; view.drag = null; if (drag && !drag.moved) click(share(event), event.offsetY / (users.clientHeight - BELOW_BANDS)); else soon(); });
  users.addEventListener("pointercancel", () => { view.drag = null; });
  users.addEventListener("dblclick", enter);
  $("live").addEventListener("click", live);
  $("play").addEventListener("click", play);
  $("whole").addEventListener("click", whole);
  $("wider").addEventListener("click", () => zoom(2, view.end === null ? 1 : 0.5));
  $("closer").addEventListener("click", () => zoom(0.5, view.end === null ? 1 : 0.5));
  $("everybody").addEventListener("click", () => { view.only = null; soon(); });
  $("moment").addEventListener("input", () => { const { start, end } = windowNow(); view.width ??= Math.min(end - start, store.settings.width_ns); at($("moment").value / 1000 * store.reach); });
  $("speed").addEventListener("change", () => { if (view.playing) view.playing = { end: view.end, since: performance.now(), speed: +$("speed").value }; });
  addEventListener("resize", soon);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", soon);
}

/** The band and the interaction under the pointer. */
function click(across, down) {
  if (!bands || !bands.lanes.length) return;
  view.lane = Math.min(bands.lanes.length - 1, Math.floor(down * bands.lanes.length));
  const { start, end } = windowNow(), one = bands.lanes[view.lane];
  if (everybody() && one.users === 1) choose(store.users.at(one.first, start + across * (end - start))); else soon();
}

/** Shows the stretch alone. */
function showStretch([start, end]) { [view.width, view.before] = [Math.max(end - start, NARROWEST), null]; at(end); }

prepare();
prepareHosts();
listen();
listenToCharts(charts, windowNow, showStretch);
globalThis.loadgo = { store, view, measured, windowNow, figures: () => told, bands: () => bands };
follow((head, bytes) => store.take(head, bytes), () => { gone = null; soon(); }, why => { gone = why; soon(); });
