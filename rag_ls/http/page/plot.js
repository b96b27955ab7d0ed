// Small lines of the latest values.
const NS = "http://www.w3.org/2000/svg";

/** An image of some series of values on one scale, the latest at the right; the second series is thin. */
export function plot(series, name) {
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("viewBox", "0 0 100 24");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${name}, the last minutes`);
  const most = Math.max(...series.flat(), 1e-9);
  for (const [place, values] of series.entries()) svg.append(line(values, most, place));
  return svg;
}

function line(values, most, place) {
  const drawn = document.createElementNS(NS, "polyline"), step = 100 / Math.max(values.length - 1, 1);
  drawn.setAttribute("points", values.map((value, at) => `${at * step},${22 - (20 * value) / most}`).join(" "));
  drawn.setAttribute("fill", "none");
  drawn.setAttribute("stroke", "currentColor");
  drawn.setAttribute("stroke-width", place ? "0.8" : "2");
  drawn.setAttribute("vector-effect", "non-scaling-stroke");
  return drawn;
}
