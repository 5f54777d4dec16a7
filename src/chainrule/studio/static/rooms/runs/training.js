// A training that this tab has started: its progress, step by step.
import { h, number, show } from "../../dom.js";
import { button } from "../../controls.js";
import { chart } from "../../chart.js";
import { start } from "../../live.js";

const POINTS = 2000; // kept of the running loss; then every second one is dropped

/** settings as the activity takes them; named, ended and failed are told what happens. */
export function trainingPanel(settings, { named, ended, failed }) {
  let name = "";
  let points = [[], []];
  const bar = h("progress", { max: 1, value: 0, "aria-label": "share of the training that is done" });
  const words = h("p", { class: "readout", role: "status" }, "starting …");
  const remarks = h("div", { class: "quiet small" });
  const stop = button("Stop and save", () => channel.send({ stop: true }));
  const curve = chart({ label: "epoch", names: ["training loss, mean of the epoch so far"], height: 190, alt: "The training loss, mean of the epoch so far" });
  const element = h("section", { class: "panel" }, h("div", { class: "row spread" }, h("h2", {}, "Training now"), stop), words, bar, curve.element, remarks);
  const panel = { element, points: () => points[0].length };
  const over = (text) => {
    words.textContent = text;
    stop.disabled = true;
    channel.stop();
    ended(name);
  };
  const channel = start("training", settings, {
    view: (now) => {
      name = now.run;
      channel.again({ run: name });
      named(name);
      bar.value = now.fraction ?? bar.value;
      if (now.finished) return over("finished");
      if (now.stopped) return over("stopped and saved; resume it at any time");
      if (now.epoch === undefined) return;
      words.textContent = `epoch ${now.epoch} of ${now.epochs}, step ${now.step} of ${now.steps}, loss ${number(now.loss)}`;
      show(remarks, now.remarks.map((text) => h("p", {}, text)));
      points[0].push(now.epoch - 1 + now.step / now.steps);
      points[1].push(now.loss);
      if (points[0].length > POINTS) points = points.map((values) => values.filter((_, k) => k % 2));
      curve.set(points);
    },
    error: (text) => {
      words.textContent = text;
      stop.disabled = true;
      channel.stop();
      if (name) ended(name);
      failed(text);
    },
  });
  return panel;
}
