// Translation: a sentence, its translation, and which words the decoder looked at.
import { h, show } from "../../dom.js";
import { choice, field, panel } from "../../controls.js";
import { bytes, SCALES, sharp, theme } from "../../paint.js";
import { about, live, lossCurve, percent, player, remarks, runChoice } from "./parts.js";

export const title = "Translation";
const NETWORK = ["translator", "kind", "task", "seed"];
const LEFT = 120;
const TOP = 88;
const WIDTH = 600;

export function build({ state, finished }) {
  const remark = remarks();
  const curve = lossCurve("word");
  const output = h("p", { class: "output", "aria-live": "polite" });
  const right = h("p", { class: "readout steady" });
  const map = h("canvas", { class: "map", role: "img" });
  let content = null;

  // Each task has a sentence of its own in the address.
  const asked = () => (state.get("translator") ? "german" : state.get("task") === "numbers" ? "number" : "sentence");
  const network = live("translation", () => ({ run: state.get("translator"), model: state.get("kind"), task: state.get("task"), seed: state.get("seed"), sentence: state.get(asked()) }));

  function draw() {
    if (!content) return;
    const { source, written, p, weights } = content;
    show(output, written.map((word, k) => [h("span", { class: "word", title: percent(p[k]) }, word === "</s>" ? "■" : word, h("small", {}, percent(p[k])))]));
    const rows = written.length;
    const cell = Math.min(44, (WIDTH - LEFT) / source.length, 340 / rows);
    const look = theme();
    const context = sharp(map, WIDTH, TOP + 348);
    map.setAttribute("aria-label", weights ? `Alignment of ${written.join(" ")} with ${source.join(" ")}` : "No alignment: this network has no attention");
    context.fillStyle = look.text;
    const font = `${Math.min(14, 0.8 * cell)}px system-ui`;
    context.font = "14px system-ui";
    if (!weights) return context.fillText("Without attention there is no alignment: all the decoder knows of the sentence is one vector.", 0, TOP);
    const values = bytes(weights);
    context.font = font;
    written.forEach((word, i) => {
      context.textAlign = "right";
      context.textBaseline = "middle";
      context.fillStyle = look.text;
      context.fillText(word === "</s>" ? "■ end" : word, LEFT - 10, TOP + (i + 0.5) * cell);
      source.forEach((_, j) => {
        const value = values[i * source.length + j];
        context.fillStyle = `rgb(${SCALES.sequential[value].join(" ")})`;
        context.fillRect(LEFT + j * cell, TOP + i * cell, cell - 1, cell - 1);
        if (value < 26 || cell < 30) return;
        context.textAlign = "center";
        context.fillStyle = value > 140 ? "#ffffff" : "#1c2024";
        context.font = "11px system-ui";
        context.fillText(`${Math.round(value / 2.55)}`, LEFT + (j + 0.5) * cell, TOP + (i + 0.5) * cell);
        context.font = font;
      });
    });
    source.forEach((word, j) => {
      context.save();
      context.translate(LEFT + (j + 0.45) * cell, TOP - 8);
      context.rotate(-Math.PI / 4);
      context.textAlign = "left";
      context.fillStyle = look.text;
      context.fillText(word, 0, 0);
      context.restore();
    });
  }

  network.on((view) => {
    remark.set(view);
    if (view.loading) return;
    curve.set(view.learning, view.about);
    right.textContent = view.learning ? `${percent(view.learning.right)} of the sentences held out are all right` : "";
    if (view.translation) { content = view.translation; draw(); }
  });
  state.on(() => network.send({ sentence: state.get(asked()) || " " }), "sentence", "number", "german");
  const fields = { sentence: field(state, "sentence", { label: "English" }), number: field(state, "number", { label: "A number below a thousand, in words" }), german: field(state, "german", { label: "German" }) };
  const fresh = h("div", {},
    choice(state, "kind", { label: "Model", options: [["bahdanau", "GRU, attention"], ["transformer", "Transformer"], ["seq2seq", "GRU, one vector"]] }),
    choice(state, "task", { label: "Learns", options: [["phrases", "English → French"], ["numbers", "words → digits"]] }),
    field(state, "seed", { label: "Seed" }));
  const known = panel("Words it knows", {}, h("p", { class: "small" }, "Articles: the, a, this. Colors: black, white, green, red; quiet, happy. Who: cat, dog, boy, girl, woman, king, queen. What: house, car, garden, table, book, flower, boat. Verbs: sees, likes, draws, looks for, does not see, does not draw."));
  const mark = () => {
    known.hidden = asked() !== "sentence";
    for (const [name, control] of Object.entries(fields)) control.hidden = name !== asked();
    fresh.hidden = Boolean(state.get("translator"));
  };
  state.on(() => { mark(); content = null; network.restart(); }, ...NETWORK);
  mark();
  document.addEventListener("themechange", draw);

  const element = h("div", { class: "columns three" },
    h("div", { class: "stack" },
      panel("Network", {}, runChoice(state, "translator", finished(/^multi30k-/)), fresh, player(network)), known),
    panel("", { class: "wide" }, Object.values(fields), remark.element, h("h2", {}, "Translation, the likeliest word each time"), output, h("h2", {}, "Alignment in %: row, a word it writes; column, where it looks"), map),
    h("div", { class: "stack" },
      about("a_ij = softmax_j(vᵀ tanh(W s_{i-1} + U ζ_j))\nc_i = Σ_j a_ij ζ_j", "“black cat” becomes “chat noir”: the alignment crosses. Change the sentence while it learns, and compare with the network that has one vector for all.", [["models", "bahdanau"], ["models", "transformer"], ["models", "seq2seq"], ["recipes", "multi30k-bahdanau"]]),
      panel("", {}, curve.element, right)));
  return { element, show: network.show, hide: network.hide, close() { network.close(); curve.close(); document.removeEventListener("themechange", draw); } };
}
