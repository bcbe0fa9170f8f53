// What the page knows of the fleet: built from the stream's messages, read by everything that draws.

export const WELL = new Set(["Healthy", "Suspended"]);

/** Health → its icon. The word stands beside it wherever there is room, and in the accessible name everywhere. */
export const ICONS = {
  Healthy: "ok",
  Progressing: "progress",
  Failed: "fail",
  Missing: "missing",
  Terminating: "ending",
  Suspended: "pause",
  Unknown: "unknown",
};

const text = new Intl.Collator("en", { numeric: true });

export class Model {
  constructor() {
    this.clear();
  }

  clear() {
    this.fleet = "";
    this.at = "";
    this.watch = null;
    this.clusters = new Map();
    this.workloads = new Map();
    this.events = [];
    this.plan = { plan: null, held: [] };
    this.rows = [];
    this.columns = [];
  }

  /** Take a message `snapshot`: everything. */
  replace(message) {
    this.clear();
    this.change(message);
  }

  /** Take a message `changes`: what differs. */
  change(message) {
    this.fleet = message.fleet;
    this.at = message.at;
    if (message.watch) this.watch = message.watch;
    if (message.plan) this.plan = message.plan;
    for (const cluster of message.clusters ?? []) this.clusters.set(cluster.name, cluster);
    for (const name of message.clustersGone ?? []) this.clusters.delete(name);
    for (const workload of message.workloads ?? []) this.#take(workload);
    for (const workload of message.workloadsGone ?? []) this.workloads.delete(idOf(workload));
    if (message.events) this.events = this.events.concat(message.events).slice(-500);
    if (message.workloads || message.workloadsGone) {
      this.rows = [...this.workloads.values()].sort(
        (one, other) =>
          text.compare(one.namespace, other.namespace) ||
          text.compare(one.name, other.name) ||
          text.compare(one.kind, other.kind) ||
          text.compare(one.group, other.group),
      );
    }
    if (message.clusters || message.clustersGone || message.workloads) {
      const names = new Set(this.clusters.keys());
      for (const workload of this.workloads.values()) for (const name of workload.copies.keys()) names.add(name);
      this.columns = [...names].sort(text.compare);
    }
  }

  #take(workload) {
    const id = idOf(workload);
    const known = workload.membersGone && this.workloads.get(id)?.copies;
    const copies = new Map(known ?? []);
    for (const name of workload.membersGone ?? []) copies.delete(name);
    for (const copy of workload.members) copies.set(copy.cluster, copy);
    const labels = Object.entries(workload.labels).map(([name, value]) => `${name}=${value}`);
    const words = [workload.namespace, workload.kind, workload.name, workload.policy, workload.health.code, ...labels];
    this.workloads.set(id, {
      ...workload,
      id,
      copies,
      drifted: [...copies.values()].some((copy) => copy.drift.length > 0),
      words: words.join(" ").toLowerCase(),
    });
  }

  /** What the matrix shows of it: workloads and names of members. */
  shown(filter, view) {
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    const members = words.filter((word) => /^(member|cluster):/.test(word)).map((word) => word.split(":")[1]);
    const wanted = words.filter((word) => !/^(member|cluster):/.test(word));
    return {
      rows: this.rows.filter((row) => VIEWS[view].shows(row) && wanted.every((word) => row.words.includes(word))),
      columns: members.length
        ? this.columns.filter((name) => members.some((word) => name.toLowerCase().includes(word)))
        : this.columns,
    };
  }
}

/** Which workloads a view shows. */
export const VIEWS = {
  all: { label: "All", shows: () => true },
  unwell: { label: "Not well", shows: (row) => !WELL.has(row.health.code) },
  moving: { label: "Moving", shows: (row) => row.move !== null },
  drifted: { label: "Drifted", shows: (row) => row.drifted },
};

export function idOf(workload) {
  return [workload.group, workload.kind, workload.namespace, workload.name].join("|");
}

/** How the daemon names an object in events and in what it holds back. */
export function objectName(workload) {
  const kind = workload.group ? `${workload.kind}.${workload.group}` : workload.kind;
  return `${kind} ${workload.namespace ? `${workload.namespace}/` : ""}${workload.name}`;
}

/** "2/3", or "" where nothing is counted. */
export function countText(counted) {
  if (counted.desired === null) return "";
  return `${counted.ready ?? "?"}/${counted.desired}`;
}

/** How a member does: an icon, a tone for colours, and a word. */
export function memberState(cluster) {
  if (!cluster) return { icon: "unknown", tone: "unknown", word: "unknown" };
  if (!cluster.reachable) return { icon: "unreachable", tone: "unknown", word: "unreachable" };
  if (!cluster.synced) return { icon: "progress", tone: "warn", word: "reading" };
  if (cluster.ready === "False") return { icon: "fail", tone: "bad", word: "not ready" };
  if (cluster.suspended) return { icon: "pause", tone: "warn", word: "suspended" };
  return { icon: "ok", tone: "ok", word: cluster.ready === "True" ? "ready" : "readiness unknown" };
}

/** Health → tone for colours. */
export function tone(code) {
  if (code === "Healthy") return "ok";
  if (code === "Failed" || code === "Missing") return "bad";
  return code === "Unknown" ? "unknown" : "warn";
}

/** How many replicas leave (-) or arrive (+) in a member by the workload's move. */
export function moveIn(workload, member) {
  if (!workload.move) return 0;
  return (workload.move.arrives[member] ?? 0) - (workload.move.leaves[member] ?? 0);
}
