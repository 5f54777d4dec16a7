// What every tab says of itself: its equation, a sentence or two, and where to read on.
import { h } from "../../dom.js";
import { panel } from "../../controls.js";

/** A box with an equation, sentences and links: [["models/gcn", "graph convolution"], …]. */
export function about(equation, sentences, links) {
  return panel(null, { class: "about" },
    h("div", { class: "equation" }, equation),
    h("div", {}, h("p", { class: "small" }, sentences), h("p", { class: "small" }, "Read on: ", links.map(([path, text], k) => [k ? " · " : "", h("a", { href: `#/home/${path}` }, text)]))));
}
