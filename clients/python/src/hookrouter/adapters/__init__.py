"""Adapters for agent SDKs, each at the SDK's own extension point.

A module is imported by its name, and needs the SDK of its extra: `pip install hookrouter[langchain]`, then
`from hookrouter.adapters.langchain import HookMiddleware`. What each gates, and what it can't, is in
docs/agents/sdks.md.
"""
