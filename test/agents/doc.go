// Package agents runs real coding agents with a router, through hook-agent, against a stub model
// server: see package stubmodel.
//
// [All] is the table of agents, with their pinned npm packages and how to start them. [Install]
// installs one into the user's cache. [Isolation] isolates a process from the network if possible,
// and [Agent.Command] starts an agent with its own home.
//
// The tests run only the agents that AGENTS names, or all of them:
//
//	AGENTS=claude-code,codex go test -v ./test/agents
//
// They install missing agents and then continue in namespaces that have only loopback, with the
// router, the model and the agent. They end with a table of the results of each agent, which is
// also written to test/artifacts/agents.json.
package agents
