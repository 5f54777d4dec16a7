// The playground: models learn to tell two classes of points apart, before one's eyes.
import { button, choice, panel, tabs, toggle } from "../controls.js";
import { chart } from "../chart.js";
import { h, show, stylesheet } from "../dom.js";
import { State } from "../state.js";
import { DEFAULTS, LIVE, concerned, dataControls, explained, modelControls } from "./playground/choices.js";
import { codeDialog } from "./playground/code.js";
import { ownPoints } from "./playground/own.js";
import { decode } from "./playground/points.js";
import { Stage } from "./playground/stage.js";

const SPEEDS = [[2, "2 steps/s"], [5, "5 steps/s"], [20, "20 steps/s"], [100, "100 steps/s"], [0, "full speed"]];

export function open(main, { params }) {
  stylesheet("/static/rooms/playground.css");
  const state = new State("playground", DEFAULTS, params);
  const drawing = ownPoints(state);
  let playing = false;

  const clock = h("span", { class: "readout clock", "aria-live": "off" }, "step 0");
  const ready = () => state.get("data") !== "own" || new Set(decode(state.get("points")).map((point) => point[2])).size === 2;
  const stage = (second) => new Stage(state, { second, edit: drawing.edit, ready, seen });
  const stages = [stage(false)];
  const shown = () => stages.filter((one) => !one.second || state.get("compare"));

  const run = button("Start", () => play(!playing), { primary: true, key: "Space" });
  const play = (now) => {
    playing = now;
    show(run, playing ? "Pause" : "Start");
    for (const one of shown()) one.play(playing);
  };
  const reset = () => { play(false); for (const one of shown()) one.restart(false); };
  const step = () => { play(false); for (const one of shown()) one.step(); };

  const code = codeDialog();
  const bar = h("div", { class: "row bar" }, run, button("Step", step, { key: "S", title: "one step" }), button("Reset", reset, { key: "R", title: "back to the initial weights" }),
    choice(state, "speed", { label: "speed", options: SPEEDS }), clock, h("span", { class: "space" }), toggle(state, "compare", { label: "compare two", title: "configurations A and B, with the same points and the same seed" }),
    button("As Python", () => code.open("python", shown().map(({ view }) => view))), button("As command", () => code.open("command", [chosenView()], state.get("data") === "own" ? decode(state.get("points")) : null)));

  const which = new State("playground", { side: "a" }, []);
  which.write = () => {};
  const sides = tabs(which, "side", [["a", "A"], ["b", "B"]], "Configuration");
  const forms = [modelControls(state, false), modelControls(state, true)];
  const chosenView = () => stages[which.get("side") === "b" && stages[1] ? 1 : 0].view;

  const stageRow = h("div", { class: "stages" });
  const lossTitle = h("h2", {}, "Loss");
  const curves = h("div", {});
  let plot = null;
  const about = panel("", { class: "about" });
  const bottom = h("div", { class: "bottom" }, h("section", { class: "panel" }, lossTitle, curves), about);
  main.append(h("div", { class: "playground" }, h("h1", { class: "hidden-label" }, "Playground"), bar,
    h("div", { class: "side" }, panel("Data", {}, dataControls(state), drawing.element), panel("Model", {}, sides, forms),
      panel("Show", {}, toggle(state, "test", { label: "held-out points (hollow)" }), toggle(state, "regions", { label: "linear regions (MLP with relu)" }), toggle(state, "version", { label: "version space (perceptron)" }),
        h("p", { class: "small quiet" }, "● class 0, ▲ class 1; a ring: on the wrong side."))),
    h("div", { class: "room-stage" }, stageRow, bottom), code.element));

  function seen(one) {
    if (one === stages[0] && one.view.step !== undefined) clock.textContent = `step ${one.view.step}${one.view.epoch === null ? "" : ` · epoch ${Math.floor(one.view.epoch)}`}`;
    if (!plot) return;
    const all = shown().map(({ view }) => view?.curves).filter(Boolean);
    if (all.length === shown().length) plot.set(all.length > 1 ? uPlot.join(all) : all[0]);
  }

  function arrange() {
    const compare = state.get("compare");
    if (compare && !stages[1]) stages.push(stage(true));
    if (!compare) stages[1]?.stop();
    sides.hidden = !compare;
    if (!compare) which.set({ side: "a" });
    main.firstChild.classList.toggle("comparing", compare);
    show(stageRow, shown().map(({ element }) => element));
    plot?.close();
    plot = chart({ names: compare ? ["A train", "A test", "B train", "B test"] : ["training", "test"], height: compare ? 118 : 164, alt: "Loss on the training and the test points by step" });
    show(curves, plot.element);
    describe();
  }

  function describe() {
    forms.forEach((form, k) => { form.hidden = (which.get("side") === "b") !== Boolean(k); });
    const name = state.get(which.get("side") === "b" ? "b_model" : "model");
    lossTitle.textContent = state.get("compare") ? "Loss" : name === "perceptron" ? "Share of mistakes" : "Loss (mean cross-entropy)";
    show(about, explained(name));
  }

  state.on((names) => {
    if (names.includes("compare")) {
      arrange();
      for (const one of shown()) one.restart(playing);
      return;
    }
    for (const one of shown()) {
      const mine = names.map((name) => concerned(name, one.second)).filter(Boolean);
      const live = mine.every((name) => LIVE.includes(name));
      const changes = Object.fromEntries(mine.map((name) => [name, state.get(one.second ? `b_${name}` : name)]));
      for (const name of ["speed", "regions"]) if (names.includes(name)) changes[name] = state.get(name);
      if (mine.length && !live) one.restart(playing);
      else if (Object.keys(changes).length) one.change(changes);
      one.redraw();
    }
    describe();
  });
  which.on(describe, "side");

  const keys = (event) => {
    if (event.target.closest("input, select, textarea, button, a, canvas, dialog, [role=tab]") || event.ctrlKey || event.metaKey || event.altKey) return;
    const action = { " ": () => play(!playing), s: step, r: reset }[event.key];
    if (action) { event.preventDefault(); action(); }
  };
  addEventListener("keydown", keys);
  arrange();
  for (const one of shown()) one.restart(false);
  return () => {
    removeEventListener("keydown", keys);
    for (const one of stages) one.close();
    plot?.close();
  };
}
