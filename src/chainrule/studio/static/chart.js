// Curves that grow, by uPlot.
import { h } from "./dom.js";
import { series as hue, theme } from "./paint.js";

const power = (v) => (v === null ? null : v >= 0.01 && v < 1000 ? String(Number(v.toPrecision(2))) : v.toExponential(0).replace("+", ""));
const DASHES = [[], [6, 4], [2, 3], [8, 3, 2, 3]];

/**
 * A chart of several curves over one axis.
 * options: label (of the x axis), names (of the curves), dashed (names of those that are), height, log: logarithmic y, value: (v) => text, alt.
 * chart.set([xs, ys, …]) replaces the data; chart.element is what to show; chart.close() ends it.
 */
export function chart({ label = "", names, dashed = [], height = 180, log = false, value = (v) => (v === null || v === undefined ? "–" : v.toPrecision(4)), alt = "" }) {
  const element = h("div", { class: "chart", role: "img", "aria-label": alt || names.join(", ") });
  let plot = null;
  let data = [[], ...names.map(() => [])];
  const build = () => {
    plot?.destroy();
    const look = theme();
    const axis = { stroke: look.quiet, grid: { stroke: look.line, width: 1 }, ticks: { stroke: look.line, width: 1 }, font: "12px system-ui" };
    plot = new uPlot(
      {
        width: Math.max(200, element.clientWidth || 300),
        height,
        cursor: { drag: { x: false, y: false } },
        legend: { live: true },
        scales: { x: { time: false }, y: log ? { distr: 3 } : {} },
        axes: [{ ...axis, label, labelSize: label ? 18 : 0, labelFont: "12px system-ui", size: 28 }, { ...axis, size: 52, ...(log && { values: (_, ticks) => ticks.map(power) }) }],
        series: [
          { label: label || "step" },
          ...names.map((name, k) => ({ label: name, stroke: hue(k), width: 2, dash: DASHES[dashed.includes(name) ? 1 : Math.floor(k / 6)], points: { show: (plot) => plot.data[0].length < 2 }, value: (_, v) => value(v) })),
        ],
      },
      data,
      element,
    );
  };
  const resize = new ResizeObserver(() => {
    if (!plot) return element.clientWidth && build();
    if (plot.width !== element.clientWidth && element.clientWidth) plot.setSize({ width: element.clientWidth, height });
  });
  resize.observe(element);
  document.addEventListener("themechange", build);
  return {
    element,
    set(next) {
      data = next;
      plot?.setData(data);
    },
    close() {
      resize.disconnect();
      document.removeEventListener("themechange", build);
      plot?.destroy();
      plot = null;
    },
  };
}
