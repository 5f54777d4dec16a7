// The gradient on its way back through time, beside what the theory allows.
import { h, show } from "../../dom.js";
import { chart } from "../../chart.js";
import { choice, field, panel } from "../../controls.js";
import { about, dial, live, remarks } from "./parts.js";

export const title = "Gradients through time";
const CELLS = [["elman", "Elman"], ["lstm", "LSTM"], ["gru", "GRU"], ["antisymmetric", "antisymmetric"], ["lru", "LRU"]];
const SETTINGS = ["cell", "scale", "activation", "matrix", "steps", "units", "inputs", "bias", "seed"];
const PATH = "bound ∏ σ₁(∂s_j/∂s_{j-1})";
const WORST = "bound (α σ₁(U))^{T-t}";

export function build({ state }) {
  const remark = remarks();
  const curves = chart({ label: "step t", names: [...CELLS.map(([, name]) => name), PATH, WORST], dashed: [PATH, WORST], height: 440, log: true, value: (v) => (v ? v.toExponential(2) : "–"), alt: "Norm of the gradient with respect to the state at every step, by cell, on a logarithmic axis" });
  const numbers = h("dl", { class: "numbers" });
  const settings = (change = {}) => ({ ...Object.fromEntries(SETTINGS.map((name) => [name, state.get(name)])), ...change });
  const network = live("gradients-through-time", settings);
  network.on((view) => {
    remark.set(view);
    if (view.loading) return;
    curves.set([view.t, ...CELLS.map(([cell]) => view.norms[cell]), view.path, view.worst]);
    const name = CELLS.find(([cell]) => cell === state.get("cell"))[1];
    const rows = [[`${name}, factor per step`, view.per_step], ["σ₁, largest singular value", view.size], ["spectral radius", view.radius]];
    show(numbers, rows.flatMap(([term, value]) => [h("dt", {}, term), h("dd", { class: "readout" }, value === null ? "0" : String(value))]));
    verdict.textContent = view.per_step === null || view.per_step < 0.97 ? `${name} forgets: after ${state.get("steps")} steps little is left of the gradient.` : view.per_step > 1.03 ? `${name} explodes.` : `${name} keeps its gradient.`;
  });
  const verdict = h("p", { class: "steady" });
  const apply = (change) => network.send(settings(change));
  state.on(() => apply({}), ...SETTINGS);

  const element = h("div", { class: "columns three" },
    panel("Recurrent layer", {},
      choice(state, "cell", { label: "Bounds", options: CELLS }),
      dial(state, "scale", { label: "σ₁ of the recurrent weights", min: 0.1, max: 2, step: 0.05, title: "Of the LRU: the modulus of its eigenvalues, below 1" }, apply),
      choice(state, "matrix", { label: "Directions", options: ["orthogonal", "gaussian"] }),
      choice(state, "activation", { label: "Elman's φ", options: ["tanh", ["relu", "ReLU"]] }),
      dial(state, "inputs", { label: "Size of the inputs", min: 0, max: 3, step: 0.1 }, apply),
      dial(state, "bias", { label: "Bias of the gate that keeps", min: -2, max: 6, step: 0.5, title: "f of the LSTM, z of the GRU" }, apply),
      dial(state, "steps", { label: "Steps T", min: 10, max: 200, step: 10 }, apply),
      dial(state, "units", { label: "Units", min: 4, max: 48, step: 4 }, apply),
      field(state, "seed", { label: "Seed" })),
    panel("Norm of ∂L/∂s_t: one loss at step T, all the way back", {}, curves.element, remark.element),
    h("div", { class: "stack" },
      about("L = uᵀ s_T,   ‖u‖ = 1\n‖∂L/∂s_t‖ ≤ ∏_{j>t} σ₁(∂s_j/∂s_{j-1})\n         ≤ (α σ₁(U))^{T-t}   Elman, α = max φ'", "Read it from right to left. Below σ₁ = 1 Elman's gradient must vanish; above, it may explode, unless large inputs saturate tanh. A gate that keeps, a rotation or a circle of eigenvalues hold it.", [["claims", "vanishing-gradient"], ["claims", "exploding-gradient"], ["claims", "gated-memory"], ["models", "elman"], ["models", "lru"], ["models", "antisymmetric"]]),
      panel("", {}, numbers, verdict)));
  return { element, show: network.show, hide: network.hide, close() { network.close(); curves.close(); } };
}
