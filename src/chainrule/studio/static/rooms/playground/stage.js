// One configuration on the stage: its channel, its surface, its diagram.
import { h, number } from "../../dom.js";
import { start } from "../../live.js";
import { MODELS, settings } from "./choices.js";
import { network } from "./network.js";
import { plane } from "./plane.js";
import { versionSpace } from "./version.js";

/** options: second (configuration B), edit (see plane), ready() (may it start?), seen(stage) (after every view). */
export class Stage {
  constructor(state, { second, edit, ready, seen }) {
    Object.assign(this, { state, second, ready, seen, view: null, unit: null, channel: null });
    this.plane = plane(edit);
    this.network = network((unit) => { this.unit = unit; this.redraw(); });
    this.version = versionSpace();
    this.title = h("h2", {});
    this.readout = h("span", { "aria-live": "off" });
    this.message = h("span", { class: "message", role: "status" });
    this.element = h("section", { class: "panel stage" }, this.title, h("div", { class: "stage-body" }, h("div", { class: "diagram" }, this.network.element, this.version.element), h("div", { class: "picture" }, this.plane.element)), h("div", { class: "small readings" }, this.readout, this.message));
    this.theme = () => this.redraw();
    this.resize = new ResizeObserver(() => this.redraw());
    this.resize.observe(this.plane.element);
    document.addEventListener("themechange", this.theme);
  }

  get model() {
    return this.state.get(this.second ? "b_model" : "model");
  }

  /** Begin anew, learning at once or waiting. */
  restart(playing) {
    this.stop();
    this.name();
    if (this.view) this.view = { ...this.view, python: null, command: null }; // its code is no longer true
    if (!this.ready()) {
      this.message.textContent = "Click in the square to add points of both classes; then press Start.";
      this.show({ train: this.plainPoints(), test: null, weights: [], units: [] });
      return;
    }
    this.message.textContent = "starting …";
    this.channel = start("playground", { ...settings(this.state, this.second), playing }, {
      view: (content) => this.show(content),
      error: (text) => { this.message.textContent = text; },
    });
  }

  plainPoints() {
    const { points } = settings(this.state, this.second);
    return { x: points.map((point) => point.slice(0, 2)), y: points.map((point) => point[2]), wrong: [] };
  }

  play(playing) {
    this.channel?.send({ playing });
    if (playing) this.channel?.resume();
  }

  step() {
    this.channel?.send({ playing: false });
    this.channel?.step();
  }

  change(changes) {
    this.channel?.send(changes);
  }

  show(view) {
    this.view = view;
    if (view.step !== undefined) this.message.textContent = view.ended;
    this.redraw();
    this.seen(this);
  }

  redraw() {
    const { view } = this;
    if (!view) return;
    const mapped = Boolean(view.version_space) && this.state.get("version");
    this.network.element.hidden = mapped;
    this.version.element.hidden = !mapped;
    this.plane.draw(view, { test: this.state.get("test"), unit: this.unit });
    if (mapped) this.version.draw(view);
    else this.network.draw(view, this.plane.surface);
    this.name();
    this.readout.textContent = readings(view);
  }

  name() {
    const name = this.unit ? this.unit.name : MODELS[this.model]?.title || "";
    this.title.textContent = this.state.get("compare") ? `${this.second ? "B" : "A"} · ${name} · step ${this.view?.step ?? 0}` : name;
  }

  stop() {
    this.channel?.stop();
    this.channel = null;
  }

  close() {
    this.stop();
    this.resize.disconnect();
    document.removeEventListener("themechange", this.theme);
  }
}

function readings(view) {
  if (view.step === undefined) return `${view.train.y.length} points`;
  const part = (name, { y, wrong }, loss) => (y.length ? [`${name}${loss === null ? "" : ` loss ${number(loss, 3)}`}, ${wrong.length} of ${y.length} wrong`] : []);
  const parts = [...part("training", view.train, view.losses[0]), ...part("test", view.test, view.losses[1])];
  if (view.version_space) parts.push(view.version_space.fewest ? "no line of the map without mistakes" : "version space not empty");
  if (view.regions) parts.push(`${view.regions.length} linear regions`);
  return parts.join("  ·  ");
}
