// A Hopfield network falls from the drawing into a stored pattern.
import { h, number, show } from "../../dom.js";
import { button, choice, panel, slider, toggle } from "../../controls.js";
import { chart } from "../../chart.js";
import { about, steered, timeline } from "./stage.js";

export const defaults = { memory: "hopfield", stored: "36", flipped: 0, shuffled: true, noise: 0 };
const SIDE = 8;

export function open({ options, middle, right }, state, ink) {
  const big = grid("recall-state", "State of the 64 units; the unit updated last is framed");
  const sweeps = h("div", { class: "sweeps" });
  const stored = h("div", { class: "stored" });
  const verdict = h("p", { class: "small recall-verdict", role: "status" }, "starting …");
  const energies = chart({ label: "units updated", names: ["energy H(x)"], height: 190, alt: "Energy after every unit update; it never rises" });
  let recalled = null;
  const time = timeline({ label: "Units updated", perSecond: () => 40, show: draw });
  middle.append(
    panel("Recall, unit by unit", {}, h("div", { class: "recall" }, big, h("div", { class: "recall-energy" }, energies.element)), time.element,
      h("div", { class: "row" }, button("Next sweep", () => time.go((Math.floor(time.position / SIDE ** 2) + 1) * SIDE ** 2)), verdict)),
    panel("The cue, and the state after every sweep", {}, sweeps));
  right.append(panel("Stored patterns and their overlap", {}, stored),
    about("H(x) = −½ xᵀ W x,   x_i ← sgn((W x)_i)\nW = 1/n Σ_p ξ_p ξ_pᵀ\ncubic: E(x) = −Σ_p (ξ_pᵀ x)³", "Every update that flips a unit lowers the energy, so recall ends in a minimum. Store a 4 too: the digits are so alike that Hebb's rule ends in a mixture. The steeper energies still recall them.",
      [["models", "hopfield", "Hopfield"], ["recipes", "hopfield-digits", "recipe hopfield-digits"], ["claims", "hopfield-energy", "the energy falls"], ["claims", "hopfield-capacity", "capacity"], ["models", "dense-hopfield", "dense memory"], ["models", "exponential-hopfield", "exponential memory"]]));
  options.append(
    choice(state, "memory", { label: "Energy", options: [["hopfield", "quadratic"], ["dense", "cubic"], ["exponential", "exponential"]] }),
    h("fieldset", { class: "stored-choice" }, h("legend", {}, "Stored digits"), Array.from({ length: 10 }, (_, digit) => box(state, String(digit)))),
    slider(state, "flipped", { label: "Pixels flipped by noise", min: 0, max: 0.5, step: 0.05, format: (v) => `${Math.round(100 * v)} %` }),
    slider(state, "noise", { label: "Seed", min: 0, max: 20 }),
    toggle(state, "shuffled", { label: "Units in random order" }));

  const settings = () => ({ memory: state.get("memory"), digits: [...state.get("stored")].map(Number), flipped: state.get("flipped"), shuffled: state.get("shuffled"), seed: state.get("noise"), ink: ink() });
  const channel = steered("recall", { view, error: (text) => show(verdict, h("span", { class: "bad" }, text)) });
  let open = true;
  state.on(() => open && channel.set(settings()), "stored", "flipped", "shuffled", "noise", "memory");
  channel.set(settings());

  function view(content) {
    recalled = content;
    const states = [content.start, ...content.sweeps.map((sweep) => sweep.after)];
    show(sweeps, states.map((x, k) => h("figure", {}, cells(grid("", k ? `After sweep ${k}` : "The cue"), x), h("figcaption", { class: "small" }, k ? `sweep ${k}` : "cue"))));
    show(stored, content.stored.map((x, k) => h("figure", { "data-digit": content.digits[k] }, cells(grid("", `Stored ${content.digits[k]}`), x), h("figcaption", { class: "small" }))));
    const last = content.sweeps[content.sweeps.length - 1].overlaps;
    const best = last.indexOf(Math.max(...last));
    show(verdict, content.stable ? "Stable: " : "Not stable yet: ", last[best] === 1 ? `the stored ${content.digits[best]} is recalled exactly.` : `nearest to the stored ${content.digits[best]}, overlap ${number(last[best], 3)}.`);
    time.set(SIDE ** 2 * content.sweeps.length);
  }

  function draw(position) {
    if (!recalled) return;
    const n = SIDE ** 2;
    const sweep = Math.min(Math.floor(position / n), recalled.sweeps.length - 1);
    const before = sweep ? recalled.sweeps[sweep - 1].after : recalled.start;
    const { order, after } = recalled.sweeps[sweep];
    const done = order.slice(0, position - sweep * n);
    const x = [...before];
    for (const unit of done) x[unit] = after[unit];
    cells(big, x, done.length && done.length < n ? done[done.length - 1] : -1);
    const ys = [recalled.energy, ...recalled.sweeps.flatMap((part) => part.energies)];
    energies.set([ys.map((_, k) => k), ys.map((y, k) => (k <= position ? y : null))]);
    const whole = Math.floor(position / n);
    const overlaps = whole ? recalled.sweeps[whole - 1].overlaps : recalled.overlaps;
    [...sweeps.children].forEach((figure, k) => figure.classList.toggle("now", k === whole));
    [...stored.children].forEach((figure, k) => {
      figure.lastChild.textContent = `${recalled.digits[k]}: ${number(overlaps[k], 2)}`;
      figure.classList.toggle("now", overlaps[k] === 1);
    });
  }
  return { draw: () => channel.set(settings()), close: () => { open = false; channel.close(); time.close(); energies.close(); } };
}

/** Whether a digit is stored; at least one is. */
function box(state, digit) {
  const input = h("input", {
    type: "checkbox", id: `stored-${digit}`, checked: state.get("stored").includes(digit),
    onchange: () => {
      const kept = [...state.get("stored")].filter((other) => other !== digit);
      const next = (input.checked ? [...kept, digit] : kept).sort().join("");
      if (next) state.set({ stored: next });
      else input.checked = true;
    },
  });
  return h("label", { for: input.id }, input, digit);
}

function grid(name, alt) {
  return h("canvas", { class: `cells ${name}`, width: 160, height: 160, role: "img", "aria-label": alt });
}

/** Units of ±1 as light and dark squares, one of them framed. */
function cells(canvas, x, framed = -1) {
  const context = canvas.getContext("2d");
  const side = canvas.width / SIDE;
  x.forEach((value, unit) => {
    const [left, top] = [side * (unit % SIDE), side * Math.floor(unit / SIDE)];
    context.fillStyle = value > 0 ? "#ffffff" : "#1a1d21";
    context.fillRect(left, top, side - 0.6, side - 0.6);
    if (unit !== framed) return;
    Object.assign(context, { strokeStyle: "#cc3311", lineWidth: 3 });
    context.strokeRect(left + 2, top + 2, side - 4.6, side - 4.6);
  });
  return canvas;
}
