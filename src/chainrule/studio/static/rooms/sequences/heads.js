// Every attention head of a network for one text: all maps small, one of them large, and the text itself.
import { h, show } from "../../dom.js";
import { bytes, paint, SCALES, sharp, theme } from "../../paint.js";
import { percent, visible } from "./parts.js";

const SIDE = 420;
const CHARACTERS = 22; // room for labels beside the map
const WORDS = 76;

/** element: the text and the large map; heads: the small ones; set(content, causal): what the server sent. */
export function headMaps(state) {
  const heads = h("div", { class: "heads" });
  const strip = h("div", { class: "strip", role: "group", "aria-label": "The text, a button for each token" });
  const map = h("canvas", { class: "map", role: "img" });
  const heading = h("h2", {}, "Head");
  const sums = h("p", { class: "small quiet steady" });
  const line = h("p", { class: "small steady" });
  let content = null;
  let shape = "";

  const edge = () => (content.tokens.some((text) => text.length > 1) ? WORDS : CHARACTERS);
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
      return h("button", { type: "button", class: text.length > 1 ? "token word-piece" : "token", onmouseenter: choose, onfocus: choose }, visible(text));
    }));
  }

  function drawAll() {
    if (!content) return;
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
      item.classList.toggle("masked", content.causal && k > row);
      item.setAttribute("aria-pressed", k === row);
    });
    heading.textContent = `Layer ${Math.floor(head / each) + 1}, head ${(head % each) + 1}`;
    const most = content.tokens.map((text, k) => [text, k, weight(head, row, k)]).filter(([, , a]) => a >= 0.0005).sort((a, b) => b[2] - a[2]).slice(0, 4);
    line.textContent = `“${visible(content.tokens[row])}” (${row + 1}) looks at ${most.map(([text, k, a]) => `“${visible(text)}” (${k + 1}) ${percent(a)}`).join(", ")}`;
    sums.textContent = `Every row sums to one: between ${content.sums[0].toFixed(6)} and ${content.sums[1].toFixed(6)}. Darkest: the largest weight of its row.${content.causal ? " Hatched: the causal mask hides what is still to come." : " There is no causal mask: each word piece sees what comes before and after."}`;
    map.setAttribute("aria-label", `${heading.textContent}: rows are tokens that look, columns those looked at. ${line.textContent}`);
  }

  function drawMap(head, size) {
    const context2d = sharp(map, SIDE, SIDE);
    const look = theme();
    const cell = (SIDE - edge()) / size;
    const place = (k) => edge() + k * cell;
    labels(context2d, look.text, cell, place);
    for (let i = 0; i < size; i++) {
      for (let j = 0; j < (content.causal ? i + 1 : size); j++) {
        context2d.fillStyle = `rgb(${SCALES.sequential[content.values[(head * size + i) * size + j]].join(" ")})`;
        context2d.fillRect(place(j), place(i), cell + 0.4, cell + 0.4);
      }
    }
    if (content.causal) hatch(context2d, look.line, size, place);
    context2d.strokeStyle = look.text;
    context2d.lineWidth = 1.5;
    context2d.strokeRect(edge(), place(token()), (content.causal ? token() + 1 : size) * cell, cell);
  }

  function labels(context2d, color, cell, place) {
    const words = edge() === WORDS;
    context2d.fillStyle = color;
    context2d.font = words ? `${Math.min(12, cell)}px system-ui, sans-serif` : `${Math.min(13, cell * 0.95)}px ui-monospace, monospace`;
    context2d.textBaseline = "middle";
    content.tokens.forEach((text, k) => {
      context2d.textAlign = words ? "right" : "center";
      context2d.fillText(visible(text), words ? edge() - 5 : edge() / 2, place(k) + cell / 2, edge() - 6);
      context2d.save();
      context2d.translate(place(k) + cell / 2, words ? edge() - 5 : edge() / 2);
      if (words) context2d.rotate(-Math.PI / 2);
      context2d.textAlign = words ? "left" : "center";
      context2d.fillText(visible(text), 0, 0, edge() - 6);
      context2d.restore();
    });
  }

  function hatch(context2d, color, size, place) { // what is still to come
    context2d.save();
    context2d.beginPath();
    context2d.moveTo(place(1), edge());
    for (let i = 0; i < size; i++) { context2d.lineTo(place(i + 1), place(i)); context2d.lineTo(place(i + 1), place(i + 1)); }
    context2d.lineTo(SIDE, edge());
    context2d.clip();
    context2d.strokeStyle = color;
    context2d.beginPath();
    for (let k = -SIDE; k < SIDE; k += 7) { context2d.moveTo(k, 0); context2d.lineTo(k + SIDE, SIDE); }
    context2d.stroke();
    context2d.restore();
  }

  map.addEventListener("mousemove", (event) => {
    if (!content) return;
    const row = Math.floor((event.offsetY - edge()) / ((SIDE - edge()) / content.tokens.length));
    if (row >= 0 && row < content.tokens.length) state.set({ token: row });
  });
  state.on(drawAll, "head", "token");
  document.addEventListener("themechange", drawAll);
  return {
    element: h("div", {}, strip, heading, map, line, sums),
    heads,
    set(attention, causal) {
      content = { ...attention, causal };
      const [layers, each, size] = content.maps.shape;
      content.values = bytes(content.maps);
      content.slices = Array.from({ length: layers * each }, (_, k) => btoa(String.fromCharCode(...content.values.subarray(k * size * size, (k + 1) * size * size))));
      const now = `${layers} ${each} ${content.tokens.join(" ")}`;
      if (now !== shape) { shape = now; rebuild(); }
      drawAll();
    },
    close() { document.removeEventListener("themechange", drawAll); },
  };
}
