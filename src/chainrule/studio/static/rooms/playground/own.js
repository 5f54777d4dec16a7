// Own points: drawn in the plane, or pasted as a CSV.
import { button } from "../../controls.js";
import { h, notify } from "../../dom.js";
import { MOST, decode, encode, fromCsv } from "./points.js";

/** The tools beside the plane, and what the plane asks: {element, edit: {active, add, remove}}. */
export function ownPoints(state) {
  let kind = 0;
  const active = () => state.get("data") === "own";
  const points = () => decode(state.get("points"));
  const keep = (next) => state.set({ data: "own", points: encode(next) });
  const edit = {
    active,
    add: (x, y) => (points().length < MOST ? keep([...points(), [x, y, kind]]) : notify(`${MOST} points are the most there can be`)),
    remove: (x, y) => {
      const all = points();
      const distances = all.map((point) => Math.hypot(point[0] - x, point[1] - y));
      const nearest = distances.indexOf(Math.min(...distances));
      if (distances[nearest] < 0.15) keep(all.filter((_, k) => k !== nearest));
    },
  };
  const classes = [["● class 0", 0], ["▲ class 1", 1]].map(([text, value]) =>
    h("label", { class: "class" }, h("input", { type: "radio", name: "class-to-draw", checked: value === kind, onchange: () => { kind = value; } }), text));
  const area = h("textarea", { rows: 4, "aria-label": "CSV of x1, x2, label", placeholder: "x1,x2,label\n5.1,3.5,a\n6.2,2.9,b" });
  const use = button("Use these rows", () => {
    try { keep(fromCsv(area.value)); } catch (error) { notify(error.message); }
  });
  const tools = h("div", { class: "own" }, h("div", { class: "row" }, classes, button("Clear", () => keep([]))),
    h("p", { class: "small quiet" }, "Click adds, shift- or right-click removes; so do arrows, Enter and Delete. From 20 points on, 40 % are held out."));
  const csv = h("details", { class: "small" }, h("summary", {}, "Paste a CSV"), area, use, h("p", { class: "quiet" }, "Both columns are scaled to [-1, 1]."));
  const fit = () => { tools.hidden = !active(); };
  state.on(fit, "data");
  fit();
  return { element: h("div", {}, tools, csv), edit };
}
