// The console: the views, the connection to the router, and the list of approvals.
import { $, call, noAccess, toast } from "./dom.js";
import { decided, dismiss, isOpen, listed, open } from "./ask.js";
import { card, count } from "./cards.js";
import { addEvent, addLost, forget, showRecent } from "./live.js";
import { showHistory } from "./history.js";
import { showAudit } from "./audit.js";
import { showRegistry } from "./registry.js";
import { distrust, session, signIn } from "./session.js";
import { showFrozen } from "./freeze.js";
import { asked, showWhy } from "./why.js";

const views = ["approvals", "history", "live", "audit", "registry"];
const setAside = new Map(); // id of an approval request that doesn't open by itself again → when it expires
let pending = [], ahead = 0; // ahead: the router's clock less ours, in ms
let access = true; // until a request is refused for want of it

const now = () => Date.now() + ahead;

function route() {
  const id = asked();
  $("why").hidden = id === null;
  const view = id !== null ? "why" : views.includes(location.hash.slice(1)) ? location.hash.slice(1) : views[0];
  for (const name of views) {
    $(name).hidden = name !== view;
    if (name === view) $("tab-" + name).setAttribute("aria-current", "page");
    else $("tab-" + name).removeAttribute("aria-current");
  }
  showRegistry(view === "registry");
  if (view === "history") showHistory();
  if (view === "live") showRecent();
  if (view === "audit") showAudit();
  next();
}

// review opens an approval request, and the next one when it is closed.
async function review(question) {
  setAside.set(question.id, Date.parse(question.expires));
  await open(question, now);
  if (!access) setAside.delete(question.id); // it was not the person who closed it
  next();
}

// next opens an approval request by itself, on the view that is for them.
function next() {
  if (!access || isOpen() || $("freeze").open || $("approvals").hidden) return;
  const question = pending.find((q) => !setAside.has(q.id) && Date.parse(q.expires) > now());
  if (question) review(question);
}

function showApprovals(message) {
  const total = message.total;
  pending = message.approvals;
  ahead = Date.parse(message.now) - Date.now();
  for (const [id, expires] of setAside) if (expires <= now()) setAside.delete(id);
  document.title = (total ? "(" + total + ") " : "") + "hookrouter";
  $("count").hidden = total === 0;
  $("count").textContent = total;
  $("approvals-note").textContent = total > pending.length ? pending.length + " of " + total : "";
  $("approvals-empty").hidden = total > 0;
  const focused = document.activeElement?.dataset?.review;
  $("approvals-rows").replaceChildren(...pending.map((q) => card(q, now, (it) => { if (!isOpen()) review(it); })));
  if (focused) document.querySelector('[data-review="' + CSS.escape(focused) + '"]')?.focus();
  listed(message);
  next();
}

setInterval(() => count(now()), 1000);

function link(state, text) {
  $("link").dataset.state = state;
  if ($("link").textContent !== text) $("link").textContent = text;
}

const handlers = { approvals: showApprovals, decided, event: addEvent, lost: addLost };
let delay = 500, socket = null, lost = false;

async function connect() {
  try {
    await call("/v1/approvals?limit=1"); // a socket doesn't say why it was refused
  } catch (error) {
    if (error.code !== 401) again();
    return;
  }
  socket = new WebSocket((location.protocol === "https:" ? "wss://" : "ws://") + location.host + "/v1/events",
    ["hookrouter.v1", "hookrouter.bearer." + session()]); // a browser sets no header there
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    handlers[message.type]?.(message, data);
  };
  socket.onopen = () => {
    delay = 500;
    access = true;
    $("banner").hidden = true;
    link("on", "live");
    if (lost) {
      toast("The router is back.");
      forget();
      if (!$("live").hidden) showRecent();
    }
    lost = false;
    showFrozen();
    showRights();
  };
  socket.onclose = again;
}

// again says that the router is lost, and tries it once more after a while.
function again() {
  const wait = delay * (0.75 + Math.random() / 2);
  delay = Math.min(delay * 2, 15000);
  distrust();
  link("off", access ? "reconnecting" : "no access");
  if (!access) return; // until this tab gets another address
  lost = true;
  banner("The router can't be reached. Nothing can be answered until it is back; this page tries again by itself.");
  setTimeout(connect, wait);
}

// banner says something across the page; what is said already is not announced again.
function banner(text) {
  if ($("banner").textContent !== text || $("banner").hidden) $("banner").textContent = text;
  $("banner").hidden = false;
}

// showRights shows what who is here may do.
async function showRights() {
  try {
    $("tab-audit").hidden = !JSON.parse(await call("/v1/session")).may.includes("audit");
  } catch { /* the connection's state says so */ }
}

addEventListener("noaccess", () => {
  access = false;
  banner(noAccess);
  dismiss();
  link("off", "no access");
  socket?.close();
});

$("freeze").addEventListener("close", next);
addEventListener("hashchange", route);
if (await signIn()) {
  route();
  if (asked() !== null) showWhy(asked());
  connect();
}
