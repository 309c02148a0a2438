// The few things that every view does to the page. Text only ever goes in as text.
import { proven, session } from "./session.js";

export const $ = (id) => document.getElementById(id);

// el makes an element. Properties are set as such; class and data-* as attributes.
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class" || name.includes("-")) node.setAttribute(name, value);
    else node[name] = value;
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

// label names the cells of a row, where a phone shows each on a line of its own.
export function label(row, names) {
  names.forEach((name, i) => { row.children[i].dataset.label = name; });
  return row;
}

// why is a link to the story of a chain.
export const why = (chain, text) => el("a", { class: "touch", href: "/why/" + encodeURIComponent(chain), textContent: text });

const deaf = 400; // ms in which keys and clicks decide nothing
let focused = 0; // when the window got the focus: one in front of it may have closed under a click
addEventListener("focus", () => { focused = performance.now(); });

// early reports whether an event was meant for what was there before, or in front.
export const early = (event, shown) => event.timeStamp - Math.max(shown, focused) < deaf;

export const noAccess = "Access has ended. Open the address that the router printed when it started.";

// call asks the API. The error of a refusal has its code. Without access the page
// is told so, too.
export async function call(path, options = {}) {
  if (!await proven()) return refused(noAccess, 401);
  const response = await fetch(path, { ...options, headers: { ...options.headers, authorization: "Bearer " + session() } });
  const text = await response.text();
  if (response.ok) return text;
  let message = response.statusText;
  try { message = JSON.parse(text).error || message; } catch { /* a proxy's page */ }
  return refused(response.status === 401 ? noAccess : message, response.status); // words about tokens are for programs
}

function refused(message, code) {
  if (code === 401) dispatchEvent(new Event("noaccess"));
  throw Object.assign(new Error(message), { code });
}

let fading = 0;

// toast says something at the foot of the page for a while.
export function toast(text) {
  const box = $("toast");
  box.textContent = text;
  box.hidden = false;
  clearTimeout(fading);
  fading = setTimeout(() => { box.hidden = true; }, 6000);
}
