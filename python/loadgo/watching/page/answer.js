// The answer: how the users are served, why, and how busy the processors are; watching/answer.py gives the same sentences.
import { waits } from "./figures.js";
import { STATES } from "./states.js";
import { CATEGORIES, HELD_UP, HOST_LIMITS, OTHER_WORK } from "./terms.js";
import { duration, number, share } from "./words.js";

const BUSY = 0.9, HELD = 0.4, TOLD = 0.25, IDLE = 0.1, SILENT_GAPS = 5, FEWEST_FOR_P90 = 10;
const CAUSES = { "CPU wait": "waiting for a processor", "page wait": "waiting for pages", "disk wait": "waiting for the disk", "other wait": "waiting for something that is not metered" };
const NO_VERDICT = "Response", KINDS = { "Fine:": "good", "Not full:": "plain", [`${NO_VERDICT} `]: "plain" };

export function answer(told, window, everybody, target) {
  const lost = lostOf([...told.hosts.filter(host => host.lost), ...(told.lostHost ? [told.lostHost] : [])]), busy = busyOf(told, window, everybody), work = busyWith(told, everybody), cause = idleCause(told);
  // Without users the bands are of processes: how long those were ready is nobody's response time.
  if (!everybody) return `${lost}${hostVerdict(told)}: ${busy}${cause ? "; " + cause : ""}${work}.`;
  if (!told.answered) return `${lost}Nobody was answered in the last ${duration(window.end - window.start)}. ${capital(busy)}${work}.`;
  const served = servedOf(told, window, target), known = verdict(told, target);
  const said = known === "Full" ? `Full: ${busy}${work}. ${NO_VERDICT} ${served}.` : known ? `${known}: ${served}. ${capital(busy)}${work}.` : `${NO_VERDICT} ${served}. ${roomOf(told, busy)}${work}.`;
  return lost + said + unsteady(told);
}

/** How the answer looks, by its beginning: good only where a target is met, plain where nothing is known to be wrong. */
export function kindOf(sentence) { return Object.entries(KINDS).find(([beginning]) => sentence.startsWith(beginning))?.[1] ?? "bad"; }

/** The first sentence of the answer, with that on lost hosts, and the others. */
export function divided(text) {
  const first = text.match(/^(?:Lost: .*?\. )?.*?\.(?= |$)/)?.[0] ?? text;
  return [first, text.slice(first.length).trim()];
}

function capital(words) { return words.slice(0, 1).toUpperCase() + words.slice(1); }

function busiestShare(told) { const busiest = busiestOf(told.hosts); return busiest ? busiest.share : told.busyShare; }

/** The verdict where nobody types. */
function hostVerdict(told) { const busy = busiestShare(told); return busy >= BUSY ? "Full" : Number.isNaN(busy) ? "Load not known" : "Not full"; }

/** The verdict for users; empty where no target is set and nothing is full. */
function verdict(told, target) {
  const p90 = told.response.p90, aimed = target !== null && p90 !== null;
  if (aimed && p90 > target) return "Too slow";
  if (busiestShare(told) >= BUSY) return "Full";
  if (longestWait(told, HELD)) return "Held up";
  return aimed ? "Fine" : "";
}

/** The sentence that the processors are not full, from the words on their busy share. */
function roomOf(told, busy) {
  const owned = busy.replace(/^processors /, "");
  return Number.isNaN(busiestShare(told)) ? capital(busy) : `The processors are not full: ${owned.startsWith("of ") ? "those " : ""}${owned}`;
}

/** The busy share of the processors: of the busiest host first, since one full host makes its users wait. */
function busyOf(told, window, everybody) {
  const busiest = busiestOf(told.hosts), parts = everybody ? partsOf(told) : "";
  if (Number.isNaN(told.busyShare)) return "processors not measured" + parts;
  if (!busiest) return `processors ${share(told.busyShare)} busy${untilOf(told, window)}${parts}`;
  return `processors of ${busiest.name} ${share(busiest.share)} busy${busiest.silent ? ` (no meters for ${duration(busiest.silent)})` : ""}, of all hosts ${share(told.busyShare)}${parts}`;
}

/** When the meters of a host ended; empty where they cover the window. */
function untilOf(told, window) {
  return window.end - told.meteredUntil <= HOST_LIMITS.silent_ns ? "" : ` until ${(told.meteredUntil / 1e9).toFixed(1)} s, when the meters ended`;
}

/** Whose the busy time is, in brackets; the shares, as they are printed, add up to the busy share. */
function partsOf(told) {
  if (Number.isNaN(told.usersShare)) return "";
  const users = `${share(told.usersShare)} for users`, work = isNoted(told.otherWork) ? told.otherWork : null;
  if (Number.isNaN(told.busyShare)) return ` (${users})`;
  const rest = mills(told.busyShare) - mills(told.usersShare) - (work ? mills(work.share) : 0);
  const whose = told.supervisor ? "the supervisor" : work ? "loadgo and the kernel" : "loadgo, the kernel and other programs";
  return ` (${[users, ...(work ? [`${share(work.share)} for other programs`] : []), ...(rest > 0 ? [`${share(rest / 1000)} for ${whose}`] : [])].join(", ")})`;
}

/** A share in thousandths, as it is printed. */
function mills(part) { return Math.round(1000 * part); }

/** The p90 with the target, the slowest host and the longest wait; where answers have stopped, since when. */
function servedOf(told, window, target) {
  const p90 = told.response.p90, cause = longestWait(told), gap = told.answered ? (window.end - window.start - told.silent) / told.answered : Infinity;
  const figure = p90 === null ? `p90 unknown (${answers(told)}, it needs ${FEWEST_FOR_P90})` : `p90 ${duration(p90)}`;
  const stopped = told.silent > Math.max(HOST_LIMITS.silent_ns, SILENT_GAPS * gap) ? `; no answer in the last ${duration(told.silent)}, so that this is of the time before` : "";
  return `${figure}${target === null ? "; no target is set" : `, target ${duration(target)}`}${slowestOf(told.hosts)}${cause ? "; " + cause : ""}${stopped}`;
}

function answers(told) { return `${told.answered.toLocaleString("en-US")} answer${told.answered === 1 ? "" : "s"}`; }

/** The host whose users wait longest, which need not be the busiest; empty where only one host has a p90. */
function slowestOf(hosts) {
  const known = hosts.filter(host => host.p90 !== null).sort((a, b) => b.p90 - a.p90 || (b.p50 || 0) - (a.p50 || 0) || (a.name < b.name ? -1 : 1));
  return known.length < 2 ? "" : `; slowest on ${known[0].name} (p90 ${duration(known[0].p90)}${Number.isNaN(known[0].share) ? "" : `, processors ${share(known[0].share)} busy`})`;
}

function longestWait(told, least = TOLD) {
  // Where usage is not known yet, all of a response is in the waits that no meter names.
  const isKnown = told.charged === null || told.charged >= told.answered;
  const parts = waits(told.states)?.map((part, place) => isKnown || STATES[place] !== "other wait" ? part : 0), most = parts ? parts.indexOf(Math.max(...parts)) : 0;
  return most > 0 && parts[most] >= least ? `${share(parts[most])} of the response time is ${CAUSES[STATES[most]]}` : "";
}

function idleCause(told) {
  const idle = told.time.filter(one => HELD_UP.includes(one.name)).sort((a, b) => b.share - a.share)[0];
  return idle && idle.share > IDLE ? `${share(idle.share)} of the processors' time they were ${CATEGORIES[idle.name].name.replace(":", ",")}` : "";
}

/** The host whose processors were busiest; undefined where none was measured. */
function busiestOf(hosts) { return hosts.filter(host => !Number.isNaN(host.share)).sort((a, b) => b.share - a.share || (a.name < b.name ? -1 : 1))[0]; }

/** The sentence that names these lost hosts; empty without one. */
function lostOf(hosts) {
  const lost = hosts.map(host => host.name + (host.lost_ns ? ` at ${duration(host.lost_ns)}` : ""));
  return lost.length ? `Lost: ${lost.length > 1 ? `${lost.slice(0, -1).join(", ")} and ${lost.at(-1)}` : lost[0]}. ` : "";
}

/** The sentence that a report of the run has fewer answers; empty where all are of the steady phase. */
function unsteady(told) {
  return told.unsteady ? ` Of the ${answers(told)}, ${number(told.unsteady)} ${told.unsteady === 1 ? "is" : "are"} of the warm-up or the ramp-down: ${told.unsteady === 1 ? "it counts" : "they count"} here, and not in the report.` : "";
}

/** The other work with its level after that of `before`: a busy host stays so down to a lower limit, as measures/other_work.py has it. */
export function judgedAfter(work, before) {
  if (!work) return null;
  const was = before ? before.level : "quiet";
  const busy = work.share - work.error > OTHER_WORK.busy || (was === "busy" && work.share > OTHER_WORK.kept * OTHER_WORK.busy);
  const noted = OTHER_WORK.noted * (was === "quiet" ? 1 : OTHER_WORK.kept);
  return { ...work, level: busy ? "busy" : work.share > noted ? "partly busy" : "quiet" };
}

function isNoted(work) { return Boolean(work) && work.level !== "quiet"; }

/** The clause that says that the host is busy with other things than the users; empty for a quiet host. */
function busyWith(told, everybody) {
  const work = told.otherWork;
  if (!isNoted(work)) return "";
  const named = everybody && !Number.isNaN(told.usersShare) && !Number.isNaN(told.busyShare);
  return `; the host is ${work.level} with other things${named ? "" : `: ${share(work.share)} of its processors`}`;
}
