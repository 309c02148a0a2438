// The live view: one row for each run of a chain, the newest first.
import { $, call, el, label, why } from "./dom.js";
import { indented, members, parts, stamp, visible } from "./text.js";

const most = 500; // rows
const announced = /^approval:|^user:notification$/; // by routers: no hook is asked, so that no result follows
const rows = new Map(); // chain or event id → the row, oldest first
let asked = false, late = false; // for what was there before this page; some of that came
let waiting = [], drawing = false, paused = false, lost = 0;

export function addEvent(message, text) {
  waiting.push([message, text]);
  if (waiting.length > most * 2) lost += waiting.splice(0, most).length;
  draw();
}

// showRecent adds what happened before the page was opened, or while it had no router.
export async function showRecent() {
  if (asked) return;
  asked = true;
  try {
    const text = await call("/v1/recent");
    const raw = parts(members(text).get("events"));
    late = true;
    JSON.parse(text).events.forEach((message, i) => addEvent(message, raw[i][1]));
  } catch { asked = false; } // it is asked again when the router is back
}

// forget has the next showRecent ask again.
export const forget = () => { asked = false; };

export function addLost({ count }) {
  lost += count;
  note();
}

function note() {
  $("live-note").textContent = [paused ? "paused, " + waiting.length + " new" : "", lost ? lost + " not shown: they came too fast" : ""].filter(Boolean).join(" · ");
}

function draw() {
  if (paused) { note(); return; }
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    if (paused) return;
    const fresh = [];
    for (const [message, text] of waiting) add(message, text, fresh);
    waiting = [];
    if (late) sort();
    else $("live-rows").prepend(...fresh.reverse());
    late = false;
    for (const [key, row] of rows) {
      if (rows.size <= most) break;
      rows.delete(key);
      row.body.remove();
    }
    $("live-empty").hidden = rows.size > 0;
    note();
  });
}

// sort puts all rows in the order of their time.
function sort() {
  const list = [...rows].sort(([, a], [, b]) => Date.parse(a.message.time) - Date.parse(b.message.time));
  rows.clear();
  for (const [key, row] of list) rows.set(key, row);
  $("live-rows").replaceChildren(...list.map(([, row]) => row.body).reverse());
}

function add(message, text, fresh) {
  const key = message.chain_id || message.event_id || Symbol("alone");
  let row = rows.get(key);
  if (!row) {
    row = { message: {}, hooks: [], body: el("tr", {}) };
    rows.set(key, row);
    fresh.push(row.body);
  }
  const first = row.message.time;
  Object.assign(row.message, message, first && { time: first });
  if (message.hooks) row.hooks = message.hooks;
  const data = members(text).get("data");
  if (data) row.data = data;
  fill(row);
}

function fill({ message: m, hooks, data, body }) {
  const at = stamp(m.time) + "." + String(new Date(m.time).getMilliseconds()).padStart(3, "0");
  const about = el("td", { class: "name" }, el("b", { textContent: visible(m.name) }));
  if (data) {
    const details = el("details", {}, el("summary", { textContent: brief(data) }));
    details.addEventListener("toggle", () => {
      if (details.open && details.children.length === 1) details.append(el("pre", { textContent: visible(indented(data), true) }));
    });
    about.append(details);
  } else if (m.data_bytes) {
    about.append(el("div", { class: "muted", textContent: m.data_bytes + " bytes of data" }));
  }
  body.replaceChildren(
    el("td", { class: "num muted", textContent: at.slice("2026-01-02 ".length), title: at }),
    about,
    el("td", { class: "name", textContent: visible(m.session_id || "") }),
    el("td", {}, m.action ? badge(m.action, m.action) : el("span", { class: "muted", textContent: m.kind === "event" && !announced.test(m.name) ? "…" : "" }),
      m.reason ? el("div", { class: "reason", textContent: visible(m.reason) }) : null),
    el("td", { class: "chain" }, ...hooks.map(hook)),
    el("td", { class: "id" }, m.chain_id && m.action ? why(m.chain_id, visible(m.chain_id)) : visible(m.chain_id || "")));
  label(body, ["time", "event", "session", "decision", "hooks", "chain"]);
  body.dataset.text = [m.name, m.session_id, m.chain_id, m.event_id, m.action, m.reason, ...hooks.map((h) => h.id + " " + (h.action || h.failure))].join(" ").toLowerCase();
  body.dataset.verdict = [m.action === "deny" ? "deny" : "", hooks.some((h) => h.action === "ask_user") ? "ask" : "", hooks.some((h) => h.failure) ? "failure" : ""].join(" ");
  body.hidden = !fits(body);
}

function hook(h) {
  const what = h.failure ? h.failure + (h.failed_open ? ", let pass" : "") : h.action;
  const took = h.us >= 1e6 ? (h.us / 1e6).toFixed(1) + " s" : h.us >= 10000 ? Math.round(h.us / 1000) + " ms" : h.us >= 1000 ? (h.us / 1000).toFixed(1) + " ms" : h.us + " µs";
  return el("span", { class: "hop" }, el("span", { textContent: visible(h.id) + " " }),
    badge(h.failure ? "failure" : h.action, visible(what)), el("small", { class: "muted", textContent: " " + took }));
}

const badge = (kind, text) => el("span", { class: "badge", "data-action": kind, textContent: visible(text) });

// brief is the first line of what the data says.
function brief(data) {
  const all = parts(data).filter(([name]) => name !== "session_id" && name !== "timestamp");
  const line = all.map(([name, value]) => name + "=" + value).join(" ");
  return visible(line.length > 200 ? line.slice(0, 200) + "…" : line || "{}");
}

const fits = (body) => body.dataset.text.includes($("live-filter").value.trim().toLowerCase()) && body.dataset.verdict.includes($("live-verdict").value);

for (const filter of ["live-filter", "live-verdict"]) {
  $(filter).addEventListener("input", () => {
    for (const { body } of rows.values()) body.hidden = !fits(body);
  });
}
$("live-pause").addEventListener("click", () => {
  paused = !paused;
  $("live-pause").setAttribute("aria-pressed", paused);
  $("live-pause").textContent = paused ? "Resume" : "Pause";
  draw();
  note();
});
