// The console: the views, the connection to the router, and the list of approvals.
import { $, call, el } from "./dom.js";
import { left, visible } from "./text.js";
import { closeGone, decided, isOpen, open } from "./ask.js";
import { addEvent, addLost } from "./live.js";
import { showRegistry } from "./registry.js";

const views = ["approvals", "live", "registry"];
const setAside = new Set(); // questions that don't open by themselves again
let pending = [], total = 0, ahead = 0; // ahead: the router's clock less ours, in ms

const now = () => Date.now() + ahead;

function route() {
  const view = views.includes(location.hash.slice(1)) ? location.hash.slice(1) : views[0];
  for (const name of views) {
    $(name).hidden = name !== view;
    if (name === view) $("tab-" + name).setAttribute("aria-current", "page");
    else $("tab-" + name).removeAttribute("aria-current");
  }
  showRegistry(view === "registry");
}

// review opens a question, and the next one when it is closed.
async function review(question) {
  setAside.add(question.id);
  await open(question, total - 1, now);
  next();
}

function next() {
  if (isOpen()) return;
  const question = pending.find((q) => !setAside.has(q.id) && Date.parse(q.expires) > now());
  if (question) review(question);
}

function showApprovals(message) {
  pending = message.approvals;
  total = message.total;
  ahead = Date.parse(message.now) - Date.now();
  for (const id of setAside) if (!pending.some((q) => q.id === id)) setAside.delete(id);
  document.title = (total ? "(" + total + ") " : "") + "hookrouter";
  $("count").hidden = total === 0;
  $("count").textContent = total;
  $("approvals-note").textContent = total > pending.length ? "the oldest " + pending.length + " of " + total : "";
  $("approvals-empty").hidden = total > 0;
  $("approvals-table").hidden = total === 0;
  const focused = document.activeElement?.dataset?.review;
  $("approvals-rows").replaceChildren(...pending.map(row));
  if (focused) document.querySelector('[data-review="' + CSS.escape(focused) + '"]')?.focus();
  closeGone(pending);
  next();
}

function row(question) {
  const button = el("button", { type: "button", textContent: "Review", "data-review": question.id });
  button.addEventListener("click", () => { if (!isOpen()) review(question); });
  const text = (value, kind) => el("td", { class: kind, textContent: visible(value) });
  return el("tr", {},
    el("td", { class: "num", textContent: left(Date.parse(question.expires) - now()), "data-expires": question.expires }),
    el("td", { class: "wide" }, el("div", { class: "clamp", textContent: visible(question.prompt) })),
    text(question.hook, "name"), text(question.event, "name"), text(question.session_id, "name"),
    el("td", { class: "end" }, button));
}

setInterval(() => {
  for (const cell of document.querySelectorAll("td[data-expires]")) cell.textContent = left(Date.parse(cell.dataset.expires) - now());
}, 1000);

function link(state, text) {
  $("link").dataset.state = state;
  if ($("link").textContent !== text) $("link").textContent = text;
}

const handlers = { approvals: showApprovals, decided, event: addEvent, lost: addLost };
let delay = 500;

function connect() {
  const socket = new WebSocket((location.protocol === "https:" ? "wss://" : "ws://") + location.host + "/v1/events");
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    handlers[message.type]?.(message, data);
  };
  socket.onopen = () => {
    delay = 500;
    $("banner").hidden = true;
    link("on", "live");
  };
  socket.onclose = async () => {
    const wait = delay * (0.75 + Math.random() / 2);
    delay = Math.min(delay * 2, 15000);
    link("off", "reconnecting");
    setTimeout(connect, wait);
    try {
      await call("/v1/approvals?limit=1");
    } catch (error) {
      if (error.code !== 401) return;
      $("banner").textContent = "Access has ended. Open the address that the router printed when it started.";
      $("banner").hidden = false;
    }
  };
}

addEventListener("hashchange", route);
route();
connect();
