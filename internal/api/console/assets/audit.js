// The audit log: how far it is signed, a search, and the way to the story of a chain.
import { $, call, el, why } from "./dom.js";
import { line, search, verdict, when } from "./records.js";
import { agentName, stamp, visible } from "./text.js";

const find = search("audit", "/v1/audit", "records", (r) => el("li", {},
  el("div", { class: "top" }, verdict(r.failure ? "failure" : r.action, r.failure || r.action || r.kind), el("b", { textContent: visible([r.event, r.tool].filter(Boolean).join(" ")) }),
    when(r.time), r.chain_id ? why(r.chain_id, "Why?") : null),
  r.subject ? el("code", { class: "prompt", textContent: visible(r.subject, true) }) : null,
  r.reason ? el("div", { class: "prompt", textContent: visible(r.reason, true) }) : null,
  line(r.hook, r.rule, agentName(r.agent), r.session_id && "session " + r.session_id, r.chain_id && "chain " + r.chain_id, "at " + r.place)));

export function showAudit() {
  showState();
  find();
}

async function showState() {
  try {
    fill(JSON.parse(await call("/v1/audit/state")));
  } catch { $("audit-state").replaceChildren(); } // the search says why
}

function fill(s) {
  const size = (of) => of.size + " of " + s.messages + " messages, " + stamp(of.time);
  const facts = [["log", s.origin + (s.segments > 1 ? ", segment " + s.segments : "")],
    ["signed", s.signed ? size(s.signed) + ", by " + s.signed.by : "no: this router has no key for it"],
    ["witnessed", s.witnesses.map((w) => size(w) + ", by " + w.by).join("; ") || "by nobody"],
    ["verified", "not here: a router can't vouch for itself. Run: " + s.next.join(", ")],
    ["problem", s.problem]];
  $("audit-state").replaceChildren(...facts.filter(([, text]) => text).map(([name, text]) =>
    el("div", {}, el("dt", { textContent: name }), el("dd", { textContent: visible(text) }))));
}

$("id-form").addEventListener("submit", (event) => {
  event.preventDefault();
  location.assign("/why/" + encodeURIComponent($("id-form").elements.id.value.trim()));
});
