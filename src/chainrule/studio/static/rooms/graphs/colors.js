// Color refinement, the 1-WL test, round by round on two graphs.
import { h, notify, show } from "../../dom.js";
import { button, choice, panel, slider } from "../../controls.js";
import { series } from "../../paint.js";
import { start } from "../../live.js";
import { about } from "./about.js";
import { decode, encode, picture, tools } from "./graph.js";

export const defaults = { pair: "decalin, bicyclopentyl", g: "", h: "", start: "uniform", round: 1 };

const PAIRS = [
  "hexagon, 2 triangles", "decalin, bicyclopentyl", "cube, Wagner graph", "rook's moves, Shrikhande", "star, path",
  "chords of a hexagon", "branches of a path", "karate club, renumbered", ["drawn", "drawn by you"],
];
const EQUATION = `c_{t+1}(m) = a new color for each pair (c_t(m), {{ c_t(n) : n ~ m }})
G ≁ H   if some color occurs more often in one than in the other`;
const name = (color) => (color < 26 ? String.fromCharCode(65 + color) : String(color));

// Dark or white letters, whichever are easier to read on a color "#rrggbb".
function readable(hex) {
  const [r, g, b] = [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
  return 0.3 * r + 0.59 * g + 0.11 * b > 125 ? "#222222" : "#ffffff";
}

export function open(stage, state) {
  let found = null;
  let channel = null;
  const views = ["G", "H"].map((letter, k) => picture({ label: `Graph ${letter}; nodes of one color have one letter`, edit: (graph) => edited(k, graph) }));
  const table = h("table", { class: "counts" });
  const verdict = h("p", { class: "verdict", role: "status" });
  const titles = views.map(() => h("h2", {}));

  function settings() {
    const { pair, start: begin } = state.values;
    if (pair !== "drawn") return { pair, start: begin };
    const [one, other] = [decode(state.get("g")), decode(state.get("h"))];
    return { pair, start: begin, nodes: one.nodes, edges: one.edges, other_nodes: other.nodes, other_edges: other.edges };
  }
  function begin() {
    channel = start("color-refinement", settings(), { view: (content) => { found = content; draw(); }, error: (text) => { notify(text); channel = null; } });
  }
  const ask = () => (channel ? channel.send(settings()) : begin());
  function edited(k, graph) {
    if (!graph.nodes.length) return notify("a graph needs at least one node");
    const now = found.graphs.map((one, place) => encode(place === k ? graph : one));
    found.graphs[k] = graph;
    state.set({ pair: "drawn", g: now[0], h: now[1] });
  }
  const ready = () => found && state.get("pair") !== "drawn" && edited(0, found.graphs[0]);
  const round = () => Math.min(state.get("round"), found.rounds.length - 1);

  function draw() {
    const t = round();
    const counts = found.counts[t];
    found.graphs.forEach((graph, k) => {
      const colors = found.rounds[t][k];
      titles[k].textContent = `${"GH"[k]}: ${graph.nodes.length} nodes, ${graph.edges.length} edges`;
      views[k].draw(graph, {
        node: (m) => ({
          fill: series(colors[m]), ink: readable(series(colors[m])), text: name(colors[m]), radius: 20,
          kind: counts[colors[m]][0] === counts[colors[m]][1] ? "" : "unequal", name: `node ${m} of ${"GH"[k]}, color ${name(colors[m])}`,
        }),
      });
    });
    const row = (title, cell) => h("tr", {}, h("th", { scope: "row" }, title), counts.map((pair, color) => h("td", { class: pair[0] === pair[1] ? "number" : "number unequal" }, cell(pair, color))));
    show(table, row("color", (_, color) => [h("span", { class: "swatch" }), name(color)]), row("nodes of G", ([one]) => one), row("nodes of H", ([one, other]) => `${one === other ? "" : "≠ "}${other}`));
    table.querySelectorAll(".swatch").forEach((swatch, color) => { swatch.style.background = series(color); });
    say(t, counts);
  }
  function say(t, counts) {
    const apart = counts.some(([one, other]) => one !== other);
    const stable = t === found.rounds.length - 1;
    verdict.className = `verdict ${apart ? "good" : ""}`;
    const colors = `Round ${t} of ${found.rounds.length - 1}: ${counts.length} color${counts.length > 1 ? "s" : ""}. `;
    verdict.textContent = colors + (apart ? "The counts differ: the graphs are not isomorphic."
      : stable ? `No color splits any more and the counts agree: the graphs may be isomorphic. In fact they ${found.isomorphic ? "are" : "are not"}.` : "The counts agree so far.");
  }

  const by = (step) => state.set({ round: Math.min(found ? found.rounds.length - 1 : 0, Math.max(0, Math.min(state.get("round"), found.rounds.length - 1) + step)) });
  state.on(ask, "pair", "g", "h", "start");
  state.on(() => found && draw(), "round");
  stage.append(
    about(EQUATION, "Each round gives a node a new color (letter) for what it and its neighbors were. No message-passing network tells apart two graphs that this test does not: add one edge to H and see it succeed.",
      [["models/weisfeiler-leman", "Weisfeiler-Leman"], ["models/graph-classifier", "graph classifier"], ["claims/weisfeiler-leman-pairs", "what message passing cannot distinguish"]]),
    h("div", { class: "columns side" },
    h("div", { class: "stack" },
      panel("Two graphs", {},
        choice(state, "pair", { label: "Pair", options: PAIRS }),
        choice(state, "start", { label: "First colors", options: [["uniform", "all the same"], ["degree", "the degrees"]] })),
      panel("Rounds", {},
        slider(state, "round", { label: "Round", min: 0, max: 8 }),
        h("div", { class: "row" }, button("◂ Back", () => by(-1)), button("Refine ▸", () => by(1), { primary: true }))),
      panel("Draw your own", {}, tools(views, ready))),
    h("div", { class: "stack" },
      panel(null, { class: "scrolls" }, verdict, table),
      h("div", { class: "columns two" }, views.map((view, k) => panel(null, { class: "middle pair" }, titles[k], view.element))))));
  views.forEach((view) => view.tool("choose"));
  begin();
  const redraw = () => found && draw();
  document.addEventListener("themechange", redraw);
  return () => {
    document.removeEventListener("themechange", redraw);
    channel?.stop();
  };
}
