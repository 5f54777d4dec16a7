// A finished run applied to a file dropped here, or to a sentence.
import { h, number, show } from "../../dom.js";
import { button } from "../../controls.js";
import { start } from "../../live.js";
import { base64 } from "./form.js";

/** The panel of one run. */
export function predictionPanel(name) {
  const result = h("div", { class: "scroll" });
  const input = h("div", {}, h("p", { class: "quiet" }, "loading its network …"));
  let built = false;
  const channel = start("prediction", { run: name }, {
    view: ({ takes, answers, refused }) => {
      if (!built) show(input, takes === "text" ? sentence() : dropZone());
      built = true;
      show(result, refused ? h("p", { class: "bad" }, refused) : answers.length ? table(answers) : null);
    },
    error: (text) => show(input, h("p", { class: "quiet" }, text)),
  });
  const sentence = () => {
    const field = h("input", { type: "text", "aria-label": "A sentence", placeholder: "A sentence …" });
    const send = () => field.value && channel.send({ text: field.value });
    field.addEventListener("keydown", (event) => event.key === "Enter" && send());
    return h("div", { class: "row" }, field, button("Predict", send));
  };
  const dropZone = () => {
    const picker = h("input", { type: "file", "aria-label": "A file to predict", onchange: () => send(picker.files[0]) });
    const send = async (file) => file && channel.send({ name: file.name, data: await base64(file) });
    const zone = h("div", { class: "drop" }, "Drop a file here, or choose one: ", picker);
    zone.addEventListener("dragover", (event) => { event.preventDefault(); zone.classList.add("over"); });
    zone.addEventListener("dragleave", () => zone.classList.remove("over"));
    zone.addEventListener("drop", (event) => { event.preventDefault(); zone.classList.remove("over"); send(event.dataTransfer.files[0]); });
    return zone;
  };
  return { element: h("section", { class: "panel" }, h("h2", {}, "Predict"), input, result), close: () => channel.stop() };
}

function table(answers) {
  const names = [...new Set(answers.flatMap((answer) => Object.keys(answer)))];
  return h("table", {}, h("thead", {}, h("tr", {}, names.map((name) => h("th", {}, name)))), h("tbody", {}, answers.map((answer) => h("tr", {}, names.map((name) => h("td", {}, said(answer[name])))))));
}

function said(value) {
  if (typeof value === "number") return number(value);
  if (value && typeof value === "object") return Object.entries(value).map(([name, part]) => (Array.isArray(value) ? said(part) : `${name}: ${said(part)}`)).join(", ");
  return String(value ?? "");
}
