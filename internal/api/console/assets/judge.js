// What a person judges: the router lays it out (GET /v1/approvals/ID/view), the same for
// terminals, and this draws it.
import { el } from "./dom.js";
import { masked } from "./question.js";
import { visible } from "./text.js";

// subject is the command or the path that it is about.
export const subject = (view) => view.subject.map(({ name, text }) =>
  el("div", { class: "subject" }, el("span", { class: "muted", textContent: visible(name) }), el("pre", { textContent: visible(text, true) })));

// edits are diffs.
export const edits = (list) => list.map((change) => el("div", { class: "change" },
  el("code", { textContent: visible(change.name) + (change.masked ? masked : ": " + change.diff.removed + " removed, " + change.diff.added + " added") }),
  change.masked ? null : lines(change.diff)));

const sign = { "-": "del", "+": "ins", " ": "span" };

function lines(diff) {
  const body = el("pre", { class: "lines", tabIndex: 0 });
  (diff.hunks || []).forEach((hunk, i) => {
    if (i > 0 || hunk.old > 1) body.append(el("span", { class: "hunk", textContent: "@ line " + hunk.old + "\n" }));
    for (const line of hunk.lines) {
      body.append(el(sign[line.op], {}, line.op + " ", ...line.parts.map((part) =>
        part.changed ? el("mark", { textContent: visible(part.text, true) }) : visible(part.text, true)), "\n"));
    }
  });
  if (diff.hidden) body.append(el("span", { class: "hunk", textContent: diff.hidden + " more lines changed; they stand in the data below" }));
  return body;
}

// rest is all other data.
export const rest = (list) => el("dl", { class: "args" }, ...list.map(({ name, text }) =>
  el("div", {}, el("dt", { textContent: visible(name) }), el("dd", { textContent: visible(text, true) }))));
