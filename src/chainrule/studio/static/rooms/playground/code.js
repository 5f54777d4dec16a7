// The experiment as text to be copied: Python, or a command.
import { h, notify, show } from "../../dom.js";
import { button } from "../../controls.js";

const NO_COMMAND = "There is a command for MLPs and ensembles on moons and XOR without dropout, and on own points with relu, as long as optimizer, rate and decay were not changed while they learned: recipes cover only these. Use the Python script.";
const SAME = "Trains the same network with the same seed, to the end of the present epoch, and leaves a run folder.";
const OWN = "The same kind of network on your points. The recipe draws its own splits and standardizes the columns, so the numbers differ. Save the points first: ";

/** A dialog; open(kind, views, points) shows the Python of all views, or the command of the first; points: own ones, or null. */
export function codeDialog() {
  const title = h("h1", {});
  const remark = h("p", { class: "small quiet" });
  const text = h("pre", { tabindex: "0" });
  const copy = button("Copy", () => navigator.clipboard.writeText(text.textContent).then(() => notify("copied", 2)), { primary: true });
  const element = h("dialog", { class: "code", "aria-label": "The experiment as code" }, title, remark, text, h("div", { class: "row" }, copy, button("Close", () => element.close())));
  return {
    element,
    open(kind, views, points) {
      const python = kind === "python";
      const [view] = views;
      const code = python ? scripts(views) : view?.command;
      show(title, python ? "As Python" : "As a command");
      if (python) show(remark, `Repeats the ${views.map((each) => each?.step ?? 0).join(" and ")} steps made so far and prints the same training loss${views.length > 1 ? "es" : ""}.`);
      else if (!code) show(remark, NO_COMMAND);
      else show(remark, points ? [OWN, download(points)] : SAME);
      text.textContent = code || "";
      text.hidden = copy.hidden = !code;
      element.showModal();
    },
  };
}

/** One script, or those of A and B one after the other. */
function scripts(views) {
  if (!views.every((view) => view?.python)) return "";
  return views.length > 1 ? views.map((view, k) => `# Configuration ${"AB"[k]}\n${view.python}`).join("\n\n") : views[0].python;
}

/** A link to the points as a file. */
function download(points) {
  const rows = ["x1,x2,label", ...points.map(([x, y, kind]) => `${x},${y},class ${kind}`)];
  const href = `data:text/csv;charset=utf-8,${encodeURIComponent(`${rows.join("\n")}\n`)}`;
  return h("a", { href, download: "points.csv" }, "points.csv");
}
