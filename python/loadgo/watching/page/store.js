// All that the page knows of the run: its tables, as far as they have come.
import { Table } from "./table.js";
import { Users } from "./users.js";

const TABLES = ["phases", "sessions", "time", "queue", "faults", "memory", "processes", "lost", "interactions"];

export class Store {
  tables = Object.fromEntries(TABLES.map(name => [name, new Table()]));
  users = new Users(this.tables.interactions, this.tables.sessions);
  settings = { width_ns: 60e9, target_ns: null, begin_ns: null, speed: null, hosts: [] };
  title = "";
  reach = 1;
  ended = false;
  how = "live";
  damage = null;
  provisional = false;
  lostHost = null;
  expected = null;

  /** Takes one message in. */
  take(head, bytes) {
    if (head.table === "usage") { this.users.charge(head, bytes); return; }
    if (head.table) {
      this.tables[head.table].append(head, bytes);
      if (head.table === "interactions" || head.table === "sessions") this.users.take();
      return;
    }
    if (head.damage) { this.damage = head.damage; return; }
    if (head.over) return;
    if (head.expected) { this.expected = head.expected; return; }
    if (head.unexpected) { this.expected = { figures: [], busy: null, ready: null, note: head.unexpected }; return; }
    for (const name of ["width_ns", "target_ns", "begin_ns", "speed", "hosts"]) if (name in head) this.settings[name] = head[name];
    if (!this.users.read) this.users.grid.expect(head.reach_ns);
    this.how = head.how;
    [this.provisional, this.lostHost] = [head.provisional, head.lost_host];
    [this.title, this.reach, this.ended] = [head.title, Math.max(head.reach_ns, 1), head.ended];
  }
}
