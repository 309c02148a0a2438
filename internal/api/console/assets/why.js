// Why: the story of one decision, at an address of its own: /why/ID.
import { $, call, el } from "./dom.js";
import { changes } from "./question.js";
import { members, parts, sender, stamp, visible } from "./text.js";

// asked is the id in the address; null on another page.
export const asked = () => location.pathname.startsWith("/why/") ? decodeURIComponent(location.pathname.slice("/why/".length)) : null;

export async function showWhy(id) {
  $("why-note").textContent = "looking";
  let text;
  try {
    text = await call("/v1/why?id=" + encodeURIComponent(id));
  } catch (error) {
    $("why-note").textContent = visible(error.message);
    return;
  }
  $("why-note").textContent = "";
  fill(JSON.parse(text), members(text));
}

function fill(s, raw) {
  document.title = s.verdict + ": " + s.event + " – hookrouter";
  $("why-verdict").textContent = visible(s.verdict[0].toUpperCase() + s.verdict.slice(1));
  $("why-verdict").dataset.verdict = s.verdict;
  $("why-subject").textContent = visible(s.subject || "");
  const several = s.askers && s.hooks.filter((h) => decided(s, h) && h.rule_text);
  const facts = {
    event: s.event, tool: s.tool, hook: several ? "" : s.hook, hooks: several ? s.askers.join(", ") : "",
    rule: several ? "" : s.rule_text, rules: several ? [...new Set(several.map((h) => h.rule_text))].join("; ") : "", reason: s.reason,
    asked: (s.approvals || []).filter((a) => !a.decided).map(approval).join("; "),
    answer: (s.approvals || []).filter((a) => a.decided).map(approval).join("; "),
    revealed: [...new Set((s.approvals || []).flatMap((a) => a.revealed || []))].map((by) => "its secrets, to " + by).join("; "),
    when: stamp(s.time) + ", took " + (s.us / 1000).toFixed(1) + " ms", agent: sender(s.emitter, s.agent),
    session: s.session_id, "event id": s.event_id, chain: s.chain_id + " at " + s.place,
    also: s.others ? s.others.length + (s.more ? " and more" : "") + " chains of this " + s.kind : "",
  };
  $("why-facts").replaceChildren(...Object.entries(facts).filter(([, value]) => value).map(([name, value]) =>
    el("div", {}, el("dt", { textContent: name }), el("dd", { textContent: visible(value, name === "reason") }))));
  const hooks = parts(raw.get("hooks")).map(([, text]) => members(text)); // changes as they came
  $("why-hooks").replaceChildren(...s.hooks.map((h, i) => hook(h, hooks[i].get("changes"), decided(s, h))));
  $("why-next").textContent = (s.next || []).join("\n");
}

// decided reports whether the decision was a hook's: it denied, or asked.
const decided = (s, h) => !h.shadow && (h.hook === s.hook || (s.askers || []).includes(h.hook));

const shadow = (a) => a.shadow_rule ? "; in shadow, rule " + a.shadow_rule + " would " + a.shadow_decision : "";

function approval(a) {
  const reviews = (a.reviews || []).map((said) => said + "; ").join("");
  if (!a.decided) return reviews + "not answered yet" + shadow(a);
  const verdict = a.granted ? "granted" : "denied";
  if (a.timed_out) return reviews + verdict + ": nobody answered in time" + shadow(a);
  return reviews + verdict + (a.option ? " (" + a.option + ")" : "") + (a.holds ? " " + a.holds : "") + " by " + a.decided_by + (a.claimed_by ? ", who claims to be " + a.claimed_by : "") + (a.note ? ": " + a.note : "") + shadow(a);
}

function hook(h, patch, decided) {
  const did = h.failure ? "failed (" + h.failure + ")" + (h.failed_open ? ", let pass" : "") : h.action === "in_vain" ? "answer discarded: another hook denied or added labels" : h.skipped ? "skipped: its match was false" : h.action;
  return el("li", { class: decided ? "decided" : "" },
    el("b", { textContent: visible(h.hook) }), " ", el("span", { class: "badge", "data-action": h.failure ? "failure" : h.action || "", textContent: visible(did + (h.shadow ? ", in shadow" : "")) }),
    h.skipped ? null : el("small", { class: "muted", textContent: " " + (h.us / 1000).toFixed(1) + " ms" }),
    h.rule_text ? el("div", { class: "muted", textContent: visible(h.rule_text) }) : null,
    h.error ? el("div", { class: "reason", textContent: visible(h.error) }) : null,
    h.changed ? changes(patch) : null);
}
