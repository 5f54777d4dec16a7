// Draw and see: what networks make of a drawing, kernels, optimizers, and the chain rule, step by step.
import { h, stylesheet } from "../dom.js";
import { State } from "../state.js";
import { tabs } from "../controls.js";
import * as digit from "./draw/digit.js";
import * as convolution from "./draw/convolution.js";
import * as descent from "./draw/descent.js";
import * as backpropagation from "./draw/backpropagation.js";

const TABS = { digit, convolution, descent, backpropagation };
const TITLES = [["digit", "Digit"], ["convolution", "Convolution"], ["descent", "Gradient descent"], ["backpropagation", "Backpropagation"]];

export function open(main, { params }) {
  stylesheet("/static/rooms/draw.css");
  const place = new State("draw", { tab: "digit" }, params);
  if (!(place.get("tab") in TABS)) place.set({ tab: "digit" });
  const stage = h("div", { class: "draw-stage", role: "tabpanel" });
  const states = {};
  let close = null;
  const enter = (from) => {
    close?.();
    const tab = place.get("tab");
    stage.replaceChildren();
    const kept = states[tab] ? new URLSearchParams(states[tab].address().split("?")[1]) : from;
    states[tab] = new State("draw", { tab: "digit", ...TABS[tab].defaults }, kept); // without the listeners of the last visit
    states[tab].write();
    stage.setAttribute("aria-label", TITLES.find(([name]) => name === tab)[1]);
    close = TABS[tab].open(stage, states[tab]);
  };
  main.append(h("h1", { class: "hidden-label" }, "Draw and see"), tabs(place, "tab", TITLES, "What to see"), stage);
  place.on(() => enter(new URLSearchParams({ tab: place.get("tab") })), "tab");
  enter(new URLSearchParams([...params, ["tab", place.get("tab")]]));
  return () => close?.();
}
