// Package agents runs real coding agents behind a router, through hook-agent, against a
// model server of its own: see package stubmodel.
//
// [All] is the table of agents: which packages of npm they are, pinned, and how they are
// started. [Install] puts one into the user's cache. [Isolation] says whether a process can
// be cut off from the network, and [Agent.Command] starts an agent with a home of its own.
//
// The tests run no agent unless AGENTS names some, or all:
//
//	AGENTS=claude-code,codex go test -v ./test/agents
//
// They install what is missing and then go on in namespaces where there is nothing but
// loopback: the router, the model and the agent. They end with a table of what each agent
// did, which is also written to test/artifacts/agents.json.
package agents
