// Controls bound to one value of a State; each has a visible label and works from the keyboard.
import { h, number } from "./dom.js";

let count = 0;
const unique = (name) => `${name}-${++count}`;

/** A slider. options: label, min, max, step, format, title; log: equal steps are equal factors. */
export function slider(state, name, { label, min, max, step = 1, log = false, format = number, title }) {
  const id = unique(name);
  const to = log ? Math.log10 : (x) => x;
  const from = log ? (x) => Number((10 ** x).toPrecision(2)) : (x) => x;
  const output = h("output", { for: id }, format(state.get(name)));
  const input = h("input", {
    type: "range", id, min: to(min), max: to(max), step: log ? step : step, value: to(state.get(name)),
    oninput: () => { output.value = format(from(input.valueAsNumber)); },
    onchange: () => state.set({ [name]: from(input.valueAsNumber) }),
  });
  state.on(() => { input.value = to(state.get(name)); output.value = format(state.get(name)); }, name);
  return h("div", { class: "control", title }, h("label", { for: id }, label), output, input);
}

/** A choice among values; options: label, options: [value | [value, text], …], title. */
export function choice(state, name, { label, options, title }) {
  const id = unique(name);
  const pairs = options.map((option) => (Array.isArray(option) ? option : [option, option]));
  const input = h(
    "select",
    { id, onchange: () => state.set({ [name]: pairs[input.selectedIndex][0] }) },
    pairs.map(([value, text]) => h("option", { value, selected: value === state.get(name) }, text)),
  );
  state.on(() => { input.selectedIndex = pairs.findIndex(([value]) => value === state.get(name)); }, name);
  return h("div", { class: "control", title }, h("label", { for: id }, label), input);
}

/** A check box; options: label, title. */
export function toggle(state, name, { label, title }) {
  const id = unique(name);
  const input = h("input", { type: "checkbox", id, checked: state.get(name), onchange: () => state.set({ [name]: input.checked }) });
  state.on(() => { input.checked = state.get(name); }, name);
  return h("div", { class: "control toggle", title }, input, h("label", { for: id }, label));
}

/** A field for text or a number; options: label, title, rows: several lines. */
export function field(state, name, { label, title, rows }) {
  const id = unique(name);
  const numeric = typeof state.defaults[name] === "number";
  const input = h(rows ? "textarea" : "input", {
    id, rows, type: rows ? undefined : numeric ? "number" : "text", step: numeric ? "any" : undefined, spellcheck: "false",
    onchange: () => state.set({ [name]: numeric ? input.valueAsNumber : input.value }),
  });
  input.value = state.get(name);
  state.on(() => { input.value = state.get(name); }, name);
  return h("div", { class: "control", title }, h("label", { for: id }, label), input);
}

/** A button. */
export function button(text, onclick, { title, primary = false, key } = {}) {
  return h("button", { type: "button", onclick, title: key ? `${title || text} (${key})` : title, class: primary ? "primary" : "", "aria-keyshortcuts": key }, text);
}

/** Tabs: [[value, text], …], bound to a value of the state; arrow keys move between them. */
export function tabs(state, name, pairs, label) {
  const list = h("div", { role: "tablist", class: "tabs", "aria-label": label });
  const buttons = pairs.map(([value, text]) =>
    h("button", { role: "tab", type: "button", onclick: () => state.set({ [name]: value }) }, text));
  const mark = () => buttons.forEach((tab, k) => {
    const chosen = pairs[k][0] === state.get(name);
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = (buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length;
    buttons[next].focus();
    state.set({ [name]: pairs[next][0] });
    event.preventDefault();
  });
  list.append(...buttons);
  state.on(mark, name);
  mark();
  return list;
}

/** A titled box; properties may hold class and more. */
export function panel(title, properties, ...children) {
  const { class: extra = "", ...rest } = properties || {};
  return h("section", { class: `panel ${extra}`, ...rest }, title ? h("h2", {}, title) : null, children);
}
