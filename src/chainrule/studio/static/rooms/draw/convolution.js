import { h } from "../../dom.js";
export const defaults = {};
export function open(stage) { stage.append(h("p", {}, "…")); return () => {}; }
