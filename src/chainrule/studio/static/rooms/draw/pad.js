// A pad to draw digits on, with mouse, pen, finger or keys. Strokes are kept as text, so that a link holds them.
import { h } from "../../dom.js";
import { button } from "../../controls.js";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"; // coordinates 0 … 63
const SIDE = 56; // pixels of what is sent
const WRITTEN = [
  [[[32, 11], [22, 17], [18, 32], [22, 47], [32, 53], [42, 47], [46, 32], [42, 17], [32, 11]]],
  [[[24, 20], [34, 12], [34, 52]]],
  [[[19, 22], [24, 13], [34, 11], [43, 17], [42, 27], [32, 38], [19, 51], [32, 51], [46, 51]]],
  [[[20, 15], [31, 11], [41, 16], [40, 26], [29, 31], [41, 36], [43, 45], [34, 53], [20, 49]]],
  [[[26, 11], [19, 35], [46, 35]], [[39, 22], [36, 53]]],
  [[[42, 12], [23, 12], [21, 29], [32, 26], [42, 33], [42, 45], [32, 52], [20, 48]]],
  [[[38, 11], [26, 22], [20, 38], [25, 50], [37, 51], [42, 42], [36, 33], [25, 35], [21, 41]]],
  [[[19, 13], [32, 13], [44, 13], [34, 32], [28, 53]]],
  [[[32, 31], [22, 24], [24, 14], [33, 11], [41, 16], [40, 24], [31, 31], [21, 40], [23, 49], [33, 53], [42, 47], [41, 39], [32, 31]]],
  [[[41, 21], [34, 29], [24, 26], [23, 16], [33, 11], [41, 17], [41, 30], [37, 53]]],
];

/** Strokes as text: two letters a point, a dot between strokes. */
export function encode(strokes) {
  return strokes.map((stroke) => stroke.map(([x, y]) => LETTERS[x] + LETTERS[y]).join("")).join(".");
}

export function decode(text) {
  return text.split(".").filter(Boolean).map((part) =>
    Array.from({ length: part.length >> 1 }, (_, k) => [part[2 * k], part[2 * k + 1]].map((letter) => Math.max(0, LETTERS.indexOf(letter)))));
}

/** How a digit is written. */
export function written(digit) {
  return encode(WRITTEN[digit]);
}

/** A button whose text is short and whose name is not. */
function named(text, name, act) {
  const made = button(text, act, { title: name });
  made.setAttribute("aria-label", name);
  return made;
}

/** The pad; `state` holds `strokes` and `pen`, `changed(ink)` hears every change as base64 pixels. */
export function pad(state, changed) {
  const canvas = h("canvas", { class: "pad", width: 512, height: 512, tabindex: 0, role: "application", "aria-label": "Drawing pad. Draw with the mouse or a finger; keys 0 to 9 write a digit, arrow keys move it, Delete clears." });
  const small = h("canvas", { width: SIDE, height: SIDE });
  let strokes = decode(state.get("strokes"));
  let drawing = false;

  const render = (target) => {
    const context = target.getContext("2d", { willReadFrequently: true });
    const scale = target.width / 64;
    Object.assign(context, { fillStyle: "#000", strokeStyle: "#fff", lineWidth: state.get("pen") * scale, lineCap: "round", lineJoin: "round" });
    context.fillRect(0, 0, target.width, target.height);
    for (const stroke of strokes) {
      context.beginPath();
      const at = stroke.map(([x, y]) => [(x + 0.5) * scale, (y + 0.5) * scale]);
      context.moveTo(...at[0]);
      for (let k = 1; k < at.length - 1; k++) context.quadraticCurveTo(...at[k], (at[k][0] + at[k + 1][0]) / 2, (at[k][1] + at[k + 1][1]) / 2);
      context.lineTo(...at[at.length - 1]);
      context.stroke();
    }
    return context;
  };
  const ink = () => {
    const { data } = render(small).getImageData(0, 0, SIDE, SIDE);
    return btoa(String.fromCharCode(...data.filter((_, k) => k % 4 === 0)));
  };
  const update = () => { render(canvas); changed(ink()); };
  const keep = () => state.set({ strokes: encode(strokes) });
  const put = (next) => { strokes = next; keep(); };
  const move = (dx, dy) => {
    const xs = strokes.flat().map(([x]) => x);
    const ys = strokes.flat().map(([, y]) => y);
    if (!xs.length || Math.min(...xs) + dx < 0 || Math.max(...xs) + dx > 63 || Math.min(...ys) + dy < 0 || Math.max(...ys) + dy > 63) return;
    put(strokes.map((stroke) => stroke.map(([x, y]) => [x + dx, y + dy])));
  };
  const point = (event) => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height].map((part) => Math.max(0, Math.min(63, Math.floor(64 * part))));
  };

  canvas.addEventListener("pointerdown", (event) => {
    drawing = true;
    canvas.setPointerCapture(event.pointerId);
    strokes.push([point(event)]);
    update();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drawing) return;
    const stroke = strokes[strokes.length - 1];
    const [x, y] = stroke[stroke.length - 1];
    const now = point(event);
    if (Math.hypot(now[0] - x, now[1] - y) < 2 || strokes.flat().length > 400) return;
    stroke.push(now);
    update();
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { if (drawing) { drawing = false; keep(); } });
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: [-2, 0], ArrowRight: [2, 0], ArrowUp: [0, -2], ArrowDown: [0, 2] }[event.key];
    if (by) move(...by);
    else if (/^\d$/.test(event.key)) put(decode(written(event.key)));
    else if (["Delete", "Backspace"].includes(event.key)) put([]);
    else return;
    event.preventDefault();
  });
  state.on(() => {
    if (!drawing) strokes = decode(state.get("strokes"));
    update();
  }, "strokes", "pen");
  render(canvas);

  const arrows = [["←", "left", -2, 0], ["↑", "up", 0, -2], ["↓", "down", 0, 2], ["→", "right", 2, 0]];
  const element = h("div", { class: "stack pad-box" }, canvas,
    h("div", { class: "keys", role: "group", "aria-label": "Write a digit" }, WRITTEN.map((_, digit) => named(String(digit), `Write a ${digit}`, () => put(decode(written(digit)))))),
    h("div", { class: "keys", role: "group", "aria-label": "Move or clear the drawing" },
      arrows.map(([text, name, dx, dy]) => named(text, `Move ${name}`, () => move(dx, dy))),
      button("Clear", () => put([]), { title: "Clear the pad" })));
  return { element, ink };
}
