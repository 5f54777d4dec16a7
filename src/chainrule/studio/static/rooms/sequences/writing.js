// A character model that learns, then writes: the probabilities of the next character, and the one that is drawn.
import { h, show } from "../../dom.js";
import { button, choice, field, panel } from "../../controls.js";
import { about, bars, dial, lossCurve, player, remarks, runChoice, visible } from "./parts.js";

export const title = "Writing";
const SAMPLING = ["temperature", "top_k", "top_p"];
export const NETWORK = ["run", "model", "corpus", "text", "seed"];
const WRITERS = /^(shakespeare-.*|gpt)$/;

/** What the activity needs to begin. */
export function settings(state) {
  const names = [...NETWORK, ...SAMPLING, "prompt"];
  return { ...Object.fromEntries(names.map((name) => [name, state.get(name)])), attended: state.get("attended").slice(0, 48) };
}

/** The controls that say which network it is; the tab Attention has them too. */
export function networkPanel({ state, finished }) {
  const own = field(state, "text", { label: "Your text, 1,000 characters or more", rows: 4 });
  const fresh = h("div", {},
    choice(state, "model", { label: "Model", options: [["gpt", "GPT"], ["lstm", "LSTM"], ["gru", "GRU"], ["lru", "LRU"]] }),
    choice(state, "corpus", { label: "Reads", options: [["shakespeare", "Shakespeare"], ["course", "the course"], ["own", "your text"]] }),
    own, field(state, "seed", { label: "Seed" }));
  const mark = () => { fresh.hidden = Boolean(state.get("run")); own.hidden = state.get("corpus") !== "own"; };
  state.on(mark, "run", "corpus");
  mark();
  return panel("Network", {}, runChoice(state, "run", finished(WRITERS)), fresh);
}

/** From training to writing and back; writing steps one by one, so training must be set going again. */
export function phaseButton(language) {
  const training = () => language.latest?.phase === "training";
  const phase = button("Write now", () => {
    language.send({ phase: training() ? "writing" : "training" });
    if (!training()) language.play(true);
  });
  language.on((view) => {
    phase.hidden = !view.learning;
    phase.textContent = training() ? "Write now" : "Train on";
  });
  return phase;
}

export function build(context) {
  const { state, language } = context;
  const remark = remarks();
  const curve = lossCurve("character");
  const list = bars(12, "The likeliest next characters");
  const written = h("pre", { class: "written", tabindex: 0, role: "region", "aria-label": "What the network writes" });
  const heading = h("h2", {}, "What it writes");
  const summary = h("p", { class: "small quiet steady" });
  let timer = 0;
  let seen = false;

  const tick = () => { // the page sets the pace of writing, training runs as fast as it can
    timer ||= setTimeout(() => { timer = 0; if (seen && language.playing) language.tick(); }, 1000 / state.get("speed"));
  };
  language.on((view) => {
    remark.set(view);
    if (view.loading) return;
    const training = view.phase === "training";
    if (!training && language.playing) tick();
    if (!seen) return;
    heading.textContent = training ? "What it writes after so many steps" : "What it writes";
    curve.set(view.learning, view.about);
    const { text, prompt, next, drawn, own, chosen, kept, bits } = view.writing;
    list.set(next.map(visible), drawn, { outline: own, chosen });
    summary.textContent = `${kept} of the characters may be drawn; the choice holds ${bits.toFixed(2)} bits. The line in a bar: the network's own probability.`;
    if (training) show(written, view.learning.samples.map(({ step, text: sample }) => [h("b", {}, `${String(step).padStart(5)}  `), sample.replaceAll("\n", "↵"), "\n"]).flat());
    else show(written, h("span", { class: "quiet" }, text.slice(0, prompt)), text.slice(prompt), h("mark", {}, next[chosen] === "\n" ? "↵\n" : next[chosen]));
    written.scrollTop = written.scrollHeight;
  });
  const apply = (change) => language.send(change);
  state.on((names) => apply(Object.fromEntries(names.filter((name) => [...SAMPLING, "prompt"].includes(name)).map((name) => [name, state.get(name)]))), ...SAMPLING, "prompt");

  const element = h("div", { class: "columns three" },
    h("div", { class: "stack" }, networkPanel(context),
      panel("Sampling", {},
        dial(state, "temperature", { label: "Temperature τ", min: 0, max: 2, step: 0.05, title: "0 takes the likeliest character" }, apply),
        dial(state, "top_k", { label: "Top k", min: 0, max: 30, format: (k) => (k ? k : "all") }, apply),
        dial(state, "top_p", { label: "Top p", min: 0.05, max: 1, step: 0.05, format: (p) => (p < 1 ? p : "all") }, apply),
        dial(state, "speed", { label: "Characters a second", min: 1, max: 20 }, () => {}))),
    h("div", { class: "stack" },
      panel("", { class: "stage" }, h("div", { class: "row" }, player(language, true), phaseButton(language)), field(state, "prompt", { label: "Prompt", rows: 2 }), remark.element, heading, written),
      panel("Next character", {}, list.element, summary)),
    h("div", { class: "stack" },
      about("p(x_{t+1} | x_1 … x_t) = softmax(z / τ)", "First it learns which characters follow each other, then words, then lines. Turn τ down and it repeats itself; turn it up and it babbles. Top k and top p cut the tail off.", [["models", "gpt"], ["models", "language-model"], ["recipes", "shakespeare-gpt"], ["claims", "key-value-cache"]]),
      panel("", {}, curve.element)));
  return {
    element,
    show() { seen = true; language.show(); if (language.latest?.phase === "writing") tick(); },
    hide() { seen = false; language.hide(); },
    close: curve.close,
  };
}
