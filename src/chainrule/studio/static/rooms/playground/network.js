// The network as a diagram: every unit is the map of its output, every weight a line.
import { h } from "../../dom.js";
import { color, paint, series, sharp, theme } from "../../paint.js";

/** A canvas; look(unit or null) is called when a unit is pointed at. draw(view, surface) shows a view. */
export function network(look) {
  const element = h("canvas", { class: "network", tabindex: "0", role: "img", "aria-label": "Network" });
  const layers = []; // one canvas per hidden layer, its units one below the other
  let nodes = []; // [{layer, row, x, y, size}]
  let chosen = null; // index into nodes
  let last = null;

  const choose = (index) => {
    if (index === chosen) return;
    chosen = index;
    look(unit());
    if (last) draw(...last);
  };
  const unit = () => {
    const node = nodes[chosen];
    if (!node || !layers[node.layer]) return null;
    const side = layers[node.layer].width;
    return { canvas: layers[node.layer], row: node.row, side, name: `Output of unit ${node.row + 1} in hidden layer ${node.layer + 1}` };
  };
  element.addEventListener("pointermove", (event) => {
    const box = element.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const found = nodes.findIndex((node) => Math.abs(x - node.x) <= node.size / 2 && Math.abs(y - node.y) <= node.size / 2);
    choose(found >= 0 ? found : null);
  });
  element.addEventListener("pointerleave", () => choose(null));
  element.addEventListener("blur", () => choose(null));
  element.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return choose(null);
    const node = nodes[chosen];
    const [across, down] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key] || [0, 0];
    if (!across && !down) return;
    event.preventDefault();
    const [layer, row] = node ? [node.layer + across, node.row + down] : [0, 0];
    const found = nodes.findIndex((other) => other.layer === layer && other.row === row);
    if (found >= 0) choose(found);
  });

  function draw(view, surface) {
    last = [view, surface];
    const [width, height] = [element.clientWidth, element.clientHeight];
    if (!width || !height) return;
    const context = sharp(element, width, height);
    const sizes = view.weights.length ? [view.weights[0][0].length, ...view.weights.map((matrix) => matrix.length)] : [];
    element.setAttribute("aria-label", sizes.length ? `Network with layers of ${sizes.join(", ")} units; lines are weights, solid orange positive, dashed blue negative` : "This model is no network");
    if (view !== layers.view) {
      view.units.forEach((raster, k) => {
        layers[k] ||= document.createElement("canvas");
        const [count, side] = raster.shape;
        paint(layers[k], { ...raster, shape: [count * side, side] });
      });
      layers.length = view.units.length;
      layers.view = view;
    }
    if (!sizes.length) return empty(context, width, height, view.step === undefined ? "waits for points of both classes" : "no units and no weights: only a decision surface");
    const columns = positions(sizes, width, height);
    lines(context, columns, view.weights);
    nodes = [];
    const [frame, marked] = [theme().quiet, color("red")];
    columns.forEach((column, k) => column.forEach((node, row) => {
      const { x, y, size } = node;
      const corner = [x - size / 2, y - size / 2, size, size];
      if (k === 0) gradient(context, corner, row);
      else if (k === columns.length - 1) context.drawImage(surface, ...corner);
      else {
        const canvas = layers[k - 1];
        context.drawImage(canvas, 0, row * canvas.width, canvas.width, canvas.width, ...corner);
        nodes.push({ ...node, layer: k - 1, row });
      }
      const picked = nodes[chosen] && nodes[chosen].layer === k - 1 && nodes[chosen].row === row;
      context.strokeStyle = picked ? marked : frame;
      context.lineWidth = picked ? 3 : 1;
      context.strokeRect(...corner);
    }));
    captions(context, columns, height);
  }

  return { element, draw };
}

function positions(sizes, width, height) {
  const most = Math.max(...sizes);
  const size = Math.max(10, Math.min(44, (height - 34) / most - 5, (width / sizes.length) * 0.55));
  return sizes.map((count, k) => {
    const x = 28 + size / 2 + (k * (width - 56 - size)) / Math.max(1, sizes.length - 1);
    const gap = Math.min(size + 16, (height - 30) / count);
    return Array.from({ length: count }, (_, row) => ({ x, y: (height - 22) / 2 + (row - (count - 1) / 2) * gap, size }));
  });
}

function lines(context, columns, weights) {
  const [negative, positive, none] = [series(0), series(1), theme().line];
  weights.forEach((matrix, k) => {
    const largest = Math.max(1e-9, ...matrix.flat().map(Math.abs));
    matrix.forEach((row, upper) => row.forEach((weight, lower) => {
      const [from, to] = [columns[k][lower], columns[k + 1][upper]];
      const [left, right] = [from.x + from.size / 2, to.x - to.size / 2];
      const share = Math.abs(weight) / largest;
      context.strokeStyle = weight > 0 ? positive : weight < 0 ? negative : none;
      context.globalAlpha = weight ? 0.25 + 0.75 * share : 1;
      context.lineWidth = 0.5 + 4 * share;
      context.setLineDash(weight < 0 ? [6, 4] : []);
      context.beginPath();
      context.moveTo(left, from.y);
      context.bezierCurveTo((left + right) / 2, from.y, (left + right) / 2, to.y, right, to.y);
      context.stroke();
    }));
  });
  context.globalAlpha = 1;
  context.setLineDash([]);
}

/** The inputs are maps too: x₁ from left to right, x₂ from bottom to top. */
function gradient(context, [left, top, size], row) {
  const fill = row ? context.createLinearGradient(0, top + size, 0, top) : context.createLinearGradient(left, 0, left + size, 0);
  fill.addColorStop(0, color("blue"));
  fill.addColorStop(0.5, "#ffffff");
  fill.addColorStop(1, color("orange"));
  context.fillStyle = fill;
  context.fillRect(left, top, size, size);
}

function captions(context, columns, height) {
  context.fillStyle = theme().quiet;
  context.font = "12px system-ui";
  context.textAlign = "center";
  columns.forEach((column, k) => {
    const name = k === 0 ? "inputs" : k === columns.length - 1 ? "output" : columns.length > 6 ? `${k}` : `layer ${k}`;
    context.fillText(name, column[0].x, height - 5);
  });
  context.textAlign = "right";
  context.textBaseline = "middle";
  columns[0].forEach(({ x, y, size }, row) => context.fillText(row ? "x₂" : "x₁", x - size / 2 - 5, y));
  context.textBaseline = "alphabetic";
}

function empty(context, width, height, text) {
  context.fillStyle = theme().quiet;
  context.font = "14px system-ui";
  context.textAlign = "center";
  context.fillText(text, width / 2, height / 2);
}
