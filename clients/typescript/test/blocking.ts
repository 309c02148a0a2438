// A hook that keeps its event loop busy for as long as an event says.

import { allow, runHook } from "../src/index.js"

const log = { ...console, info: () => process.send?.("ready") }

await runHook({ id: "busy", events: ["tool:pre"], on_failure: "deny", timeout_ms: 200 }, ({ data }) => {
  const end = performance.now() + Number(data.block)
  while (performance.now() < end);
  return allow()
}, { log })
process.disconnect()
