// The dialog that shows a person one approval request.
import { $, call, early, el, toast } from "./dom.js";
import { edits, rest, subject } from "./judge.js";
import { indented, left, members, sender, text, visible } from "./text.js";

const stay = 5000; // ms that an outcome made elsewhere is shown
const grants = (option) => ["allow", "allow once", "allow always"].includes(option.toLowerCase());

const always = (option) => option.toLowerCase() === "allow always";
const scopes = { session: "this session", lineage: "this session and sub-agents", agent: "every session of this agent" };

const dialog = $("ask");
let question = null; // the one that is open
let opened = 0, closed = null, sending = false, ended = false;
let missed = false; // something happened to the approval request while it was being read
let newest = { approvals: [], total: 0 }; // list of what waits

export const isOpen = () => question !== null;

// open makes an approval request, and resolves when the dialog is closed.
export async function open(q, clock) {
  question = q;
  ended = sending = missed = false;
  try {
    const at = "/v1/approvals/" + encodeURIComponent(q.id);
    const record = members(await call(at));
    if (record.has("decided_by")) {
      question = null;
      return;
    }
    fill(q, record, JSON.parse(await call(at + "/view")));
  } catch (error) {
    question = null;
    if (error.code !== 401) toast("The approval request can't be shown: " + visible(error.message));
    return;
  }
  dialog.showModal();
  $("ask-body").scrollTop = 0; // focus has moved it
  opened = performance.now();
  const timer = setInterval(tick, 250);
  function tick() {
    const rest = Date.parse(q.expires) - clock();
    $("ask-progress").max = Date.parse(q.expires) - Date.parse(q.created);
    $("ask-progress").value = Math.max(rest, 0);
    $("ask-left").textContent = rest > 0
      ? "without an answer it is " + (q.default === "allow" ? "allowed" : "denied") + " in " + left(rest)
      : "the time is over";
  }
  tick();
  const end = new Promise((resolve) => { closed = resolve; });
  if (missed) closeGone([]);
  await end;
  clearInterval(timer);
  question = closed = null;
  if (dialog.open) dialog.close();
}

function fill(q, record, view) {
  $("ask-hook").textContent = visible(q.hook);
  $("ask-tool").textContent = visible(text(record, "tool_name") || q.event);
  showMore();
  $("ask-prompt").textContent = visible(q.prompt, true);
  $("ask-reason").textContent = visible(view.reason || "", true);
  const facts = { event: q.event, session: q.session_id, agent: sender(text(record, "emitter"), text(record, "agent")), labels: JSON.parse(record.get("labels") || "[]").join(", "), approvals: text(record, "progress") };
  if (record.has("shadow_rule")) facts["in shadow"] = "rule " + text(record, "shadow_rule") + " would " + text(record, "shadow_decision");
  $("ask-facts").replaceChildren(...[...Object.entries(facts), ...said(JSON.parse(record.get("reviews") || "[]"))].filter(([, value]) => value).map(([name, value]) =>
    el("div", {}, el("dt", { textContent: name }), el("dd", { textContent: visible(value) }))));
  const chain = text(record, "chain_id");
  if (chain) $("ask-facts").append(el("div", {}, el("dt", { textContent: "chain" }), el("dd", {}, el("a", { href: "/why/" + encodeURIComponent(chain), target: "_blank", textContent: visible(chain) }))));
  show(view);
  $("ask-data").textContent = visible(indented(record.get("data") || "{}"), true);
  $("ask-note").value = "";
  $("ask-outcome").hidden = true;
  $("ask-answer").hidden = $("ask-clock").hidden = false;
  offerScopes(JSON.parse(record.get("scopes") || "[]"));
  $("ask-options").replaceChildren(...q.options.map((option, i) => {
    const allow = grants(option);
    const button = el("button", { type: "button", class: allow ? "option allow" : "option deny" },
      i < 9 ? el("kbd", { textContent: i + 1 }) : null,
      el("span", { textContent: visible(option) }),
      /^(allow|deny)\b/i.test(option) ? null : el("small", { textContent: allow ? "allows" : "denies" }));
    button.addEventListener("click", (event) => answer(option, event));
    return button;
  }));
}

// offerScopes lets the person choose what "Allow always" is for, where the router says that
// there is a choice.
function offerScopes(offered) {
  $("ask-scope").replaceChildren(...offered.map((scope) => el("option", { value: scope, textContent: scopes[scope] || visible(scope) })));
  $("ask-scope-label").hidden = offered.length === 0;
}

// said is what others answered, by who they are.
const said = (reviews) => reviews.map((r) => [
  visible(r.person || r.by) + (r.model ? " (a model)" : ""), (r.option ? "allowed" : "passed it on") + (r.note ? ": " + r.note : "")]);

// show lays out what is judged.
function show(view) {
  $("ask-subject").replaceChildren(...subject(view));
  $("ask-edits").replaceChildren(...edits(view.edits));
  $("ask-edits").hidden = view.edits.length === 0;
  $("ask-changes").replaceChildren(...(view.changed.length ? edits(view.changed) : [el("p", { class: "muted", textContent: "Nothing: this is what the agent sent." })]));
  $("ask-arguments").replaceChildren(rest(view.rest));
  $("ask-masked").hidden = !view.masked;
}

// showMore says how many approval requests wait besides the one that is open.
function showMore() {
  const others = newest.total - (newest.approvals.some((q) => q.id === question?.id) ? 1 : 0);
  $("ask-more").textContent = others > 0 ? others + " more waiting" : "";
}

// reveal shows what is masked, which is recorded in the name of who asks for it.
async function reveal(event) {
  const q = question;
  if (q === null || early(event, opened)) return;
  try {
    const view = JSON.parse(await call("/v1/approvals/" + encodeURIComponent(q.id) + "/reveal", { method: "POST" }));
    if (question !== q) return;
    show(view);
    $("ask-body").focus();
    toast("Revealed, and recorded.");
  } catch (error) {
    if (question === q) toast(visible(error.message));
  }
}

async function answer(option, event) {
  if (question === null || sending || ended) return;
  if (early(event, opened)) {
    toast("Not answered: that came too soon after this appeared. Answer again.");
    return;
  }
  sending = true;
  const q = question, note = $("ask-note").value;
  const scope = always(option) && $("ask-scope").value;
  setDisabled(true);
  try {
    const taken = JSON.parse(await call("/v1/approvals/" + encodeURIComponent(q.id), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ option, data_sha256: q.data_sha256, ...(note && { note }), ...(scope && { scope }) }),
    }));
    toast(taken.open ? "Counted: " + visible(taken.progress || "others are to answer") : grants(option) ? "Allowed: " + visible(option) : option.toLowerCase() === "deny" ? "Denied" : "Denied: " + visible(option));
    if (question === q) closed();
  } catch (error) {
    if (question !== q || ended || error.code === 401) return; // dismiss has closed it
    if ([404, 409, 410].includes(error.code)) finish(visible(error.message));
    else {
      fail(error.code ? visible(error.message) : "The router can't be reached; it is not known whether it took the answer.");
      sending = false;
      closeGone([]);
    }
  } finally {
    sending = false;
    if (question === q) setDisabled(false);
  }
}

function setDisabled(off) {
  for (const button of $("ask-options").children) button.disabled = off;
}

function fail(message, kind = "") {
  $("ask-outcome").textContent = message;
  $("ask-outcome").dataset.kind = kind;
  $("ask-outcome").hidden = false;
}

// finish shows what became of the approval request, and closes.
function finish(message, kind) {
  if (ended) return;
  ended = true;
  fail(message, kind);
  $("ask-answer").hidden = $("ask-clock").hidden = true;
  const q = question;
  setTimeout(() => { if (question === q) closed(); }, stay);
}

// decided is called for each decision.
export function decided({ id, decision }) {
  if (question?.id !== id || sending) return;
  if (closed === null) { missed = true; return; }
  finish(verdict(decision), decision.granted ? "allowed" : "denied");
}

function verdict(d) {
  if (d.timed_out) return (d.granted ? "Allowed" : "Denied") + ": nobody answered in time.";
  const who = visible(d.decided_by) + (d.claimed_by ? " (" + visible(d.claimed_by) + ")" : "");
  return (d.granted ? "Allowed" : "Denied") + " by " + who + (d.option ? ": " + visible(d.option) : "") + (d.note ? ". Note: " + visible(d.note) : "");
}

// listed is called with the open approval requests.
export function listed(list) {
  newest = list;
  showMore();
  closeGone(list.approvals);
}

// closeGone ends the open approval request where the list no longer has it.
async function closeGone(pending) {
  const q = question;
  if (q === null || sending || ended || pending.some((other) => other.id === q.id)) return;
  if (closed === null) { missed = true; return; }
  try {
    const record = JSON.parse(await call("/v1/approvals/" + encodeURIComponent(q.id)));
    if (question === q && !sending && record.decided_by) finish(verdict(record), record.granted ? "allowed" : "denied");
  } catch (error) {
    if (question === q && error.code === 404) finish("This approval request is no longer known.");
  }
}

// dismiss closes the dialog, whatever is under way in it.
export const dismiss = () => closed?.();

const aside = () => { if (closed && !sending) closed(); };

$("ask-reveal").addEventListener("click", reveal);
$("ask-close").addEventListener("click", aside);
dialog.addEventListener("cancel", (event) => {
  event.preventDefault();
  if (!early(event, opened)) aside();
});
// Whatever closed it, nothing was answered. The browser tells of it with the next frame,
// and by then the next approval request may be open.
dialog.addEventListener("close", () => { if (!dialog.open) aside(); });

document.addEventListener("keydown", (event) => {
  if (!dialog.open || event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.target === $("ask-note") || event.target === $("ask-scope")) return;
  const option = /^[1-9]$/.test(event.key) ? question?.options[event.key - 1] : undefined;
  if (option === undefined) return;
  event.preventDefault();
  answer(option, event);
}, true);
