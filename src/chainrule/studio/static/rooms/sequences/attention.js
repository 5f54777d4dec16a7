// Where every head looks: all maps of the language model for a typed text, one of them large.
import { h, show } from "../../dom.js";
import { field, panel } from "../../controls.js";
import { bytes, paint, SCALES, sharp, theme } from "../../paint.js";
import { about, percent, player, remarks, visible } from "./parts.js";
import { networkPanel, phaseButton } from "./writing.js";

export const title = "Attention";
const SIDE = 420;
const EDGE = 22;

export function build(context) {
  const { state, language } = context;
  const remark = remarks();
  const heads = h("div", { class: "heads" });
  const strip = h("div", { class: "strip", role: "group", "aria-label": "The text, a button for each character" });
  const map = h("canvas", { class: "map", role: "img" });
  const heading = h("h2", {}, "Head");
  const sums = h("p", { class: "small quiet steady" });
  const line = h("p", { class: "small steady" });
  let seen = false;
  let content = null;
  let shape = "";

  const token = () => {
    const last = content.tokens.length - 1;
    return state.get("token") < 0 ? last : Math.min(state.get("token"), last);
  };
  const weight = (head, row, column) => {
    const [, , size] = content.maps.shape;
    return (content.values[(head * size + row) * size + column] / 255) * content.peaks.flat(2)[head * size + row];
  };

  function rebuild() { // only when the text or the number of heads has changed
    const [layers, each] = content.maps.shape;
    heads.style.gridTemplateColumns = `repeat(${each}, minmax(0, 1fr))`;
    show(heads, Array.from({ length: layers * each }, (_, k) => {
      const name = `layer ${Math.floor(k / each) + 1}, head ${(k % each) + 1}`;
      return h("button", { type: "button", class: "head", title: name, "aria-label": `Show ${name}`, onclick: () => state.set({ head: k }) }, h("canvas", { class: "pixels" }), h("span", { class: "small" }, `${Math.floor(k / each) + 1}.${(k % each) + 1}`));
    }));
    show(strip, content.tokens.map((text, k) => {
      const choose = () => state.set({ token: k });
      return h("button", { type: "button", class: "token", onmouseenter: choose, onfocus: choose }, visible(text));
    }));
  }

  function drawAll() {
    if (!content || !seen) return;
    const [layers, each, size] = content.maps.shape;
    const head = Math.min(state.get("head"), layers * each - 1);
    [...heads.children].forEach((item, k) => {
      paint(item.firstChild, { shape: [size, size], data: content.slices[k] }, "sequential");
      item.setAttribute("aria-pressed", k === head);
    });
    drawMap(head, size);
    const row = token();
    const shades = SCALES.sequential;
    [...strip.children].forEach((item, k) => {
      const shade = shades[content.values[(head * size + row) * size + k]];
      item.style.backgroundColor = `rgb(${shade.join(" ")})`;
      item.style.color = shade[0] + shade[1] + shade[2] > 380 ? "#1c2024" : "#ffffff";
      item.classList.toggle("masked", k > row);
      item.setAttribute("aria-pressed", k === row);
    });
    heading.textContent = `Layer ${Math.floor(head / each) + 1}, head ${(head % each) + 1}`;
    const most = content.tokens.map((text, k) => [text, k, weight(head, row, k)]).sort((a, b) => b[2] - a[2]).slice(0, 4);
    line.textContent = `“${visible(content.tokens[row])}” (${row + 1}) looks at ${most.map(([text, k, a]) => `“${visible(text)}” (${k + 1}) ${percent(a)}`).join(", ")}`;
    sums.textContent = `Every row sums to one: between ${content.sums[0].toFixed(6)} and ${content.sums[1].toFixed(6)}. Dark: the largest weight of its row. Hatched: the causal mask, what is still to come.`;
    map.setAttribute("aria-label", `${heading.textContent}: rows are characters that look, columns those looked at. ${line.textContent}`);
  }

  function drawMap(head, size) {
    const context2d = sharp(map, SIDE, SIDE);
    const look = theme();
    const cell = (SIDE - EDGE) / size;
    context2d.font = `${Math.min(13, cell * 0.95)}px ui-monospace, monospace`;
    context2d.textAlign = "center";
    context2d.textBaseline = "middle";
    const place = (k) => EDGE + k * cell;
    for (let i = 0; i < size; i++) {
      context2d.fillStyle = look.text;
      context2d.fillText(visible(content.tokens[i]), EDGE / 2, place(i) + cell / 2);
      context2d.fillText(visible(content.tokens[i]), place(i) + cell / 2, EDGE / 2);
      for (let j = 0; j <= i; j++) {
        context2d.fillStyle = `rgb(${SCALES.sequential[content.values[(head * size + i) * size + j]].join(" ")})`;
        context2d.fillRect(place(j), place(i), cell + 0.4, cell + 0.4);
      }
    }
    context2d.save(); // the mask: nobody looks ahead
    context2d.beginPath();
    context2d.moveTo(place(1), EDGE);
    for (let i = 0; i < size; i++) { context2d.lineTo(place(i + 1), place(i)); context2d.lineTo(place(i + 1), place(i + 1)); }
    context2d.lineTo(SIDE, EDGE);
    context2d.clip();
    context2d.strokeStyle = look.line;
    context2d.beginPath();
    for (let k = -SIDE; k < SIDE; k += 7) { context2d.moveTo(k, 0); context2d.lineTo(k + SIDE, SIDE); }
    context2d.stroke();
    context2d.restore();
    context2d.strokeStyle = look.text;
    context2d.lineWidth = 1.5;
    context2d.strokeRect(EDGE, place(token()), (token() + 1) * cell, cell);
  }

  map.addEventListener("mousemove", (event) => {
    if (!content) return;
    const row = Math.floor((event.offsetY - EDGE) / ((SIDE - EDGE) / content.tokens.length));
    if (row >= 0 && row < content.tokens.length) state.set({ token: row });
  });
  language.on((view) => {
    if (!seen) return;
    const none = !view.loading && !view.attention && !view.problem;
    remark.set(none ? { ...view, problem: "this network has no attention: choose the GPT" } : view);
    if (!view.attention) return;
    content = view.attention;
    const [layers, each, size] = content.maps.shape;
    content.values = bytes(content.maps);
    content.slices = Array.from({ length: layers * each }, (_, k) => btoa(String.fromCharCode(...content.values.subarray(k * size * size, (k + 1) * size * size))));
    const now = `${layers} ${each} ${content.tokens.join("")}`;
    if (now !== shape) { shape = now; rebuild(); }
    drawAll();
  });
  state.on(drawAll, "head", "token");
  state.on(() => { state.set({ token: -1 }); language.send({ attended: state.get("attended").slice(0, 48) }); }, "attended");
  document.addEventListener("themechange", drawAll);

  const element = h("div", { class: "columns three" },
    h("div", { class: "stack" }, networkPanel(context), panel("Training", {}, h("div", { class: "row" }, player(language), phaseButton(language)), h("p", { class: "small quiet" }, "The maps change while the network learns. It is the one that writes in the first tab."))),
    panel("", { class: "wide" }, field(state, "attended", { label: "Text, up to 48 characters" }), remark.element, strip, heading, map, line, sums),
    h("div", { class: "stack" },
      about("A = softmax(Q Kᵀ / √d + mask)\nξ_i = Σ_j a_ij v_j,   Σ_j a_ij = 1", "Each row is a character and where it looks. Point at a character, or reach it with the Tab key. After a few hundred steps the heads of the first layer look at their neighbors, those of the second further back.", [["models", "gpt"], ["claims", "attention-convex"], ["claims", "attention-variance"], ["claims", "order-without-positions"]]),
      panel("All heads: layer.head", {}, heads)));
  return {
    element,
    show() { seen = true; language.show(); if (language.latest) language.send({}); },
    hide() { seen = false; language.hide(); },
    close() { document.removeEventListener("themechange", drawAll); },
  };
}
