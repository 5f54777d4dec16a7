// Play, pause, single step, restart. The page sets the pace: it asks for the next step after it has drawn the last.
import { h } from "../../dom.js";
import { button } from "../../controls.js";
import { start } from "../../live.js";

/**
 * An activity that is stepped. options: activity, settings(): what to start it with, view(content),
 * rate(): steps a second, playing: whether it begins at once, noun: what a step is.
 */
export function playback({ activity, settings, view, rate = () => 20, playing = false, noun = "step" }) {
  let channel = null;
  let timer = null;
  let asked = 0;
  let over = false;
  const step = () => { asked = performance.now(); channel.step(); };
  const next = () => {
    clearTimeout(timer);
    if (playing && !over) timer = setTimeout(step, Math.max(0, asked + 1000 / rate() - performance.now()));
  };
  const problem = h("p", { class: "bad small", role: "alert" });
  const play = button("Play", () => set(!playing), { primary: true, key: "Space" });
  const once = button("Step", () => { set(false); step(); }, { title: `One ${noun}`, key: "." });
  const again = button("Restart", () => restart(), { key: "r" });
  const set = (on) => {
    if (on && over) restart();
    playing = on;
    play.textContent = playing ? "Pause" : "Play";
    next();
  };
  function restart() {
    clearTimeout(timer);
    channel?.stop();
    over = false;
    once.disabled = false;
    problem.textContent = "";
    channel = start(activity, settings(), {
      view: (content) => { view(content); next(); },
      error: (text) => { problem.textContent = text; },
      ended: () => { over = true; once.disabled = true; set(false); },
    });
  }
  const keys = (event) => {
    if (event.target.closest("input, select, textarea, button, a, [data-keys]")) return;
    const act = { " ": () => set(!playing), ".": () => once.click(), r: () => restart() }[event.key];
    if (!act || event.ctrlKey || event.metaKey) return;
    act();
    event.preventDefault();
  };
  document.addEventListener("keydown", keys);
  set(playing);
  return {
    element: h("div", {}, h("div", { class: "row" }, play, once, again), problem),
    restart,
    send: (message) => channel?.send(message),
    play: set,
    close() {
      clearTimeout(timer);
      document.removeEventListener("keydown", keys);
      channel?.stop();
    },
  };
}
