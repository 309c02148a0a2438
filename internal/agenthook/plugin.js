// Written by `hookctl connect opencode`, removed by `hookctl disconnect opencode`.
// It asks hook-agent about prompts and tools. Where that fails in any way, it denies.
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"

const program = "PROGRAM"
const args = ["ARGS"]

function ask(event, data, show) {
  return new Promise((resolve) => {
    const fail = (why) => resolve({ deny: "Blocked, since no policy could be asked: " + why + ". Do not work around this: tell your user." })
    try {
      const document = JSON.stringify({ hook_event_name: event, ...data }) // before there is a program that waits for it
      const child = spawn(program, [...args, event], { stdio: ["pipe", "pipe", "pipe"] })
      let out = "", err = ""
      child.stdout.setEncoding("utf8") // else a character on the edge of two pieces is lost
      child.stderr.setEncoding("utf8")
      child.stdout.on("data", (text) => (out += text))
      child.stderr.on("data", (text) => {
        err += text
        show(text) // at once: it may say that a person is asked
      })
      child.on("error", (e) => fail("hook-agent can't be started: " + e.message))
      child.on("close", (code) => {
        if (code !== 0) return fail(err.trim() || "hook-agent ended with " + code)
        try {
          const answer = out.trim() ? JSON.parse(out) : {}
          if (typeof answer !== "object" || answer === null || Array.isArray(answer)) throw new TypeError("it is no object")
          resolve(answer)
        } catch (e) {
          fail("hook-agent's answer can't be read")
        }
      })
      child.stdin.on("error", () => {})
      child.stdin.end(document)
    } catch (e) {
      fail(String(e))
    }
  })
}

// OpenCode keeps the objects that it gave: they are changed in place.
function become(object, value) {
  for (const name of Object.keys(object)) if (!Object.hasOwn(value, name)) delete object[name]
  for (const [name, v] of Object.entries(value)) {
    Object.defineProperty(object, name, { value: v, configurable: true, enumerable: true, writable: true }) // __proto__ too
  }
}

const announced = new Set(["session.created", "session.idle", "session.compacted", "session.error", "session.deleted"])

// What OpenCode puts before a file that it has read for a prompt.
const called = "Called the Read tool with the following input: "

// A message that can't be shown changes no decision.
async function toast(client, text) {
  try {
    if (text.trim()) await client.tui.showToast({ body: { message: text.trim(), variant: "info" } })
  } catch {}
}

export const HookRouter = async ({ client, directory }) => {
  const show = (text) => void toast(client, text)
  const told = async (event, data) => {
    const answer = await ask(event, { cwd: directory ?? process.cwd(), ...data }, show)
    if (answer.message) show(answer.message)
    return answer
  }
  return {
    event: async ({ event }) => {
      if (!announced.has(event.type)) return
      const properties = event.properties ?? {}
      // A sub-agent has a session of its own, and its parent's labels.
      const parent = event.type === "session.created" ? properties.info?.parentID : undefined
      await told(event.type, { session_id: properties.sessionID ?? properties.info?.id, parent_session_id: parent, properties })
    },
    "chat.message": async (input, output) => {
      // OpenCode reads what a prompt names with @ without a tool call; the prompt of a sub-agent comes from the model.
      for (const part of output.parts) {
        if (!part.synthetic || !part.text?.startsWith(called)) continue
        const tool_input = JSON.parse(part.text.slice(called.length))
        const read = await told("tool.execute.before", { session_id: input.sessionID, tool_name: "read", tool_input })
        if (read.deny || read.args) throw new Error(read.deny ?? "The policy wants another file read.")
      }
      const texts = output.parts.filter((part) => part.type === "text")
      const answer = await told("chat.message", { session_id: input.sessionID, prompt: texts.map((part) => part.text).join("\n") })
      if (answer.deny) throw new Error(answer.deny)
      const add = (part) => {
        const id = "prt_zzz" + randomUUID().replaceAll("-", "") // after the message's other parts
        output.parts.push({ id, sessionID: input.sessionID, messageID: output.message.id, type: "text", ...part })
      }
      if (answer.prompt !== undefined) texts.forEach((part, i) => (part.text = i === 0 ? answer.prompt : ""))
      if (answer.prompt && texts.length === 0) add({ text: answer.prompt })
      if (answer.context && texts.length > 0) texts[texts.length - 1].text += "\n\n" + answer.context
      if (answer.context && texts.length === 0) add({ text: answer.context, synthetic: true })
    },
    "tool.execute.before": async (input, output) => {
      const answer = await told("tool.execute.before", { session_id: input.sessionID, tool_name: input.tool, call_id: input.callID, tool_input: output.args })
      if (answer.deny) throw new Error(answer.deny)
      if (answer.args) become(output.args, answer.args)
    },
    "tool.execute.after": async (input, output) => {
      const { title, output: text, metadata, content } = output
      const result = content ? { content } : { title, output: text, metadata } // a tool of an MCP server has content
      const answer = await told("tool.execute.after", {
        session_id: input.sessionID, tool_name: input.tool, call_id: input.callID, tool_input: input.args, tool_result: result,
      })
      const part = (text) => ({ type: "text", text })
      if (answer.deny) become(output, content ? { content: [part(answer.deny)] } : { title: "withheld", output: answer.deny, metadata: {} })
      if (answer.output) become(output, answer.output)
      if (answer.context && content) output.content.push(part(answer.context))
      if (answer.context && !content) output.output += "\n\n" + answer.context
    },
  }
}
