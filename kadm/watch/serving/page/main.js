// The page: takes what the stream says, and shows it.

import { element, icon, mark, say } from "./elements.js";
import { Grid } from "./grid.js";
import { follow } from "./live.js";
import { Model, VIEWS, WELL } from "./model.js";
import { alarms, details, events, plan, short } from "./panel.js";

const THEMES = ["system", "light", "dark"];
const THEME = "kadm-theme";

const at = (id) => document.getElementById(id);
const model = new Model();
const shown = { filter: "", view: "all", tab: "details", choice: { row: null, column: null } };
const grid = new Grid(at("frame"), at("matrix"), chosen);
let waiting = false;
let told = 0;

readAddress();
at("filter").value = shown.filter;
at("filter").addEventListener("input", (event) => {
  shown.filter = event.target.value;
  narrowed();
});
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, dialog");
  if (event.key === "/" && !typing) {
    event.preventDefault();
    at("filter").focus();
  } else if (event.key === "Escape" && event.target === at("filter")) {
    at("filter").value = shown.filter = "";
    narrowed();
  } else if (event.key === "Escape" && at("panel").contains(event.target)) {
    grid.focus();
  }
});
for (const [name, { label }] of Object.entries(VIEWS)) {
  const button = element("button", { type: "button", id: `view-${name}` }, label, element("span", { class: "number" }));
  button.addEventListener("click", () => {
    shown.view = name;
    narrowed();
  });
  at("views").append(button);
}
const tabs = [...at("tabs").querySelectorAll("[role=tab]")];
for (const tab of tabs) {
  tab.addEventListener("click", () => openTab(tab.dataset.tab));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
    openTab(next.dataset.tab);
    next.focus();
  });
}
at("theme").addEventListener("click", () => {
  const next = THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length];
  localStorage.setItem(THEME, next);
  dress();
});
dress();
drawSoon();

follow({
  message(kind, data) {
    if (kind === "snapshot") model.replace(data);
    else model.change(data);
    if (kind === "snapshot") told = model.events.at(-1)?.number ?? 0;
    drawSoon();
  },
  state(state) {
    const words = { live: "Live", lost: "Connection lost", token: "Token needed" };
    if (document.body.dataset.state === state) return;
    document.body.dataset.state = state;
    say(at("live-word"), words[state]);
    drawSoon();
  },
  askToken,
});

function drawSoon() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    draw();
  });
}

function draw() {
  drawHeader();
  drawViews();
  const found = model.shown(shown.filter, shown.view);
  grid.selected = shown.choice.row === null && shown.choice.column === null ? null : shown.choice;
  grid.show(model, found);
  const nothing = model.watch !== null && (found.rows.length === 0 || found.columns.length === 0);
  at("nothing").hidden = !nothing;
  if (nothing) say(at("nothing"), model.rows.length ? "Nothing matches." : "The fleet holds no workload yet.");
  drawPanel();
  announce();
}

function drawHeader() {
  const { watch } = model;
  document.title = model.fleet ? `${model.fleet} · kadm` : "kadm";
  say(at("fleet"), model.fleet || "kadm");
  const source = watch?.source;
  say(at("source"), source ? [source.branch, short(source.commit)].filter(Boolean).join(" @ ") : "");
  const members = [...model.clusters.values()];
  const lost = members.filter((one) => !one.reachable).length;
  say(at("members"), members.length ? `${members.length - lost} of ${members.length} members reachable` : "");
  at("members").className = lost ? "tone-unknown" : "";
  const banners = alarms(model);
  if (document.body.dataset.state === "lost" && model.at) banners.unshift(["bad", `The daemon does not answer. What you see is as of ${model.at}.`]);
  const signature = JSON.stringify(banners);
  if (at("alarms").dataset.for !== signature) {
    at("alarms").dataset.for = signature;
    at("alarms").replaceChildren(...banners.map(([its, text]) => element("p", { class: `alarm is-${its}` }, icon(its === "bad" ? "fail" : "warn", its), element("span", {}, text))));
  }
}

function drawViews() {
  for (const [name, { shows }] of Object.entries(VIEWS)) {
    const button = at(`view-${name}`);
    say(button.querySelector(".number"), String(model.rows.filter(shows).length));
    mark(button, "aria-pressed", String(shown.view === name));
  }
  const heldBack = model.plan.held.length;
  say(at("tab-plan").querySelector(".number"), heldBack ? `${heldBack} held` : "");
}

function drawPanel() {
  const content = { details: () => details(model, shown.choice), events: () => events(model), plan: () => plan(model) };
  const body = at("panel-body");
  const made = element("div", {}, content[shown.tab]());
  if (body.firstElementChild?.isEqualNode(made)) return;
  const inside = body.contains(document.activeElement);
  const scroll = body.scrollTop;
  body.replaceChildren(made);
  body.scrollTop = scroll;
  if (inside) body.focus({ preventScroll: true });
}

function openTab(name) {
  shown.tab = name;
  for (const tab of tabs) {
    const open = tab.dataset.tab === name;
    mark(tab, "aria-selected", String(open));
    mark(tab, "tabindex", open ? 0 : -1);
    if (open) mark(at("panel-body"), "aria-labelledby", tab.id);
  }
  at("panel-body").scrollTop = 0;
  drawPanel();
}

function chosen(choice, moveFocus) {
  shown.choice = choice;
  openTab("details");
  if (moveFocus) at("panel-body").querySelector("h3")?.focus();
}

/** Tell who does not see the page of what matters: the latest event, and no more than that. */
function announce() {
  const latest = model.events.at(-1);
  if (!latest || latest.number === told) return;
  const worst = model.events.filter((event) => event.number > told && event.severity !== "info").at(-1) ?? latest;
  told = latest.number;
  say(at("announcement"), [worst.cluster, worst.text].filter(Boolean).join(": "));
}

function narrowed() {
  const said = new URLSearchParams();
  if (shown.filter) said.set("filter", shown.filter);
  if (shown.view !== "all") said.set("view", shown.view);
  history.replaceState(null, "", said.size ? `#${said}` : location.pathname);
  at("frame").scrollTop = 0;
  drawSoon();
  const found = model.shown(shown.filter, shown.view);
  say(at("announcement"), `${found.rows.length} workloads, ${found.columns.length} members`);
}

function readAddress() {
  const said = new URLSearchParams(location.hash.slice(1));
  shown.filter = said.get("filter") ?? "";
  shown.view = Object.hasOwn(VIEWS, said.get("view") ?? "") ? said.get("view") : "all";
}

function theme() {
  const known = localStorage.getItem(THEME);
  return THEMES.includes(known) ? known : "system";
}

function dress() {
  document.documentElement.dataset.theme = theme();
  say(at("theme-word"), `Theme: ${theme()}`);
}

function askToken(wrong) {
  const dialog = at("door");
  at("door-wrong").hidden = !wrong;
  at("token").value = "";
  if (!dialog.open) dialog.showModal();
  at("token").focus();
  return new Promise((resolve) => {
    const again = () => dialog.showModal(); // Escape closes it, and nothing can be shown without a token
    dialog.addEventListener("close", again);
    at("door-form").addEventListener(
      "submit",
      (event) => {
        event.preventDefault();
        dialog.removeEventListener("close", again);
        dialog.close();
        resolve(at("token").value.trim());
        at("token").value = "";
      },
      { once: true },
    );
  });
}
