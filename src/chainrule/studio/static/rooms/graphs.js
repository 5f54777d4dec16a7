// Graphs and decisions: five activities on tabs.
import { h, show, stylesheet } from "../dom.js";
import { tabs } from "../controls.js";
import { State } from "../state.js";
import * as messages from "./graphs/messages.js";
import * as colors from "./graphs/colors.js";
import * as karate from "./graphs/karate.js";
import * as grid from "./graphs/grid.js";
import * as cart from "./graphs/cart.js";

const TABS = { messages, colors, karate, grid, cart };
const TITLES = [
  ["messages", "Message passing"],
  ["colors", "1-WL colors"],
  ["karate", "Karate club"],
  ["grid", "Grid world"],
  ["cart", "CartPole"],
];

export function open(main, { params }) {
  stylesheet("/static/rooms/graphs.css");
  const room = new State("graphs", { tab: "messages" }, params);
  if (!(room.get("tab") in TABS)) room.values.tab = "messages";
  const stage = h("div", { class: "graphs", role: "tabpanel" });
  let close = null;
  const enter = (given) => {
    close?.();
    show(stage);
    const tab = room.get("tab");
    const state = new State("graphs", { tab: "", ...TABS[tab].defaults }, given);
    state.values.tab = tab; // always in the address
    state.write();
    close = TABS[tab].open(stage, state);
  };
  room.on(() => enter(new URLSearchParams()), "tab");
  main.append(h("h1", { class: "hidden-label" }, "Graphs and decisions"), tabs(room, "tab", TITLES, "Activities"), stage);
  enter(params);
  return () => close?.();
}
