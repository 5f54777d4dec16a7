// The karate club: a graph network learns from a few labels, step by step.
import { h, number } from "../../dom.js";
import { choice, field, panel, slider } from "../../controls.js";
import { chart } from "../../chart.js";
import { SCALES, series, sharp, theme } from "../../paint.js";
import { about } from "./about.js";
import { picture } from "./graph.js";
import { playback } from "./playback.js";

export const defaults = { model: "gcn", width: 16, labels: 1, rate: 0.01, decay: 0.0005, dropout: 0, burst: 1, seed: 0 };

const EQUATION = {
  gcn: "Y = softmax(Ā (Ā X W_0)₊ W_1),   X = I",
  gat: "q_mn = softmax_n ρ(uᵀ [V x_m, V x_n]),   h_m = φ(Σ_n q_mn V x_n + b)",
  chebyshev: "h = Σ_{k<3} T_k(L̃) X W_k + b,   T_k = 2 L̃ T_{k-1} - T_{k-2}",
};
const SIZE = 230;

export function open(stage, state) {
  let found = null;
  const view = picture({ label: "The club; the color of a member is the predicted side" });
  const cloud = h("canvas", { class: "cloud", role: "img", "aria-label": "The last hidden layer on its two principal axes, one dot for each member" });
  const curves = chart({ label: "updates", names: ["loss on the labels", "accuracy on the others"], height: 120, alt: "Loss and accuracy against the number of updates" });
  const facts = h("p", { class: "small said" });
  const equation = about(EQUATION[state.get("model")], "Only the labeled members (square) give a loss, yet the friendships carry their sides to all others. Give more labels, or another network, and watch the two clouds part.",
    [["models/gcn", "GCN"], ["models/gat", "GAT"], ["models/chebyshev", "Chebyshev network"], ["data/karate", "karate club"], ["recipes/karate-gcn", "recipe"], ["claims/two-layer-gcn", "two layers"]]);
  const settings = () => { const { tab, ...rest } = state.values; return rest; };
  const run = playback({ activity: "karate-club", settings, view: (content) => { found = content; draw(); }, playing: true, noun: "update" });

  const hue = (p) => { const [r, g, b] = SCALES.diverging[Math.round(255 * p)]; return `rgb(${r} ${g} ${b})`; };
  function draw() {
    const { probability, truth, labeled, classes, losses, accuracies } = found;
    const wrong = probability.map((p, m) => Number(p > 0.5) !== truth[m]);
    view.draw(found, {
      node: (m) => {
        const p = probability[m];
        const side = Number(p > 0.5);
        const sure = side ? p : 1 - p;
        return {
          fill: hue(p), ink: p < 0.25 ? "#ffffff" : "#222222", text: Math.round(100 * sure), caption: m, radius: 14,
          square: labeled.includes(m), kind: wrong[m] ? "wrong" : "",
          name: `member ${m}${labeled.includes(m) ? ", labeled" : ""}: ${classes[side]} with ${Math.round(100 * sure)} %, ${wrong[m] ? "wrong" : "right"}`,
        };
      },
    });
    curves.set([losses.map((_, t) => t), losses, accuracies]);
    facts.textContent = `${losses.length - 1} updates, loss ${number(losses.at(-1), 3)}, accuracy ${(100 * accuracies.at(-1)).toFixed(1)} %`;
    scatter();
  }
  function scatter() {
    const context = sharp(cloud, SIZE, SIZE);
    const look = theme();
    const most = [0, 1].map((axis) => Math.max(...found.embedding.map((at) => Math.abs(at[axis])), 1e-6) * 1.12);
    const place = (v, axis) => SIZE / 2 + (v / most[axis]) * (SIZE / 2);
    context.strokeStyle = look.line;
    context.strokeRect(0.5, 0.5, SIZE - 1, SIZE - 1);
    context.font = "10px system-ui";
    found.embedding.forEach(([x, y], m) => {
      const [left, top] = [place(x, 0), SIZE - place(y, 1)];
      context.fillStyle = series(found.truth[m]);
      context.beginPath();
      if (found.labeled.includes(m)) context.rect(left - 6, top - 6, 12, 12);
      else if (found.truth[m]) context.arc(left, top, 5, 0, 7);
      else { context.moveTo(left, top - 6); context.lineTo(left + 6, top + 5); context.lineTo(left - 6, top + 5); context.closePath(); }
      context.fill();
      context.strokeStyle = look.surface;
      context.stroke();
      context.fillStyle = look.quiet;
      context.fillText(m, left + 7, top - 3);
    });
    context.fillText(`→ ± ${number(most[0], 2)}   ↑ ± ${number(most[1], 2)}`, 6, 14);
  }
  state.on(() => {
    equation.querySelector(".equation").textContent = EQUATION[state.get("model")];
    run.restart();
    run.play(true);
  });
  const redraw = () => found && draw();
  document.addEventListener("themechange", redraw);
  stage.append(equation, h("div", { class: "columns three" },
    h("div", { class: "stack" },
      panel("Network", {},
        choice(state, "model", { label: "Network", options: [["gcn", "GCN"], ["gat", "attention (GAT)"], ["chebyshev", "Chebyshev"]] }),
        slider(state, "width", { label: "Hidden units", min: 2, max: 32 }),
        slider(state, "labels", { label: "Labels per side", min: 1, max: 8 }),
        slider(state, "rate", { label: "Learning rate", min: 0.001, max: 0.1, step: 0.1, log: true }),
        slider(state, "decay", { label: "Weight decay", min: 0, max: 0.01, step: 0.0005, format: String }),
        slider(state, "dropout", { label: "Dropout", min: 0, max: 0.8, step: 0.1 }),
        slider(state, "burst", { label: "Updates per frame", min: 1, max: 10 }),
        field(state, "seed", { label: "Seed" }),
        run.element)),
    panel(null, { class: "middle" }, view.element,
      h("p", { class: "small quiet key" }, "Blue: Mr. Hi, orange: Officer, with percent. Square: labeled. Dashed red: wrong.")),
    h("div", { class: "stack" },
      panel("Last hidden layer, principal axes", {}, cloud, h("p", { class: "small quiet" }, "Truth: ▲ Mr. Hi, ● Officer; ■ labeled")),
      panel("Learning", {}, facts, curves.element))));
  run.restart();
  return () => {
    document.removeEventListener("themechange", redraw);
    run.close();
    curves.close();
  };
}
