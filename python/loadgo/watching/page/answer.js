// The answer in one sentence: is it full, who waits for what, how old are the figures; watching/answer.py gives the same one.
import { waits } from "./figures.js";
import { STATES } from "./states.js";
import { CATEGORIES, HELD_UP, HOST_LIMITS, OTHER_WORK } from "./terms.js";
import { duration, number, share } from "./words.js";

const BUSY = 0.9, HELD = 0.4, IDLE = 0.1, SILENT_GAPS = 5;
const CAUSES = { "CPU wait": "waiting for a processor", "page wait": "waiting for pages", "disk wait": "waiting for the disk", "other wait": "waiting for something that is not metered" };
const KINDS = { Fine: "good", "Not full": "plain" };

export function answer(told, window, everybody, target) {
  const lost = lostOf(told.hosts), said = busyOf(told, everybody);
  if (everybody && !told.answered) return `${lost}Nobody was answered in the last ${duration(window.end - window.start)}; ${said}${busyWith(told.otherWork)}.`;
  // Without users the bands are of processes: how long those were ready is nobody's response time.
  const cause = everybody ? longestWait(told) : idleCause(told);
  return `${lost}${verdict(told, everybody, target)}: ${said}${p90Of(told, window)}${cause ? "; " + cause : ""}${busyWith(told.otherWork)}.`;
}

/** How the answer looks, by its verdict: good only where a target is met, plain where nothing is full. */
export function kindOf(sentence) { return Object.entries(KINDS).find(([verdict]) => sentence.startsWith(verdict + ":"))?.[1] ?? "bad"; }

function verdict(told, everybody, target) {
  const busiest = busiestOf(told.hosts), busy = busiest ? busiest.share : told.busyShare, p90 = told.response.p90, aimed = target !== null && p90 !== null;
  if (aimed && p90 > target) return "Too slow";
  if (busy >= BUSY) return "Full";
  if (everybody && longestWait(told)) return "Held up";
  return aimed ? "Fine" : Number.isNaN(busy) ? "Load not known" : "Not full";
}

/** The busy share of the processors: of the busiest host first, since one full host makes its users wait. */
function busyOf(told, everybody) {
  const busiest = busiestOf(told.hosts), theirs = everybody && !Number.isNaN(told.usersShare) ? `, ${share(told.usersShare)} for users` : "";
  if (Number.isNaN(told.busyShare)) return "processors not measured" + theirs;
  if (!busiest) return `processors ${share(told.busyShare)} busy${theirs}`;
  return `processors of ${busiest.name} ${share(busiest.share)} busy${busiest.silent ? ` (no meters for ${duration(busiest.silent)})` : ""}, of all hosts ${share(told.busyShare)}${theirs}`;
}

/** The p90 after a comma, with the slowest host; where answers have stopped, since when. */
function p90Of(told, window) {
  const p90 = told.response.p90, words = p90 === null ? "" : `p90 ${duration(p90)}${unsteady(told)}${slowestOf(told.hosts)}`;
  const gap = told.answered ? (window.end - window.start - told.silent) / told.answered : Infinity;
  if (told.silent > Math.max(HOST_LIMITS.silent_ns, SILENT_GAPS * gap)) return `, no answer in the last ${duration(told.silent)}${words ? `; before that ${words}` : ""}`;
  return words ? `, ${words}` : "";
}

/** The host whose users wait longest, which need not be the busiest; empty where only one host has a p90. */
function slowestOf(hosts) {
  const known = hosts.filter(host => host.p90 !== null).sort((a, b) => b.p90 - a.p90 || (b.p50 || 0) - (a.p50 || 0) || (a.name < b.name ? -1 : 1));
  return known.length < 2 ? "" : `, slowest on ${known[0].name} (${duration(known[0].p90)}${Number.isNaN(known[0].share) ? "" : `, ${share(known[0].share)} busy`})`;
}

function longestWait(told) {
  const parts = waits(told.states), most = parts ? parts.indexOf(Math.max(...parts)) : 0;
  return most > 0 && parts[most] >= HELD ? `${share(parts[most])} of the response time is ${CAUSES[STATES[most]]}` : "";
}

function idleCause(told) {
  const idle = told.time.filter(one => HELD_UP.includes(one.name)).sort((a, b) => b.share - a.share)[0];
  return idle && idle.share > IDLE ? `${share(idle.share)} of the processors' time they were ${CATEGORIES[idle.name].name.replace(":", ",")}` : "";
}

/** The host whose processors were busiest; undefined where none was measured. */
function busiestOf(hosts) { return hosts.filter(host => !Number.isNaN(host.share)).sort((a, b) => b.share - a.share || (a.name < b.name ? -1 : 1))[0]; }

/** The sentence that names the lost hosts; empty without one. */
function lostOf(hosts) {
  const lost = hosts.filter(host => host.lost).map(host => host.name + (host.lost_ns ? ` at ${duration(host.lost_ns)}` : ""));
  return lost.length ? `Lost: ${lost.length > 1 ? `${lost.slice(0, -1).join(", ")} and ${lost.at(-1)}` : lost[0]}. ` : "";
}

/** The remark that a report of the run has fewer answers; empty where all are of the steady phase. */
function unsteady(told) {
  return told.unsteady ? ` (with ${number(told.unsteady)} of ${told.answered.toLocaleString("en-US")} answer${told.answered === 1 ? "" : "s"} outside the steady phase)` : "";
}

/** The other work with its level after that of `before`: a busy host stays so down to a lower limit, as measures/other_work.py has it. */
export function judgedAfter(work, before) {
  if (!work) return null;
  const was = before ? before.level : "quiet";
  const busy = work.share - work.error > OTHER_WORK.busy || (was === "busy" && work.share > OTHER_WORK.kept * OTHER_WORK.busy);
  const noted = OTHER_WORK.noted * (was === "quiet" ? 1 : OTHER_WORK.kept);
  return { ...work, level: busy ? "busy" : work.share > noted ? "partly busy" : "quiet" };
}

/** The clause that says that the host is busy with other things than the users; empty for a quiet host. */
function busyWith(work) {
  return !work || work.level === "quiet" ? "" : `; the host is ${work.level} with other things: ${share(work.share)} of the processors' time`;
}

