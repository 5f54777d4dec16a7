// What can be chosen: the state in the address, its controls, and what each model is.
import { h } from "../../dom.js";
import { choice, slider } from "../../controls.js";
import { decode } from "./points.js";

const MODEL = {
  model: "mlp", layers: 2, units: 8, activation: "tanh", dropout: 0, members: 4, optimizer: "adam", learning_rate: 0.01, weight_decay: 0,
  batch_size: 32, neighbors: 15, C: 1, depth: 5, trees: 50,
};
const DATA = { data: "moons", num_samples: 300, noise: 0.15, margin: 0.1, points: "", seed: 0 };
const prefixed = (name, second) => (second ? `b_${name}` : name);

export const DEFAULTS = {
  ...DATA, ...MODEL, ...Object.fromEntries(Object.entries({ ...MODEL, activation: "relu" }).map(([name, value]) => [`b_${name}`, value])),
  compare: false, speed: 0, regions: false, test: true, version: true,
};
/** A change of these acts on the present weights; one of any other begins anew. */
export const LIVE = ["optimizer", "learning_rate", "weight_decay"];

const NETWORK = ["layers", "units", "activation"];
const GRADIENT = ["optimizer", "learning_rate", "weight_decay", "batch_size"];
/** Each model: its name, a short one for the list, its controls, its equation, what to see, and its entry in Home. */
export const MODELS = {
  perceptron: { title: "Perceptron", uses: [], equation: "y (wᵀx + b) ≤ 0   ⇒   w ← w + y x,  b ← b + y", entry: "models/perceptron",
    say: "One step is one mistake, ringed in red. In the map every point is a line; green is the version space, where no line errs. Blobs are separable, moons are not." },
  "logistic-regression": { title: "Logistic regression", uses: GRADIENT, equation: "P(y = 1 | x) = σ(wᵀx + b)", entry: "models/logistic-regression",
    say: "One unit: the boundary stays a line whatever the data. Try circles, then a hidden layer." },
  mlp: { title: "Multi-layer perceptron", short: "MLP", uses: [...NETWORK, "dropout", ...GRADIENT], equation: "hₗ = φ(Wₗ hₗ₋₁ + bₗ),   f(x) = W_L h_L₋₁ + b_L", entry: "models/mlp",
    say: "Every small square is the output of one unit over the same plane; a line is a weight, solid if positive. Point at a unit to see it large. With relu, overlay its linear regions." },
  "residual-network": { title: "Residual network", uses: [...NETWORK, ...GRADIENT], equation: "F(x) = x + φ(W x + b) - φ(0)", entry: "models/residual-network",
    say: "Each layer changes its input a little. Compare six layers with an MLP of six layers on the spirals." },
  ensemble: { title: "Ensemble of MLPs", short: "Ensemble", uses: ["members", ...NETWORK, "dropout", ...GRADIENT], equation: "p(y | x) = 1/K Σₖ softmax(fₖ(x))_y", entry: "models/ensemble",
    say: "The members differ only in their seeds. They agree near the points and differ far from them." },
  "k-nearest-neighbors": { title: "k nearest neighbors (scikit-learn)", short: "k-NN · sklearn", uses: ["neighbors"], equation: "P(y = 1 | x) = share of class 1 among the k nearest points", say: "k = 1 remembers every point; more neighbors make a smoother boundary." },
  svm: { title: "Support vector machine, RBF (scikit-learn)", short: "SVM · sklearn", uses: ["C"], equation: "f(x) = Σᵢ αᵢ yᵢ exp(-γ ‖x - xᵢ‖²) + b", say: "The color is the distance from the boundary, no probability. A small C allows more mistakes for a smoother boundary." },
  "decision-tree": { title: "Decision tree (scikit-learn)", short: "tree · sklearn", uses: ["depth"], equation: "one threshold on x₁ or x₂ after the other", say: "Every boundary is parallel to an axis. Raise the depth until it fits the noise." },
  "random-forest": { title: "Random forest (scikit-learn)", short: "forest · sklearn", uses: ["trees", "depth"], equation: "mean of trees on bootstrap samples", say: "The mean of many trees is smoother than one of them." },
  "gradient-boosting": { title: "Gradient boosting (scikit-learn)", short: "boosting · sklearn", uses: ["trees", "depth"], equation: "fₘ = fₘ₋₁ + ν tree fitted to -∇ loss", say: "Each tree corrects those before it. Many deep ones fit the noise." },
};
const TASKS = [["moons", "two moons"], ["circles", "circles"], ["spirals", "spirals"], ["xor", "exclusive or"], ["blobs", "separable blobs"], ["own", "draw your own"]];
const TRY = [
  ["XOR defeats one line", "data=xor&noise=0.3&model=logistic-regression&b_model=mlp&b_layers=1&b_units=4&compare=true"],
  ["ReLU regions of a circle", "data=circles&noise=0.08&layers=1&units=6&activation=relu&regions=true"],
  ["Depth on spirals", "data=spirals&noise=0.02&num_samples=500&layers=4&learning_rate=0.02&b_model=residual-network&b_activation=tanh&b_layers=4&b_learning_rate=0.02&compare=true"],
  ["Version space", "data=blobs&margin=0.05&num_samples=60&model=perceptron&speed=5"],
];

/** The settings of the activity; second: those of configuration B. */
export function settings(state, second) {
  const own = Object.keys(MODEL).map((name) => [name, state.get(prefixed(name, second))]);
  const shared = Object.keys(DATA).map((name) => [name, state.get(name)]);
  const shown = ["regions", "speed"].map((name) => [name, state.get(name)]);
  const points = state.get("data") === "own" ? decode(state.get("points")) : [];
  return { ...Object.fromEntries([...own, ...shared, ...shown]), points };
}

/** Which settings of an activity a change of the state concerns; null for those of the other one. */
export function concerned(name, second) {
  if (name in DATA) return name;
  if (name.startsWith("b_")) return second ? name.slice(2) : null;
  return name in MODEL && !second ? name : null;
}

/** The controls of the data. */
export function dataControls(state) {
  const points = slider(state, "num_samples", { label: "points", min: 20, max: 600, step: 20, title: "60 % are learned from, 40 % are held out" });
  const noise = slider(state, "noise", { label: "noise", min: 0, max: 0.5, step: 0.01, title: "standard deviation of the noise" });
  const margin = slider(state, "margin", { label: "margin", min: 0.01, max: 0.6, step: 0.01, title: "smallest distance from the line between the blobs" });
  const seed = slider(state, "seed", { label: "seed", min: 0, max: 30, title: "of the splits, the initial weights, the order and the masks" });
  const fit = () => {
    const kind = state.get("data");
    points.hidden = kind === "own";
    noise.hidden = kind === "own" || kind === "blobs";
    margin.hidden = kind !== "blobs";
  };
  state.on(fit, "data");
  fit();
  return [choice(state, "data", { label: "task", options: TASKS }), points, noise, margin, seed];
}

/** The controls of a configuration; only those its model uses are shown. */
export function modelControls(state, second) {
  const name = (plain) => prefixed(plain, second);
  const controls = {
    members: slider(state, name("members"), { label: "members", min: 2, max: 8 }),
    layers: slider(state, name("layers"), { label: "layers", min: 1, max: 6, title: "hidden layers" }),
    units: slider(state, name("units"), { label: "units", min: 1, max: 16, title: "of each hidden layer" }),
    activation: choice(state, name("activation"), { label: "activation", options: ["relu", "tanh", "sigmoid", "leaky_relu", "softplus", "gelu", "identity"] }),
    dropout: slider(state, name("dropout"), { label: "dropout", min: 0, max: 0.8, step: 0.05 }),
    optimizer: choice(state, name("optimizer"), { label: "optimizer", options: ["gd", "sgd", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "adamw", "lion"], title: "a change acts on the present weights" }),
    learning_rate: slider(state, name("learning_rate"), { label: "rate η", min: 1e-4, max: 3, step: 0.05, log: true, title: "learning rate; a change acts on the present weights" }),
    weight_decay: choice(state, name("weight_decay"), { label: "decay μ", options: [[0, "0"], [1e-4, "0.0001"], [1e-3, "0.001"], [1e-2, "0.01"], [1e-1, "0.1"]], title: "weight decay; a change acts on the present weights" }),
    batch_size: slider(state, name("batch_size"), { label: "batch size", min: 1, max: 256, title: "examples per step; gd takes all" }),
    neighbors: slider(state, name("neighbors"), { label: "neighbors", min: 1, max: 60 }),
    C: slider(state, name("C"), { label: "C", min: 0.01, max: 1000, step: 0.1, log: true }),
    trees: slider(state, name("trees"), { label: "trees", min: 1, max: 150 }),
    depth: slider(state, name("depth"), { label: "depth", min: 1, max: 12 }),
  };
  const fit = () => {
    const { uses } = MODELS[state.get(name("model"))] || MODELS.mlp;
    for (const [plain, control] of Object.entries(controls)) control.hidden = !uses.includes(plain);
  };
  state.on(fit, name("model"));
  fit();
  const models = Object.entries(MODELS).map(([value, { title, short = title }]) => [value, short]);
  return h("div", {}, choice(state, name("model"), { label: "model", options: models }), Object.values(controls));
}

/** What a model is, what to see, what to try. */
export function explained(name) {
  const { title, equation, say, entry } = MODELS[name] || MODELS.mlp;
  const links = TRY.map(([text, query]) => h("a", { href: `#/playground?${query}` }, text)).flatMap((link, k) => (k ? [" · ", link] : [link]));
  return [
    h("h2", {}, entry ? h("a", { href: `#/home/${entry}` }, title) : title), h("div", { class: "equation" }, equation),
    h("p", { class: "small" }, say), h("p", { class: "small" }, h("b", {}, "Try: "), links),
  ];
}
