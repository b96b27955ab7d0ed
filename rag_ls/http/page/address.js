// What is shown stands in the address, so that it can be loaded again and shared: #view/part?name=value.

/** The view that the address names, its parts, and its values. */
export function readAddress() {
  const [path, values = ""] = location.hash.slice(1).split("?");
  const [view, ...parts] = path.split("/");
  return { view: view || "search", parts, values: new URLSearchParams(values) };
}

/** Write values into the address, without another step for the way back; empty ones leave it. */
export function noteInAddress(values) {
  const { view, parts, values: noted } = readAddress();
  for (const [name, value] of Object.entries(values)) {
    if (value) noted.set(name, value);
    else noted.delete(name);
  }
  history.replaceState(null, "", `#${[view, ...parts].join("/")}${noted.size ? `?${noted}` : ""}`);
}
