// A graph as a picture that can be touched: nodes are chosen, added, joined, moved and deleted.
import { h, svg, show } from "../../dom.js";

const SIZE = 560;
const MARGIN = 30;
const PATIENCE = 2000; // milliseconds in which the server answers an edit
const to = (c) => MARGIN + c * (SIZE - 2 * MARGIN);
const from = (c) => Math.min(1, Math.max(0, (c - MARGIN) / (SIZE - 2 * MARGIN)));

const form = ({ nodes, edges }) => `${nodes.length}:${edges.join(";")}`;

/** A drawn graph as text for the address bar: positions in hundredths, then pairs of nodes. */
export function encode({ nodes, edges }) {
  const hundredths = (c) => Math.round(100 * c);
  return `${nodes.map(([x, y]) => `${hundredths(x)}.${hundredths(y)}`).join("_")}-${edges.map((pair) => pair.join(".")).join("_")}`;
}

/** The graph of such a text. */
export function decode(text) {
  const [nodes = "", edges = ""] = text.split("-");
  const pairs = (part) => part.split("_").filter(Boolean).map((pair) => pair.split(".").map(Number)).filter((pair) => pair.length === 2 && pair.every(Number.isFinite));
  return { nodes: pairs(nodes).map(([x, y]) => [x / 100, y / 100]), edges: pairs(edges) };
}

/**
 * options: label, choose(node): a node was chosen, edit(graph): the user changed the graph; without it nothing can be edited.
 * picture.draw(graph, look): look.node(k) → {fill, ink, text, caption, kind, radius, square, name}, look.edge(k) → class.
 */
export function picture({ label, choose = () => {}, edit = null }) {
  const edgeLayer = svg("g", {});
  const nodeLayer = svg("g", {});
  const band = svg("line", { class: "band", visibility: "hidden" });
  const canvas = svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "graph", role: "group", "aria-label": label, "data-keys": "" }, edgeLayer, band, nodeLayer);
  let graph = { nodes: [], edges: [] };
  let built = ""; // the form of what is drawn
  let awaited = null; // an edit that the server has not answered yet: older answers do not undo it
  let nodes = [];
  let lines = [];
  let joining = null; // the node from which an edge is being drawn
  let tool = "choose";

  const changed = (next) => {
    graph = next;
    awaited = { form: form(next), until: performance.now() + PATIENCE };
    edit(next);
  };
  const joined = (a, b) => graph.edges.findIndex(([p, q]) => (p === a && q === b) || (p === b && q === a));
  const join = (a, b) => {
    const known = joined(a, b);
    const edges = known < 0 ? [...graph.edges, [a, b]] : graph.edges.filter((_, k) => k !== known);
    changed({ ...graph, edges });
  };
  const remove = (node) => changed({
    nodes: graph.nodes.filter((_, k) => k !== node),
    edges: graph.edges.filter((pair) => !pair.includes(node)).map((pair) => pair.map((end) => (end > node ? end - 1 : end))),
  });
  const add = (x, y) => changed({ ...graph, nodes: [...graph.nodes, [x, y]] });
  const free = () => { // the place farthest from all nodes
    let best = [0.5, 0.5];
    let far = -1;
    for (let k = 0; k < 121; k++) {
      const place = [(k % 11) / 10, Math.floor(k / 11) / 10];
      const near = Math.min(...graph.nodes.map(([x, y]) => Math.hypot(x - place[0], y - place[1])), 2);
      if (near > far) [far, best] = [near, place];
    }
    return best;
  };
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [((event.clientX - box.left) * SIZE) / box.width, ((event.clientY - box.top) * SIZE) / box.height];
  };
  const under = (event) => {
    const [x, y] = at(event);
    return graph.nodes.findIndex(([a, b]) => Math.hypot(to(a) - x, to(b) - y) < 20);
  };

  canvas.addEventListener("pointerdown", (event) => {
    const node = under(event);
    if (!edit || tool === "choose") return node >= 0 && choose(node);
    if (tool === "delete") return node >= 0 && remove(node);
    if (node < 0) return add(...at(event).map(from));
    joining = { node, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!joining) return;
    const [x, y] = at(event);
    if (tool === "move") {
      const places = graph.nodes.map((place, k) => (k === joining.node ? [from(x), from(y)] : place));
      joining.moved = true;
      return changed({ ...graph, nodes: places });
    }
    const [a, b] = graph.nodes[joining.node];
    for (const [name, value] of Object.entries({ x1: to(a), y1: to(b), x2: x, y2: y, visibility: "visible" })) band.setAttribute(name, value);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (!joining) return;
    const { node } = joining;
    joining = null;
    band.setAttribute("visibility", "hidden");
    const other = under(event);
    if (tool === "draw" && other >= 0 && other !== node) join(node, other);
    else if (other === node) choose(node);
  });

  let marked = null; // the first end of an edge that is made by the keyboard
  const key = (node, event) => {
    const act = { Enter: () => choose(node), " ": () => choose(node) };
    if (edit) {
      act.e = () => {
        if (marked === null) marked = node;
        else {
          const first = marked;
          marked = null;
          if (first !== node) join(first, node);
        }
        nodes.forEach(({ group }, k) => group.classList.toggle("marked", k === marked));
      };
      act.Delete = () => remove(node);
    }
    if (!act[event.key]) return;
    event.preventDefault();
    act[event.key]();
  };

  function build(next) {
    const focused = nodes.findIndex(({ group }) => group === document.activeElement);
    lines = next.edges.map(() => svg("line", {}));
    nodes = next.nodes.map((_, k) => {
      const body = svg("rect", { class: "body" });
      const text = svg("text", { class: "value" });
      const caption = svg("text", { class: "caption" });
      const group = svg("g", { tabindex: "0", role: "button", class: "node", onkeydown: (event) => key(k, event) }, body, text, caption);
      return { group, body, text, caption };
    });
    show(edgeLayer, lines);
    show(nodeLayer, nodes.map(({ group }) => group));
    nodes[Math.min(focused, nodes.length - 1)]?.group.focus();
  }

  function draw(next, look) {
    const now = form(next);
    if (!awaited || awaited.form === now || performance.now() > awaited.until) [graph, awaited] = [next, null];
    if (now !== built) {
      built = now;
      marked = null;
      build(next);
    }
    next.edges.forEach(([a, b], k) => {
      const [[x1, y1], [x2, y2]] = [next.nodes[a], next.nodes[b]];
      for (const [name, value] of Object.entries({ x1: to(x1), y1: to(y1), x2: to(x2), y2: to(y2), class: `edge ${look.edge?.(k) || ""}` })) lines[k].setAttribute(name, value);
    });
    next.nodes.forEach(([x, y], k) => {
      const { fill, ink = "#222222", text = "", caption = "", kind = "", radius = 14, square = false, name } = look.node(k);
      const { group, body, text: shown, caption: below } = nodes[k];
      group.setAttribute("transform", `translate(${to(x)} ${to(y)})`);
      group.setAttribute("class", `node ${kind}${k === marked ? " marked" : ""}`);
      group.setAttribute("aria-label", name);
      for (const [side, value] of Object.entries({ x: -radius, y: -radius, width: 2 * radius, height: 2 * radius, rx: square ? 3 : radius, fill })) body.setAttribute(side, value);
      shown.textContent = text;
      shown.setAttribute("fill", ink);
      below.textContent = caption;
      below.setAttribute("y", radius + 11);
    });
  }

  return { element: canvas, draw, add: () => add(...free()), tool: (name) => { tool = name; canvas.dataset.tool = name; } };
}

/** Buttons for the tools of pictures that can be edited. */
export function tools(pictures, ready) {
  const names = [["choose", "Choose", "Click a node to choose it"], ["draw", "Draw", "Click to add a node; drag from node to node for an edge"], ["move", "Move", "Drag a node"], ["delete", "Delete", "Click a node to delete it"]];
  const buttons = names.map(([name, text, title]) => h("button", { type: "button", title, "aria-pressed": String(name === "choose"), onclick: () => pick(name) }, text));
  const pick = (chosen) => {
    if (chosen !== "choose") ready();
    pictures.forEach((one) => one.tool(chosen));
    names.forEach(([name], k) => buttons[k].setAttribute("aria-pressed", name === chosen));
  };
  return h("div", { class: "tools-row" },
    h("div", { class: "row", role: "group", "aria-label": "Tools for drawing" }, buttons,
      pictures.map((one, k) => h("button", { type: "button", onclick: () => { ready(); one.add(); } }, pictures.length > 1 ? `+ node ${"GH"[k]}` : "+ node"))),
    h("p", { class: "small quiet" }, "Keys on a node: Enter chooses; e, then e on another, joins or parts; Delete removes."));
}
