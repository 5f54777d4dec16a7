// The version space of the perceptron: every line of the plane is a point of this map.
import { h } from "../../dom.js";
import { bytes, color, paint, sharp, theme } from "../../paint.js";

const MARGIN = 26;

/** A canvas; draw(view) shows the map of a perceptron's view. */
export function versionSpace() {
  const element = h("canvas", { class: "network", role: "img", "aria-label": "Version space", hidden: true });
  const map = document.createElement("canvas");
  let painted = "";

  function draw(view) {
    const [width, height] = [element.clientWidth, element.clientHeight];
    if (!width || !height) return;
    const { mistakes, fewest, reach } = view.version_space;
    if (painted !== mistakes.data) {
      paint(map, mistakes, "sequential");
      green(map, mistakes);
      painted = mistakes.data;
    }
    const context = sharp(element, width, height);
    context.imageSmoothingEnabled = false;
    const [w, t] = [width - MARGIN - 6, height - MARGIN - 6];
    context.drawImage(map, MARGIN, 6, w, t);
    const at = ([angle, offset]) => [MARGIN + ((angle / Math.PI + 1) / 2) * w, 6 + ((1 - Math.max(-1, Math.min(1, offset / reach))) / 2) * t];
    path(context, view.path.map(at));
    axes(context, width, height);
    element.setAttribute("aria-label", `Mistakes of every line on the training points. ${fewest ? `No line has fewer than about ${fewest} mistakes: the version space is empty.` : "The green region, without mistakes, is the version space."}`);
  }

  return { element, draw };
}

/** Lines without a mistake. */
function green(map, raster) {
  const context = map.getContext("2d");
  context.fillStyle = color("green");
  const [, width] = raster.shape;
  bytes(raster).forEach((value, k) => { if (!value) context.fillRect(k % width, Math.floor(k / width), 1, 1); });
}

function path(context, places) {
  context.strokeStyle = context.fillStyle = color("orange");
  context.lineWidth = 1;
  places.forEach(([x, y], k) => {
    const before = places[k - 1];
    if (before && Math.abs(before[0] - x) < 200) {
      context.beginPath();
      context.moveTo(...before);
      context.lineTo(x, y);
      context.stroke();
    }
    context.beginPath();
    const last = k === places.length - 1;
    context.arc(x, y, last ? 7 : 2.2, 0, 2 * Math.PI);
    context.fill();
    if (last) {
      context.strokeStyle = "#ffffff";
      context.lineWidth = 2;
      context.stroke();
    }
  });
}

function axes(context, width, height) {
  context.fillStyle = theme().quiet;
  context.font = "12px system-ui";
  context.textAlign = "center";
  context.fillText("direction of w: angle from -π to π", (width + MARGIN) / 2, height - 7);
  context.save();
  context.translate(14, height / 2);
  context.rotate(-Math.PI / 2);
  context.fillText("offset b / ‖w‖", 0, 0);
  context.restore();
}
