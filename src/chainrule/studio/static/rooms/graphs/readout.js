// Numbers beside a picture: a table of facts, and the returns of episodes as curves.
import { h, show } from "../../dom.js";

/** Rows [name, value] of a table. */
export function facts(table, rows) {
  show(table, rows.map(([name, value]) => h("tr", {}, h("td", {}, name), h("td", { class: "number" }, value))));
}

/** Number, return and mean of the last 20 of each episode; `episodes` counts the forgotten ones too. */
export function returnCurves({ returns, episodes }) {
  const mean = returns.map((_, k) => {
    const part = returns.slice(Math.max(0, k - 19), k + 1);
    return part.reduce((a, b) => a + b, 0) / part.length;
  });
  return [returns.map((_, k) => episodes - returns.length + k + 1), returns, mean];
}
