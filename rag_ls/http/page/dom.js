// Elements without markup: texts never become HTML.

/** An element with properties (`on...` are listeners, others attributes) and children. */
export function el(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== ""));
  return made;
}

/** Tell the user something, with an optional button. */
export function tell(text, action) {
  const told = document.getElementById("told");
  told.replaceChildren(text);
  if (action) told.append(" ", el("button", { onclick: () => { told.replaceChildren(); action.run(); } }, action.name));
  clearTimeout(told.timer);
  told.timer = setTimeout(() => told.replaceChildren(), action ? 15000 : 6000);
}

/** Run something that may be refused, and say so in words. */
export async function trying(work) {
  try {
    return await work();
  } catch (error) {
    if (error.name !== "AbortError") tell(error.message);
    return undefined;
  }
}

/** A count with its noun: "1 file", "2 files", "2 memories". */
export const many = (count, noun) => `${count.toLocaleString("en")} ${count === 1 ? noun : noun.replace(/y$/, "ie").concat("s")}`;
