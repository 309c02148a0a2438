"""Adapters for agent SDKs, each using the SDK's own extension point.

A module is imported by its name, and needs the SDK of its extra: `pip install
hookrouter[langchain]`, then `from hookrouter.adapters.langchain import HookMiddleware`.
docs/agents/sdks.md says what each adapter can and can't gate.
"""
