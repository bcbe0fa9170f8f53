// The panel beside the matrix: what a cell is about, with reasons; what happened; the last plan.

import { element, icon, time } from "./elements.js";
import { ICONS, countText, memberState, moveIn, objectName, tone } from "./model.js";

const MOST_EVENTS = 200;
const SEVERITY = { info: ["dot", "muted"], warning: ["warn", "warn"], error: ["fail", "bad"] };

/** What is to be said of a choice: of a cell, a workload, a member, or of the daemon itself. */
export function details(model, { row, column }) {
  const workload = row === null ? null : model.workloads.get(row);
  if (row !== null && !workload) return [heading("Gone"), element("p", {}, "This workload left the fleet.")];
  if (workload && column !== null) return copyDetails(model, workload, column);
  if (workload) return workloadDetails(model, workload);
  if (column !== null) return memberDetails(model, column);
  return fleetDetails(model);
}

function copyDetails(model, workload, member) {
  const copy = workload.copies.get(member);
  const cluster = model.clusters.get(member);
  const parts = [heading(`${workload.name} in ${member}`), element("p", { class: "muted" }, objectName(workload))];
  if (!copy) {
    parts.push(element("p", {}, "It is not placed there."), moved(workload, member));
  } else {
    parts.push(
      health(copy.health),
      copy.staleSince ? note("unknown", "unreachable", "This is as known last: nothing was heard of the member since ", time(copy.staleSince)) : null,
      moved(workload, member),
      facts([
        ["Wanted", copy.desired],
        ["Ready", copy.ready],
        ["Available", copy.available],
        ["Updated", copy.updated],
        ["Pods there", copy.current],
        ["Placed by the scheduler", copy.placed],
        ["Can run, as learned", copy.estimated],
      ]),
      copy.drift.length
        ? section("Not as git says", element("ul", { class: "paths" }, copy.drift.map((path) => element("li", {}, element("code", {}, path)))))
        : null,
    );
  }
  const explain = `kadm explain ${workload.kind.toLowerCase()}/${workload.name}${workload.namespace ? ` -n ${workload.namespace}` : ""}`;
  parts.push(
    cluster && !cluster.reachable ? section("The member", memberTrouble(cluster)) : null,
    held(model.plan.held.filter((one) => one.object === objectName(workload) && one.cluster === member)),
    recent(model, (event) => event.object === objectName(workload) && (!event.cluster || event.cluster === member)),
    section(copy ? "Why it is there" : "Why it is not there", element("code", { class: "command" }, explain)),
  );
  return parts;
}

function workloadDetails(model, workload) {
  const rows = [...workload.copies.values()].sort((one, other) => one.cluster.localeCompare(other.cluster));
  return [
    heading(workload.name),
    element("p", { class: "muted" }, objectName(workload)),
    health(workload.health),
    workload.move ? note("warn", "move", moveText(workload.move)) : null,
    facts([
      ["Policy", workload.policy || "none"],
      ["Replicas in git", workload.wanted],
      ["Wanted in members", workload.desired],
      ["Ready", workload.ready],
      ["Members", rows.length],
    ]),
    held(model.plan.held.filter((one) => one.object === objectName(workload))),
    section(
      "Members that are not well",
      list(rows.filter((copy) => copy.health.code !== "Healthy"), (copy) => [
        state(ICONS[copy.health.code], tone(copy.health.code), `${copy.cluster} ${countText(copy)} ${copy.health.code}`),
        copy.health.reason ? element("p", { class: "why" }, copy.health.reason) : null,
      ]),
    ),
    recent(model, (event) => event.object === objectName(workload)),
  ];
}

function memberDetails(model, name) {
  const cluster = model.clusters.get(name);
  if (!cluster) return [heading(name), element("p", {}, "This member left the fleet.")];
  const found = memberState(cluster);
  const failures = Object.entries(cluster.watches.failures).map(([code, count]) => `${code}: ${count}`);
  const unwell = model.rows.filter((row) => {
    const copy = row.copies.get(name);
    return copy && copy.health.code !== "Healthy";
  });
  return [
    heading(name),
    element("p", {}, state(found.icon, found.tone, found.word), " since ", time(cluster.since)),
    memberTrouble(cluster),
    facts([
      ["Kubernetes", cluster.version || "–"],
      ["Objects of kadm", cluster.objects],
      ["Drifted", cluster.drifted],
      ["Commit", short(cluster.commit) || "–"],
      ["Heard last", cluster.reachable ? null : time(cluster.heard)],
      ["Full lists", cluster.watches.lists],
      ["Failed requests", failures.join(", ") || "none"],
    ]),
    held(model.plan.held.filter((one) => one.cluster === name)),
    section(
      "Workloads that are not well there",
      list(unwell, (row) => {
        const copy = row.copies.get(name);
        return [
          state(ICONS[copy.health.code], tone(copy.health.code), `${row.name} ${countText(copy)} ${copy.health.code}`),
          copy.health.reason ? element("p", { class: "why" }, copy.health.reason) : null,
        ];
      }),
    ),
    recent(model, (event) => event.cluster === name),
  ];
}

function fleetDetails(model) {
  const { watch } = model;
  if (!watch) return [heading("Details"), element("p", {}, "Nothing is known yet.")];
  const { source, writer, totals } = watch;
  return [
    heading(model.fleet || "The fleet"),
    element("p", { class: "muted" }, "Choose a cell, a workload or a member to see more of it."),
    facts([
      ["Repository", source.url],
      ["Branch", source.branch || "–"],
      ["Commit", short(source.commit) || "–"],
      ["In force since", time(source.since)],
      ["Looked at", time(source.seen)],
      ["Writer", writer.here ? "this daemon" : writer.holder || "nobody"],
      ["Drift is", watch.driftMode === "correct" ? "corrected" : "reported"],
      ["Running since", time(watch.started)],
      ["Plans", `${totals.plans}, ${totals.failedPlans} failed`],
      ["Changes", `${totals.changes}, ${totals.failedChanges} failed`],
      ["Migrations", totals.migrations],
      ["Fail-overs", totals.failovers],
    ]),
  ];
}

/** What happened, the latest first. */
export function events(model) {
  const latest = model.events.slice(-MOST_EVENTS).reverse();
  const found = latest.length ? element("ol", { class: "events" }, latest.map(eventItem)) : element("p", {}, "Nothing yet.");
  return [heading("What happened"), found];
}

/** The last plan, and what is held back. */
export function plan(model) {
  const { plan: last, held: back } = model.plan;
  if (!last) return [heading("The last plan"), element("p", {}, "No plan was made yet.")];
  const actions = Object.entries(last.summary).filter(([name, count]) => count && name !== "unchanged");
  const said = actions.map(([name, count]) => `${count} to ${name}`).join(", ") || "nothing to change";
  return [
    heading("The last plan"),
    element("p", {}, "Made ", time(last.at), ` of ${short(last.commit) || "the repository"}: ${said}, ${last.summary.unchanged} unchanged.`),
    last.drift ? note("warn", "drift", `${last.drift} of it is drift, and only reported.`) : null,
    last.because.length ? section("Because", list(last.because, (text) => [text])) : null,
    section("Held back", list(back, heldItem)),
    section("Moves", list(last.moves, (move) => [element("b", {}, move.name), ` ${moveText(move)}`])),
    section("Problems", list(last.problems, (one) => problem(one))),
    section("Changes by member", list(Object.entries(last.changes), ([name, count]) => [`${name}: ${count}`])),
  ];
}

function heading(text) {
  return element("h3", { tabindex: -1, class: "about" }, text);
}

function section(title, content) {
  return content ? element("section", {}, element("h4", {}, title), content) : null;
}

function list(items, make) {
  return items.length ? element("ul", { class: "list" }, items.map((item) => element("li", {}, make(item)))) : null;
}

function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined);
  return element(
    "dl",
    { class: "facts" },
    shown.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value instanceof Node ? value : String(value)))),
  );
}

function state(name, its, word) {
  return element("span", { class: `state tone-${its}` }, icon(name), word);
}

function health({ code, reason }) {
  return element("div", { class: `health is-${tone(code)}` }, state(ICONS[code], tone(code), code), reason ? element("p", { class: "why" }, reason) : null);
}

function note(its, name, ...text) {
  return element("p", { class: `note is-${its}` }, icon(name, its), element("span", {}, ...text));
}

function moved(workload, member) {
  const move = moveIn(workload, member);
  if (!move) return null;
  return move > 0
    ? note("warn", "arrive", `${move} replicas arrive here; they leave ${numbers(workload.move.leaves)}.`)
    : note("warn", "leave", `${-move} replicas leave, when those in ${numbers(workload.move.arrives)} are ready.`);
}

function moveText(move) {
  return `moves ${numbers(move.leaves)} → ${numbers(move.arrives)}`;
}

function numbers(counts) {
  return Object.entries(counts).map(([name, count]) => `${name} (${count})`).join(", ");
}

function memberTrouble(cluster) {
  if (cluster.problem) return element("div", { class: "health is-unknown" }, problem(cluster.problem));
  return cluster.readyReason && cluster.ready !== "True" ? note("bad", "fail", cluster.readyReason) : null;
}

function problem(one) {
  const place = one.where ? `${one.where.path}:${one.where.line}:${one.where.column}` : [one.member, one.object].filter(Boolean).join(" ");
  return [
    place ? element("code", {}, place) : null,
    element("p", {}, [one.what, one.why].filter(Boolean).join(": ")),
    one.hint ? element("p", { class: "muted" }, one.hint) : null,
  ];
}

function heldItem(one) {
  return [
    element("b", {}, `${one.action ?? "change"} ${one.object}`),
    one.cluster ? ` in ${one.cluster}` : null,
    element("p", { class: "why" }, one.why),
    one.release ? element("p", { class: "muted" }, "Released by: ", element("code", {}, one.release)) : null,
  ];
}

function held(items) {
  return section("Held back", list(items, heldItem));
}

function recent(model, about) {
  const found = model.events.filter(about).slice(-10).reverse();
  return found.length ? section("What happened", element("ol", { class: "events" }, found.map(eventItem))) : null;
}

function eventItem(event) {
  const [name, its] = SEVERITY[event.severity];
  const about = [event.cluster, event.object].filter(Boolean).join(" · ");
  return element(
    "li",
    { class: `event tone-line-${its}` },
    element("div", { class: "when" }, icon(name, its), element("span", { class: "kind" }, event.severity === "info" ? event.kind : `${event.kind}, ${event.severity}`), time(event.at)),
    element("p", {}, event.text),
    about ? element("p", { class: "muted" }, about) : null,
  );
}

/** A commit as people write it. */
export function short(commit) {
  return /^[0-9a-f]{40}/.test(commit) ? commit.slice(0, 10) + commit.slice(40) : commit;
}

/** What an operator must know at once: a banner each. */
export function alarms(model) {
  const { watch } = model;
  if (!watch) return [];
  const found = [];
  if (watch.broken) {
    const { commit, problems } = watch.broken;
    const [first] = problems;
    const more = problems.length > 1 ? `, and ${problems.length - 1} more` : "";
    const place = first?.where ? `${first.where.path}:${first.where.line}: ` : "";
    found.push(["bad", `Commit ${short(commit)} cannot be used: ${place}${first?.what ?? ""}${more}. ${short(watch.source.commit) || "Nothing"} stays in force.`]);
  }
  if (watch.source.problem) found.push(["bad", `The repository cannot be looked at: ${[watch.source.problem.what, watch.source.problem.why].filter(Boolean).join(": ")}. What is in force stays.`]);
  if (!watch.ready) found.push(["warn", "The fleet is still being read: what you see is not all of it, and nothing is written yet."]);
  if (watch.ready && !watch.writer.here) found.push(["warn", `This daemon does not write: ${watch.writer.holder || "nobody"} does.`]);
  return found;
}
