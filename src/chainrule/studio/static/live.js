// The connection to the server: activities on channels, views as they come.
//
//   const channel = start("playground", settings, { view(content) {…}, error(text) {…}, ended() {…} });
//   channel.send({rate: 0.1}); channel.pause(); channel.resume(); channel.step(); channel.stop();
//
// A view is confirmed after the page has drawn it; the server sends the next one after that.
import { notify } from "./dom.js";

const channels = new Map();
let socket = null;
let session = "";
let ready = false; // the server has told us our session
let waiting = [];
let retry = 250;
let count = 0;

function connect() {
  status("connecting");
  socket = new WebSocket(`ws://${location.host}/live?session=${encodeURIComponent(session)}`);
  socket.onmessage = ({ data }) => receive(JSON.parse(data));
  socket.onclose = () => {
    socket = null;
    ready = false;
    status("lost");
    setTimeout(connect, retry);
    retry = Math.min(4000, 2 * retry);
  };
}

function receive(message) {
  if (message.type === "session") return opened(message.id);
  if (message.type === "full") return notify(message.message, 30);
  const channel = channels.get(message.channel);
  if (!channel) return message.type === "error" ? notify(message.message) : undefined;
  const { handlers } = channel;
  if (message.type === "view") {
    channel.latest = message;
    if (!channel.drawing) {
      channel.drawing = true;
      draw(channel);
    }
  } else if (message.type === "error") (handlers.error || notify)(message.message);
  else if (message.type === "ended") {
    channel.ended = true;
    handlers.ended?.();
  }
  else if (message.type === "gone" && !channel.stopped && !channel.ended) (handlers.error || notify)("the activity has stopped unexpectedly; start it again");
}

// In the next frame; at once in a hidden tab, where there are no frames.
function draw(channel) {
  const now = () => {
    const { number, content } = channel.latest;
    channel.drawing = false;
    if (channel.stopped) return;
    channel.handlers.view?.(content);
    send({ type: "seen", channel: channel.name, number });
  };
  if (document.hidden) setTimeout(now, 200);
  else requestAnimationFrame(now);
}

function opened(id) {
  const returned = id === session;
  session = id;
  retry = 250;
  ready = true;
  status("connected");
  if (!returned) { // a new page, or a server that forgot us: begin again, then say what was said meanwhile
    const said = waiting.filter(({ type, channel }) => type !== "start" && channels.has(channel));
    waiting = [...[...channels.values()].map(started), ...said];
  }
  for (const message of waiting.splice(0)) socket.send(JSON.stringify(message));
}

function send(message) {
  if (ready && socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  else if (message.type !== "seen") waiting.push(message);
}

function started({ name, activity, settings }) {
  return { type: "start", channel: name, activity, settings };
}

function status(text) {
  const shown = document.getElementById("connection");
  shown.textContent = text === "connected" ? "" : text === "lost" ? "connection lost, trying again …" : "connecting …";
  shown.dataset.state = text;
}

/** Start an activity; returns what steers it. */
export function start(activity, settings, handlers) {
  const channel = { name: `${activity}-${++count}`, activity, settings, handlers, stopped: false };
  channels.set(channel.name, channel);
  send(started(channel));
  const told = (type, more = {}) => send({ type, channel: channel.name, ...more });
  return {
    send: (message) => told("send", { message }),
    pause: () => told("pause"),
    resume: () => told("resume"),
    step: () => told("step"),
    again: (next) => { channel.settings = next; }, // what to start with if the server has forgotten us
    stop: () => {
      channel.stopped = true;
      channels.delete(channel.name);
      told("stop");
    },
  };
}

/** One answer of an activity: a promise of its first view; it is stopped then. */
export function ask(activity, settings) {
  return new Promise((resolve, reject) => {
    const channel = start(activity, settings, {
      view: (content) => { channel.stop(); resolve(content); },
      error: (text) => { channel.stop(); reject(new Error(text)); },
    });
  });
}

connect();
