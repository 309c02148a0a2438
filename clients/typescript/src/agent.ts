// Agents: send events and obey the answers.

import { type Client, type Request, send } from "./client.js"
import { InvalidReplyError, reason } from "./errors.js"
import { type Run, about, encodeEvent, maxDefaults, maxWait, readRun, setTimeLeft } from "./event.js"
import { type JsonObject, stringify } from "./json.js"
import { ascii, escape } from "./names.js"
import { text } from "./parse.js"
import { type HookResult, decodeResult } from "./result.js"
import type { Approval, Execution } from "./verdict.js"
import { Waiter } from "./waiter.js"

/** Options of an agent. */
export interface AgentOptions {
  /** The session id of events whose data has none. */
  session?: string | undefined
  /** The parent session, if the agent is a sub-agent of any vendor. Routers apply its labels. */
  parent?: string | undefined
  /** The root session of the tree, if known. */
  root?: string | undefined
  /** The CloudEvents source, a URI reference; "/agent". */
  source?: string | undefined
  /** Default members of the data of every event that a hook gets, up to 8 KiB. */
  defaults?: Record<string, unknown> | undefined
  /** Called once with each approval request, before the wait for its decision. */
  onPending?: ((approval: Approval) => void) | undefined
}

/** Options of one event. */
export interface SendOptions {
  /** The total timeout in milliseconds, including the wait for a person. */
  timeout?: number | undefined
  signal?: AbortSignal | undefined
}

/** The combined result of an event's hooks, and how they were run. The agent must act on it. */
export interface Answer extends HookResult {
  data?: JsonObject | null
  run: Run
}

/** Sends the events of one agent. Create it with {@link Client.agent}. */
export class Agent {
  private readonly defaults: string

  /** @internal */
  constructor(
    private readonly client: Client,
    private readonly options: AgentOptions,
  ) {
    const fields = { ...(options.session && { session_id: options.session }), ...options.defaults }
    this.defaults = Object.keys(fields).length > 0 ? ascii(stringify(fields)) : ""
    if (this.defaults.length > maxDefaults) {
      throw new RangeError(`the default fields have ${this.defaults.length} bytes of JSON: at most ${maxDefaults} are allowed`)
    }
  }

  /**
   * Runs the hooks of an event, lets the router act on their results, and returns its verdict.
   * `permitted` is the only permission; an error permits nothing.
   *
   * If a hook asks a person, it waits for the decision. It sends the event again with the same id
   * after a wait timed out, the connection was lost or no router answered, until a minute after the
   * approval request expired. It throws a PendingError if the wait ends earlier.
   */
  async execute(event: string, data: Record<string, unknown>, options: SendOptions = {}): Promise<Execution> {
    const request = this.request("execute", event, data)
    return new Waiter(this.client, request, this.options.onPending, options.timeout, options.signal).decide()
  }

  /**
   * Runs the hooks of an event and returns their combined result. An error means that nothing was
   * decided.
   */
  async emit(event: string, data: Record<string, unknown>, options: SendOptions = {}): Promise<Answer> {
    const request = this.request("emit", event, data)
    if (options.timeout !== undefined) request.before = (left) => setTimeLeft(request.headers, left)
    request.retry = "unserved"
    const reply = await send(this.client, request, { timeout: Math.min(options.timeout ?? maxWait, maxWait), signal: options.signal })
    try {
      return { ...decodeResult(text(reply.data)), run: readRun(reply.headers) }
    } catch (error) {
      throw new InvalidReplyError(`read the answer: ${reason(error)}`, { cause: error })
    }
  }

  private request(verb: string, event: string, data: Record<string, unknown>): Request {
    const { headers, body } = encodeEvent(event, data, this.options.session ?? "", this.options.source ?? "/agent")
    if (this.options.parent) headers["ce-hookparent"] = escape(this.options.parent)
    if (this.options.root) headers["ce-hookroot"] = escape(this.options.root)
    if (this.defaults) headers["Hook-Defaults"] = this.defaults
    return { subject: this.client.transport.subject(verb, event), headers, body, retry: "never", accept: about(headers) }
  }
}
