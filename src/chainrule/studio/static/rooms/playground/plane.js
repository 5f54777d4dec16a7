// The decision surface with its points; in it own points are drawn.
import { h } from "../../dom.js";
import { bytes, color, paint, sharp } from "../../paint.js";
import { RADIUS } from "./points.js";

/**
 * A square canvas. draw(view, options) shows a view; options: test (show held-out points), unit ({canvas, row, name}).
 * edit: {active(), add(x, y), remove(x, y)} says whether points may be drawn, and takes them.
 */
export function plane(edit) {
  const element = h("canvas", { class: "plane", tabindex: "0", role: "img", "aria-label": "Decision surface" });
  const surface = document.createElement("canvas");
  let last = null;
  let cursor = null; // [x, y] in data coordinates, moved by the arrow keys

  const frame = (view) => ({ center: view?.center || [0, 0], radius: view?.radius || RADIUS });
  const place = (event) => {
    const box = element.getBoundingClientRect();
    const { center, radius } = frame(last?.view);
    return [center[0] + radius * ((2 * (event.clientX - box.left)) / box.width - 1), center[1] - radius * ((2 * (event.clientY - box.top)) / box.height - 1)];
  };
  element.addEventListener("click", (event) => {
    if (!edit.active()) return;
    if (event.shiftKey) edit.remove(...place(event));
    else edit.add(...place(event));
  });
  element.addEventListener("contextmenu", (event) => {
    if (!edit.active()) return;
    event.preventDefault();
    edit.remove(...place(event));
  });
  element.addEventListener("keydown", (event) => {
    if (!edit.active()) return;
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const move = moves[event.key];
    cursor ||= [0, 0];
    if (move) cursor = cursor.map((at, k) => Math.min(RADIUS, Math.max(-RADIUS, at + 0.06 * move[k])));
    else if (event.key === "Enter" || event.key === " ") edit.add(...cursor);
    else if (event.key === "Delete" || event.key === "Backspace") edit.remove(...cursor);
    else return;
    event.preventDefault();
    redraw();
  });
  element.addEventListener("blur", () => { cursor = null; redraw(); });

  function redraw() {
    if (last) draw(last.view, last.options);
  }

  function draw(view, options = {}) {
    last = { view, options };
    const size = element.clientWidth;
    if (!size) return;
    const context = sharp(element, size, size);
    context.fillStyle = "#ffffff";
    context.fillRect(0, 0, size, size);
    const { center, radius } = frame(view);
    const at = ([x, y]) => [((x - center[0]) / radius + 1) * (size / 2), (1 - (y - center[1]) / radius) * (size / 2)];
    if (view.surface) {
      if (view !== surface.view) { paint(surface, view.surface); surface.view = view; }
      const { unit } = options;
      if (unit) context.drawImage(unit.canvas, 0, unit.row * unit.side, unit.side, unit.side, 0, 0, size, size);
      else context.drawImage(surface, 0, 0, size, size);
      context.fillStyle = "rgb(255 255 255 / .42)"; // so that the points stand out
      context.fillRect(0, 0, size, size);
      if (view.regions) outlines(context, view.regions, at);
      boundary(context, view.surface, size);
    }
    if (view.test && options.test) points(context, view.test, at, false);
    if (view.train) points(context, view.train, at, true);
    if (view.mistake) ring(context, at(view.mistake), 10, color("red"), 3);
    if (cursor && edit.active()) cross(context, at(cursor));
    element.setAttribute("aria-label", described(view, options));
  }

  return { element, surface, draw, redraw };
}

function described(view, { unit } = {}) {
  const parts = [unit ? unit.name : view.surface ? "Decision surface: blue is class 0, orange class 1, the black line is the boundary" : "Empty plane"];
  if (view.train) parts.push(`${view.train.y.length} training points, ${view.train.wrong.length} on the wrong side`);
  if (view.test?.y.length) parts.push(`${view.test.y.length} test points, ${view.test.wrong.length} on the wrong side`);
  return parts.join("; ");
}

function points(context, { x, y, wrong }, at, filled) {
  const missed = new Set(wrong);
  const many = x.length > 250;
  const size = many ? 3.4 : 4.4;
  const hues = [color("blue"), color("orange")]; // reading a color costs more than drawing a point
  const ink = color("ink");
  for (let k = 0; k < x.length; k++) {
    const [left, top] = at(x[k]);
    context.beginPath();
    if (y[k]) {
      context.moveTo(left, top - 1.25 * size);
      context.lineTo(left + 1.15 * size, top + 0.85 * size);
      context.lineTo(left - 1.15 * size, top + 0.85 * size);
      context.closePath();
    } else context.arc(left, top, size, 0, 2 * Math.PI);
    const hue = hues[y[k]];
    context.fillStyle = filled ? hue : "#ffffff";
    context.fill();
    context.strokeStyle = filled ? "#ffffff" : hue;
    context.lineWidth = filled ? 1 : 1.6;
    context.stroke();
    if (missed.has(k)) ring(context, [left, top], size + 3.5, ink, 1.4);
  }
}

function ring(context, [left, top], size, hue, width) {
  context.beginPath();
  context.arc(left, top, size, 0, 2 * Math.PI);
  context.strokeStyle = hue;
  context.lineWidth = width;
  context.stroke();
}

function cross(context, [left, top]) {
  context.strokeStyle = color("ink");
  context.lineWidth = 1.5;
  context.beginPath();
  for (const [dx, dy] of [[1, 0], [0, 1]]) {
    context.moveTo(left - 11 * dx, top - 11 * dy);
    context.lineTo(left + 11 * dx, top + 11 * dy);
  }
  context.stroke();
}

/** The edges of the linear regions. */
function outlines(context, regions, at) {
  context.strokeStyle = "rgb(34 34 34 / .55)";
  context.lineWidth = 0.8;
  context.beginPath();
  for (const corners of regions) {
    for (let k = 0; k < corners.length; k += 2) {
      const [left, top] = at([corners[k], corners[k + 1]]);
      if (k) context.lineTo(left, top);
      else context.moveTo(left, top);
    }
    context.closePath();
  }
  context.stroke();
}

/** The line where the surface is one half: in every square of four pixels the crossings of its sides. */
function boundary(context, raster, size) {
  const side = raster.shape[0];
  const values = bytes(raster);
  const scale = size / side;
  context.strokeStyle = color("ink");
  context.lineWidth = 1.8;
  context.beginPath();
  for (let row = 0; row + 1 < side; row++) {
    for (let column = 0; column + 1 < side; column++) {
      const corners = [[row, column], [row, column + 1], [row + 1, column + 1], [row + 1, column]];
      const heights = corners.map(([r, c]) => values[r * side + c] - 127.5);
      if (Math.min(...heights) > 0 || Math.max(...heights) < 0) continue;
      const ends = [];
      for (let k = 0; k < 4; k++) {
        const next = (k + 1) % 4;
        if (heights[k] * heights[next] >= 0) continue;
        const share = heights[k] / (heights[k] - heights[next]);
        ends.push([0, 1].map((axis) => (corners[k][axis] + share * (corners[next][axis] - corners[k][axis]) + 0.5) * scale));
      }
      for (let k = 0; k + 1 < ends.length; k += 2) {
        context.moveTo(ends[k][1], ends[k][0]);
        context.lineTo(ends[k + 1][1], ends[k + 1][0]);
      }
    }
  }
  context.stroke();
}
