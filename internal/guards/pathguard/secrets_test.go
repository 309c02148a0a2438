package pathguard_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/pathguard"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// TestSecretsByName checks that a secret in a container is a secret too, and that texts named like
// one are not.
func TestSecretsByName(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]chain.Action{
		call("Read", "file_path", "auth.json"):                                                               chain.Deny,
		call("Read", "file_path", "/repo/api/auth.json"):                                                     chain.Deny,
		call("Read", "file_path", "src/locales/en/auth.json"):                                                "",
		call("Write", "file_path", "testdata/auth.json"):                                                     "",
		call("Bash", "command", "cat i18n/../auth.json"):                                                     chain.Deny,
		call("Bash", "command", "cp auth.json locales/en/auth.json"):                                         chain.Deny,
		call("Bash", "command", "cat locales/*/auth.json"):                                                   chain.AskUser,
		call("Bash", "command", "rg -l token -g '*.json' src"):                                               "",
		call("Read", "file_path", "android/key.properties"):                                                  chain.Deny,
		call("Read", "file_path", "AuthKey_A.p8"):                                                            chain.Deny,
		call("Read", "file_path", "x/serviceAccountKey.json"):                                                chain.Deny,
		call("Read", "file_path", "src/service-account.ts"):                                                  "",
		call("Bash", "command", "convert label:@.env x.png"):                                                 chain.Deny,
		call("Bash", "command", "convert text:.env x.png"):                                                   chain.Deny,
		call("Bash", "command", "ffmpeg -i concat:.env x.mp4"):                                               chain.Deny,
		call("Bash", "command", "convert label:env x.png"):                                                   "",
		call("Bash", "command", "ffmpeg -i a.mp4 -ss 00:01:02 b.mp4"):                                        "",
		call("mcp__code__read_file", "relative_path", ".env"):                                                chain.Deny,
		call("mcp__code__search", "paths_include_glob", ".env*"):                                             chain.AskUser,
		call("mcp__code__search", "paths_include_glob", "*.ts"):                                              "",
		call("mcp__code__search", "query", ".env"):                                                           "",
		call("mcp__code__read_file", "relative_path", "package.json"):                                        "",
		call("mcp__code__save", "output_path", ".claude/settings.json"):                                      chain.AskUser,
		call("mcp__code__save", "to", "sub/.claude/settings.json"):                                           chain.AskUser,
		call("mcp__code__save", "output_path", "src/a.go"):                                                   "",
		call("omni_ocr_image", "image_path", ".env"):                                                         chain.Deny,
		call("omni_ocr_image", "image_path", "a.png"):                                                        "",
		call("Read", "file_path", "~/.qwen/oauth_creds.json"):                                                chain.Deny,
		call("Read", "file_path", "~/.copilot/config.json"):                                                  chain.Deny,
		call("Bash", "command", "python3 -c \"import zipfile; zipfile.ZipFile('x.zip','w').write('.env')\""): chain.Deny,
		call("Bash", "command", "git show ':(top).env'"):                                                     chain.Deny,
		call("Bash", "command", "git log -p -- ':/.env'"):                                                    chain.Deny,
		call("Bash", "command", "git diff -- ':(exclude).env' ':!.env'"):                                     "",
		call("Bash", "command", "docker cp api:/app/.env -"):                                                 chain.Deny,
		call("Bash", "command", "docker cp -a api:/root/.ssh/id_rsa ."):                                      chain.Deny,
		call("Bash", "command", "docker compose cp api:app/.env x"):                                          chain.Deny,
		call("Bash", "command", "podman container cp api:/app/.env x"):                                       chain.Deny,
		call("Bash", "command", "docker cp api:/app/dist ./dist"):                                            "",
		call("Bash", "command", "docker cp site.conf web:/etc/nginx/conf"):                                   "",
	} {
		if got := judge(t, pathguard.Options{}, data); got.Action != want {
			t.Errorf("%s: %q (%s); want %q", data, got.Action, got.Reason, want)
		}
	}
}
