// A drawn digit, seen by one network or another.
import { h } from "../../dom.js";
import { choice, panel, slider } from "../../controls.js";
import { pad, written } from "./pad.js";
import * as recall from "./recall.js";
import * as network from "./network.js";

export const defaults = { network: "cnn", strokes: written(3), pen: 6, ...recall.defaults, ...network.defaults };
const NETWORKS = [["hopfield", "Hopfield"], ["mlp", "MLP"], ["cnn", "CNN"], ["vit", "ViT"], ["pointnet", "PointNet"]];

export function open(stage, state) {
  const options = h("div");
  const middle = h("div", { class: "stack" });
  const right = h("div", { class: "stack" });
  let view = null;
  const drawn = pad(state, (ink) => view?.draw(ink));
  const enter = () => {
    view?.close();
    for (const part of [options, middle, right]) part.replaceChildren();
    const module = state.get("network") === "hopfield" ? recall : network;
    view = module.open({ options, middle, right }, state, drawn.ink);
  };
  stage.append(h("div", { class: "columns draw-digit" },
    panel("Draw a digit", {}, drawn.element, slider(state, "pen", { label: "Pen", min: 3, max: 10 }),
      choice(state, "network", { label: "Network", options: NETWORKS }), options),
    middle, right));
  state.on(enter, "network");
  enter();
  return () => view?.close();
}
