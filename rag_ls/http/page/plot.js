// A small line of the latest values.
const NS = "http://www.w3.org/2000/svg";

/** An image of some values, the latest at the right. */
export function plot(values, name) {
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("viewBox", "0 0 100 24");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${name}, the last minutes`);
  const most = Math.max(...values, 1e-9), step = 100 / Math.max(values.length - 1, 1);
  const line = document.createElementNS(NS, "polyline");
  line.setAttribute("points", values.map((value, place) => `${place * step},${22 - (20 * value) / most}`).join(" "));
  line.setAttribute("fill", "none");
  line.setAttribute("stroke", "currentColor");
  line.setAttribute("vector-effect", "non-scaling-stroke");
  svg.append(line);
  return svg;
}
