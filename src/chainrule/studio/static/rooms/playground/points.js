// Own points: five characters each in the address, two for a coordinate and one for the class.

export const RADIUS = 1.2; // of the square in which points are drawn
export const MOST = 600;
const LAST = 36 ** 2 - 1;

const digits = (value) => Math.round(((Math.min(RADIUS, Math.max(-RADIUS, value)) + RADIUS) / (2 * RADIUS)) * LAST).toString(36).padStart(2, "0");
const value = (text) => Number((-RADIUS + (2 * RADIUS * parseInt(text, 36)) / LAST).toFixed(4));

/** [[x1, x2, class], …] as text. */
export function encode(points) {
  return points.map(([x, y, kind]) => digits(x) + digits(y) + kind).join("");
}

/** The points of such a text; what cannot be read is left out. */
export function decode(text) {
  const found = text.match(/[0-9a-z]{4}[01]/g) || [];
  return found.slice(0, MOST).map((part) => [value(part.slice(0, 2)), value(part.slice(2, 4)), Number(part[4])]);
}

/** Rows x1, x2, label of a CSV, moved and scaled into the square; throws a sentence where that fails. */
export function fromCsv(text) {
  const rows = text.trim().split(/\r?\n/).map((line) => line.split(/[,;\t]/).map((cell) => cell.trim()));
  if (rows.length && rows[0].slice(0, 2).some((cell) => !Number.isFinite(Number(cell || NaN)))) rows.shift(); // the header
  if (rows.length < 2) throw new Error("expected rows of x1, x2, label, got fewer than two");
  const bad = rows.findIndex((row) => row.length !== 3 || row.slice(0, 2).some((cell) => !Number.isFinite(Number(cell || NaN))) || !row[2]);
  if (bad >= 0) throw new Error(`expected two numbers and a label, got "${rows[bad].join(",").slice(0, 40)}"`);
  if (rows.length > MOST) throw new Error(`expected at most ${MOST} rows, got ${rows.length}`);
  const labels = [...new Set(rows.map((row) => row[2]))].sort();
  if (labels.length !== 2) throw new Error(`expected two different labels, got ${labels.length}`);
  const columns = [0, 1].map((k) => rows.map((row) => Number(row[k])));
  const scaled = columns.map((column) => {
    const low = Math.min(...column);
    const range = Math.max(...column) - low || 1;
    return column.map((number) => (2 * (number - low)) / range - 1);
  });
  return rows.map((row, k) => [scaled[0][k], scaled[1][k], labels.indexOf(row[2])]);
}
