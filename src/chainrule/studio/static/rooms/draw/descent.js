// Optimizers racing on one surface, with the rate that theory predicts beside the measured one.
import { h, number, show } from "../../dom.js";
import { button, choice, field, panel, slider } from "../../controls.js";
import { chart } from "../../chart.js";
import { bytes, color, series, sharp, theme } from "../../paint.js";
import { about, steered, timeline } from "./stage.js";

const NAMES = ["gd", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "lion"];
const TITLES = { gd: "GD", momentum: "Momentum", nesterov: "Nesterov", adagrad: "AdaGrad", rmsprop: "RMSprop", adam: "Adam", lion: "Lion" };
// formula, rate, start, box: left, right, bottom, top
const SURFACES = {
  quadratic: ["Quadratic", "(x^2 + k y^2)/2", 0.1, [-3.5, 1.5], [-4, 4, -3, 3]],
  rosenbrock: ["Rosenbrock", "(1 - x)^2 + 10(y - x^2)^2", 0.003, [-1.2, 1], [-2, 2, -1, 2]],
  saddle: ["Saddle", "(x^2 - y^2)/2 + y^4/8", 0.05, [-2.5, 0.01], [-4, 4, -3, 3]],
  himmelblau: ["Himmelblau", "(x^2 + y - 11)^2 + (x + y^2 - 7)^2", 0.004, [0, -1], [-6, 6, -4.5, 4.5]],
  two: ["Two minima", "(x^2 - 1)^2 + x/3 + y^2", 0.05, [0.2, 1.2], [-2, 2, -1.5, 1.5]],
  ripples: ["Ripples", "(x^2 + y^2)/10 + sin(3x) sin(3y)", 0.03, [2.4, 1.6], [-4, 4, -3, 3]],
};
const [, QUADRATIC, RATE, [X, Y], BOX] = SURFACES.quadratic;
export const defaults = { surface: "quadratic", formula: QUADRATIC, condition: 10, rate: RATE, momentum: 0.9, steps: 100, x: X, y: Y, box: BOX.join(" "), race: "gd momentum nesterov adam" };
const [WIDTH, HEIGHT] = [610, 430];

export function open(stage, state) {
  let race = null;
  const map = h("canvas", { class: "surface", tabindex: 0, role: "application", "aria-label": "Contour map of the loss with the path of every optimizer; click or use the arrow keys to choose the start" });
  const status = h("p", { class: "small bad", role: "status" });
  const table = h("div", { class: "rates" });
  const losses = chart({ label: "step", names: NAMES.map((name) => TITLES[name]), height: 190, alt: "Logarithm of the loss above its minimum, by step" });
  losses.element.classList.add("no-legend");
  const time = timeline({ label: "Step", perSecond: () => 30, show: draw });
  const racing = () => state.get("race").split(" ").filter((name) => NAMES.includes(name));
  const box = () => state.get("box").split(" ").map(Number);
  const tune = button("Best rate and momentum", () => {
    if (race?.best) state.set({ rate: Number(race.best.momentum[0].toPrecision(2)), momentum: Number(race.best.momentum[1].toFixed(2)) });
  }, { title: "Polyak's choice for momentum on this curvature" });

  const text = about("θ ← θ − η ∇h(θ),  factor max_i |1 − ηλ_i|          v ← βv + ∇h,  θ ← θ − ηv", "λ are the curvatures at the minimum, from μ to L. Raise η beyond 2/L: gradient descent diverges. Raise k: momentum gains. Click the map to start elsewhere.",
    [["claims", "learning-rates", "learning rates"], ["claims", "nesterov", "Nesterov"], ["claims", "divergence", "divergence"], ["claims", "saddle-escape", "saddles"], ["claims", "adam-first-step", "Adam's first step"]]);
  stage.append(h("div", { class: "columns draw-descent" },
    panel("Surface and race", {},
      choice(state, "surface", { label: "Surface", options: [...Object.entries(SURFACES).map(([name, [title]]) => [name, title]), ["own", "your own"]] }),
      field(state, "formula", { label: "h(x, y) =", title: "+ - * / ^ and sin cos exp log sqrt tanh abs of x, y and k" }),
      slider(state, "condition", { label: "Condition k", min: 1, max: 300, log: true, step: 0.05 }),
      slider(state, "rate", { label: "Rate η", min: 0.0005, max: 1, log: true, step: 0.02 }),
      slider(state, "momentum", { label: "Momentum β", min: 0, max: 0.99, step: 0.01 }),
      slider(state, "steps", { label: "Steps", min: 10, max: 400, step: 10 }),
      h("fieldset", { class: "optimizers" }, h("legend", {}, "Optimizers"), NAMES.map((name, k) => runner(state, name, k, racing))),
      h("div", { class: "row start" }, field(state, "x", { label: "Start x" }), field(state, "y", { label: "y" }))),
    h("div", { class: "stack" }, panel(null, {}, map, time.element, status), text),
    h("div", { class: "stack" },
      panel("log₁₀ of the loss above its minimum", {}, losses.element),
      panel("Factor per step near the minimum", {}, table, tune))));

  const settings = () => {
    const [left, right, bottom, top] = box();
    return { formula: state.get("formula"), condition: state.get("condition"), optimizers: racing(), rate: state.get("rate"), momentum: state.get("momentum"), x: state.get("x"), y: state.get("y"), steps: state.get("steps"), left, right, bottom, top };
  };
  const channel = steered("descent", { view, error: (text) => { status.textContent = text; } });
  state.on((names) => {
    const chosen = SURFACES[state.get("surface")];
    if (names.includes("surface") && chosen) return preset(chosen);
    if (names.includes("formula") && chosen && state.get("formula") !== chosen[1]) return state.set({ surface: "own" });
    channel.set(settings());
  });
  map.addEventListener("click", (event) => {
    const [left, right, bottom, top] = box();
    const area = map.getBoundingClientRect();
    const x = left + ((event.clientX - area.left) / area.width) * (right - left);
    const y = top - ((event.clientY - area.top) / area.height) * (top - bottom);
    state.set({ x: Number(x.toFixed(2)), y: Number(y.toFixed(2)) });
  });
  map.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!by) return;
    const [left, right, bottom, top] = box();
    state.set({ x: Number((state.get("x") + (by[0] * (right - left)) / 40).toFixed(3)), y: Number((state.get("y") + (by[1] * (top - bottom)) / 40).toFixed(3)) });
    event.preventDefault();
  });
  const redraw = () => draw(time.position);
  const first = SURFACES[state.get("surface")];
  document.addEventListener("themechange", redraw);
  if (first && first[1] !== state.get("formula") && state.get("formula") === QUADRATIC) preset(first); // a link with a surface's name alone
  else channel.set(settings());

  function preset([, formula, rate, [x, y], edges]) {
    state.set({ formula, rate, x, y, box: edges.join(" "), momentum: 0.9 });
  }

  function view(content) {
    race = content;
    status.textContent = "";
    tune.disabled = !content.best;
    rates(table, content, racing());
    time.set(state.get("steps"));
  }

  function draw(position) {
    if (!race) return;
    surface(map, race, position);
    const xs = Array.from({ length: state.get("steps") + 1 }, (_, k) => k);
    losses.set([xs, ...NAMES.map((name) => xs.map((k) => {
      const value = k <= position ? race.losses[name]?.[k] : null;
      return value === undefined || value === null || value - race.lowest < 1e-12 ? null : Math.log10(value - race.lowest);
    }))]);
  }
  return () => { channel.close(); time.close(); losses.close(); document.removeEventListener("themechange", redraw); };
}

function runner(state, name, k, racing) {
  const input = h("input", {
    type: "checkbox", id: `race-${name}`, checked: racing().includes(name),
    onchange: () => {
      const next = NAMES.filter((other) => (other === name ? input.checked : racing().includes(other)));
      if (next.length) state.set({ race: next.join(" ") });
      else input.checked = true;
    },
  });
  return h("label", { for: input.id }, input, swatch(k), TITLES[name]);
}

function swatch(k) {
  const mark = h("span", { class: "swatch" });
  mark.style.background = series(k);
  return mark;
}

/** Contours, paths up to a step, the start, the minimum, and a name at the end of each path. */
function surface(canvas, race, position) {
  const context = sharp(canvas, WIDTH, HEIGHT);
  const [left, right, bottom, top] = race.map.box;
  const at = ([x, y]) => [((x - left) / (right - left)) * WIDTH, ((top - y) / (top - bottom)) * HEIGHT];
  const look = theme();
  shade(context, race.map.height);
  Object.assign(context, { lineWidth: 1, strokeStyle: "rgb(120 130 144 / .6)" });
  for (const line of race.map.lines) polyline(context, line.map(at));
  if (race.minimum) cross(context, at(race.minimum));
  const names = [];
  Object.entries(race.paths).forEach(([name, path]) => {
    const k = NAMES.indexOf(name);
    const points = path.slice(0, position + 1).map(at);
    Object.assign(context, { lineWidth: 2.2, strokeStyle: series(k), fillStyle: series(k) });
    polyline(context, points);
    for (const [x, y] of points) disc(context, x, y, 2);
    const [x, y] = points[points.length - 1];
    disc(context, x, y, 5);
    if (x >= 0 && x <= WIDTH && y >= 0 && y <= HEIGHT) names.push([TITLES[name], series(k), x, y]);
  });
  write(context, names);
  const [x, y] = at(Object.values(race.paths)[0][0]);
  Object.assign(context, { lineWidth: 2, strokeStyle: "#1c2024", fillStyle: "#ffffff" });
  disc(context, x, y, 5);
  context.stroke();
  Object.assign(context, { strokeStyle: look.line, lineWidth: 1 });
  context.strokeRect(0.5, 0.5, WIDTH - 1, HEIGHT - 1);
}

/** Names at the ends of paths, each below those that are near. */
function write(context, names) {
  const taken = [];
  for (const [name, hue, x, y] of names) {
    const left = Math.min(x + 10, WIDTH - 74);
    let top = Math.max(14, y - 8);
    while (taken.some(([a, b]) => Math.abs(a - left) < 74 && Math.abs(b - top) < 14)) top += 4;
    taken.push([left, top]);
    Object.assign(context, { font: "600 12px system-ui", lineWidth: 3, strokeStyle: theme().surface, fillStyle: hue });
    context.strokeText(name, left, top);
    context.fillText(name, left, top);
  }
}

/** The height as a quiet picture under the lines: the low parts are tinted. */
function shade(context, height) {
  const [rows, columns] = height.shape;
  const small = h("canvas", { width: columns, height: rows });
  const image = small.getContext("2d").createImageData(columns, rows);
  const [low, high] = document.documentElement.dataset.theme === "dark" ? [[44, 62, 84], [24, 27, 32]] : [[214, 226, 240], [255, 255, 255]];
  bytes(height).forEach((value, k) => image.data.set([...low.map((c, i) => c + ((high[i] - c) * value) / 255), 255], 4 * k));
  small.getContext("2d").putImageData(image, 0, 0);
  context.imageSmoothingEnabled = true;
  context.drawImage(small, 0, 0, WIDTH, HEIGHT);
}

function polyline(context, points) {
  context.beginPath();
  points.forEach((point, k) => (k ? context.lineTo(...point) : context.moveTo(...point)));
  context.stroke();
}

function disc(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}

function cross(context, [x, y]) {
  Object.assign(context, { strokeStyle: color("red"), lineWidth: 2.5 });
  polyline(context, [[x - 6, y - 6], [x + 6, y + 6]]);
  polyline(context, [[x - 6, y + 6], [x + 6, y - 6]]);
}

function rates(box, race, names) {
  const head = h("tr", {}, h("th", {}, "Optimizer"), ["predicted", "measured"].map((text) => h("th", { class: "number" }, text)));
  const rows = names.map((name) => {
    const rate = race.rates?.[name] || {};
    return h("tr", { "data-name": name }, h("td", {}, swatch(NAMES.indexOf(name)), TITLES[name]), h("td", { class: "number" }, number(rate.predicted, 4)), h("td", { class: "number" }, number(rate.measured, 4)));
  });
  const [mu, L] = race.curvatures || [];
  show(box, h("table", {}, h("thead", {}, head), h("tbody", {}, rows)),
    h("p", { class: "small quiet" }, race.best ? `μ = ${number(mu, 3)}, L = ${number(L, 3)}, limit 2/L = ${number(2 / L, 3)}. Best: η = ${number(race.best.gd[0], 3)} gives ${number(race.best.gd[1], 3)}; with momentum η = ${number(race.best.momentum[0], 3)}, β = ${number(race.best.momentum[1], 2)} give ${number(race.best.momentum[2], 3)}.` : "No minimum with positive curvature was found near the ends of the paths."));
}
