// What a hook changed, as elements.
import { el } from "./dom.js";
import { members, parts, shown, text, visible } from "./text.js";

// masked is what is said where the old and the new value differ only in secrets.
export const masked = ": a secret was replaced; both values are masked";

// changes shows a JSON Patch as a diff.
export function changes(patch) {
  const list = patch && patch !== "null" ? parts(patch) : null;
  if (list === null) return el("p", { class: "muted", textContent: "Not recorded." });
  if (list.length === 0) return el("p", { class: "muted", textContent: "Nothing: this is what the agent sent." });
  return el("div", { class: "diff" }, ...list.map(([, op]) => {
    const change = members(op), path = text(change, "path"), kind = text(change, "op");
    if (change.has("old") && change.get("old") === change.get("value")) return el("div", { class: "change" }, el("code", { textContent: visible(path || "/") + masked }));
    return el("div", { class: "change" },
      el("code", { textContent: visible(path || "/") + (kind === "replace" ? "" : kind === "add" ? " added" : " " + kind + "d") }),
      change.has("old") ? el("del", { textContent: shown(change.get("old")) }) : null,
      change.has("value") && kind !== "remove" ? el("ins", { textContent: shown(change.get("value")) }) : null);
  }));
}
