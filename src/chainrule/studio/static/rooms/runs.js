// Runs: every run folder, live; start, stop, resume, compare, predict.
import { h, number, show, stylesheet, notify } from "../dom.js";
import { button } from "../controls.js";
import { start } from "../live.js";
import { trainingPanel } from "./runs/training.js";
import { formPanel } from "./runs/form.js";
import { detailsPanel } from "./runs/details.js";

// Trainings that this tab has started; they go on while other rooms are looked at.
const trainings = new Map();

export function open(main, { path, params }) {
  stylesheet("/static/rooms/runs.css");
  const room = new Room(main, path[0] ? path[0].split("+") : [], params.get("recipe") || "");
  return () => room.close();
}

class Room {
  constructor(main, names, recipe) {
    this.chosen = new Set(names);
    this.table = h("div", { class: "scroll" }, h("p", { class: "quiet" }, "looking at the run folders …"));
    this.stage = h("div", { class: "stack" });
    main.append(h("div", { class: "columns runs" }, h("section", { class: "panel list" }, h("div", { class: "row" }, h("h1", {}, "Runs"), button("New run", () => this.form(), { primary: true })), this.table), this.stage));
    this.list = start("runs", {}, { view: (content) => this.update(content) });
    if (recipe || !names.length) this.form(recipe);
    else this.show();
  }

  update({ runs, broken }) {
    this.runs = runs;
    const rows = runs.map((run) => {
      const box = h("input", { type: "checkbox", "aria-label": `show ${run.name}`, checked: this.chosen.has(run.name), onchange: () => this.choose(run.name, box.checked) });
      return h("tr", { class: this.chosen.has(run.name) ? "chosen" : "" }, h("td", {}, box), h("td", {}, h("a", { href: `#/runs/${encodeURIComponent(run.name)}` }, run.name)), h("td", { class: run.state === "training" ? "good" : "" }, run.state), h("td", { class: "number" }, run.value, " ", h("span", { class: "quiet small" }, run.metric)), h("td", { class: "quiet small" }, run.date));
    });
    show(this.table,
      rows.length ? h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, h("span", { class: "hidden-label" }, "show")), h("th", {}, "run"), h("th", {}, "state"), h("th", { class: "number" }, "result"), h("th", {}, "begun"))), h("tbody", {}, rows)) : h("p", { class: "quiet" }, "No runs yet: start one here, or with chainrule train in a shell beside this page."),
      broken.map((text) => h("p", { class: "bad small" }, text)));
  }

  choose(name, on) {
    if (on) this.chosen.add(name);
    else this.chosen.delete(name);
    const names = [...this.chosen].slice(-8);
    history.replaceState(null, "", names.length ? `#/runs/${names.map(encodeURIComponent).join("+")}` : "#/runs");
    if (this.runs) this.update({ runs: this.runs, broken: [] });
    if (names.length) this.show();
    else this.form();
  }

  form(recipe = "") {
    this.leave();
    this.panel = formPanel(recipe, (settings) => this.train(settings));
    show(this.stage, this.panel.element);
  }

  /** Start a training, or go on with one, and look at it as soon as it has a name. */
  train(settings) {
    const training = trainingPanel(settings, {
      named: (name) => {
        if (trainings.get(name) === training) return;
        if (this.closed) return void trainings.set(name, training);
        trainings.set(name, training);
        this.chosen = new Set([name]);
        history.replaceState(null, "", `#/runs/${encodeURIComponent(name)}`);
        this.show();
      },
      ended: (name) => { trainings.delete(name); },
      failed: (text) => (this.panel?.fail ? this.panel.fail(text) : notify(text, 20)),
    });
  }

  show() {
    this.leave();
    const names = [...this.chosen].slice(-8);
    this.panel = detailsPanel(names, { training: (name) => trainings.get(name), resume: (name) => this.train({ run: name }) });
    show(this.stage, this.panel.element);
  }

  leave() {
    this.panel?.close?.();
    this.panel = null;
  }

  close() {
    this.closed = true;
    this.leave();
    this.list.stop();
  }
}
