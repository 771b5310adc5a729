// The answer in one sentence: is it fine, what is full, who waits for what; watching/terminal.py gives the same one.
import { waits } from "./figures.js";
import { STATES } from "./states.js";
import { CATEGORIES, HELD_UP, OTHER_WORK } from "./terms.js";
import { duration, number, share } from "./words.js";

const BUSY = 0.9, HELD = 0.4, IDLE = 0.1;
const CAUSES = { "CPU wait": "waiting for a processor", "page wait": "waiting for pages", "disk wait": "waiting for the disk", "other wait": "waiting for something that is not metered" };

export function answer(told, window, everybody, target) {
  const busiest = busiestOf(told.hosts), lost = lostOf(told.hosts), busy = busiest ? busiest.share : told.busyShare;
  const theirs = everybody && !Number.isNaN(told.usersShare) ? `, ${share(told.usersShare)} for users` : "";
  const said = (Number.isNaN(busy) ? "processors not measured" : `processors ${share(told.busyShare)} busy`) + theirs + (busiest ? `, those of ${busiest.name} most with ${share(busy)}` : ""), p90 = told.response.p90;
  if (everybody && !told.answered) return `${lost}Nobody was answered in the last ${duration(window.end - window.start)}; ${said}${busyWith(told.otherWork)}.`;
  // Without users the bands are of processes: how long those were ready is nobody's response time.
  const parts = everybody ? waits(told.states) : null, most = parts ? parts.indexOf(Math.max(...parts)) : 0, held = parts !== null && most > 0 && parts[most] >= HELD;
  const verdict = target !== null && p90 !== null && p90 > target ? "Too slow" : busy >= BUSY ? "Full" : held ? "Held up" : "Fine";
  let why = held ? `${share(parts[most])} of the response time is ${CAUSES[STATES[most]]}` : "";
  if (!everybody) {
    const idle = told.time.filter(one => HELD_UP.includes(one.name)).sort((a, b) => b.share - a.share)[0];
    why = idle && idle.share > IDLE ? `${share(idle.share)} of the processors' time they were ${CATEGORIES[idle.name].name.replace(":", ",")}` : "";
  }
  return `${lost}${verdict}: ${said}${p90 === null ? "" : `, p90 ${duration(p90)}${unsteady(told)}`}${why ? "; " + why : ""}${busyWith(told.otherWork)}.`;
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

