// Arrays as pictures: bytes of the server on a canvas, in the colors of all figures.

const style = getComputedStyle(document.documentElement);

/** A color of the palette by its CSS variable, such as color("blue"). */
export function color(name) {
  return style.getPropertyValue(`--${name}`).trim();
}

/** The color of the k-th series or class. */
export function series(k) {
  return color(`series-${k % 10}`);
}

const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));

/** A table of 256 colors through these stops. */
function table(...stops) {
  const parts = stops.map(rgb);
  return Array.from({ length: 256 }, (_, k) => {
    const place = (k / 255) * (parts.length - 1);
    const low = Math.min(Math.floor(place), parts.length - 2);
    return [0, 1, 2].map((c) => Math.round(parts[low][c] + (place - low) * (parts[low + 1][c] - parts[low][c])));
  });
}

/** Color scales: negative–zero–positive; zero to most; gray for pictures, ink on paper or light on dark. */
export const SCALES = {
  diverging: table(color("blue"), "#ffffff", color("orange")),
  sequential: table("#ffffff", color("sky"), color("blue")),
  warm: table("#ffffff", color("peach"), color("red"), color("brown")),
  gray: table("#000000", "#ffffff"),
  ink: table("#ffffff", "#000000"),
};

/** The bytes of a raster that the server sent. */
export function bytes(raster) {
  return Uint8Array.from(atob(raster.data), (c) => c.charCodeAt(0));
}

/** Paint a raster (h × w, or h × w × 3 for colors) on a canvas, one pixel a value; CSS gives the size on the page. */
export function paint(canvas, raster, scale = "diverging") {
  const [height, width, channels = 1] = raster.shape;
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const values = bytes(raster);
  const colors = SCALES[scale];
  for (let k = 0; k < width * height; k++) {
    const pixel = channels === 3 ? values.subarray(3 * k, 3 * k + 3) : colors[values[k]];
    image.data.set([pixel[0], pixel[1], pixel[2], 255], 4 * k);
  }
  context.putImageData(image, 0, 0);
}

/** A canvas context in CSS pixels, sharp on every screen; the drawing is erased. */
export function sharp(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** The color of text, of quiet text and of lines in the present theme. */
export function theme() {
  const now = getComputedStyle(document.documentElement);
  const pick = (name) => now.getPropertyValue(name).trim();
  return { text: pick("--text"), quiet: pick("--text-quiet"), line: pick("--line"), surface: pick("--surface") };
}
