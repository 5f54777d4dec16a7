// CartPole: deep Q-learning, watched; or played by hand.
import { h, number } from "../../dom.js";
import { button, choice, field, panel, slider } from "../../controls.js";
import { chart } from "../../chart.js";
import { series, sharp, theme } from "../../paint.js";
import { about } from "./about.js";
import { playback } from "./playback.js";
import { facts, returnCurves } from "./readout.js";

export const defaults = { method: "double-dqn", width: 64, rate: 0.002, discount: 0.99, epsilon: 0.05, exploration: 400, training: 4, speed: 2, seed: 0 };

const EQUATIONS = {
  dqn: "y = r + γ (1 - terminated) max_a' Q⁻(s', a'),     ℓ = ½ (Q(s, a) - y)²",
  "double-dqn": "y = r + γ (1 - terminated) Q⁻(s', argmax_a' Q(s', a')),     ℓ = ½ (Q(s, a) - y)²",
};
const [WIDTH, HEIGHT, METER] = [610, 300, 108];
const [LIMIT, ANGLE] = [2.4, (12 * Math.PI) / 180];

export function open(stage, state) {
  let found = null;
  let driver = "agent";
  const scene = h("canvas", { class: "scene", role: "img", "aria-label": "The cart, its pole, and the push of the last step" });
  const bars = h("canvas", { class: "bars", role: "img", "aria-label": "Q-values of pushing left and right" });
  const curve = chart({ label: "episodes of the learning carts", names: ["return", "mean of 20"], height: 190, alt: "Return of each training episode" });
  const table = h("table", { class: "facts" });
  const scores = h("p", { class: "small", role: "status" });
  const side = about(EQUATIONS[state.get("method")], "Sixteen carts explore and fill the replay buffer. The cart shown follows the network as it is now, without random actions. Can you balance it longer?",
    [["models/dqn", "DQN"], ["models/double-dqn", "double DQN"], ["environments/cart-pole", "cart-pole"], ["recipes/cartpole-dqn", "recipe"]]);
  const settings = () => { const { tab, ...rest } = state.values; return rest; };
  const run = playback({ activity: "cart-pole", settings, view: (content) => { found = content; draw(); }, playing: true, noun: "frame" });

  function draw() {
    cart();
    values();
    const { episodes, steps, updates, epsilon, loss, scores: known } = found;
    const data = returnCurves(found);
    curve.set(data);
    facts(table, [["steps of the learning carts", steps], ["episodes", episodes], ["updates", updates], ["ε", number(epsilon, 3)], ["loss", number(loss, 3)], ["mean return of the last 20", number(data[2].at(-1), 4)]]);
    const last = (list) => (list.length ? `last ${list.slice(-5).map((v) => v.toFixed(0)).join(", ")}; best ${Math.max(...list).toFixed(0)}` : "no episode yet");
    const text = `Steps per episode, at most 500. Agent: ${last(known.agent)}. You: ${last(known.you)}.`;
    if (scores.textContent !== text) scores.textContent = text;
  }
  function cart() {
    const context = sharp(scene, WIDTH, HEIGHT);
    const look = theme();
    const [x, , angle] = found.cart;
    const [left, ground] = [WIDTH / 2 + x * METER, HEIGHT - 62];
    context.lineWidth = 2;
    context.strokeStyle = look.quiet;
    context.beginPath();
    context.moveTo(WIDTH / 2 - (LIMIT + 0.25) * METER, ground + 21);
    context.lineTo(WIDTH / 2 + (LIMIT + 0.25) * METER, ground + 21);
    context.stroke();
    context.textAlign = "center";
    context.font = "12px system-ui";
    context.fillStyle = look.quiet;
    for (const place of [-LIMIT, -1, 0, 1, LIMIT]) {
      const at = WIDTH / 2 + place * METER;
      const bound = Math.abs(place) === LIMIT;
      context.fillRect(at - 1, ground + 21 - (bound ? 26 : 0), 2, bound ? 34 : 7);
      context.fillText(`${String(place).replace("-", "−")} m`, at, ground + 45);
    }
    for (const side of [-1, 1]) ray(context, left, ground - 12, side * ANGLE, 1.25, look.line, 1.5, [5, 5]);
    context.fillStyle = series(0);
    context.fillRect(left - 32, ground - 12, 64, 24);
    for (const wheel of [-18, 18]) { context.beginPath(); context.arc(left + wheel, ground + 14, 7, 0, 7); context.fillStyle = look.text; context.fill(); }
    ray(context, left, ground - 12, angle, 1, series(1), 9, []);
    context.beginPath();
    context.arc(left, ground - 12, 5, 0, 7);
    context.fillStyle = look.text;
    context.fill();
    const way = found.action ? 1 : -1;
    context.fillStyle = series(5);
    context.beginPath();
    context.moveTo(left + way * 72, ground);
    context.lineTo(left + way * 54, ground - 9);
    context.lineTo(left + way * 54, ground + 9);
    context.fill();
    context.fillRect(Math.min(left + way * 36, left + way * 56), ground - 3, 20, 6);
    context.fillStyle = look.text;
    context.textAlign = "left";
    context.font = "600 15px system-ui";
    context.fillText(`${found.driver === "you" ? "You" : "Agent"}: step ${found.time}`, 14, 24);
    context.font = "13px system-ui";
    context.fillText(`x ${signed(x, 2)} m   θ ${signed((angle * 180) / Math.PI, 1)}°`, 14, 45);
  }
  function ray(context, x, y, angle, length, color, width, dash) {
    context.save();
    context.setLineDash(dash);
    context.strokeStyle = color;
    context.lineWidth = width;
    context.lineCap = dash.length ? "butt" : "round";
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + Math.sin(angle) * length * METER * 1.3, y - Math.cos(angle) * length * METER * 1.3);
    context.stroke();
    context.restore();
  }
  const signed = (v, digits) => `${v < 0 ? "−" : "+"}${Math.abs(v).toFixed(digits)}`;
  function values() {
    const context = sharp(bars, WIDTH, 76);
    const look = theme();
    const most = Math.max(...found.Q.map(Math.abs), 1);
    context.font = "13px system-ui";
    context.textBaseline = "middle";
    found.Q.forEach((value, a) => {
      const top = 6 + 34 * a;
      const best = value === Math.max(...found.Q);
      context.fillStyle = look.text;
      context.font = `${best ? 650 : 400} 13px system-ui`;
      context.fillText(`Q(s, ${a ? "right" : "left"}) = ${number(value, 4)}${best ? "  ← greedy" : ""}`, 10, top + 13);
      context.fillStyle = look.line;
      context.fillRect(240, top + 2, 350, 22);
      context.fillStyle = series(a);
      context.fillRect(240, top + 2, 350 * Math.max(0, value / most), 22);
    });
  }

  const drive = (who) => {
    driver = who;
    run.send({ driver: who });
    chosen.textContent = who === "you" ? "Let the agent play" : "Play yourself";
    pushes.hidden = who !== "you";
    if (who === "you") run.play(true);
  };
  const push = (way) => run.send({ push: way });
  const chosen = button("Play yourself", () => drive(driver === "you" ? "agent" : "you"));
  const pushes = h("span", { class: "row", hidden: true }, button("◂ Push left", () => push(0), { key: "ArrowLeft" }), button("Push right ▸", () => push(1), { key: "ArrowRight" }), h("span", { class: "small quiet" }, "or the arrow keys; a push lasts until the next"));
  const keys = (event) => {
    const way = { ArrowLeft: 0, ArrowRight: 1 }[event.key];
    if (driver !== "you" || way === undefined || event.repeat || event.target.closest("input, select, [role=tab]")) return;
    push(way);
    event.preventDefault();
  };
  document.addEventListener("keydown", keys);
  state.on(() => {
    side.querySelector(".equation").textContent = EQUATIONS[state.get("method")];
    drive("agent");
    run.restart();
    run.play(true);
  }, "method", "width", "rate", "discount", "epsilon", "exploration", "seed");
  state.on(() => run.send({ training: state.get("training"), speed: state.get("speed") }), "training", "speed");
  const redraw = () => found && draw();
  document.addEventListener("themechange", redraw);
  stage.append(side, h("div", { class: "columns three" },
    h("div", { class: "stack" },
      panel("Watch", {}, run.element,
        slider(state, "training", { label: "Training per frame", min: 0, max: 10, title: "Steps of all sixteen carts, with four updates each" }),
        slider(state, "speed", { label: "Steps of this cart per frame", min: 1, max: 5 })),
      panel("Agent", {},
        choice(state, "method", { label: "Targets", options: [["dqn", "DQN"], ["double-dqn", "double DQN"]] }),
        slider(state, "width", { label: "Units of two hidden layers", min: 8, max: 128, step: 8 }),
        slider(state, "rate", { label: "Learning rate", min: 0.0001, max: 0.02, step: 0.1, log: true }),
        slider(state, "discount", { label: "Discount γ", min: 0.8, max: 0.995, step: 0.005 }),
        slider(state, "epsilon", { label: "Final ε", min: 0, max: 0.5, step: 0.01 }),
        slider(state, "exploration", { label: "ε falls over (steps)", min: 50, max: 2000, step: 50 }),
        field(state, "seed", { label: "Seed" }))),
    panel(null, { class: "middle" }, scene, bars, h("div", { class: "row driver" }, chosen, pushes), scores),
    h("div", { class: "stack" }, panel("Now", {}, table), panel("Return", {}, curve.element))));
  run.restart();
  return () => {
    document.removeEventListener("keydown", keys);
    document.removeEventListener("themechange", redraw);
    run.close();
    curve.close();
  };
}
