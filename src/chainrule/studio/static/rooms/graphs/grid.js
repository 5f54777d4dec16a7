// The grid world: planning with the model, or learning by walking.
import { h, number, notify, show } from "../../dom.js";
import { choice, field, panel, slider, toggle } from "../../controls.js";
import { chart } from "../../chart.js";
import { about } from "./about.js";
import { playback } from "./playback.js";
import { facts, returnCurves } from "./readout.js";
import { world } from "./world.js";

const MAPS = {
  course: "S...w....._..w.w.ww.._..w....wX._.ww.Xw.w.._....ww.w.w_.wX.....w._.ww.ww...._......Xw.G",
  textbook: "...G_.w.X_S...",
  cliff: "............_............_............_SXXXXXXXXXXG",
  bridge: "wXXXXXw_S.....G_wXXXXXw",
  "open field": "S......._........_...w...._...w...._......X._.......G",
};
export const defaults = { map: MAPS.course, slip: 0.2, discount: 0.97, cost: -0.01, method: "value-iteration", epsilon: 0.2, power: 0.7, speed: 8, burst: 50, q: false, seed: 0 };

const METHODS = [["value-iteration", "value iteration"], ["policy-iteration", "policy iteration"], ["q-learning", "Q-learning"], ["sarsa", "SARSA"]];
const EQUATIONS = {
  "value-iteration": "V(s) ← max_a Σ_s' P(s' | s, a) (R(s, a, s') + γ V(s'))",
  "policy-iteration": "V_π = (I - γ P_π)⁻¹ R_π,     π(s) ← argmax_a Σ_s' P(s' | s, a) (R(s, a, s') + γ V_π(s'))",
  "q-learning": "Q(s, a) ← Q(s, a) + α (r + γ max_a' Q(s', a') - Q(s, a)),     α = n(s, a)^(-ω)",
  sarsa: "Q(s, a) ← Q(s, a) + α (r + γ Q(s', a') - Q(s, a)),     α = n(s, a)^(-ω)",
};
const TEXTS = {
  "value-iteration": "Each sweep carries the values one step farther from the goal. The change of a sweep shrinks at least by γ: the Bellman operator is a contraction.",
  "policy-iteration": "Each round solves a linear system for the value of the present policy and then improves it. A few rounds are enough.",
  "q-learning": "The agent knows no probabilities and learns from its steps; ε makes it try other actions. It learns the values of the best policy while it follows another.",
  sarsa: "SARSA learns the value of what it does, exploration included: at the cliff it keeps its distance, Q-learning does not (slip 0).",
};
const TOOLS = [["#", "Wall"], ["X", "Pit"], ["G", "Goal"], ["S", "Start"], [".", "Ground"]];
const rowsOf = (text) => text.split("_").map((row) => row.replaceAll("w", "#"));
const learns = (state) => ["q-learning", "sarsa"].includes(state.get("method"));

export function open(stage, state) {
  let tool = "#";
  let curve = null;
  let found = null;
  const view = world({ put });
  const table = h("table", { class: "facts" });
  const curves = h("div", {});
  const side = about("", "", [["models/value-iteration", "value iteration"], ["models/policy-iteration", "policy iteration"], ["models/q-learning", "Q-learning"], ["models/sarsa", "SARSA"], ["environments/grid-world", "grid world"], ["claims/bellman-contraction", "contraction"], ["claims/q-learning-limit", "convergence"]]);
  const learner = h("div", {},
    slider(state, "epsilon", { label: "ε, random actions", min: 0, max: 1, step: 0.05 }),
    slider(state, "power", { label: "ω of the rate α = n^(-ω)", min: 0.55, max: 1, step: 0.05 }),
    slider(state, "burst", { label: "Steps per frame", min: 1, max: 200, step: 0.1, log: true }));

  function settings() {
    const { slip, discount, method, epsilon, power, burst, seed } = state.values;
    return { rows: rowsOf(state.get("map")), slip, discount, step_reward: state.get("cost"), method, epsilon, power, burst: Math.round(burst), seed };
  }
  const run = playback({ activity: "grid-world", settings, view: (content) => { found = content; draw(); }, rate: () => state.get("speed"), playing: true });

  function put(row, column, mark = tool) {
    const rows = rowsOf(state.get("map")).map((line) => [...line]);
    if (mark === "S") rows.forEach((line) => line.forEach((old, x) => { if (old === "S") line[x] = "."; }));
    rows[row][column] = rows[row][column] === mark && mark !== "S" ? "." : mark;
    const text = rows.flat().join("");
    if (!text.includes("S") || !text.includes("G")) return notify("a map needs one start and at least one goal; put the new one first");
    state.set({ map: rows.map((line) => line.join("").replaceAll("#", "w")).join("_") });
  }
  function layout() {
    curve?.close();
    const method = state.get("method");
    curve = learns(state) ? chart({ label: "episodes", names: ["return", "mean of 20"], height: 175, alt: "Return of each episode" })
      : method === "value-iteration" ? chart({ label: "sweeps", names: ["largest change", "bound γ^k · first change"], height: 175, log: true, alt: "Largest change of the values in each sweep, with its bound" })
      : chart({ label: "rounds", names: ["actions changed"], height: 175, alt: "Actions that each round changed" });
    show(curves, curve.element);
    learner.hidden = !learns(state);
    side.querySelector(".equation").textContent = EQUATIONS[method];
    side.querySelector("p").textContent = TEXTS[method];
  }
  function draw() {
    view.draw(found, state.get("q"));
    facts(table, learns(state) ? walked() : planned());
  }
  function planned() {
    const { changes, start, done } = found;
    if (!changes) return [];
    const steps = changes.map((_, k) => k + 1);
    const exact = state.get("method") === "value-iteration";
    curve.set(exact ? [steps, changes, changes.map((_, k) => changes[0] * state.get("discount") ** k)] : [steps, changes]);
    return [[exact ? "sweeps" : "rounds", changes.length], ["V at the start", number(start, 4)], [exact ? "largest change" : "actions changed", changes.length ? number(changes.at(-1), 3) : "–"], ["state", done ? "converged" : "running"]];
  }
  function walked() {
    const { returns, episodes, steps, value, optimum } = found;
    if (!returns) return [];
    const data = returnCurves(found);
    curve.set(data);
    return [["episodes, steps", `${episodes}, ${steps}`], ["mean return of the last 20", number(data[2].at(-1), 3)], ["value of the greedy policy", number(value, 4)], ["value of the best policy", number(optimum, 4)]];
  }
  const again = () => { run.restart(); run.play(true); };
  state.on(() => { layout(); state.set({ q: learns(state) }); again(); }, "method");
  state.on(again, "map", "slip", "discount", "cost", "power", "seed");
  state.on(() => learns(state) && run.send({ epsilon: state.get("epsilon"), burst: Math.round(state.get("burst")) }), "epsilon", "burst");
  state.on(() => found && draw(), "q");
  document.addEventListener("themechange", view.redraw);

  const buttons = TOOLS.map(([mark, text]) => h("button", { type: "button", "aria-pressed": String(mark === tool), onclick: () => { tool = mark; buttons.forEach((one, k) => one.setAttribute("aria-pressed", TOOLS[k][0] === tool)); } }, text));
  const presets = h("select", { "aria-label": "Map", onchange: () => MAPS[presets.value] && state.set({ map: MAPS[presets.value], ...(presets.value === "cliff" ? { slip: 0 } : {}) }) }, [...Object.keys(MAPS), "edited"].map((name) => h("option", {}, name)));
  const named = () => { presets.value = Object.keys(MAPS).find((name) => MAPS[name] === state.get("map")) || "edited"; };
  state.on(named, "map");
  named();
  stage.append(side, h("div", { class: "columns three" },
    h("div", { class: "stack" },
      panel("Method", {}, choice(state, "method", { label: "Method", options: METHODS }), run.element,
        slider(state, "speed", { label: "Frames a second", min: 1, max: 20 }), learner, toggle(state, "q", { label: "Q-values as triangles" })),
      panel("World", {},
        slider(state, "slip", { label: "Slip probability", min: 0, max: 0.9, step: 0.05 }),
        slider(state, "discount", { label: "Discount γ", min: 0.5, max: 0.99, step: 0.01 }),
        slider(state, "cost", { label: "Reward of a step", min: -0.2, max: 0.05, step: 0.01 }),
        field(state, "seed", { label: "Seed" }))),
    panel(null, { class: "middle" },
      h("div", { class: "row tools-row", role: "group", "aria-label": "What a click puts" }, presets, buttons), view.element, view.status),
    h("div", { class: "stack" }, panel("Now", {}, table), panel("Progress", {}, curves))));
  layout();
  run.restart();
  return () => {
    document.removeEventListener("themechange", view.redraw);
    run.close();
    curve.close();
  };
}
