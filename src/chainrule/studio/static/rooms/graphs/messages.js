// Message passing: a signal spreads hop by hop; depth makes the nodes alike.
import { h, number, show, notify } from "../../dom.js";
import { button, choice, field, panel, slider } from "../../controls.js";
import { figure } from "../../figure.js";
import { SCALES } from "../../paint.js";
import { start } from "../../live.js";
import { about } from "./about.js";
import { facts } from "./readout.js";
import { decode, encode, picture, tools } from "./graph.js";

export const defaults = { graph: "karate club", drawn: "", propagation: "gcn", signal: "impulse", source: 0, hop: 2, hops: 30, seed: 0 };

const GRAPHS = ["ring", "path", "grid", "star", "karate club", "two triangles", "barbell", ["random", "random (small world)"], ["drawn", "drawn by you"]];
const HOW = [["gcn", "GCN: Ā h"], ["mean", "mean"], ["sum", "sum"], ["max", "maximum"], ["attention", "attention"]];
const EQUATION = `h_m ← ⊕ { h_n : n is m or a neighbor of m },      GCN: h ← Ā h,  Ā = D̄^(-1/2) (A + I) D̄^(-1/2)
over-smoothing:  d(H_l) = ‖H_l - u uᵀ H_l‖ ≤ λ₂^l d(X),   u ∝ D̄^(1/2) 1`;
const short = (v) => (Math.abs(v) >= 100 ? v.toExponential(0).replace("e+", "e") : Math.abs(v) >= 10 ? v.toFixed(0) : v.toFixed(2).replace(/^0\./, "."));

export function open(stage, state) {
  let found = null;
  let channel = null;
  let timer = null;
  const view = picture({ label: "The graph; the color of a node is its signal", choose: (node) => state.set({ source: node }), edit: (graph) => edited(graph) });
  const depth = h("div", { class: "depth" });
  const table = h("table", { class: "facts" });
  const rate = h("p", { class: "small" });

  function settings() {
    const graph = state.get("graph") === "drawn" ? decode(state.get("drawn")) : {};
    const { propagation, signal, hops, seed } = state.values;
    const most = graph.nodes ? Math.max(0, graph.nodes.length - 1) : 59;
    return { graph: state.get("graph"), ...graph, propagation, signal, hops, seed, source: Math.min(state.get("source"), most) };
  }
  function begin() {
    channel?.stop();
    channel = start("message-passing", settings(), { view: (content) => { found = content; draw(); }, error: (text) => { notify(text); channel = null; } });
  }
  const ask = () => (channel ? channel.send(settings()) : begin());
  function edited(graph) {
    if (!graph.nodes.length) return notify("a graph needs at least one node");
    state.set({ graph: "drawn", drawn: encode(graph), source: Math.min(state.get("source"), graph.nodes.length - 1) });
  }
  function ready() { // what is shown becomes the drawing
    if (found && state.get("graph") !== "drawn") edited(found);
  }
  const inside = (k) => found.reached[k] !== null && found.reached[k] <= state.get("hop");

  function draw() {
    const signal = found.signals[Math.min(state.get("hop"), found.signals.length - 1)];
    const most = Math.max(...signal.map(Math.abs), 1e-300);
    view.draw(found, {
      edge: (k) => (found.edges[k].every(inside) ? "inside" : ""),
      node: (k) => {
        const share = Math.max(0, signal[k]) / most;
        const [r, g, b] = SCALES.sequential[Math.round(255 * share)];
        return {
          fill: `rgb(${r} ${g} ${b})`, ink: share > 0.55 ? "#ffffff" : "#222222", text: short(signal[k]),
          kind: `${inside(k) ? "inside" : ""} ${k === state.get("source") ? "source" : ""}`, radius: 15,
          name: `node ${k}, signal ${number(signal[k], 3)}, ${inside(k) ? "within reach" : "out of reach"}`,
        };
      },
    });
    const within = found.distance.filter((d) => d !== null && d <= state.get("hop")).length;
    facts(table, [
      ["nodes reached (measured)", found.reached.filter((_, k) => inside(k)).length],
      [`nodes within ${state.get("hop")} edges`, within],
      ["nodes", signal.length],
      ["smallest, largest value", `${number(Math.min(...signal), 3)}, ${number(Math.max(...signal), 3)}`],
    ]);
    const { predicted, slowest, random, rate: second } = found.smoothing;
    const layers = predicted.map((_, l) => l);
    const seen = (curve) => [layers.filter((l) => l % 2 === 0 && curve[l] !== null), curve.filter((v, l) => l % 2 === 0 && v !== null)];
    show(depth, figure({
      title: "", x_label: "layers l", y_label: "d(H_l) / d(X)", log: "y", bounds: {}, marks: { [`hop ${state.get("hop")}`]: state.get("hop") },
      curves: { "λ₂^l, predicted": [layers, predicted] }, points: { "slowest start, measured": seen(slowest), "random start and weights, measured": seen(random) },
    }, { width: 340, height: 232 }));
    rate.textContent = `λ₂ = ${number(second)}, spectral gap ${number(1 - second, 3)}${second > 0.99999 ? ": the graph has several parts, which never become alike" : ""}`;
  }

  const play = button("Play", () => (timer ? pause() : resume()), { primary: true });
  const pause = () => { clearInterval(timer); timer = null; play.textContent = "Play"; };
  const resume = () => {
    if (state.get("hop") >= state.get("hops")) state.set({ hop: 0 });
    play.textContent = "Pause";
    timer = setInterval(() => (state.get("hop") < state.get("hops") ? state.set({ hop: state.get("hop") + 1 }) : pause()), 700);
  };
  const by = (step) => state.set({ hop: Math.min(state.get("hops"), Math.max(0, state.get("hop") + step)) });
  state.on(() => state.get("graph") === "drawn" || state.set({ source: 0 }), "graph");
  state.on(ask, "graph", "drawn", "propagation", "signal", "source", "seed");
  state.on(() => found && draw(), "hop");
  const redraw = () => found && draw();
  document.addEventListener("themechange", redraw);

  stage.append(
    about(EQUATION, "Press Hop: a value travels one edge per layer, so after k hops each node has seen everything within k edges. Many hops make all nodes alike, at the rate λ₂ of the graph.",
      [["models/message-passing", "message passing"], ["models/gcn", "GCN"], ["models/gat", "GAT"], ["claims/receptive-hops", "receptive field"], ["claims/over-smoothing", "over-smoothing"]]),
    h("div", { class: "columns three" },
    h("div", { class: "stack" },
      panel("Graph and signal", {},
        choice(state, "graph", { label: "Graph", options: GRAPHS }),
        choice(state, "propagation", { label: "Aggregation", options: HOW }),
        choice(state, "signal", { label: "Signal", options: [["impulse", "impulse"], ["random", "random"]] }),
        field(state, "source", { label: "Source" }),
        field(state, "seed", { label: "Seed" })),
      panel("Hops", {},
        slider(state, "hop", { label: "Hop", min: 0, max: defaults.hops }),
        h("div", { class: "row" }, play, button("◂ Back", () => by(-1)), button("Hop ▸", () => by(1)))),
      panel("Draw your own", {}, tools([view], ready))),
    panel(null, { class: "middle" }, view.element, h("p", { class: "small quiet key" }, "Dark: large signal, scaled to the largest. Thick ring: within reach of the source (red).")),
    h("div", { class: "stack" },
      panel("Receptive field", {}, table),
      panel("Over-smoothing by depth", {}, depth, rate))));

  view.tool("choose");
  begin();
  return () => {
    pause();
    document.removeEventListener("themechange", redraw);
    channel?.stop();
  };
}
