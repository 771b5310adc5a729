// The table of the hosts, and their charts: a lane for each host, with one scale for all.
import { brief, topOf } from "./axes.js";
import { $, chartPart, headed, rows, show } from "./panels.js";
import { drawLanes } from "./pictures.js";
import { HOST_LIMITS } from "./terms.js";
import { duration, moment, number, share } from "./words.js";

const MOST_LANES = 64;
const CHARTS = [["host-responses", "Response time by host, p90"], ["host-busy", "Processors busy by host"], ["host-ready", "Run queue by host"], ["host-memory", "Memory in use by host"]];

/** Makes the places of the charts. */
export function prepareHosts() {
  for (const [name, title] of CHARTS) {
    $("by-host").append(chartPart(name, title, 104));
    $(`series-${name}`).setAttribute("aria-label", title);
  }
  $("part-host-responses").className = "of-users";
}

/** What is drawn anew in every frame while one moves. */
export function drawHostMeters(hosts, window) {
  const shown = hosts.slice(0, MOST_LANES);
  lanes("host-busy", shown, host => host.busy, host => host.share, share, window, { top: 1 });
  lanes("host-ready", shown, host => host.ready, host => host.length, number, window);
  lanes("host-memory", shown, host => host.memory, host => host.used, share, window, { top: 1 });
}

/** The responses by host, and the table. */
export function drawHosts(hosts, window, everybody, target) {
  drawHostMeters(hosts, window);
  if (everybody) lanes("host-responses", hosts.slice(0, MOST_LANES), host => host.response, host => host.p90, duration, window, { dots: true, bound: target });
  const slow = value => target !== null && value !== null && value > target ? [`${duration(value)} over`, "over"] : value === null ? "few" : duration(value);
  const answers = host => everybody ? [host.first_user === host.last_user ? number(host.first_user) : `${host.first_user}–${host.last_user}`, number(host.count), duration(host.p50), slow(host.p90)] : [];
  const line = host => [host.name, ...answers(host), share(host.share), number(host.length), share(host.used), clock(host), stateOf(host)];
  const sorted = [...hosts].sort((a, b) => (everybody ? (b.p90 || 0) - (a.p90 || 0) || (b.p50 || 0) - (a.p50 || 0) : (b.share || 0) - (a.share || 0)) || (a.name < b.name ? -1 : 1));
  rows("hosts", ["host", ...(everybody ? ["users", "answers", "p50", "p90"] : []), "busy", "run queue", "memory", "clock error", "state"], sorted.map(line));
  $("hosts-note").textContent = note(hosts);
}

function clock(host) { return host.bound_ns === null ? "–" : host.bound_ns > HOST_LIMITS.widest_bound_ns ? [duration(host.bound_ns), "over"] : duration(host.bound_ns); }

function stateOf(host) {
  if (host.lost) return [`lost${host.lost_ns ? ` at ${moment(host.lost_ns)}` : ""}`, "over"];
  return host.silent ? [`no meters for ${duration(host.silent)}`, "over"] : "";
}

function note(hosts) {
  const rough = hosts.filter(host => host.bound_ns > HOST_LIMITS.widest_bound_ns).map(host => host.name);
  const clocks = rough.length ? ` The clock of ${rough.join(", ")} is known badly: its meters may be of other moments than the answers beside them.` : "";
  const most = hosts.length > MOST_LANES ? ` The charts have the first ${MOST_LANES} hosts of the list.` : "";
  return `Meters are placed by each host's clock as it is known so far. The run queue and the page faults of all hosts are means of a host.${clocks}${most}`;
}

/** Draws a chart with a lane for each host; all have one scale, which its heading tells. */
function lanes(name, hosts, valuesOf, meanOf, words, window, { top = null, dots = false, bound = null } = {}) {
  const list = hosts.map(host => ({ name: host.name, values: Array.from(valuesOf(host)), dots: dots ? host.dots : [], lost: host.lost_ns !== null && host.lost_ns <= window.end ? host.lost_ns : null, told: figure(meanOf(host), words) }));
  const seen = list.flatMap(lane => [...lane.values.filter(value => !Number.isNaN(value)), ...lane.dots.map(dot => dot[1])]);
  const most = top || topOf(seen.reduce((a, b) => Math.max(a, b), bound || 0)), columns = Math.max(1, ...list.map(lane => lane.values.length));
  const at = column => list.map(lane => `${lane.name} ${Number.isNaN(lane.values[column] ?? NaN) ? "–" : words(lane.values[column])}`).join(", ");
  show(name, columns, window, () => drawLanes($(`series-${name}`), list, most, { ...window, bound }), at);
  headed(name, seen.length ? `0 to ${brief(words(most))} in each row${bound ? `; the line is the target, ${brief(words(bound))}` : ""}` : "not measured");
  $(`series-${name}`).setAttribute("aria-label", `${$(`part-${name}`).querySelector("h2").textContent}; ${list.map(lane => `${lane.name} ${lane.told}`).join(", ")}`);
}

function figure(value, words) { return value === null || Number.isNaN(value) ? "–" : words(value); }
