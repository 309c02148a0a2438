// The registry: every registration, in the order of execution.
import { $, call, el, label } from "./dom.js";
import { members, parts, visible } from "./text.js";

const every = 10000; // ms between two readings while the view is open
let timer = 0;

export function showRegistry(open) {
  clearInterval(timer);
  if (!open) return;
  load();
  timer = setInterval(load, every);
}

async function load() {
  try {
    const list = parts((await call("/v1/registry")).trim());
    $("registry-rows").replaceChildren(...list.map(([, text]) => row(members(text))));
    $("registry-note").textContent = list.length + (list.length === 1 ? " hook" : " hooks");
  } catch (error) {
    $("registry-note").textContent = visible(error.message);
  }
}

function row(hook) {
  const value = (name) => hook.has(name) ? JSON.parse(hook.get(name)) : "";
  const texts = (name) => value(name) || [];
  const cell = (text, kind = "name") => el("td", { class: kind, textContent: visible(text) });
  const name = el("td", { class: "name" }, el("b", { textContent: visible(value("id")) }));
  if (value("name") !== value("id")) name.append(el("div", { class: "muted", textContent: visible(value("name")) }));
  const instances = texts("instances"), contributes = texts("channels").length > 0;
  const alive = el("td", { class: "num", textContent: instances.length,
    title: instances.map((i) => visible(i.instance) + (i.version ? " " + visible(i.version) : "")).join("\n") });
  if (instances.length === 0) alive.classList.add("warn");
  return label(el("tr", {}, name, cell([...texts("events"), ...texts("channels")].join(", ")),
    cell(contributes ? "" : hook.get("priority") || "", "num"), cell(value("mode")), cell(value("on_failure")),
    cell(hook.has("timeout_ms") ? hook.get("timeout_ms") + " ms" : "", "num"), cell(value("match"), "code wide"),
    cell(value("session_id")), alive), ["hook", "events or channels", "priority", "mode", "on failure", "time-out", "match", "session", "instances"]);
}

$("registry-reload").addEventListener("click", load);
