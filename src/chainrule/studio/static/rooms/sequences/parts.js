// What the tabs share: a network that lives, its buttons, bars of probabilities, sliders that act at once.
import { h, notify, show } from "../../dom.js";
import { chart } from "../../chart.js";
import { button, choice, slider } from "../../controls.js";
import { start } from "../../live.js";

const VISIBLE = { " ": "␣", "\n": "↵", "\t": "⇥" };

/** A character that can be seen. */
export const visible = (token) => VISIBLE[token] ?? token;

/** A probability as people read it. */
export const percent = (p) => (p >= 0.9995 ? "100\u00a0%" : p >= 0.1 ? `${(100 * p).toFixed(1)}\u00a0%` : p >= 0.0005 ? `${(100 * p).toFixed(2)}\u00a0%` : p > 0 ? "< 0.05\u00a0%" : "0\u00a0%");

/** An activity that several tabs may watch; it begins when first shown and pauses while hidden. */
export function live(activity, settings) {
  const views = [];
  const changes = [];
  let channel = null;
  let visible = false;
  const view = (content) => {
    self.latest = content;
    views.forEach((each) => each(content));
  };
  const error = (text) => { notify(text); view({ loading: true, failed: text }); };
  const turn = (playing) => {
    self.playing = playing;
    changes.forEach((each) => each());
  };
  const begin = () => {
    channel = start(activity, settings(), { view, error });
    turn(true);
  };
  const self = {
    playing: true,
    latest: null,
    on: (each) => views.push(each),
    onchange: (each) => changes.push(each),
    send: (message) => channel?.send(message),
    tick: () => channel?.step(),
    restart() {
      self.close();
      if (visible) begin();
    },
    play(on) {
      if (on) channel?.resume();
      else channel?.pause();
      turn(on);
    },
    step() {
      channel?.step();
      turn(false);
    },
    show() {
      visible = true;
      if (!channel) begin();
      else if (self.playing) channel.resume();
    },
    hide() {
      visible = false;
      channel?.pause();
    },
    close() {
      channel?.stop();
      channel = null;
      self.latest = null;
    },
  };
  return self;
}

/** Play or pause, one step, begin again; hidden where a finished run has nothing to learn, unless it writes. */
export function player(network, writes = false) {
  const play = button("Pause", () => network.play(!network.playing), { primary: true });
  network.onchange(() => show(play, network.playing ? "Pause" : "Play"));
  const element = h("div", { class: "row" }, play, button("Step", () => network.step()), button("Restart", () => network.restart()));
  network.on((view) => { element.hidden = !writes && !view.loading && !view.learning; });
  return element;
}

/** A slider that also acts while it is dragged, at most twenty times a second. */
export function dial(state, name, options, apply) {
  const control = slider(state, name, options);
  const input = control.querySelector("input");
  let timer = 0;
  input.addEventListener("input", () => {
    timer ||= setTimeout(() => { timer = 0; apply({ [name]: input.valueAsNumber }); }, 50);
  });
  return control;
}

/** A choice among finished runs, as soon as they are known, or a network that learns here and now. */
export function runChoice(state, name, runs) {
  const among = (known) => choice(state, name, { label: "Network", options: [["", "learning live"], ...known.map((run) => [run, run])] });
  const element = h("div", {}, among(state.get(name) ? [state.get(name)] : []));
  runs.then((known) => known.length && show(element, among(known)));
  return element;
}

/** A loss that falls: curve.set(learning) after every view. */
export function lossCurve(unit) {
  const curve = chart({ label: "step", names: ["loss"], height: 150, alt: `Training loss in nats per ${unit} by step` });
  const line = h("p", { class: "small quiet steady" });
  const learns = h("div", {}, h("h2", {}, `Loss, nats per ${unit}`), curve.element);
  return {
    element: h("div", {}, learns, line),
    set(learning, about) {
      learns.hidden = !learning;
      curve.set(learning ? learning.curve : [[], []]);
      show(line, learning ? `step ${learning.step.toLocaleString("en")} · ${about}` : about);
    },
    close: curve.close,
  };
}

/** Rows of label, bar and number; set(labels, p, {outline, chosen}). */
export function bars(count, label) {
  const rows = Array.from({ length: count }, () => {
    const parts = { mark: h("span", { class: "bar-mark" }), name: h("code", { class: "bar-name" }), fill: h("i", {}), outline: h("b", {}), value: h("span", { class: "bar-value" }) };
    return { ...parts, element: h("li", { class: "empty" }, parts.mark, parts.name, h("span", { class: "bar-track" }, parts.fill, parts.outline), parts.value) };
  });
  return {
    element: h("ul", { class: "bars", "aria-label": label }, rows.map((row) => row.element)),
    set(labels, p, { outline = [], chosen = -1 } = {}) {
      rows.forEach((row, k) => {
        row.element.classList.toggle("empty", k >= labels.length);
        row.element.classList.toggle("chosen", k === chosen);
        row.mark.textContent = k === chosen ? "▸" : "";
        row.mark.title = k === chosen ? "drawn" : "";
        row.name.textContent = labels[k] ?? "";
        row.fill.style.width = `${100 * (p[k] ?? 0)}%`;
        row.outline.style.left = `${100 * (outline[k] ?? 0)}%`;
        row.value.textContent = k < labels.length ? percent(p[k]) : "";
      });
    },
  };
}

/** What one sees, its equation, and where to read on: links are [kind, name] of entries. */
export function about(equation, sentences, links) {
  const places = links.map(([kind, name]) => h("a", { href: `#/home/${kind}/${name}` }, name));
  return h("section", { class: "panel about" }, h("div", { class: "equation" }, equation), h("p", {}, sentences), h("p", { class: "small row" }, places));
}

/** One line that says what is loading or wrong; it keeps its height. */
export function remarks() {
  const element = h("p", { class: "small remark", role: "status" });
  const set = (view) => {
    const text = view.failed || view.problem || (view.loading ? "getting ready …" : view.remark) || "";
    if (element.textContent !== text) element.textContent = text;
    element.classList.toggle("bad", Boolean(view.failed || view.problem));
  };
  return { element, set };
}
