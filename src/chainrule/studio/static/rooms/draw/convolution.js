// A kernel of one's own on a picture, and the products behind every output pixel.
import { h, number, show, notify } from "../../dom.js";
import { button, choice, panel, slider } from "../../controls.js";
import { paint } from "../../paint.js";
import { about, steered } from "./stage.js";

const PRESETS = {
  Identity: [0, 0, 0, 0, 1, 0, 0, 0, 0],
  Blur: Array(9).fill(0.1111),
  "Gaussian 5 × 5": [1, 4, 6, 4, 1, 4, 16, 24, 16, 4, 6, 24, 36, 24, 6, 4, 16, 24, 16, 4, 1, 4, 6, 4, 1].map((v) => Number((v / 256).toFixed(4))),
  Sharpen: [0, -1, 0, -1, 5, -1, 0, -1, 0],
  "Sobel x": [-1, 0, 1, -2, 0, 2, -1, 0, 1],
  "Sobel y": [-1, -2, -1, 0, 0, 0, 1, 2, 1],
  Laplacian: [0, 1, 0, 1, -4, 1, 0, 1, 0],
  Emboss: [-2, -1, 0, -1, 1, 1, 0, 1, 2],
};
export const defaults = { image: "china", kernel: PRESETS["Sobel x"].join(" "), stride: 1, padding: 1, dilation: 1, row: 60, column: 84 };

export function open(stage, state) {
  let own = {};
  let latest = null;
  const weights = () => state.get("kernel").split(" ").map((text) => (Number.isFinite(Number(text)) ? Number(text) : 0));
  const input = picture("The picture under the kernel");
  const output = picture("The output; move over it, click, or use the arrow keys to choose a pixel");
  Object.entries({ tabindex: 0, role: "application" }).forEach(([name, value]) => output.canvas.setAttribute(name, value));
  const status = h("p", { class: "small bad", role: "status" });
  const range = h("p", { class: "small quiet" });
  const sums = h("div", { class: "products" });
  const grid = h("div", { class: "kernel", role: "group", "aria-label": "Kernel" });

  const file = h("input", { type: "file", accept: "image/png,image/jpeg", id: "own-picture", onchange: () => file.files[0] && take(file.files[0]) });
  const drop = h("div", { class: "drop" }, h("label", { for: "own-picture" }, "Your picture: drop it here, or "), file);
  drop.addEventListener("dragover", (event) => event.preventDefault());
  drop.addEventListener("drop", (event) => { event.preventDefault(); if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]); });

  stage.append(h("div", { class: "columns side" },
    panel("Kernel", {}, grid,
      h("div", { class: "row presets" }, Object.entries(PRESETS).map(([name, values]) => button(name, () => state.set({ kernel: values.join(" ") })))),
      h("div", { class: "row presets" }, button("3 × 3", () => resize(3)), button("5 × 5", () => resize(5)), button("Flip", () => state.set({ kernel: weights().reverse().join(" ") }), { title: "Convolution turns the kernel by 180°, cross-correlation does not" })),
      slider(state, "stride", { label: "Stride", min: 1, max: 4 }), slider(state, "padding", { label: "Padding", min: 0, max: 8 }), slider(state, "dilation", { label: "Dilation", min: 1, max: 4 }),
      choice(state, "image", { label: "Picture", options: [["china", "temple"], ["flower", "flower"], ["digit", "digit, 8 × 8"], ["own", "your own"]] }), drop),
    h("div", { class: "stack" },
      panel(null, {}, h("div", { class: "pictures" },
        h("figure", {}, h("h2", {}, "Input x"), input.box), h("figure", {}, h("h2", {}, "Output y"), output.box)), range, status),
      h("div", { class: "columns convolution-below" }, panel("One output pixel: pixel · weight, summed", {}, sums),
        about("y_ij = Σ_ab w_ab · x_{si + da − p, sj + db − p}", "A kernel looks at every place with the same weights. Choose an output pixel to see its products; s is the stride, d the dilation, p the padding. Networks call this cross-correlation a convolution.",
          [["models", "cnn", "CNN"], ["claims", "shift-equivariance", "shift equivariance"], ["claims", "convolution-commutes", "convolution commutes"], ["claims", "toeplitz-fourier", "Toeplitz and Fourier"], ["claims", "convolution-backward", "its gradients"]])))));

  const settings = () => ({ image: state.get("image"), kernel: weights(), stride: state.get("stride"), padding: state.get("padding"), dilation: state.get("dilation"), row: state.get("row"), column: state.get("column"), ...own });
  const channel = steered("convolution", { view, error: (text) => { status.textContent = text; } });
  state.on((names) => {
    if (names.includes("kernel")) fields();
    if (state.get("image") === "own" && !own.pixels) return notify("Drop a PNG, JPEG or WebP picture first, or choose one.");
    channel.set(settings());
  });
  output.canvas.addEventListener("pointermove", (event) => latest && channel.set({ ...settings(), ...place(event) }));
  output.canvas.addEventListener("pointerleave", () => latest && channel.set(settings()));
  output.canvas.addEventListener("click", (event) => latest && state.set(place(event)));
  output.canvas.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!by || !latest) return;
    const [rows, columns] = latest.output.shape;
    const { row, column } = latest.pixel;
    state.set({ row: Math.max(0, Math.min(rows - 1, row + by[0])), column: Math.max(0, Math.min(columns - 1, column + by[1])) });
    event.preventDefault();
  });
  fields();
  if (state.get("image") === "own") state.set({ image: "china" });
  else channel.set(settings());

  function place(event) {
    const box = output.canvas.getBoundingClientRect();
    const [rows, columns] = latest.output.shape;
    const at = (part, whole, count) => Math.max(0, Math.min(count - 1, Math.floor((part / whole) * count)));
    return { row: at(event.clientY - box.top, box.height, rows), column: at(event.clientX - box.left, box.width, columns) };
  }

  function fields() {
    const values = weights();
    const side = Math.sqrt(values.length);
    grid.classList.toggle("wide", side === 5);
    show(grid, values.map((value, k) => {
      const field = h("input", { type: "number", step: "any", value, "aria-label": `Weight in row ${Math.floor(k / side) + 1}, column ${(k % side) + 1}`, onchange: () => {
        const next = weights();
        next[k] = Math.max(-100, Math.min(100, field.valueAsNumber || 0));
        state.set({ kernel: next.join(" ") });
      } });
      return field;
    }));
  }

  function resize(side) {
    const old = weights();
    const was = Math.sqrt(old.length);
    const shift = (side - was) / 2;
    const next = Array.from({ length: side * side }, (_, k) => {
      const [i, j] = [Math.floor(k / side) - shift, (k % side) - shift];
      return i >= 0 && j >= 0 && i < was && j < was ? old[i * was + j] : 0;
    });
    state.set({ kernel: next.join(" ") });
  }

  async function take(chosen) {
    try {
      const bitmap = await createImageBitmap(chosen);
      const scale = Math.min(192 / bitmap.width, 144 / bitmap.height, 1);
      const [width, height] = [bitmap.width, bitmap.height].map((side) => Math.max(1, Math.round(side * scale)));
      const context = Object.assign(h("canvas"), { width, height }).getContext("2d");
      context.drawImage(bitmap, 0, 0, width, height);
      const { data } = context.getImageData(0, 0, width, height);
      let text = "";
      for (let k = 0; k < data.length; k += 4) text += String.fromCharCode(Math.round(0.299 * data[k] + 0.587 * data[k + 1] + 0.114 * data[k + 2]));
      own = { pixels: btoa(text), width, height };
      if (state.get("image") === "own") channel.set(settings());
      else state.set({ image: "own" });
    } catch {
      notify("This file is not a PNG, JPEG or WebP picture.");
    }
  }

  function view(content) {
    latest = content;
    status.textContent = "";
    const { pixel } = content;
    paint(input.canvas, content.input, "gray");
    paint(output.canvas, content.output, content.signed ? "diverging" : "gray");
    const [rows, columns] = content.output.shape;
    range.textContent = `Output: ${rows} × ${columns}, values from ${number(content.range[0], 3)} to ${number(content.range[1], 3)}; ${content.signed ? "blue is negative, white zero, orange positive" : "black is zero, white " + number(content.output.high, 3)}.`;
    const reach = (pixel.under.length - 1) * state.get("dilation") + 1;
    input.mark(pixel.top, pixel.left, reach, content.input.shape);
    output.mark(pixel.row, pixel.column, 1, content.output.shape);
    products(sums, pixel, weights());
  }
  return () => channel.close();
}

/** A canvas with a frame that can be put around some of its pixels. */
function picture(alt) {
  const canvas = h("canvas", { class: "pixels", role: "img", "aria-label": alt });
  const frame = h("div", { class: "frame" });
  const box = h("div", { class: "framed" }, canvas, frame);
  return {
    canvas, box,
    mark(top, left, side, [rows, columns]) {
      box.style.width = `${Math.min(100, (100 * columns) / rows / 1.5)}%`; // as high as a photograph
      Object.assign(frame.style, { top: `${(100 * top) / rows}%`, left: `${(100 * left) / columns}%`, height: `${(100 * side) / rows}%`, width: `${(100 * side) / columns}%` });
    },
  };
}

/** The products of one output pixel as a table. */
function products(box, { row, column, under, products: parts, sum }, weights) {
  const side = under.length;
  const cell = (i, j) => h("td", {}, h("span", { class: "quiet" }, `${number(under[i][j], 2)} · ${number(weights[i * side + j], 3)}`), h("b", {}, number(parts[i][j], 3)));
  show(box, h("table", { class: side === 5 ? "five" : "" }, h("tbody", {}, under.map((_, i) => h("tr", {}, under.map((__, j) => cell(i, j)))))),
    h("p", {}, `y at row ${row}, column ${column}: the sum is `, h("b", { class: "sum" }, number(sum, 4))));
}
