// Making elements. Text is only ever set as text, so nothing that a cluster says becomes markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element: `element("td", {class: "cell"}, "text", child, …)`. Empty children are left out. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

/** One of the icons at the top of the document; decoration, so the word must stand elsewhere. */
export function icon(name, tone) {
  const made = document.createElementNS(SVG, "svg");
  made.setAttribute("class", tone ? `icon tone-${tone}` : "icon");
  made.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#icon-${name}`);
  made.append(use);
  return made;
}

/** Set text where it differs, so that nothing is announced or laid out for nothing. */
export function say(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/** Set an attribute where it differs; null takes it away. */
export function mark(target, name, value) {
  if (value === null) target.removeAttribute(name);
  else if (target.getAttribute(name) !== String(value)) target.setAttribute(name, value);
}

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

/** A time as a `time` element: the clock today, else the day too. */
export function time(at) {
  if (!at) return element("span", {}, "–");
  const moment = new Date(at);
  const today = moment.toDateString() === new Date().toDateString();
  const shown = today ? clock.format(moment) : `${day.format(moment)} ${clock.format(moment)}`;
  return element("time", { datetime: at, title: at }, shown);
}
