// Home: the course by chapter, searchable; one entry with its equation, picture and file.
import { fetchJson, h, show, stylesheet } from "../dom.js";
import { ask } from "../live.js";
import { bytes } from "../paint.js";
import { figure } from "../figure.js";

const KINDS = { models: "model", data: "data set", recipes: "recipe", claims: "claim", environments: "environment", optimizers: "optimizer", schedules: "schedule", losses: "loss", metrics: "metric", activations: "activation", initializations: "initialization" };
const WITH_PORTRAIT = ["models", "data", "recipes", "activations", "schedules"];
const TILES = [
  ["playground", "Playground", "Watch a network bend its decision surface, unit by unit; draw the data yourself."],
  ["draw", "Draw and see", "Draw a digit, edit a kernel, race optimizers down a slope, step through backpropagation."],
  ["sequences", "Sequences", "A model writes letter by letter; see where attention looks; fill in a [MASK]."],
  ["graphs", "Graphs and decisions", "Message passing, Weisfeiler–Leman colors, a grid world, CartPole."],
  ["lab", "Lab", "Every theorem of the course, measured again with your numbers, and violated on purpose."],
  ["runs", "Runs", "Train any recipe on real data, watch its curves, compare, predict."],
];
let known = null;
let measuring = null; // the claim that is being measured for its entry

export async function open(main, { path, params }) {
  stylesheet("/static/rooms/home.css");
  known ||= await fetchJson("/api/entries");
  if (path.length === 2) return entryPage(main, ...path);
  overview(main, params.get("search") || "", params.get("kind") || "");
}

function overview(main, wanted, kind) {
  const search = h("input", { type: "search", placeholder: "Search: attention, dropout, J 3.1 …", "aria-label": "Search the course", value: wanted });
  const select = h("select", { "aria-label": "Kind" }, h("option", { value: "" }, "everything"), Object.entries(KINDS).map(([value, text]) => h("option", { value, selected: value === kind }, `${text}s`.replace("losss", "losses"))));
  const list = h("div", { class: "entries" });
  const tiles = h("div", { class: "tiles" }, TILES.map(([room, title, text]) => h("a", { class: "tile", href: `#/${room}` }, h("b", {}, title), h("span", {}, text))));
  const update = () => {
    const chosen = matching(search.value, select.value);
    const query = new URLSearchParams(Object.entries({ search: search.value, kind: select.value }).filter(([, v]) => v));
    history.replaceState(null, "", `#/home${query.size ? `?${query}` : ""}`);
    tiles.hidden = Boolean(search.value || select.value);
    show(list, chosen.length ? byChapter(chosen) : h("p", { class: "quiet" }, "No matches; try fewer words, or a section of the notes such as J 2.5."));
  };
  search.addEventListener("input", update);
  select.addEventListener("change", update);
  main.append(
    h("h1", {}, "The whole course, live"),
    h("p", { class: "quiet" }, `${known.filter((e) => e.kind === "models").length} models, ${known.filter((e) => e.kind === "claims").length} theorems and statements, ${known.filter((e) => e.kind === "recipes").length} experiments on ${known.filter((e) => e.kind === "data").length} data sets. Everything runs on this machine.`),
    tiles,
    h("div", { class: "row find" }, search, select),
    list,
  );
  update();
}

/** Entries with the section, or with all of the words, in name, title or sections. */
function matching(text, kind) {
  const section = /^\s*([JAL])\s*(\d[\d.]*)\s*$/i.exec(text);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return known.filter((entry) => {
    if (kind && entry.kind !== kind) return false;
    if (section) {
      const wanted = `${section[1].toUpperCase()} ${section[2]}`;
      return entry.sections.some((s) => s === wanted || s.startsWith(`${wanted}.`));
    }
    const said = `${entry.name} ${entry.title} ${entry.chapter} ${KINDS[entry.kind]}`.toLowerCase();
    return words.every((word) => said.includes(word));
  });
}

function byChapter(entries) {
  const chapters = Map.groupBy(entries, (entry) => entry.chapter || "Parts");
  const order = [...chapters.keys()].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  return order.map((chapter) => h("section", { class: "panel chapter" }, h("h2", {}, chapter), [...Map.groupBy(chapters.get(chapter), (e) => e.kind)].map(([kind, items]) =>
    h("div", { class: "kind" }, h("h3", {}, `${KINDS[kind]}${items.length > 1 ? "s" : ""}`.replace("losss", "losses")), h("ul", {}, items.map((item) => h("li", {}, h("a", { href: `#/home/${kind}/${item.name}`, title: item.title }, item.name), " ", h("span", { class: "quiet" }, item.title))))))));
}

async function entryPage(main, kind, name) {
  const entry = await fetchJson(`/api/entries/${encodeURIComponent(kind)}/${encodeURIComponent(name)}`);
  const portrait = h("div", { class: "portrait" });
  const column = h("div", { class: "stack" }, actions(kind, name), portrait, places(entry), slips(entry), related(entry));
  main.append(
    h("p", { class: "small" }, h("a", { href: "#/home" }, "Home"), " › ", h("span", { class: "quiet" }, entry.chapter || KINDS[kind])),
    h("h1", {}, entry.name, h("span", { class: "kind-name" }, KINDS[kind])),
    h("div", { class: "columns side-right wide" }, h("article", { class: "panel text" }, entry.paragraphs.map(paragraph), code(entry.code)), column),
  );
  fillPortrait(portrait, kind, name);
  return () => measuring?.stop();
}

function paragraph({ kind, text }) {
  if (kind === "equation") return h("div", { class: "equation", role: "math" }, text.split("\n").map((l) => l.replace(/^ {4}/, "")).join("\n"));
  return h("p", {}, text.replace(/\n/g, " "));
}

/** Where to go from here: train it, measure it. */
function actions(kind, name) {
  if (kind === "claims") return h("a", { class: "action", href: `#/lab/${name}` }, "Measure it in the lab");
  if (kind === "recipes") return h("a", { class: "action", href: `#/runs?recipe=${name}` }, "Train it");
  return null;
}

async function fillPortrait(element, kind, name) {
  try {
    if (kind === "claims") {
      show(element, h("p", { class: "quiet" }, "measuring …"));
      return showClaim(element, name);
    }
    if (!WITH_PORTRAIT.includes(kind)) return;
    show(element, h("p", { class: "quiet" }, "Loading …"));
    show(element, portraitOf(await ask("portrait", { kind, name }), name));
  } catch (error) {
    show(element, h("p", { class: "quiet" }, error.message));
  }
}

async function showClaim(element, name) {
  const { start } = await import("../live.js");
  const channel = measuring = start("claim", { claim: name }, {
    view: (content) => {
      if (content.measuring) return;
      channel.stop();
      show(element, h("section", { class: "panel" }, figure(content.picture, { width: 460, height: 320 }), h("p", { class: content.holds ? "good" : "bad" }, content.holds ? "✓ holds" : "✗ fails")));
    },
    error: (text) => { channel.stop(); show(element, h("p", { class: "bad" }, text)); },
  });
}

function portraitOf({ facts, layers, image, picture, samples, settings, remark }, name) {
  return [
    picture ? h("section", { class: "panel" }, figure(picture, { width: 460, height: 320 })) : null,
    samples ? h("section", { class: "panel" }, h("h2", {}, "Samples"), h("div", { class: "samples" }, samples.map(sample))) : null,
    Object.keys(facts).length || remark ? h("section", { class: "panel" }, h("h2", {}, "Facts"), h("dl", { class: "facts" }, Object.entries(facts).map(([key, value]) => [h("dt", {}, key), h("dd", {}, value)])), remark ? h("p", { class: "small" }, remark) : null) : null,
    layers ? h("section", { class: "panel" }, h("h2", {}, "Layers of the example"), h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, ["layer", "kind", "output", "parameters"].map((t) => h("th", {}, t)))), h("tbody", {}, layers.map((row) => h("tr", {}, row.map((cell, k) => h("td", { class: k === 3 ? "number" : "" }, String(cell))))))))) : null,
    image ? h("section", { class: "panel" }, h("h2", {}, "Computation graph of the example"), h("div", { class: "scroll paper" }, h("img", { src: image, alt: `The computation graph of ${name}: every operation with its value and gradient` }))) : null,
    settings ? h("details", { class: "panel" }, h("summary", {}, `Settings (${settings.length})`), h("dl", { class: "facts" }, settings.map(([key, value, help]) => [h("dt", {}, key), h("dd", {}, h("code", {}, value), " ", help)]))) : null,
  ];
}

function sample(raster) {
  const [height, width] = raster.shape;
  const canvas = h("canvas", { class: "pixels", width, height, role: "img", "aria-label": "an example" });
  const values = bytes(raster);
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  for (let k = 0; k < width * height; k++) image.data.set([values[3 * k], values[3 * k + 1], values[3 * k + 2], 255], 4 * k);
  context.putImageData(image, 0, 0);
  return canvas;
}

function places({ sections }) {
  const names = Object.entries(sections);
  return names.length ? h("section", { class: "panel" }, h("h2", {}, "In the notes"), h("div", { class: "chips" }, names.map(([section, title]) => h("a", { href: `#/home?search=${encodeURIComponent(section)}` }, title ? `${section} ${title}` : section)))) : null;
}

function slips({ slips: found }) {
  return found.length ? h("section", { class: "panel" }, h("h2", {}, "Errata of the notes"), found.map((slip) => h("p", { class: "small" }, h("b", {}, slip.where), " prints ", h("q", {}, slip.printed), "; right: ", h("q", {}, slip.right), ". Shown by ", slip.shown_by.join(", "), "."))) : null;
}

function related({ related: found }) {
  const kinds = Object.entries(found);
  return kinds.length ? h("section", { class: "panel" }, h("h2", {}, "See also"), kinds.map(([kind, names]) => h("p", { class: "small" }, h("b", {}, kind), " ", names.flatMap((name, k) => [k ? ", " : "", h("a", { href: `#/home/${kind}/${name}` }, name)])))) : null;
}

/** The file itself; the words are colored by what they are. */
function code(words) {
  const block = h("pre", { class: "code", tabindex: 0, "aria-label": "source code" }, words.map(([kind, text]) => (kind ? h("span", { class: kind }, text) : text)));
  return h("details", { open: true }, h("summary", {}, "Source file"), block);
}
