// Elements without HTML strings: whatever a user or a file says is text, never markup.

/** An element: h("div", {class: "panel", onclick: f}, child, …). */
export function h(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** The same for SVG. */
export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Replace everything inside an element. */
export function show(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter(Boolean));
  return element;
}

/** A sentence that appears at the bottom of the page, and goes by itself. */
export function notify(text, seconds = 8) {
  const notice = h("div", { class: "notice" }, text, h("button", { class: "plain", type: "button", "aria-label": "Dismiss", onclick: () => notice.remove() }, "×"));
  document.getElementById("notices").append(notice);
  setTimeout(() => notice.remove(), 1000 * seconds);
}

/** JSON from the server; what is wrong becomes an Error with the server's sentence. */
export async function fetchJson(path, options = {}) {
  const answer = await fetch(path, options);
  const content = await answer.json().catch(() => ({ error: `the server answered ${answer.status}` }));
  if (!answer.ok) throw new Error(content.error || `the server answered ${answer.status}`);
  return content;
}

const RAISED = Object.fromEntries([..."-0123456789"].map((c, k) => [c, "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"[k]]));

/** A number as people write it: four significant digits, no trailing zeros. */
export function number(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-3)) return value.toExponential(2).replace(/e[+]?(-?\d+)/, (_, power) => `·10${[...power].map((c) => RAISED[c]).join("")}`);
  return String(Number(value.toPrecision(digits)));
}

/** Load a style sheet once. */
export function stylesheet(path) { if (!document.querySelector(`link[href="${path}"]`)) document.head.append(h("link", { rel: "stylesheet", href: path })); }
