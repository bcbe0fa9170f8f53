// The matrix: workloads × members, as a table that is a grid to the keyboard and to screen readers.
//
// Up to MOST_CELLS all of it is in the document; beyond, only what is in sight, with spacers in place of the rest, so
// that 10,000 workloads scroll like 10. Elements are kept by key and changed where they stand: focus and selection
// stay where they are while the fleet changes below them.

import { element, icon, mark } from "./elements.js";
import { ICONS, WELL, countText, memberState, moveIn, tone } from "./model.js";

const MOST_CELLS = 6_000;
const OVERSCAN = 6;

export class Grid {
  /** `table` is what is drawn, `frame` scrolls it. `chosen(row, column)` hears of a choice: either may be null. */
  constructor(frame, table, chosen) {
    this.frame = frame;
    this.table = table;
    this.chosen = chosen;
    this.rows = [];
    this.columns = [];
    this.active = { row: null, column: null }; // null: the header
    this.selected = null;
    this.kept = new Map();
    this.head = table.tHead.rows[0];
    this.body = table.tBodies[0];
    this.corner = this.head.cells[0];
    this.corner.target = { row: null, column: null };
    this.columnGroup = table.querySelector("colgroup");
    this.pending = false;
    frame.addEventListener("scroll", () => this.windowed && this.drawSoon(), { passive: true });
    new ResizeObserver(() => this.windowed && this.drawSoon()).observe(frame);
    table.addEventListener("click", (event) => this.#clicked(event));
    frame.addEventListener("keydown", (event) => this.#pressed(event));
  }

  /** Show these workloads and members. */
  show(model, { rows, columns }) {
    this.model = model;
    this.rows = rows;
    this.columns = columns;
    this.rowIndex = new Map(rows.map((row, index) => [row.id, index]));
    this.columnIndex = new Map(columns.map((name, index) => [name, index]));
    this.windowed = rows.length * columns.length > MOST_CELLS;
    this.#size();
    this.drawSoon();
  }

  drawSoon() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.#draw();
    });
  }

  /** Put the focus on the cell that it was on last. */
  focus() {
    this.#reveal();
    this.#draw();
    this.#cellOf(this.active)?.focus({ preventScroll: true });
  }

  /** Widths and heights, from the longest names: a name that is long is wrapped, never cut. */
  #size() {
    const longest = (texts) => texts.reduce((most, one) => Math.max(most, one.length), 0);
    const names = longest(this.columns);
    const width = Math.min(Math.max(names * 7.4 + 34, 118), 136);
    const name = longest(this.rows.map((row) => row.name));
    const second = longest(this.rows.map((row) => `${row.namespace} · ${row.kind}`));
    const first = Math.min(Math.max(name * 7.8 + 110, second * 6.6 + 40, 200), 300);
    this.table.style.setProperty("--column", `${Math.round(width)}px`);
    this.table.style.setProperty("--first", `${Math.round(first)}px`);
    const lines = Math.ceil((name * 7.8) / (first - 110)) + Math.ceil((second * 6.6) / (first - 40));
    this.rowHeight = Math.max(lines * 18 + 14, 50);
    this.columnWidth = Math.round(width);
    this.table.classList.toggle("windowed", this.windowed);
    this.table.style.setProperty("--row", this.windowed ? `${this.rowHeight}px` : "auto");
  }

  /** What is in sight, with a margin: first and past-last row and column. */
  #window() {
    if (!this.windowed) return { top: 0, bottom: this.rows.length, left: 0, right: this.columns.length };
    const { scrollTop, scrollLeft, clientHeight, clientWidth } = this.frame;
    const clamp = (value, most) => Math.min(Math.max(value, 0), most);
    const top = Math.floor(scrollTop / this.rowHeight) - OVERSCAN;
    const left = Math.floor(scrollLeft / this.columnWidth) - OVERSCAN;
    return {
      top: clamp(top, this.rows.length),
      bottom: clamp(top + Math.ceil(clientHeight / this.rowHeight) + 2 * OVERSCAN, this.rows.length),
      left: clamp(left, this.columns.length),
      right: clamp(left + Math.ceil(clientWidth / this.columnWidth) + 2 * OVERSCAN, this.columns.length),
    };
  }

  #draw() {
    const seen = this.#window();
    const columns = this.columns.slice(seen.left, seen.right);
    const rows = this.rows.slice(seen.top, seen.bottom);
    const used = new Set();
    this.#normaliseActive();
    mark(this.table, "aria-rowcount", this.rows.length + 1);
    mark(this.table, "aria-colcount", this.columns.length + 1);
    this.#drawColumns(seen);
    const focused = document.activeElement;
    const had = this.table.contains(focused);

    this.#place(this.head, [
      this.corner,
      this.#spacer("head-left", seen.left, used),
      ...columns.map((name, index) => this.#memberHead(name, seen.left + index, used)),
      this.#spacer("head-right", this.columns.length - seen.right, used),
    ]);
    mark(this.corner, "tabindex", this.active.row === null && this.active.column === null ? 0 : -1);

    this.#place(this.body, [
      this.#gap("top", seen.top, used),
      ...rows.map((row, index) => this.#row(row, seen.top + index, columns, seen, used)),
      this.#gap("bottom", this.rows.length - seen.bottom, used),
    ]);
    for (const key of this.kept.keys()) if (!used.has(key)) this.kept.delete(key);
    if (had && !this.table.contains(focused)) this.frame.focus({ preventScroll: true });
  }

  /** Put these children, and no others, in this order; what stands right already is not touched. */
  #place(parent, children) {
    let at = parent.firstChild;
    for (const child of children) {
      if (!child) continue;
      if (at === child) at = at.nextSibling;
      else parent.insertBefore(child, at);
    }
    while (at) {
      const next = at.nextSibling;
      at.remove();
      at = next;
    }
  }

  #drawColumns({ left, right }) {
    const widths = [null, left, ...Array(right - left).fill(null), this.columns.length - right];
    const wanted = this.windowed ? `${left}-${right}-${this.columns.length}` : String(this.columns.length);
    if (this.columnGroup.dataset.for === wanted) return;
    this.columnGroup.dataset.for = wanted;
    this.columnGroup.replaceChildren(
      ...widths.flatMap((count, index) => {
        if (index === 0) return [element("col", { class: "first" })];
        if (count === null) return [element("col")];
        if (count === 0) return [];
        const spacer = element("col");
        spacer.style.width = `${count * this.columnWidth}px`;
        return [spacer];
      }),
    );
  }

  #keep(key, used, make) {
    used.add(key);
    if (!this.kept.has(key)) this.kept.set(key, make());
    return this.kept.get(key);
  }

  #spacer(key, count, used) {
    return count ? this.#keep(`spacer ${key}`, used, () => element("td", { class: "spacer", "aria-hidden": "true" })) : null;
  }

  #gap(key, count, used) {
    if (!count) return null;
    const row = this.#keep(`gap ${key}`, used, () => element("tr", { "aria-hidden": "true" }, element("td", { class: "spacer" })));
    row.style.height = `${count * this.rowHeight}px`;
    return row;
  }

  #memberHead(name, index, used) {
    const cluster = this.model.clusters.get(name);
    const state = memberState(cluster);
    const cell = this.#keep(`head ${name}`, used, () => element("th", { scope: "col", class: "member" }));
    cell.target = { row: null, column: name };
    const drifted = cluster?.drifted ?? 0;
    this.#fill(cell, `${name} ${state.word} ${state.icon} ${drifted}`, () => [
      element("span", { class: "name" }, name),
      element("span", { class: `state tone-${state.tone}` }, icon(state.icon), state.word),
      drifted ? element("span", { class: "drift" }, icon("drift"), `${drifted} drifted`) : null,
    ]);
    this.#dress(cell, index + 2, `member ${state.tone === "ok" ? "" : `is-${state.tone}`}`);
    return cell;
  }

  #row(row, index, columns, seen, used) {
    const line = this.#keep(`row ${row.id}`, used, () => element("tr"));
    mark(line, "aria-rowindex", index + 2);
    this.#place(line, [
      this.#workloadHead(row, used),
      this.#spacer(`left ${row.id}`, seen.left, used),
      ...columns.map((name, at) => this.#cell(row, name, seen.left + at, used)),
      this.#spacer(`right ${row.id}`, this.columns.length - seen.right, used),
    ]);
    return line;
  }

  #workloadHead(row, used) {
    const cell = this.#keep(`side ${row.id}`, used, () => element("th", { scope: "row" }));
    cell.target = { row: row.id, column: null };
    const { code } = row.health;
    const counts = countText(row);
    this.#fill(cell, `${code} ${counts} ${row.move !== null}`, () => [
      element(
        "div",
        { class: "sides" },
        element("span", { class: "name" }, row.name),
        element(
          "span",
          { class: `total tone-${tone(code)}` },
          icon(ICONS[code]),
          counts ? element("span", { class: "unseen" }, `${code}, `) : null,
          counts || code,
        ),
        element("span", { class: "about" }, `${row.namespace ? `${row.namespace} · ` : ""}${row.kind}`),
        row.move ? element("span", { class: "moving" }, icon("move"), "moving") : null,
      ),
    ]);
    this.#dress(cell, 1, "workload");
    return cell;
  }

  #cell(row, name, index, used) {
    const cell = this.#keep(`cell ${row.id} ${name}`, used, () => element("td"));
    cell.target = { row: row.id, column: name };
    const copy = row.copies.get(name);
    const move = moveIn(row, name);
    const known = cell.shows;
    if (!known || known.copy !== copy || known.move !== move) {
      cell.shows = { copy, move };
      cell.replaceChildren(...content(copy, move));
    }
    let look = "cell empty";
    if (copy) look = `cell is-${tone(copy.health.code)}${WELL.has(copy.health.code) ? " is-well" : ""}${copy.staleSince ? " is-stale" : ""}`;
    this.#dress(cell, index + 2, look);
    return cell;
  }

  #fill(cell, signature, make) {
    if (cell.shows === signature) return;
    cell.shows = signature;
    cell.replaceChildren(...make().filter(Boolean));
  }

  #dress(cell, column, look) {
    const { target } = cell;
    const chosen = this.selected !== null && same(this.selected, target);
    mark(cell, "class", look.trim());
    mark(cell, "aria-colindex", column);
    mark(cell, "aria-selected", chosen ? "true" : null);
    mark(cell, "tabindex", same(this.active, target) ? 0 : -1);
  }

  /** The cell that the keyboard is on stays among those that are shown. */
  #normaliseActive() {
    if (this.active.row !== null && !this.rowIndex.has(this.active.row)) this.active.row = this.rows[0]?.id ?? null;
    if (this.active.column !== null && !this.columnIndex.has(this.active.column)) this.active.column = null;
  }

  #cellOf({ row, column }) {
    if (row === null && column === null) return this.corner;
    if (row === null) return this.kept.get(`head ${column}`);
    return this.kept.get(column === null ? `side ${row}` : `cell ${row} ${column}`);
  }

  /** Scroll so that the active cell is in sight, beside what is sticky. */
  #reveal() {
    const row = this.active.row === null ? -1 : this.rowIndex.get(this.active.row);
    const column = this.active.column === null ? -1 : this.columnIndex.get(this.active.column);
    if (this.windowed) {
      const height = this.frame.clientHeight - this.head.offsetHeight;
      const width = this.frame.clientWidth - this.corner.offsetWidth;
      this.frame.scrollTop = into(this.frame.scrollTop, row * this.rowHeight, this.rowHeight, height);
      this.frame.scrollLeft = into(this.frame.scrollLeft, column * this.columnWidth, this.columnWidth, width);
      return;
    }
    const cell = this.#cellOf(this.active);
    if (!cell) return;
    const top = cell.offsetTop - this.head.offsetHeight;
    const left = cell.offsetLeft - this.corner.offsetWidth;
    if (row >= 0) {
      const height = this.frame.clientHeight - this.head.offsetHeight;
      this.frame.scrollTop = into(this.frame.scrollTop, top, cell.offsetHeight, height);
    }
    if (column >= 0) {
      const width = this.frame.clientWidth - this.corner.offsetWidth;
      this.frame.scrollLeft = into(this.frame.scrollLeft, left, cell.offsetWidth, width);
    }
  }

  #clicked(event) {
    const cell = event.target.closest("th, td");
    if (!cell?.target) return;
    this.active = { ...cell.target };
    this.#choose();
    cell.focus({ preventScroll: true });
  }

  #choose(moveFocus = false) {
    this.selected = { ...this.active };
    this.#draw();
    this.chosen(this.selected, moveFocus);
  }

  #pressed(event) {
    if (event.altKey || event.metaKey || !(event.target === this.frame || this.table.contains(event.target))) return;
    const page = Math.max(Math.floor(this.frame.clientHeight / Math.max(this.rowHeight, 1)) - 2, 1);
    const rowAt = this.active.row === null ? -1 : this.rowIndex.get(this.active.row);
    const columnAt = this.active.column === null ? -1 : this.columnIndex.get(this.active.column);
    const [rows, columns] = [this.rows.length - 1, this.columns.length - 1];
    const moves = {
      ArrowDown: [rowAt + 1, columnAt],
      ArrowUp: [rowAt - 1, columnAt],
      ArrowRight: [rowAt, columnAt + 1],
      ArrowLeft: [rowAt, columnAt - 1],
      PageDown: [rowAt + page, columnAt],
      PageUp: [Math.max(rowAt - page, 0), columnAt],
      Home: event.ctrlKey ? [-1, -1] : [rowAt, -1],
      End: event.ctrlKey ? [rows, columns] : [rowAt, columns],
    };
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.#choose(event.key === "Enter");
    } else if (moves[event.key]) {
      event.preventDefault();
      const [row, column] = moves[event.key];
      const clamp = (value, most) => Math.min(Math.max(value, -1), most);
      this.active = {
        row: this.rows[clamp(row, rows)]?.id ?? null,
        column: this.columns[clamp(column, columns)] ?? null,
      };
      this.focus();
    }
  }
}

function same(one, other) {
  return one.row === other.row && one.column === other.column;
}

/** The nearest scroll position that shows a piece of `size` at `start` in a view of `room`. */
function into(scroll, start, size, room) {
  if (start < scroll) return Math.max(start, 0);
  return start + size > scroll + room ? start + size - room : scroll;
}

/** What a cell holds: what is seen, and between it words for those who do not see the icons and colours. */
function content(copy, move) {
  if (!copy) return [element("span", { class: "nothing", "aria-hidden": "true" }, "·"), unseen("not there"), moved(move)].filter(Boolean);
  const { code } = copy.health;
  const counts = countText(copy);
  const shown = counts || (code === "Healthy" ? "" : code);
  return [
    element(
      "span",
      { class: `count tone-${tone(code)}` },
      icon(ICONS[code]),
      shown === code ? null : unseen(`${code}${copy.staleSince ? " now, as known last" : ""} `),
      shown,
    ),
    moved(move),
    copy.drift.length ? element("span", { class: "drift" }, icon("drift"), String(copy.drift.length), unseen(" fields drifted")) : null,
  ].filter(Boolean);
}

function moved(move) {
  if (!move) return null;
  const [name, text, words] = move > 0 ? ["arrive", `+${move}`, " replicas arrive "] : ["leave", `−${-move}`, " replicas leave "];
  return element("span", { class: "moving" }, icon(name), text, unseen(words));
}

function unseen(text) {
  return element("span", { class: "unseen" }, text);
}
