// A figure of a claim: predicted curves, measured points, dashed bounds, upright marks.
import { h, svg, number } from "./dom.js";
import { series as hue } from "./paint.js";

const [LEFT, RIGHT, TOP, BOTTOM] = [64, 14, 24, 44];
const DASHES = ["7 4", "4 4", "2 4"];

/** The figure as an element; options: width, height. */
export function figure(picture, { width = 620, height = 400 } = {}) {
  const dots = Object.entries(picture.points);
  const all = [picture.curves, picture.points, picture.bounds].flatMap((kind) => Object.values(kind));
  const notes = Object.entries(picture.marks);
  const uprights = notes.filter(([, place]) => !Array.isArray(place));
  const x = axis(all.flatMap(([xs]) => xs).concat(uprights.map(([, place]) => place)), picture.log.includes("x"), LEFT, width - RIGHT);
  const y = axis(all.flatMap(([, ys]) => ys), picture.log.includes("y"), height - BOTTOM, TOP);
  const names = Object.keys(picture.curves);
  const place = (name, k) => (names.includes(name) ? names.indexOf(name) : k);
  const drawing = svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "figure", role: "img", "aria-label": described(picture) },
    svg("g", { class: "grid" }, x.ticks.map((t) => line(x.at(t), TOP, x.at(t), height - BOTTOM)), y.ticks.map((t) => line(LEFT, y.at(t), width - RIGHT, y.at(t)))),
    x.ticks.map((t) => svg("text", { x: x.at(t), y: height - BOTTOM + 17, "text-anchor": "middle" }, label(t, x.log))),
    y.ticks.map((t) => svg("text", { x: LEFT - 7, y: y.at(t) + 4, "text-anchor": "end" }, label(t, y.log))),
    svg("text", { x: (LEFT + width - RIGHT) / 2, y: height - 6, "text-anchor": "middle", class: "axis" }, picture.x_label),
    svg("text", { x: 14, y: (TOP + height - BOTTOM) / 2, "text-anchor": "middle", class: "axis", transform: `rotate(-90 14 ${(TOP + height - BOTTOM) / 2})` }, picture.y_label),
    uprights.map(([name, at], k) => [svg("path", { d: `M${x.at(at)} ${TOP}V${height - BOTTOM}`, class: "mark" }), svg("text", { x: x.at(at), y: TOP - 7 - 11 * (k % 2), "text-anchor": "middle", class: "quiet" }, name)]),
    Object.entries(picture.curves).map(([, pair], k) => svg("path", { d: path(pair, x, y), fill: "none", stroke: hue(k), "stroke-width": 2.2 })),
    Object.entries(picture.bounds).map(([, pair], k) => svg("path", { d: path(pair, x, y), class: "bound", "stroke-dasharray": DASHES[k % 3] })),
    dots.map(([name, [xs, ys]], k) => xs.map((at, i) => marker(place(name, k), x.at(at), y.at(ys[i]), ys[i] === null || (y.log && ys[i] <= 0)))),
    notes.filter(([, at]) => Array.isArray(at)).map(([name, [a, b]]) => svg("text", { x: x.at(a) + (x.at(a) < width / 2 ? 8 : -8), y: y.at(b) - 8, "text-anchor": x.at(a) < width / 2 ? "start" : "end", class: "note" }, name)),
  );
  return h("figure", { class: "claim-figure" }, picture.title ? h("figcaption", {}, picture.title) : null, drawing, legend(picture, names, place));
}

function described(picture) {
  const kinds = [["predicted", picture.curves], ["measured", picture.points], ["bound", picture.bounds]];
  const said = kinds.flatMap(([word, kind]) => Object.keys(kind).map((name) => `${name} (${word})`));
  return `${picture.title} ${picture.y_label} against ${picture.x_label}: ${said.join(", ")}`.trim();
}

function line(x1, y1, x2, y2) {
  return svg("path", { d: `M${x1} ${y1}L${x2} ${y2}` });
}

/** A scale from values to pixels with its ticks. */
function axis(values, log, from, to) {
  const shown = values.filter((v) => v !== null && Number.isFinite(v) && (!log || v > 0));
  let [low, high] = [Math.min(...shown), Math.max(...shown)];
  if (!shown.length) [low, high] = [log ? 0.1 : 0, 1];
  if (log) {
    [low, high] = [Math.log10(low), Math.log10(high)];
  }
  const room = (high - low || Math.abs(high) || 1) * 0.05;
  [low, high] = [low - room, high + room];
  const at = (v) => from + ((((log ? Math.log10(Math.max(v, 10 ** low)) : v ?? low) - low) / (high - low)) * (to - from));
  return { at, log, ticks: log ? powers(low, high) : round(low, high) };
}

function round(low, high) {
  const rough = (high - low) / 5;
  const base = 10 ** Math.floor(Math.log10(rough));
  const step = base * [1, 2, 5, 10].find((k) => k * base >= rough);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, k) => Number(((first + k) * step).toPrecision(12)));
}

function powers(low, high) {
  const step = Math.max(1, Math.ceil((high - low) / 6));
  const whole = Array.from({ length: Math.floor(high) - Math.ceil(low) + 1 }, (_, k) => Math.ceil(low) + k).filter((p) => p % step === 0);
  if (whole.length > 1) return whole.map((p) => 10 ** p);
  return [1, 2, 5].flatMap((m) => [Math.floor(low), Math.ceil(low), Math.ceil(high)].map((p) => m * 10 ** p)).filter((t, k, all) => Math.log10(t) >= low && Math.log10(t) <= high && all.indexOf(t) === k);
}

const RAISED = Object.fromEntries([..."-0123456789"].map((c, k) => [c, "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"[k]]));

function label(value, log) {
  const power = Math.log10(value);
  if (log && (value >= 1e4 || value < 1e-3) && Math.abs(power - Math.round(power)) < 1e-9) return `10${[...String(Math.round(power))].map((c) => RAISED[c]).join("")}`;
  return number(value).replace("-", "−");
}

function path([xs, ys], x, y) {
  let pen = "M";
  return xs.map((at, k) => {
    if (at === null || ys[k] === null) { pen = "M"; return ""; }
    const step = `${pen}${x.at(at).toFixed(1)} ${y.at(ys[k]).toFixed(1)}`;
    pen = "L";
    return step;
  }).join("");
}

/** Series differ by shape as well as by color; what a logarithmic axis cannot show is hollow. */
export function marker(k, x, y, hollow = false, size = 4.5) {
  const s = size;
  const shapes = [
    `M${x - s} ${y}a${s} ${s} 0 1 0 ${2 * s} 0a${s} ${s} 0 1 0 ${-2 * s} 0`,
    `M${x - s} ${y - s}h${2 * s}v${2 * s}h${-2 * s}z`,
    `M${x} ${y - 1.2 * s}L${x + 1.15 * s} ${y + 0.9 * s}H${x - 1.15 * s}z`,
    `M${x} ${y - 1.35 * s}L${x + 1.35 * s} ${y}L${x} ${y + 1.35 * s}L${x - 1.35 * s} ${y}z`,
    `M${x} ${y + 1.2 * s}L${x + 1.15 * s} ${y - 0.9 * s}H${x - 1.15 * s}z`,
  ];
  return svg("path", { d: shapes[k % shapes.length], fill: hollow ? "none" : hue(k), class: "dot", stroke: hollow ? hue(k) : undefined });
}

function legend(picture, names, place) {
  const sample = (...parts) => svg("svg", { width: 26, height: 14, "aria-hidden": "true" }, parts);
  const rows = [
    ...names.map((name, k) => [sample(svg("path", { d: "M1 7H25", stroke: hue(k), "stroke-width": 2.2 })), name in picture.points ? `${name}, predicted` : name]),
    ...Object.keys(picture.points).map((name, k) => [sample(marker(place(name, k), 13, 7)), names.includes(name) ? `${name}, measured` : name]),
    ...Object.keys(picture.bounds).map((name, k) => [sample(svg("path", { d: "M1 7H25", class: "bound", "stroke-dasharray": DASHES[k % 3] })), name]),
  ];
  return h("div", { class: "legend" }, rows.map(([key, text]) => h("span", {}, key, text)));
}
