// A form made from a recipe's own fields; what is not changed is left to the recipe.
import { fetchJson, h, show } from "../../dom.js";
import { button } from "../../controls.js";
import { ask } from "../../live.js";

const LARGEST = 5e6; // bytes of a file that is sent

/** The panel; started(settings) is called with what the activity `training` takes. */
export function formPanel(recipe, started) {
  const problem = h("p", { class: "bad", role: "alert" });
  const title = h("p", { class: "quiet" });
  const fields = h("div", { class: "fields" });
  const select = h("select", { "aria-label": "Recipe" });
  const command = h("code", { class: "command" });
  let inputs = [];
  const load = async () => {
    show(fields, h("p", { class: "quiet" }, "reading its settings …"));
    problem.textContent = "";
    try {
      const form = await ask("recipe-form", { recipe: select.value });
      title.textContent = form.title;
      inputs = form.fields.map(input);
      const own = inputs.filter(({ field }) => field.own || ["epochs", "learning_rate", "batch_size", "seed", "optimizer"].includes(field.name));
      const rest = inputs.filter((each) => !own.includes(each));
      show(fields, h("div", { class: "grid" }, own.map(({ element }) => element)), rest.length ? h("details", {}, h("summary", {}, `All settings of training (${rest.length})`), h("div", { class: "grid" }, rest.map(({ element }) => element))) : null);
      write();
    } catch (error) {
      show(fields, h("p", { class: "bad" }, error.message));
    }
  };
  const write = () => { command.textContent = ["chainrule train", select.value, ...inputs.flatMap(({ flag }) => flag())].join(" "); };
  fields.addEventListener("input", write);
  select.addEventListener("change", load);
  const go = async () => {
    problem.textContent = "";
    try {
      const settings = { recipe: select.value, values: {}, lists: {}, files: {} };
      for (const each of inputs) await each.fill(settings);
      started(settings);
    } catch (error) {
      problem.textContent = error.message;
    }
  };
  fetchJson("/api/entries").then((entries) => {
    const recipes = entries.filter((entry) => entry.kind === "recipes");
    const chapters = Map.groupBy(recipes, (entry) => entry.chapter);
    show(select, [...chapters].map(([chapter, items]) => h("optgroup", { label: chapter }, items.map((item) => h("option", { value: item.name, selected: item.name === (recipe || "digits-mlp") }, item.name)))));
    load();
  });
  const element = h("section", { class: "panel" }, h("h2", {}, "New run"), h("div", { class: "row" }, select, button("Train", go, { primary: true })), title, problem, fields, h("p", { class: "small quiet" }, "The same in a shell:"), command);
  return { element, fail: (text) => { problem.textContent = text; } };
}

/** One field: its element, its flag where it differs from the default, and how it fills the settings. */
function input(field) {
  const id = `field-${field.name}`;
  const make = { bool: box, choice: select, file, run: text, list: text, text, int: numeric, float: numeric }[field.kind];
  const control = make(field, id);
  const element = h("div", { class: "control", title: field.help }, h("label", { for: id }, field.name.replaceAll("_", " "), field.required ? " *" : ""), control.element, h("p", { class: "help" }, field.help));
  const initial = control.value();
  const changed = () => control.value() !== initial;
  return {
    field,
    element,
    flag: () => (field.kind === "file" ? [`--${field.name} FILE`] : changed() ? [`--${field.name.replaceAll("_", "-").replace("from-run", "from")}${field.kind === "bool" ? "" : ` ${control.value()}`}`] : []),
    async fill(settings) {
      if (field.kind === "file") settings.files[field.name] = await control.content();
      else if (field.required && control.value() === "") throw new Error(`${field.name} is needed: ${field.help}`);
      else if (changed() && field.kind === "list") settings.lists[field.name] = control.value();
      else if (changed()) settings.values[field.name] = control.value();
    },
  };
}

function box(field, id) {
  const element = h("input", { type: "checkbox", id, checked: field.default });
  return { element, value: () => element.checked };
}

function select(field, id) {
  const element = h("select", { id }, field.choices.map((choice) => h("option", { selected: choice === field.default }, choice)));
  return { element, value: () => element.value };
}

function numeric(field, id) {
  const element = h("input", { type: "number", id, value: field.default, step: field.kind === "int" ? 1 : "any" });
  return { element, value: () => (element.value === "" ? "" : element.valueAsNumber) };
}

function text(field, id) {
  const element = h("input", { type: "text", id, value: Array.isArray(field.default) ? field.default.join(" ") : field.default ?? "" });
  return { element, value: () => element.value };
}

function file(field, id) {
  const element = h("input", { type: "file", id });
  return {
    element,
    value: () => "",
    async content() {
      const [chosen] = element.files;
      if (!chosen) throw new Error(`${field.name} is needed: ${field.help}`);
      if (chosen.size > LARGEST) throw new Error(`${chosen.name} has ${chosen.size} bytes; this page takes up to ${LARGEST}: use the command below`);
      return `${chosen.name.split(".").pop().toLowerCase()}:${await base64(chosen)}`;
    },
  };
}

/** The content of a file in base64. */
export async function base64(blob) {
  const content = new Uint8Array(await blob.arrayBuffer());
  const parts = [];
  for (let k = 0; k < content.length; k += 8192) parts.push(String.fromCharCode(...content.subarray(k, k + 8192)));
  return btoa(parts.join(""));
}
