// What the tabs share: a channel that takes changes, a timeline, maps side by side, and what a tab is about.
import { h } from "../../dom.js";
import { start } from "../../live.js";
import { button } from "../../controls.js";
import { bytes, SCALES } from "../../paint.js";

/**
 * An activity that takes changes of its settings. Changes wait until the page has seen the last view; what an
 * activity refuses ends it, and the next change starts it again.
 */
export function steered(activity, { view, error }) {
  let channel = null;
  let busy = false;
  let next = null;
  const stop = () => {
    channel?.stop();
    channel = next = null;
    busy = false;
  };
  const flush = () => {
    if (!channel || busy || !next) return;
    channel.send(next);
    next = null;
    busy = true;
  };
  const begin = (settings) => {
    stop();
    busy = true;
    channel = start(activity, settings, {
      view: (content) => { busy = false; view(content); flush(); },
      error: (text) => { stop(); error(text); },
    });
  };
  return {
    start: begin,
    /** Send a change, or start anew with these settings. */
    set(settings) {
      if (!channel) return begin(settings);
      next = { ...next, ...settings };
      flush();
    },
    close: stop,
  };
}

/** Steps that can be played: buttons, a slider, arrow keys and space. */
export function timeline({ label, perSecond, show, texts = {} }) {
  let length = 0;
  let position = 0;
  let timer = null;
  const input = h("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": label, oninput: () => { pause(); go(input.valueAsNumber); } });
  const output = h("output", { class: "small quiet" });
  const go = (to) => {
    position = Math.max(0, Math.min(length, to));
    input.value = position;
    output.value = `${position} / ${length}`;
    show(position);
  };
  const pause = () => {
    clearInterval(timer);
    timer = null;
    playing.textContent = "Play";
  };
  const play = () => {
    if (timer) return pause();
    if (position >= length) go(0);
    playing.textContent = "Pause";
    timer = setInterval(() => (position < length ? go(position + 1) : pause()), 1000 / perSecond());
  };
  const step = (by) => { pause(); go(position + by); };
  const playing = button("Play", play, { key: "Space" });
  const keys = (event) => {
    if (event.target.closest("input, select, textarea, button, a, canvas") || event.ctrlKey || event.altKey || event.metaKey) return;
    const act = { ArrowRight: () => step(1), ArrowLeft: () => step(-1), Home: () => step(-length), End: () => step(length), " ": play }[event.key];
    if (!act) return;
    act();
    event.preventDefault();
  };
  document.addEventListener("keydown", keys);
  const element = h("div", { class: "timeline" },
    button("|◀", () => step(-length), { title: texts.first || "To the start", key: "Home" }),
    button("◀", () => step(-1), { title: texts.back || "One step back", key: "ArrowLeft" }),
    playing,
    button("▶", () => step(1), { title: texts.next || "One step on", key: "ArrowRight" }),
    button("▶|", () => step(length), { title: texts.last || "To the end", key: "End" }),
    input, output);
  element.querySelectorAll("button").forEach((b) => { if (b !== playing) b.setAttribute("aria-label", b.title); });
  return {
    element,
    /** Another number of steps; stands at `at` then. */
    set(steps, at = steps) {
      pause();
      length = steps;
      input.max = steps;
      go(at);
    },
    go,
    step,
    get position() { return position; },
    close: () => { pause(); document.removeEventListener("keydown", keys); },
  };
}

/** Maps (units, h, w) side by side on one canvas. */
export function mosaic(canvas, raster, { columns, tile, scale = "gray", gap = 2 }) {
  const [units, rows, wide] = raster.shape;
  const width = columns * (tile + gap) - gap;
  const height = Math.ceil(units / columns) * (tile + gap) - gap;
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const values = bytes(raster);
  const colors = SCALES[scale];
  for (let unit = 0; unit < units; unit++) {
    const left = (unit % columns) * (tile + gap);
    const top = Math.floor(unit / columns) * (tile + gap);
    for (let y = 0; y < tile; y++)
      for (let x = 0; x < tile; x++) {
        const value = values[(unit * rows + Math.floor((y * rows) / tile)) * wide + Math.floor((x * wide) / tile)];
        image.data.set([...colors[value], 255], 4 * ((top + y) * width + left + x));
      }
  }
  context.putImageData(image, 0, 0);
}

/** Equation, what one sees, and where to read on: links are [kind, name, text]. */
export function about(equation, text, links) {
  return h("section", { class: "panel about" },
    h("div", { class: "equation", tabindex: 0 }, equation),
    h("p", { class: "small" }, text),
    h("p", { class: "small links" }, links.map(([kind, name, title]) => h("a", { href: `#/home/${kind}/${name}` }, title || name))));
}
