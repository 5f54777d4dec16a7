import { h } from "../dom.js";

export function open(main) {
  main.append(h("h1", {}, "draw"));
}
