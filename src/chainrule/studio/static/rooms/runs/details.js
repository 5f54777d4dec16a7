// One run, or several beside each other: curves, metrics, settings, pictures, predictions.
import { h, number, show } from "../../dom.js";
import { button } from "../../controls.js";
import { chart } from "../../chart.js";
import { start } from "../../live.js";
import { predictionPanel } from "./prediction.js";

/** names of runs; training(name) gives this tab's own training, resume(name) goes on with one. */
export function detailsPanel(names, { training, resume }) {
  const mine = names.length === 1 ? training(names[0]) : null;
  const head = h("div", { class: "stack" }, h("p", { class: "quiet" }, "reading …"));
  const grid = h("div", { class: "curves" });
  const body = h("div", { class: "stack" });
  const element = h("div", { class: "stack" }, mine?.element, head, h("section", { class: "panel" }, h("h2", {}, "Learning curves"), grid), body);
  const charts = new Map();
  let prediction = null;
  const channel = start("run", { names }, {
    view: ({ runs, comparison, notice }) => {
      drawCurves(grid, charts, runs);
      if (comparison) return show(head, compared(comparison));
      const [run] = runs;
      if (run.finished && !prediction) prediction = predictionPanel(run.name);
      show(head, actions(run, training(run.name), notice, { resume, stop: (name) => channel.send({ stop: name }) }), run.finished ? metrics(run) : null);
      show(body, pictures(run), texts(run), prediction?.element, settings(run));
    },
    error: (text) => show(head, h("p", { class: "bad" }, text)),
  });
  return {
    element,
    close() {
      channel.stop();
      prediction?.close();
      for (const each of charts.values()) each.close();
    },
  };
}

/** One chart a metric; the curves of all runs and splits in it. */
function drawCurves(panel, charts, runs) {
  const names = [...new Set(runs.flatMap((run) => Object.keys(run.curves)))].filter((name) => name !== "epoch");
  const metrics = [...new Set(names.map((name) => name.replace(/^(train|validation)_/, "")))];
  const longest = Math.max(0, ...runs.map((run) => run.curves.epoch?.length || 0));
  const epochs = Array.from({ length: longest }, (_, k) => k + 1);
  for (const metric of metrics) {
    const shown = runs.flatMap((run) => names.filter((name) => name.endsWith(metric) && name.replace(/^(train|validation)_/, "") === metric && run.curves[name]).map((name) => [runs.length > 1 ? `${run.name} ${name.replaceAll("_", " ")}` : name.replaceAll("_", " "), run.curves[name]]));
    const key = `${metric}:${shown.map(([name]) => name).join()}`;
    if (!charts.has(key)) {
      const made = chart({ label: "epoch", names: shown.map(([name]) => name), height: 210, alt: `${metric} by epoch` });
      charts.set(key, made);
      panel.append(made.element);
    }
    charts.get(key).set([epochs, ...shown.map(([, values]) => epochs.map((_, k) => values[k] ?? null))]);
  }
}

function actions(run, mine, notice, { resume, stop }) {
  const state = h("span", {}, `${run.recipe}, ${run.state}, ${number(run.seconds)} s of training`);
  if (mine) return h("section", { class: "panel row" }, state);
  const training = run.state === "training";
  const go = training ? button("Stop and save", () => stop(run.name), { title: "as Ctrl-C in its shell" })
    : run.finished ? null : button("Resume", () => resume(run.name), { primary: true });
  return h("section", { class: "panel row" }, state, go, training ? h("span", { class: "quiet small", role: "status" }, notice || "trained by another process") : null);
}

function metrics(run) {
  const splits = Object.keys(run.metrics);
  const names = [...new Set(splits.flatMap((split) => Object.keys(run.metrics[split])))];
  return h("section", { class: "panel" }, h("h2", {}, "Result"), h("table", {}, h("thead", {}, h("tr", {}, h("th", {}), splits.map((split) => h("th", { class: "number" }, split)))), h("tbody", {}, names.map((name) => h("tr", {}, h("td", {}, name), splits.map((split) => h("td", { class: "number" }, run.metrics[split][name] ?? "")))))));
}

function pictures(run) {
  return run.pictures.length ? h("section", { class: "panel" }, h("h2", {}, "Pictures"), h("div", { class: "pictures" }, run.pictures.map((name) => h("a", { href: `/runs/${encodeURIComponent(run.name)}/${encodeURIComponent(name)}`, target: "_blank" }, h("img", { src: `/runs/${encodeURIComponent(run.name)}/${encodeURIComponent(name)}`, alt: `${name.replace(/\.\w+$/, "").replaceAll("-", " ")} of ${run.name}`, loading: "lazy" }))))) : null;
}

function texts(run) {
  return Object.entries(run.texts).map(([name, text]) => h("section", { class: "panel" }, h("h2", {}, name), h("pre", { class: "text", tabindex: 0 }, text)));
}

function settings(run) {
  return h("details", { class: "panel" }, h("summary", {}, "Settings"), h("table", {}, h("tbody", {}, Object.entries(run.settings).map(([name, value]) => h("tr", {}, h("td", {}, name), h("td", {}, value))))));
}

function compared({ names, settings: changed, metrics: found }) {
  const table = (title, rows) => h("section", { class: "panel" }, h("h2", {}, title), h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}), names.map((name) => h("th", {}, name)))), h("tbody", {}, Object.entries(rows).map(([name, values]) => h("tr", {}, h("td", {}, name), values.map((value) => h("td", {}, value))))))));
  return [table("Settings that differ", changed), Object.keys(found).length ? table("Results", found) : null];
}
