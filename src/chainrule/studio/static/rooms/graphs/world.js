// A grid world on a canvas: values or Q-values, arrows, the agent; cells are edited by clicks or keys.
import { h } from "../../dom.js";
import { SCALES, color, sharp, theme } from "../../paint.js";

const WIDTH = 610;
const HEIGHT = 500;
const WAYS = [[0, -1], [1, 0], [0, 1], [-1, 0]]; // up, right, down, left, as the library has them
const NAMES = { ".": "ground", "#": "wall", S: "start", G: "goal", X: "pit" };
const ARROWS = "↑→↓←";
const two = (v) => v.toFixed(2).replace("-", "−");

/** options: put(row, column, mark or undefined for the present tool). */
export function world({ put }) {
  const canvas = h("canvas", { class: "world", tabindex: "0", "data-keys": "", role: "application", "aria-label": "Map of the grid world. Arrow keys move, Enter puts the chosen thing; # wall, x pit, g goal, s start, . ground" });
  const status = h("p", { class: "small quiet key", role: "status" }, "Click a cell to place the item chosen above; click again to remove it.");
  let found = null;
  let triangles = false;
  let size = 50;
  let cursor = null;
  let painting = null; // the cell that the pressed pointer changed last
  let told = null; // the cell of which the line below the map speaks

  const cell = (event) => {
    const box = canvas.getBoundingClientRect();
    return [Math.floor((event.clientY - box.top) / size), Math.floor((event.clientX - box.left) / size)];
  };
  const inside = ([row, column]) => found && row >= 0 && column >= 0 && row < found.rows.length && column < found.rows[0].length;
  const say = (at) => {
    const [row, column] = (told = at);
    const s = found.cells.findIndex(([y, x]) => y === row && x === column);
    const mark = found.rows[row][column];
    const known = s < 0 || "GX".includes(mark) ? "" : `, V ${two(found.V[s])}, best ${ARROWS[found.policy[s]]}, Q ${found.Q[s].map((q, a) => `${ARROWS[a]} ${two(q)}`).join("  ")}`;
    status.textContent = `Row ${row + 1}, column ${column + 1}: ${NAMES[mark]}${known}`;
  };
  canvas.addEventListener("pointerdown", (event) => {
    const at = cell(event);
    if (!inside(at)) return;
    cursor = null;
    painting = at.join();
    canvas.setPointerCapture(event.pointerId);
    put(...at);
  });
  canvas.addEventListener("pointermove", (event) => {
    const at = cell(event);
    if (!inside(at)) return;
    if (painting !== null && painting !== at.join()) {
      painting = at.join();
      put(...at);
    } else if (painting === null) say(at);
  });
  canvas.addEventListener("pointerup", () => { painting = null; });
  canvas.addEventListener("keydown", (event) => {
    if (!found) return;
    const move = { ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowDown: [1, 0], ArrowLeft: [0, -1] }[event.key];
    const mark = { "#": "#", x: "X", g: "G", s: "S", ".": "." }[event.key];
    cursor = cursor || [0, 0];
    if (move) cursor = cursor.map((c, k) => Math.min((k ? found.rows[0].length : found.rows.length) - 1, Math.max(0, c + move[k])));
    else if (event.key === "Enter" || event.key === " ") put(...cursor);
    else if (mark) put(...cursor, mark);
    else return;
    event.preventDefault();
    draw(found, triangles);
    say(cursor);
  });
  canvas.addEventListener("blur", () => { cursor = null; if (found) draw(found, triangles); });

  function draw(content, split) {
    found = content;
    triangles = split;
    if (told && inside(told)) say(told);
    const [rows, columns] = [found.rows.length, found.rows[0].length];
    size = Math.floor(Math.min(WIDTH / columns, HEIGHT / rows, 120));
    canvas.style.width = `${size * columns}px`;
    canvas.style.height = `${size * rows}px`;
    const context = sharp(canvas, size * columns, size * rows);
    const most = Math.max(...found.Q.flat().map(Math.abs), 0.05);
    const shade = (v) => { const [r, g, b] = SCALES.diverging[Math.round(127.5 * (1 + v / most))]; return `rgb(${r} ${g} ${b})`; };
    const ink = (v) => (v < -0.45 * most ? "#ffffff" : "#222222");
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillStyle = theme().quiet;
    context.fillRect(0, 0, size * columns, size * rows); // walls
    found.cells.forEach(([row, column], s) => {
      context.save();
      context.translate((column + 0.5) * size, (row + 0.5) * size);
      ground(context, found.rows[row][column], s, split, shade, ink);
      context.restore();
    });
    walls(context);
    agent(context);
    if (cursor) {
      context.strokeStyle = color("red");
      context.lineWidth = 3;
      context.strokeRect(cursor[1] * size + 2, cursor[0] * size + 2, size - 4, size - 4);
    }
  }
  function ground(context, mark, s, split, shade, ink) {
    const half = size / 2 - 0.5;
    if (mark === "G" || mark === "X") {
      context.fillStyle = color(mark === "G" ? "orange" : "blue");
      context.fillRect(-half, -half, 2 * half, 2 * half);
      context.fillStyle = mark === "G" ? "#222222" : "#ffffff";
      context.font = `700 ${Math.round(size / 4)}px system-ui`;
      context.fillText(mark === "G" ? "goal" : "pit", 0, -size / 8);
      context.fillText(mark === "G" ? "+1" : "−1", 0, size / 6);
      return;
    }
    if (split) quarters(context, s, half, shade, ink);
    else {
      context.fillStyle = shade(found.V[s]);
      context.fillRect(-half, -half, 2 * half, 2 * half);
      context.fillStyle = context.strokeStyle = ink(found.V[s]);
      context.font = `${Math.max(10, Math.round(size / 4.6))}px system-ui`;
      context.fillText(two(found.V[s]), 0, size * 0.27);
      arrow(context, WAYS[found.policy[s]], size * 0.2, -size * 0.12);
    }
    if (mark === "S") {
      context.fillStyle = "#222222";
      context.font = `700 ${Math.round(size / 5)}px system-ui`;
      context.fillText("S", -size * 0.36, -size * 0.34);
    }
  }
  function quarters(context, s, half, shade, ink) {
    WAYS.forEach(([x, y], a) => {
      context.beginPath();
      context.moveTo(0, 0);
      context.lineTo((x - y) * half, (y + x) * half);
      context.lineTo((x + y) * half, (y - x) * half);
      context.closePath();
      context.fillStyle = shade(found.Q[s][a]);
      context.fill();
      context.strokeStyle = "rgb(120 120 120 / .55)";
      context.lineWidth = 1;
      context.stroke();
      if (size < 72) return;
      context.fillStyle = ink(found.Q[s][a]);
      context.font = `${found.policy[s] === a ? "700 " : ""}${Math.max(9, Math.round(size / 7.4))}px system-ui`;
      context.fillText(two(found.Q[s][a]), x * half * 0.62, y * half * 0.68);
    });
    context.strokeStyle = context.fillStyle = "#222222";
    arrow(context, WAYS[found.policy[s]], Math.max(7, size * 0.1), 0);
  }
  function arrow(context, [x, y], length, above) {
    context.save();
    context.translate(0, above);
    context.rotate(Math.atan2(y, x));
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(-length, 0);
    context.lineTo(length * 0.6, 0);
    context.stroke();
    context.beginPath();
    context.moveTo(length, 0);
    context.lineTo(length * 0.3, -length * 0.45);
    context.lineTo(length * 0.3, length * 0.45);
    context.closePath();
    context.fill();
    context.restore();
  }
  function walls(context) {
    context.strokeStyle = theme().surface;
    context.lineWidth = 1.5;
    found.rows.forEach((row, y) => [...row].forEach((mark, x) => {
      if (mark !== "#") return;
      context.save();
      context.beginPath();
      context.rect(x * size + 1, y * size + 1, size - 2, size - 2);
      context.clip();
      context.beginPath();
      for (let k = -size; k < size; k += 9) { context.moveTo(x * size + k, (y + 1) * size); context.lineTo(x * size + k + size, y * size); }
      context.globalAlpha = 0.35;
      context.stroke();
      context.restore();
    }));
  }
  function agent(context) {
    const trail = found.trail || [];
    trail.forEach(([row, column], k) => {
      const last = k === trail.length - 1;
      context.beginPath();
      context.arc((column + 0.5) * size, (row + 0.5) * size, last ? size * 0.14 : size * 0.06, 0, 7);
      context.fillStyle = color("red");
      context.globalAlpha = last ? 1 : (k + 1) / (trail.length + 1);
      context.fill();
      context.globalAlpha = 1;
      if (!last) return;
      context.lineWidth = 2.5;
      context.strokeStyle = "#ffffff";
      context.stroke();
    });
  }
  return { element: canvas, status, draw, redraw: () => found && draw(found, triangles) };
}
