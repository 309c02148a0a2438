/**
 * Client for hookrouter: agents that obey what hooks decide, and hooks.
 *
 * @module
 */

export { Agent, type AgentOptions, type Answer, type SendOptions } from "./agent.js"
export { Client, type ClientOptions, connect } from "./client.js"
export {
  Code, ConnectionLostError, DeadlineError, DisconnectedError, HookRouterError, ImpostorError, InvalidReplyError, NoRouterError, NotPermittedError,
  OtherDataError, PendingError, RouterError, UnreachableError,
} from "./errors.js"
export type { Run } from "./event.js"
export type { Role } from "./identity.js"
export { type Json, type JsonObject, RawNumber, stringify } from "./json.js"
export { parse } from "./parse.js"
export type { ApprovalNeeds, Registration } from "./registration.js"
export { type ContextInjection, type HookResult, allow, ask, deny, inject, modify } from "./result.js"
export { runHook } from "./run.js"
export type { Call, Contributor, Handler, HookEvent } from "./serve.js"
export { DeniedError, type RunToolOptions, type ToolCall, runTool } from "./tool.js"
export type { Log } from "./transport.js"
export type { Approval, Display, Execution, Message } from "./verdict.js"
export { Worker, type WorkerOptions } from "./worker.js"
