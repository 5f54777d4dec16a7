// Where every head looks: of the GPT that reads from left to right, or of BERT, which reads both ways.
import { h } from "../../dom.js";
import { choice, field, panel } from "../../controls.js";
import { headMaps } from "./heads.js";
import { fillerPanel } from "./masking.js";
import { about, player, remarks } from "./parts.js";
import { networkPanel, phaseButton } from "./writing.js";

export const title = "Attention";

export function build(context) {
  const { state, language, filler } = context;
  const remark = remarks();
  const maps = headMaps(state);
  let seen = false;
  const bert = () => state.get("reader") === "bert";
  const network = () => (bert() ? filler : language);

  language.on((view) => {
    if (!seen || bert()) return;
    const none = !view.loading && !view.attention && !view.problem;
    remark.set(none ? { ...view, problem: "this network has no attention: choose the GPT" } : view);
    if (view.attention) maps.set(view.attention, true);
  });
  filler.on((view) => {
    if (!seen || !bert()) return;
    remark.set({ ...view, problem: "" }); // a sentence without a blank has attention, too
    if (view.attention) maps.set(view.attention, false);
  });
  state.on(() => { state.set({ token: -1 }); language.send({ attended: state.get("attended").slice(0, 48) }); }, "attended");
  state.on(() => state.set({ token: -1 }), "blanks");

  const reader = choice(state, "reader", { label: "Which", options: [["gpt", "GPT: left to right"], ["bert", "BERT: both ways"]] });
  const sides = {
    gpt: [
      h("div", { class: "stack" }, networkPanel(context), panel("Training", {}, h("div", { class: "row" }, player(language), phaseButton(language)), h("p", { class: "small quiet" }, "The maps change while the network learns. It is the one that writes in the first tab."))),
      field(state, "attended", { label: "Text, up to 48 characters" }),
      about("A = softmax(Q Kᵀ / √d + mask)\nξ_i = Σ_j a_ij v_j,   Σ_j a_ij = 1", "Each row is a character and where it looks. Point at a character, or reach it with the Tab key. After a few hundred steps the heads of the first layer look at their neighbors, those of the second further back.", [["models", "gpt"], ["claims", "attention-convex"], ["claims", "attention-variance"], ["claims", "order-without-positions"]]),
    ],
    bert: [
      h("div", { class: "stack" }, fillerPanel(context), panel("Training", {}, player(filler), h("p", { class: "small quiet" }, "The maps change while the network learns. It is the one that fills the blanks in the tab [MASK] filling."))),
      field(state, "blanks", { label: "A sentence, with or without [MASK]" }),
      about("A = softmax(Q Kᵀ / √d)\nξ_i = Σ_j a_ij v_j,   Σ_j a_ij = 1", "Each row is a word piece and where it looks, before and after itself. Point at [MASK] to see which words it uses. The heads of the first layer start out looking one or two places to the left and right; [CLS] and [SEP] mark the beginning and the end.", [["models", "bert"], ["models", "bert-pretraining"], ["claims", "attention-convex"], ["claims", "bert-masking"]]),
    ],
  };
  const column = (k) => h("div", {}, sides.gpt[k], sides.bert[k]);
  const turn = () => {
    for (const [name, parts] of Object.entries(sides)) for (const part of parts) part.hidden = name !== state.get("reader");
  };
  const element = h("div", { class: "columns three" },
    h("div", { class: "stack" }, panel("Attention of", {}, reader), column(0)),
    panel("", { class: "wide" }, column(1), remark.element, maps.element),
    h("div", { class: "stack" }, column(2), panel("All heads: layer.head", {}, maps.heads)));
  const show = () => { network().show(); if (network().latest) network().send({}); };
  state.on(() => {
    turn();
    if (!seen) return;
    (bert() ? language : filler).hide();
    state.set({ token: -1 });
    show();
  }, "reader");
  turn();
  return {
    element,
    show() { seen = true; show(); },
    hide() { seen = false; network().hide(); },
    close: maps.close,
  };
}
