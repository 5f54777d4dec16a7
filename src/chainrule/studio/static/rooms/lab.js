// The lab: any claim, measured again with your arguments, beside its violation.
import { fetchJson, h, number, show, stylesheet } from "../dom.js";
import { button, choice, slider, field, toggle } from "../controls.js";
import { figure } from "../figure.js";
import { start } from "../live.js";
import { State } from "../state.js";

const FIRST = "novikoff";
const BROKEN = "broken"; // the violation that every claim has
let claims = null;

export async function open(main, { path, params }) {
  stylesheet("/static/rooms/lab.css");
  claims ||= (await fetchJson("/api/entries")).filter((entry) => entry.kind === "claims");
  const name = path[0] || FIRST;
  if (!claims.some((claim) => claim.name === name)) throw new Error(`there is no claim named ${name}`);
  const entry = await fetchJson(`/api/entries/claims/${encodeURIComponent(name)}`);
  const room = new Room(main, entry, params);
  return () => room.close();
}

class Room {
  constructor(main, entry, params) {
    this.entry = entry;
    this.params = params;
    this.channels = [];
    this.controls = h("div", {}, h("p", { class: "quiet small" }, "reading its arguments …"));
    this.stated = outcome("As stated");
    this.violated = outcome("Violated on purpose", true);
    this.list = contents(entry.name);
    main.append(h("div", { class: "columns lab" }, this.list, this.statement(), h("div", { class: "columns two outcomes" }, this.stated.element, this.violated.element)));
    const chosen = this.list.querySelector("[aria-current]");
    this.list.lastChild.scrollTop = chosen.offsetTop - this.list.lastChild.offsetTop - 200;
    this.keys = (event) => this.key(event);
    addEventListener("keydown", this.keys);
    document.documentElement.classList.toggle("present", params.get("present") === "true");
    this.begin();
  }

  begin() {
    const given = Object.fromEntries([...this.params].filter(([name]) => !["present", "violation"].includes(name)).map(([name, text]) => [name, parsed(text)]));
    this.main = start("claim", { claim: this.entry.name, arguments: given }, {
      view: (content) => {
        if (!this.state) this.build(content.arguments, content.violations);
        this.stated.show(content);
        if (!content.measuring && !this.broken) this.breakIt();
      },
      error: (text) => this.stated.fail(text),
    });
    this.channels.push(this.main);
  }

  /** After the first measurement, so that the two do not share the processor. */
  breakIt() {
    this.broken = start("claim", { claim: this.entry.name, violation: this.state.get("violation") }, { view: (content) => this.violated.show(content), error: (text) => this.violated.fail(text) });
    this.channels.push(this.broken);
  }

  build(known, violations) {
    const defaults = Object.fromEntries(known.map((argument) => [argument.name, argument.default]));
    this.state = new State(`lab/${this.entry.name}`, { ...defaults, violation: BROKEN, present: false }, this.params);
    if (!(this.state.get("violation") in violations)) this.state.set({ violation: BROKEN });
    const sent = () => Object.fromEntries(known.map(({ name }) => [name, this.state.get(name)]).filter(([name, value]) => value !== defaults[name]));
    this.state.on(() => this.main.send({ arguments: sent() }), ...known.map(({ name }) => name));
    this.choose(violations);
    show(this.controls, known.map((argument) => control(this.state, argument)), known.length ? button("Defaults", () => this.state.set(defaults)) : h("p", { class: "quiet small" }, "This claim has no arguments: nothing in it is random or of a chosen size."));
  }

  /** The select above the second panel: the hypothesis, or something small. */
  choose(violations) {
    const options = Object.keys(violations).map((name) => [name, name === BROKEN ? "the main violation" : name]);
    const explain = () => this.violated.explain(violations[this.state.get("violation")]);
    this.state.on(() => { explain(); this.broken?.send({ violation: this.state.get("violation") }); }, "violation");
    this.violated.choose(choice(this.state, "violation", { label: "Violation", options }));
    explain();
  }

  statement() {
    const [first, ...rest] = this.entry.paragraphs;
    return h("section", { class: "stack" },
      h("div", { class: "panel statement" },
        h("p", { class: "small" }, h("a", { href: `#/home/claims/${this.entry.name}` }, this.entry.name), " ", h("span", { class: "quiet" }, this.entry.chapter)),
        h("h1", {}, capital(first.text.replace(/\n/g, " ").replace(/^Claim: /, ""))),
        rest.map(({ kind, text }) => (kind === "equation" ? h("div", { class: "equation", role: "math" }, text.replace(/^ {4}/gm, "")) : h("p", { class: "reason" }, text.replace(/\n/g, " "))))),
      h("div", { class: "panel arguments" }, h("h2", {}, "Arguments"), this.controls),
      h("div", { class: "row" },
        button("‹ Previous", () => this.go(-1), { key: "p" }),
        button("Next ›", () => this.go(1), { key: "n" }),
        button("Present", () => this.present(), { key: "f", title: "Large type for a hall" })));
  }

  go(step) {
    const place = claims.findIndex((claim) => claim.name === this.entry.name);
    const next = claims[(place + step + claims.length) % claims.length].name;
    const large = document.documentElement.classList.contains("present");
    location.hash = `#/lab/${next}${large ? "?present=true" : ""}`;
  }

  present() {
    const large = !document.documentElement.classList.contains("present");
    document.documentElement.classList.toggle("present", large);
    this.state?.set({ present: large });
  }

  key(event) {
    if (event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const large = document.documentElement.classList.contains("present");
    if (event.key === "n" || event.key === "PageDown" || (large && event.key === "ArrowRight")) this.go(1);
    else if (event.key === "p" || event.key === "PageUp" || (large && event.key === "ArrowLeft")) this.go(-1);
    else if (event.key === "f" || (large && event.key === "Escape")) this.present();
    else return;
    event.preventDefault();
  }

  close() {
    removeEventListener("keydown", this.keys);
    if (!location.hash.startsWith("#/lab")) document.documentElement.classList.remove("present");
    this.channels.forEach((channel) => channel.stop());
  }
}

function contents(current) {
  const chapters = Map.groupBy(claims, (claim) => claim.chapter);
  const filter = h("input", { type: "search", placeholder: "Find a claim …", "aria-label": "Find a claim" });
  const groups = [...chapters].map(([chapter, items]) => h("div", { class: "group" }, h("h3", {}, chapter), items.map((claim) => h("a", { href: `#/lab/${claim.name}`, title: claim.title, "aria-current": claim.name === current ? "page" : undefined, "data-words": `${claim.name} ${claim.title}`.toLowerCase() }, claim.name))));
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const group of groups) {
      const links = [...group.querySelectorAll("a")];
      links.forEach((link) => { link.hidden = !words.every((word) => link.dataset.words.includes(word)); });
      group.hidden = links.every((link) => link.hidden);
    }
  });
  return h("nav", { class: "panel claims", "aria-label": "Claims" }, filter, h("div", { class: "scroll-list" }, groups));
}

/** An argument of `check`: a slider around its default, a check box, or a field. */
function control(state, { name, type, default: value, help }) {
  const label = name.replaceAll("_", " ");
  if (name === "seed") return slider(state, name, { label, min: 0, max: 99, title: help });
  if (type === "bool") return toggle(state, name, { label, title: help });
  if (type === "int") return slider(state, name, { label, min: 1, max: Math.max(10, 3 * value), title: help });
  if (type === "float" && value > 0) return slider(state, name, { label, min: value / 4, max: 4 * value, step: 0.02, log: true, title: help });
  return field(state, name, { label, title: help });
}

/** One measurement: verdict, numbers, picture; above them what was chosen, and how it is violated. */
function outcome(title, violated = false) {
  const verdict = h("p", { class: "verdict", role: "status" }, "measuring …");
  const chosen = h("div", { class: "chosen-violation" });
  const how = h("p", { class: "how small" });
  const numbers = h("table", {});
  const picture = h("div", { class: "picture" });
  const element = h("section", { class: "panel outcome" }, h("h2", {}, title), verdict, chosen, how, picture, numbers);
  return {
    element,
    choose: (select) => show(chosen, select),
    explain(text) { how.textContent = text; },
    show(content) {
      element.classList.toggle("busy", content.measuring);
      if (content.measuring) return;
      if (content.refused) return show(verdict, h("span", { class: "bad" }, content.refused));
      show(verdict, h("span", { class: content.holds ? "good" : "bad" }, content.holds ? (violated ? "✓ holds: not detected, the measurement is not sharp enough" : "✓ holds") : "✗ fails"));
      show(picture, figure(content.picture, { width: 440, height: 330 }));
      const rows = [[content.quantity, `${number(content.measured)}   (bound ${content.relation} ${number(content.bound)})`], ...Object.entries(content.conditions).map(([text, ok]) => [text, ok ? "yes" : "no"]), ...Object.entries(content.details).map(([text, value]) => [text, number(value)])];
      show(numbers, h("tbody", {}, rows.map(([key, value]) => h("tr", {}, h("td", {}, key), h("td", { class: "number" }, value)))));
    },
    fail(text) {
      element.classList.remove("busy");
      show(verdict, h("span", { class: "bad" }, text));
    },
  };
}

function parsed(text) {
  if (text === "true" || text === "false") return text === "true";
  return text !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
}

// A variable that begins a sentence stays as it is: m is not M.
const capital = (text) => (/^\p{L}(?!\p{L})/u.test(text) && !/^a /i.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1));
