// BERT fills the blanks of a sentence, better and better while it learns.
import { h, show } from "../../dom.js";
import { choice, field, panel } from "../../controls.js";
import { about, bars, lossCurve, player, remarks, runChoice } from "./parts.js";

export const title = "[MASK] filling";
export const NETWORK = ["filler", "words", "passage", "seed"];

/** What the activity needs to begin. */
export function settings(state) {
  return { run: state.get("filler"), corpus: state.get("words"), text: state.get("passage"), seed: state.get("seed"), sentence: state.get("blanks") || " " };
}

/** The controls that say which network it is; the tab Attention has them too. */
export function fillerPanel({ state, finished }) {
  const own = field(state, "passage", { label: "Your text, 1,000 characters or more", rows: 4 });
  const fresh = h("div", {},
    choice(state, "words", { label: "Reads", options: [["phrases", "a small grammar"], ["shakespeare", "Shakespeare"], ["course", "the course"], ["own", "your text"]] }),
    own, field(state, "seed", { label: "Seed" }));
  const mark = () => { fresh.hidden = Boolean(state.get("filler")); own.hidden = state.get("words") !== "own"; };
  state.on(mark, "filler", "words");
  mark();
  return panel("Network", {}, runChoice(state, "filler", finished(/^bert-pretrain$/)), fresh,
    h("p", { class: "small quiet" }, "The grammar takes seconds. Real text takes minutes before it learns more than the most frequent words."));
}

export function build(context) {
  const { state, filler } = context;
  const remark = remarks();
  const curve = lossCurve("masked word");
  const blanks = h("div", { class: "blanks" });
  const lists = [];

  filler.on((view) => {
    remark.set(view);
    if (view.loading) return;
    curve.set(view.learning, view.about);
    while (lists.length < view.blanks.length) lists.push(bars(10, `The likeliest words for blank ${lists.length + 1}`));
    if (blanks.children.length !== view.blanks.length) show(blanks, view.blanks.map((_, k) => h("div", {}, h("h3", {}, `[MASK] ${k + 1}`), lists[k].element)));
    view.blanks.forEach(({ words, p }, k) => lists[k].set(words, p));
  });

  const element = h("div", { class: "columns three" },
    h("div", { class: "stack" }, fillerPanel(context), panel("Training", {}, player(filler))),
    panel("", { class: "wide" }, field(state, "blanks", { label: "A sentence with [MASK] in it" }), remark.element, h("h2", {}, "The ten likeliest words for every blank"), blanks),
    h("div", { class: "stack" },
      about("p(w_t | the rest)\n    = softmax(E N(φ(W x_t + b)) + c)", "In every step 15 % of the words are hidden. BERT sees what comes before and after: “the black [MASK] looks” wants somebody who can look, “a [MASK] flower” a color.", [["models", "bert"], ["models", "bert-pretraining"], ["recipes", "bert-pretrain"], ["claims", "bert-masking"]]),
      panel("", {}, curve.element)));
  return { element, show: filler.show, hide: filler.hide, close: curve.close };
}
