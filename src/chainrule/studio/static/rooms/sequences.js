// Sequences and attention: a tab is built when it is first opened, and pauses while it is hidden.
import { h, notify, stylesheet } from "../dom.js";
import { tabs } from "../controls.js";
import { ask } from "../live.js";
import { State } from "../state.js";
import { live } from "./sequences/parts.js";
import * as attention from "./sequences/attention.js";
import * as gradients from "./sequences/gradients.js";
import * as masking from "./sequences/masking.js";
import * as translation from "./sequences/translation.js";
import * as writing from "./sequences/writing.js";

const TABS = { writing, attention, translation, masking, gradients };
const DEFAULTS = {
  tab: "writing", seed: 0,
  run: "", model: "gpt", corpus: "shakespeare", text: "", prompt: "ROMEO:\n", temperature: 0.8, top_k: 0, top_p: 1, speed: 8,
  attended: "The king shall have my head, my lord.", head: 0, token: -1, reader: "gpt",
  translator: "", kind: "bahdanau", task: "phrases", sentence: "the black cat does not see a red house", number: "three hundred forty two", german: "ein mann fährt mit einem fahrrad durch die stadt.",
  filler: "", words: "phrases", passage: "", blanks: "the black [MASK] looks for a [MASK] flower .",
  cell: "elman", scale: 0.9, activation: "tanh", matrix: "orthogonal", steps: 60, units: 24, inputs: 0.3, bias: 1,
};

export function open(main, { params }) {
  stylesheet("/static/rooms/sequences.css");
  const state = new State("sequences", DEFAULTS, params);
  const runs = ask("runs", {}).catch((error) => { notify(error.message); return { runs: [] }; });
  const finished = async (pattern) => (await runs).runs.filter((run) => run.finished && pattern.test(run.recipe)).map((run) => run.name);
  const language = live("language-model", () => writing.settings(state));
  const filler = live("masked-words", () => masking.settings(state));
  state.on(() => language.restart(), ...writing.NETWORK);
  state.on(() => filler.restart(), ...masking.NETWORK);
  state.on(() => filler.send({ sentence: state.get("blanks") || " " }), "blanks");
  const context = { state, finished, language, filler };
  const built = {};
  const stage = h("div", {});
  let current = null;
  const turn = () => {
    const name = state.get("tab") in TABS ? state.get("tab") : "writing";
    current?.hide();
    if (current) current.element.hidden = true;
    if (!built[name]) {
      built[name] = TABS[name].build(context);
      stage.append(built[name].element);
    }
    current = built[name];
    current.element.hidden = false;
    current.show();
  };
  main.append(h("h1", { class: "hidden-label" }, "Sequences and attention"), tabs(state, "tab", Object.entries(TABS).map(([name, { title }]) => [name, title]), "Sequences and attention"), stage);
  state.on(turn, "tab");
  turn();
  return () => {
    for (const tab of Object.values(built)) tab.close();
    language.close();
    filler.close();
  };
}
