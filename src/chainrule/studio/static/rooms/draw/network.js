// MLP, CNN, ViT or PointNet: trained here, then asked about every stroke.
import { h, number, show } from "../../dom.js";
import { choice, panel, toggle, slider } from "../../controls.js";
import { color, paint, sharp } from "../../paint.js";
import { about, mosaic, steered } from "./stage.js";

export const defaults = { data: "digits", seed: 0, center: true, target: -1 };

const ABOUT = {
  mlp: ["h_l = φ(W_l h_{l−1} + b_l)\nf = W_L h_{L−1} + b_L\nsaliency = ∂f_c / ∂pixel", "Every pixel is an input of its own. Turn off centering and move the digit: the MLP loses it.",
    [["models", "mlp", "MLP"], ["recipes", "digits-mlp", "recipe digits-mlp"], ["claims", "universal-approximation", "universal approximation"]]],
  cnn: ["h ← φ(w ∗ h + b)\nh_ij ← max_{a,b<2} h_{2i+a, 2j+b}\nsaliency = ∂f_c / ∂pixel", "Each map is one kernel moved over the image. Turn off centering and move the digit: the maps move with it.",
    [["models", "cnn", "CNN"], ["recipes", "mnist-cnn", "recipe mnist-cnn"], ["claims", "shift-equivariance", "shift equivariance"]]],
  vit: ["x ← x + A(N(x)),   x ← x + F(N(x))\nrollout = Π_l (½ I + ½ mean_heads A_l)", "Sixteen patches are a sequence. The rollout says how much of each patch reaches the [CLS] token, which alone is classified.",
    [["models", "vit", "ViT"], ["recipes", "mnist-vit", "recipe mnist-vit"], ["claims", "attention-convex", "attention is a mean"]]],
  pointnet: ["f(X) = ρ(max_p F(x_p))", "Each feature is the maximum over the points, so it comes from one point. The others could be removed without changing the answer.",
    [["models", "pointnet", "PointNet"], ["recipes", "mnist-pointnet", "recipe mnist-pointnet"], ["claims", "critical-points", "critical points"]]],
};

export function open({ options, middle, right }, state, ink) {
  const kind = state.get("network");
  const status = h("p", { class: "small train-status", role: "status" }, "starting …");
  const bar = h("progress", { max: 1, value: 0, "aria-label": "Training" });
  const answer = bars(state);
  const picture = (name, alt) => {
    const canvas = h("canvas", { class: "pixels", role: "img", "aria-label": alt });
    return [canvas, h("figure", {}, canvas, h("figcaption", { class: "small" }, name))];
  };
  const [seen, seenBox] = picture("What the network sees", "The drawing, centered and scaled as the data are");
  const [salient, salientBox] = picture("Saliency: orange raises the score", "Gradient of the class score by every pixel");
  const [flow, flowBox] = picture("Attention rollout", "Share of every patch in the answer");
  const cloud = h("canvas", { class: "cloud", role: "img", "aria-label": "Points of the ink; critical points are larger and orange" });
  const cloudBox = h("figure", {}, cloud, h("figcaption", { class: "small" }, "● critical   · other points"));
  const alone = h("p", { class: "small alone" });
  const layers = h("div", { class: "layers" });
  const shown = kind === "pointnet" ? [seenBox, cloudBox] : kind === "vit" ? [seenBox, flowBox, salientBox] : [seenBox, salientBox];
  middle.append(
    panel("Input, and what the answer depends on", {}, h("div", { class: `figures ${kind}` }, shown), kind === "pointnet" ? alone : null),
    panel(kind === "vit" ? "Where [CLS] looks: a row per block, a map per head" : "Activations, layer by layer", { class: `layer-panel ${kind}` }, layers));
  right.append(panel("Answer", {}, answer.element, bar, status), about(...ABOUT[kind]));
  options.append(...[
    choice(state, "data", { label: "Data", options: [["digits", "small digits"], ["mnist", "MNIST"]], title: "MNIST only where it is on this machine" }),
    kind === "pointnet" ? null : choice(state, "target", { label: "Explain", options: [[-1, "the likeliest"], ...Array.from({ length: 10 }, (_, k) => [k, String(k)])] }),
    toggle(state, "center", { label: "Center and scale like the training data" }),
    slider(state, "seed", { label: "Seed", min: 0, max: 20 }),
  ].filter(Boolean));

  const channel = steered("digit", { view, error: (text) => show(status, h("span", { class: "bad" }, text)) });
  const question = () => ({ ink: ink(), center: state.get("center"), target: state.get("target") });
  const train = () => {
    show(status, "loading the data …");
    channel.start({ network: kind, data: state.get("data"), seed: state.get("seed"), ...question() });
  };
  let open = true;
  state.on(() => open && train(), "data", "seed");
  state.on(() => open && channel.set(question()), "center", "target");
  train();

  function view(content) {
    bar.value = content.fraction;
    const trained = content.accuracy !== null;
    status.dataset.trained = trained;
    const size = `${number(content.examples)} digits of ${content.size} × ${content.size}, ${content.parameters.toLocaleString("en")} parameters`;
    show(status, !trained ? `training: loss ${number(content.loss, 3)}; ${size}` : `trained on ${size}; ${(100 * content.accuracy).toFixed(1)} % of the test digits right`);
    answer.set(content.probabilities, content.target);
    layers.classList.toggle("empty", !content.input);
    if (!content.input) return;
    paint(seen, content.input, "gray");
    if (content.saliency) paint(salient, content.saliency, "diverging");
    if (content.rollout) paint(flow, content.rollout, "gray");
    if (content.points) {
      points(cloud, content.points, content.critical);
      const kept = content.critical.filter(Boolean).length;
      alone.textContent = `${kept} of ${content.critical.length} points are critical. Alone they give the probabilities of all points, to within ${content.difference.toFixed(6)}.`;
    }
    tiles(layers, content.heads ? content.heads.map((maps, k) => ({ name: `Block ${k + 1}`, maps })) : content.layers);
  }
  return { draw: (pixels) => channel.set({ ...question(), ink: pixels }), close: () => { open = false; channel.close(); } };
}

/** The probability of every digit as a bar; a row is chosen by what is explained. */
function bars(state) {
  const rows = Array.from({ length: 10 }, (_, digit) => {
    const fill = h("span", { class: "fill" });
    const value = h("span", { class: "value" }, "–");
    return { fill, value, element: h("div", { class: "bar" }, h("b", {}, String(digit)), h("span", { class: "track" }, fill), value) };
  });
  const best = h("p", { class: "answer", "aria-live": "polite" }, "–");
  return {
    element: h("div", { class: "answer-box" }, best, h("div", { role: "img", "aria-label": "Probability of every digit" }, rows.map((row) => row.element))),
    set(probabilities, target) {
      const top = probabilities ? probabilities.indexOf(Math.max(...probabilities)) : -1;
      best.textContent = probabilities ? `${top}` : "draw!";
      rows.forEach((row, digit) => {
        const p = probabilities ? probabilities[digit] : 0;
        row.fill.style.width = `${100 * p}%`;
        row.value.textContent = probabilities ? `${(100 * p).toFixed(1)} %` : "–";
        row.element.classList.toggle("best", digit === top);
        row.element.classList.toggle("explained", digit === target && state.get("target") >= 0);
      });
    },
  };
}

/** One strip of maps for every layer; canvases are kept from view to view. */
function tiles(box, layers) {
  layers.forEach((layer, k) => {
    if (!box.children[k]) box.append(h("div", { class: "layer" }, h("p", { class: "small" }), h("canvas", { role: "img" })));
    const [name, canvas] = box.children[k].children;
    const maps = layer.maps || layer.weights;
    const [units, rows, wide] = maps.shape;
    const columns = rows === 1 ? 32 : Math.min(16, units);
    const tile = rows === 1 ? 17 : Math.min(units > 4 ? 72 : 140, Math.floor(620 / columns) - 2);
    mosaic(canvas, maps, { columns, tile, scale: layer.weights ? "diverging" : "gray" });
    const text = `${layer.name}: ${rows === 1 ? `${units} units` : `${units} maps of ${rows} × ${wide}`}`;
    if (name.textContent !== text) { name.textContent = text; canvas.setAttribute("aria-label", text); }
  });
  while (box.children.length > layers.length) box.lastChild.remove();
}

function points(canvas, places, critical) {
  const side = 280;
  const context = sharp(canvas, side, side);
  const ordered = places.map((place, k) => [place, critical[k]]).sort((a, b) => a[1] - b[1]);
  context.fillStyle = "#000";
  context.fillRect(0, 0, side, side);
  for (const [[x, y], decides] of ordered) {
    context.beginPath();
    context.fillStyle = decides ? color("peach") : "#8a929c";
    context.arc(((x + 1) * side) / 2, ((1 - y) * side) / 2, decides ? 6 : 3, 0, 2 * Math.PI);
    context.fill();
  }
}
