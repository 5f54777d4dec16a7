// A computation graph, stepped: values forward, gradients backward, the local derivative on every edge.
import { h, number, show, svg } from "../../dom.js";
import { choice, field, panel } from "../../controls.js";
import { about, steered, timeline } from "./stage.js";

export const defaults = { example: "logistic", formula: "(a + b) * (b + c)", values: "", step: 0 };
const EXAMPLES = [["logistic", "logistic unit"], ["mlp", "MLP 2-2-1"], ["recurrent", "recurrent unit"], ["formula", "your formula"]];
const SIGNS = { mul: "×", add: "+", sub: "−", neg: "−( )", div: "÷", truediv: "÷", pow: "^", square: "( )²", sigmoid: "σ", linear: "W h + b", rsub: "−" };
const [WIDTH, HEIGHT] = [930, 452];
const SUBSCRIPTS = "₁₂₃₄₅₆₇₈₉";

export function open(stage, state) {
  let graph = null;
  const drawing = svg("svg", { class: "graph", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": "Computation graph: values above, gradients below in every node" });
  const sentence = h("p", { class: "sentence", role: "status", "aria-live": "polite" }, "starting …");
  const numbers = h("div", { class: "numbers" });
  const status = h("p", { class: "small bad", role: "status" });
  const formula = field(state, "formula", { label: "ℓ =", title: "a formula in a, b, c, x and y with + - * / ^ and sin cos exp log sqrt tanh abs" });
  const time = timeline({ label: "Step of the forward and the backward pass", perSecond: () => 1.6, show: draw });

  stage.append(h("div", { class: "columns side" },
    h("div", { class: "stack" },
      panel("Expression", {}, choice(state, "example", { label: "Example", options: EXAMPLES }), formula, h("h3", {}, "Numbers"), numbers, status),
      about("∂ℓ/∂v_j = Σ_{i: j→i} ∂ℓ/∂v_i · ∂v_i/∂v_j", "Forward, every node computes its value from its arguments. Backward, every node hands its gradient on, times the derivative on the edge; a node used twice adds both.",
        [["claims", "backpropagation", "backpropagation"], ["claims", "backward-cost", "cost of the backward pass"], ["claims", "acyclic", "no cycles"], ["claims", "through-time", "through time"], ["models", "mlp", "MLP"]])),
    panel(null, { class: "graph-panel" }, time.element, sentence, drawing,
      h("p", { class: "small legend" }, h("span", { class: "box-input" }, "input"), h("span", { class: "box-now" }, "now"), h("span", {}, h("b", {}, "value"), " after the forward pass, ", h("b", { class: "grad" }, "∂ gradient"), " after the backward pass")))));

  const given = () => Object.fromEntries(state.get("values").split(" ").filter((text) => text.includes("=")).map((text) => text.split("=")).map(([name, value]) => [name, Number(value)]).filter(([, value]) => Number.isFinite(value)));
  const settings = () => ({ example: state.get("example"), formula: state.get("formula"), values: given() });
  const channel = steered("backpropagation", { view, error: (text) => { status.textContent = text; } });
  const visible = () => { formula.style.display = state.get("example") === "formula" ? "" : "none"; };
  state.on((names) => {
    visible();
    if ((names.includes("example") || names.includes("formula")) && (state.get("values") || state.get("step"))) return state.set({ values: "", step: 0 });
    if (names.every((name) => name === "step")) return;
    channel.set(settings());
  });
  visible();
  channel.set(settings());

  function view(content) {
    const same = graph && graph.nodes.length === content.nodes.length && Object.keys(graph.inputs).join() === Object.keys(content.inputs).join();
    status.textContent = "";
    graph = content;
    if (!same) fields();
    else for (const [name, value] of Object.entries(content.inputs)) numbers.querySelector(`[data-name="${name}"]`).value = value;
    time.set(order().length, Math.min(state.get("step"), order().length));
  }

  function fields() {
    show(numbers, Object.entries(graph.inputs).map(([name, value]) => {
      const input = h("input", { type: "number", step: 0.1, id: `number-${name}`, "data-name": name, onchange: () => {
        const changed = { ...given(), [name]: Math.max(-100, Math.min(100, input.valueAsNumber || 0)) };
        state.set({ values: Object.entries(changed).map(([key, number]) => `${key}=${number}`).join(" ") });
      } });
      input.value = value;
      return h("label", { for: input.id }, readable(name), input);
    }));
  }

  /** [node, backward?] in the order of the two passes; inputs have their values from the start. */
  function order() {
    const indices = graph.nodes.map((_, i) => i);
    const results = indices.filter((i) => !["input", "constant"].includes(graph.nodes[i].operation));
    return [...results.map((i) => [i, false]), ...indices.filter((i) => graph.nodes[i].gradient !== null).reverse().map((i) => [i, true])];
  }

  function draw(position) {
    if (!graph) return;
    if (state.get("step") !== position) state.set({ step: position });
    const steps = order();
    const done = new Set(steps.slice(0, position).map(([i, back]) => `${i}${back ? "b" : "f"}`));
    graph.nodes.forEach((node, i) => { if (["input", "constant"].includes(node.operation)) done.add(`${i}f`); });
    const now = position ? steps[position - 1] : null;
    show(sentence, now ? explained(graph, ...now) : "The inputs have their values. Press Play or → for the forward pass.");
    render(drawing, graph, done, now);
  }
  return () => { channel.close(); time.close(); };
}

function readable(name) {
  const [word, entry] = name.split(".");
  return entry ? `${word}, ${entry}` : word;
}

/** Names of nodes: inputs as they are, results by their operation, numbered where several are alike. */
function label(graph, i) {
  const node = graph.nodes[i];
  const alike = graph.nodes.map((other, k) => [other.operation, k]).filter(([operation]) => operation === node.operation).map(([, k]) => k);
  if (node.operation === "input") return node.name;
  if (node.operation === "constant") return text(node.value);
  return `${node.name}${alike.length > 1 ? SUBSCRIPTS[alike.indexOf(i)] || "" : ""}`;
}

function text(value, digits = 4) {
  const flat = [value].flat(Infinity);
  if (flat.length === 1) return number(flat[0], digits);
  return flat.length === 2 ? `[${flat.map((v) => number(v, 2)).join(", ")}]` : "";
}

const all = (value) => JSON.stringify(value).replaceAll(",", ", ");

function explained(graph, i, backward) {
  const node = graph.nodes[i];
  const name = label(graph, i);
  if (!backward) {
    const from = graph.edges.filter((edge) => edge.to === i).map((edge) => label(graph, edge.from));
    return [h("b", {}, "Forward: "), `${name} = ${node.operation}(${from.join(", ")}) = ${text(node.value) || all(node.value)}`];
  }
  const on = graph.edges.filter((edge) => edge.from === i && graph.nodes[edge.to].gradient !== null);
  if (!on.length) return [h("b", {}, "Backward: "), `∂ℓ/∂ℓ = ${text(node.gradient)}`];
  const factors = on.map((edge) => {
    const single = edge.jacobian?.length === 1 && edge.jacobian[0].length === 1;
    const above = graph.nodes[edge.to];
    return single ? `${text(above.gradient)} · ${number(edge.jacobian[0][0], 4)}` : `∂ℓ/∂${label(graph, edge.to)} · J`;
  });
  const wide = on.find((edge) => edge.jacobian && edge.jacobian.length * edge.jacobian[0].length > 1);
  return [h("b", {}, "Backward: "), `∂ℓ/∂${name} = ${factors.join(" + ")} = ${text(node.gradient) || all(node.gradient)}`,
    wide ? h("span", { class: "quiet" }, `   J = ${all(wide.jacobian)}`) : null];
}

function render(drawing, graph, done, now) {
  const levels = Math.max(...graph.nodes.map((node) => node.level), 1);
  const places = [...graph.nodes.map((node) => node.place), ...graph.via.map(([, place]) => place)];
  const [low, high] = [Math.min(...places), Math.max(...places)];
  const wide = Math.min(100, Math.max(50, (WIDTH - 8) / (levels + 1) - 26));
  const tall = 56;
  const digits = wide < 70 ? 3 : 4;
  const x = (level) => wide / 2 + 4 + (level * (WIDTH - wide - 8)) / levels;
  const y = (place) => (high > low ? tall / 2 + 4 + ((place - low) * (HEIGHT - tall - 8)) / (high - low) : HEIGHT / 2);
  const at = (i) => (i < graph.nodes.length ? [x(graph.nodes[i].level), y(graph.nodes[i].place)] : [x(graph.via[i - graph.nodes.length][0]), y(graph.via[i - graph.nodes.length][1])]);
  const factors = [];
  const lines = graph.edges.map((edge) => {
    const points = [edge.from, ...edge.via, edge.to].map(at);
    points[0] = [points[0][0] + wide / 2, points[0][1]];
    points[points.length - 1] = [points[points.length - 1][0] - wide / 2, points[points.length - 1][1]];
    const handed = done.has(`${edge.to}b`) && graph.nodes[edge.from].gradient !== null;
    const used = now && ((now[1] && now[0] === edge.from) || (!now[1] && now[0] === edge.to));
    const path = svg("path", { class: `edge ${handed ? "handed" : ""} ${used ? "used" : ""}`, d: curve(points) });
    if (!handed || !edge.jacobian) return path;
    const [[ax, ay], [bx, by]] = points.slice(-2);
    const single = edge.jacobian.length === 1 && edge.jacobian[0].length === 1;
    const tag = single ? number(edge.jacobian[0][0], digits - 1) : `J ${edge.jacobian.length}×${edge.jacobian[0].length}`;
    factors.push(svg("text", { class: "factor", x: (ax + bx) / 2, y: (ay + by) / 2 - 3, "text-anchor": "middle" }, tag));
    return path;
  });
  const boxes = graph.nodes.map((node, i) => {
    const [cx, cy] = at(i);
    const last = i === graph.nodes.length - 1;
    const kind = [node.operation === "input" ? "input" : "", last ? "output" : "", now?.[0] === i ? (now[1] ? "now back" : "now") : ""].join(" ");
    const line = (dy, words, name) => svg("text", { class: words.length * 7 > wide ? `${name} long` : name, x: cx, y: cy + dy, "text-anchor": "middle" }, words);
    const head = node.operation === "input" ? node.name : last ? `ℓ = ${SIGNS[node.operation] || node.name}` : node.operation === "constant" ? "constant" : SIGNS[node.operation] || node.name;
    const shape = node.shape.filter((side) => side > 1).join("×");
    return svg("g", { class: `node ${kind}` },
      svg("title", {}, `${label(graph, i)}: value ${all(node.value)}${done.has(`${i}b`) ? `, gradient ${all(node.gradient)}` : ""}`),
      svg("rect", { x: cx - wide / 2, y: cy - tall / 2, width: wide, height: tall, rx: 7 }),
      line(-13, head, "head"),
      line(5, done.has(`${i}f`) ? text(node.value, digits) || shape : "", "value"),
      line(22, done.has(`${i}b`) ? `∂ ${text(node.gradient, digits) || shape}` : "", "grad"));
  });
  drawing.replaceChildren(...lines, ...boxes, ...factors);
}

/** A smooth line through points from left to right. */
function curve(points) {
  let path = `M${points[0].join(" ")}`;
  for (let k = 1; k < points.length; k++) {
    const [[ax, ay], [bx, by]] = [points[k - 1], points[k]];
    const middle = (ax + bx) / 2;
    path += `C${middle} ${ay} ${middle} ${by} ${bx} ${by}`;
  }
  return path;
}
