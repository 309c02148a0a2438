// History: the questions that were decided.
import { el, why } from "./dom.js";
import { line, search, verdict, when } from "./records.js";
import { visible } from "./text.js";

const by = (d) => d.timed_out ? "nobody answered in time" : "by " + d.decided_by + (d.claimed_by ? " (" + d.claimed_by + ")" : "");

export const showHistory = search("history", "/v1/history", "decisions", (d) => el("li", {},
  el("div", { class: "top" }, verdict(d.granted ? "continue" : "deny", d.granted ? "allowed" : "denied"), el("b", { textContent: visible(by(d)) }), when(d.time), why(d.chain_id, "Why?")),
  el("div", { class: "prompt", textContent: visible(d.prompt, true) }),
  d.note ? el("div", { class: "prompt", textContent: "Note: " + visible(d.note, true) }) : null,
  line(d.hook, d.event, d.session_id && "session " + d.session_id, d.option && !/^(allow|deny)$/i.test(d.option) && "“" + d.option + "”", d.id)));
