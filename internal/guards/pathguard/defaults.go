package pathguard

import (
	"slices"
	"sync"

	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/paths"
)

// builtIn are the patterns that are protected where the file doesn't say otherwise:
// secrets are neither read nor written, settings are not written.
var builtIn = sync.OnceValues(func() (secrets, settings []paths.Pattern) {
	return decision.MustPatterns(paths.Parse,
			"~/.ssh/**", "~/.gnupg/**", "~/.aws/**", "~/.azure/**", "~/.config/gcloud/**", "~/.kube/**", "~/.docker/config.json", "~/.config/gh/hosts.yml",
			"**/.netrc", "**/_netrc", "~/.pgpass", "~/.my.cnf", "**/.git-credentials", "**/.npmrc", "**/.pypirc", "~/.yarnrc.yml", "~/.nuget/nuget/**", "~/.vault-token", "~/.terraform.d/credentials.tfrc.json",
			"~/.cargo/{credentials,credentials.toml}", "~/.gem/credentials", "~/.m2/settings.xml",
			"~/.claude/.credentials.json", "~/.codex/auth.json", "~/.{gemini,qwen}/oauth_creds.json", "~/.copilot/config.json", "~/.local/share/opencode/auth.json", "~/.config/github-copilot/{apps,hosts}.json",
			"~/.password-store/**", "~/.mozilla/**", "~/.config/google-chrome/**", "~/library/keychains/**", "~/.local/share/keyrings/**", "~/.bash_history", "~/.zsh_history", "~/.local/share/fish/fish_history",
			"**/.env", "**/.env.{local,production,staging,development,test}", "**/.envrc", "**/{prod,production,staging,secrets}.env", "**/id_rsa", "**/id_ed25519", "**/id_ecdsa",
			"**/id_dsa", "**/.{env.*.local,htpasswd}", "**/.env.{prod,dev,stage,qa,ci,live,secret,secrets,backup,bak,old}", "**/*.{tfstate,tfstate.backup}",
			"**/{key,keystore,signing}.properties", "**/*{service,_,-}account*key*.json", "**/*service{,_,-}account*.json", "**/*firebase-adminsdk*.json", "**/*.{p8,p12,pfx,jks,keystore,kdbx,ppk}", "**/*key*.pem", "**/wp-config.php", "**/appsettings.{production,prod,staging,local}.json", "~/.gradle/gradle.properties", "**/auth.json", "~/.terraformrc", "~/.config/pip/**", "~/.pip/**",
			"**/{server,private,privkey,tls,ssl,client,ca,master,production,staging,signing,encryption}.key", "/etc/ssl/private/**", "**/.secrets/**", "**/secrets/*.{txt,json,yaml,yml,toml,env,ini,conf,csv,pass,password,token}", "**/secrets/*{password,passwd,token,_key}", "**/{credentials,secrets,service-account,service_account}.{json,yaml,yml,toml}",
			"~/.{psql,mysql,python,node_repl,rediscli,sqlite}_history", "~/.terraform.d/**", "~/.config/{op,hub,glab-cli,doctl,rclone,containers}/**", "~/.config/{chromium,microsoft-edge,bravesoftware,vivaldi,opera}/**", "~/snap/{firefox,chromium}/**", "~/.var/app/*{firefox,thunderbird,chrome,chromium,brave,edge}*/**",
			"~/{library/application support,appdata/local,appdata/roaming}/{google,bravesoftware,microsoft edge,vivaldi,arc,firefox,chromium,mozilla}/**", "~/library/{safari,cookies}/**",
			// What programs keep of their accounts.
			"~/.config/{sops,stripe,hcloud,configstore,netlify,.wrangler,argocd,ngrok,solana,bitwarden,1password,slack}/**", "~/.config/{helm/registry/config.json,io.datasette.llm/keys.json,code/user/globalstorage/state.vscdb}",
			"~/.{cache/huggingface/token,huggingface/token,supabase/access-token,railway/config.json,kaggle/kaggle.json,dbt/profiles.yml,snowflake/config.toml,snowsql/config,influxdbv2/configs}", "~/.{mylogin.cnf,msmtprc,viminfo,lesshst,claude.json,xauthority}",
			"~/.{wrangler,netlify,cloudflared,electrum,bitcoin,purple,irssi,thunderbird}/**", "~/.ethereum/keystore/**", "**/terraform.tfvars", "**/*.auto.tfvars", "**/{.dev.vars,.env~,.env.swp,.vault_pass,.vault_pass.txt,local.settings.json}",
			"~/.{sentryclirc,modal.toml,fetchmailrc,mbsyncrc,offlineimaprc,authinfo,authinfo.gpg,clasprc.json}", "~/.{age,aws-vault,sfdx,sf,mc,openstack,aliyun,jfrog}/**", "~/.config/{age,filezilla,remmina,openstack,mc,restic,borg,signal,discord,openai,anthropic,doppler,tea,linode-cli,scw,exoscale}/**", "~/library/{messages,mail}/**",
			"**/client_secret*.json", "**/kubeconfig.{yaml,yml,conf}", "**/*.ovpn", "**/{secret,secrets}.tfvars",
			// Homes that stand elsewhere, backups of homes, and links to them.
			"**/.ssh/**", "**/.gnupg/**", "**/.aws/{credentials,config,sso/**,cli/**}", "**/.kube/config", "**/.docker/config.json", "**/.{pgpass,my.cnf,vault-token}", "**/.config/{gcloud/**,gh/hosts.yml}", "**/.{aws,ssh,gnupg}.{bak,old}/**",
			// What belongs to the router and to NATS.
			"**/*.{creds,nk}", "**/{audit,console}.key", "**/jetstream/**", "~/.config/{nats,hookrouter,hook-router,hookctl}/**",
			"/{,private/}etc/{shadow,gshadow,sudoers}", "/{,private/}etc/{shadow,gshadow}{-,.bak,.old,~}", "/{,private/}etc/sudoers.d/**", "/{,private/}etc/master.passwd", "/var/backups/{shadow,gshadow}*",
			"/etc/{wireguard,wpa_supplicant}/**", "/etc/networkmanager/system-connections/**", "/etc/krb5.keytab", "/tmp/krb5cc_*", "/etc/mysql/debian.cnf", "/var/lib/tailscale/**", "/proc/kcore", "/dev/{mem,kmem}", "/etc/ssh/ssh_host_*_key", "/proc/*/{environ,mem}", "/proc/[0-9]*/fd/*", "/proc/*/{root,cwd}/*/**", "/proc/*/task/**", "/var/run/secrets/**", "/run/secrets/**"),
		decision.MustPatterns(paths.Parse,
			"/etc/**", "/private/etc/**", "/usr/**", "/bin/**", "/sbin/**", "/{lib,lib32,lib64}/**", "/boot/**", "/dev/**", "/sys/**", "/proc/**", "/var/spool/cron/**", "/library/**", "/system/**",
			"C:/Windows/**", "C:/Program Files*/**",
			"~/.{bashrc,bash_profile,bash_login,bash_logout,profile,zshrc,zshenv,zprofile,zlogin,gitconfig,inputrc,xprofile}", "~/.config/{git,fish,autostart,systemd}/**", "~/library/launchagents/**",
			"**/.git/hooks/**", "**/.git/config", "**/.git/config.worktree", "**/.git/worktrees/*/{config.worktree,commondir,gitdir}", "**/.git/{commondir,gitdir}", "**/.git/modules/**/{config,hooks/**}", "**/.gitmodules",
			// What makes version control, editors and dev containers run commands by themselves, and what Yarn runs as itself.
			"**/.{husky,githooks,git-hooks,lefthook,lefthook-local}/**", "**/{,.}lefthook{,-local}.{yml,yaml,toml,json,jsonc}", "**/.config/lefthook*", "**/{.pre-commit-config,.overcommit,prek}.{yaml,yml,toml}", "**/.hg/hgrc*", "**/.jj/{repo/,}*config.toml",
			"**/.idea/{workspace,startup,watcherTasks,externalDependencies}.xml", "**/.vscode/{mcp,settings,tasks}.json", "**/.devcontainer/**/devcontainer.json", "**/.devcontainer.json",
			"**/.yarn/{releases,plugins}/**", "**/.yarnrc{,.yml}",
			// What gives an agent rights: hooks, lists of what it may do unasked, MCP servers.
			// A skill, a sub-agent and a command bring hooks of their own, which no router sees.
			"**/.{mcp,lsp}.json", "**/.claude/{settings*.json,hooks/**,agents/**,commands/**,skills/**,plugins/**}", "~/.claude.json", "~/.claude/**", "**/.agents/plugins/**", "**/.agents/{skills,toolbox}/**", "**/.claude-plugin/**", "**/[h]ooks/hooks.json", "**/.*/{hooks,mcp}.json", "**/.devin/{hooks,config}*", "**/.goose/**", "~/.local/state/hookrouter/**",
			"**/.codex/{hooks.json,config.toml,requirements.toml,rules/**,hooks/**,agents/**}", "~/.codex/**",
			"**/.gemini/{settings,trusted_hooks,trustedFolders}.json", "**/.gemini/{policies,extensions,hooks,agents,commands,skills}/**",
			"**/.cursor/{hooks,mcp,permissions,cli,cli-config}.json", "**/.cursor/hooks/**", "~/.config/cursor/**",
			"**/.github/{hooks,agents,extensions}/**", "**/.github/{mcp,lsp,copilot/settings*}.json", "~/.copilot/{config,settings,mcp-config,lsp-config,permissions-config}.json", "~/.copilot/{hooks,extensions}/**", "**/*.code-workspace",
			"~/.{qwen,goose,cline,continue,kiro,factory,augment}/**", "**/.qwen/settings*.json", "**/.qwen/{extensions,hooks,agents,commands,skills}/**", "**/{.clinerules,.cline}/hooks/**", "**/{.roomodes,.kilocodemodes}", "**/.openhands/{hooks/**,setup.sh,pre-commit.sh}", "**/.factory/droids/**", "**/.kiro/{hooks,agents,settings}/**", "**/.{factory,augment,windsurf,continue,amp,pi}/{settings,hooks,mcp,config}*", "**/.{amp,pi}/{plugins,extensions}/**", "**/{crush,.crush}.json", "~/.config/{goose,amp,crush}/**",
			"**/opencode.{json,jsonc}", "**/.opencode/{plugin,plugins,tool,tools,agent,agents,mode,modes,command,commands,skill,skills}/**", "**/.opencode/package.json",
			"**/.amplifier/**", "~/.config/opencode/**", "**/.aider.conf.yml", "**/.claude/{workflows/**,statusline*,scheduled_tasks.json,launch.json}", "**/.cursor/{environment,worktrees}.json",
			"**/.{roo,zed,trae,kilocode,amazonq,junie,warp,codebuddy,iflow}/{settings,hooks,mcp,config,tasks}*", "**/.{qoder,grok,kimi,vibe,letta,rovodev,hermes}/{settings,hooks,mcp,config}*", "**/.{roo,zed,trae,kilocode,amazonq,junie,warp,codebuddy,iflow}/{hooks,mcp,agents}/**", "**/.amazonq/cli-agents/**", "**/.continue/mcpServers/**",
			// What git and Python run or take over from a file.
			"**/.git/rebase-{merge,apply}/git-rebase-todo", "**/.git/sequencer/todo", "**/.git/{index,info/attributes,info/grafts}", "**/site-packages/{sitecustomize,usercustomize}.py", "**/site-packages/*.pth")
})

// notSecret are files that have the name of a secret, and are the words of a program or made up for
// its tests.
var notSecret = sync.OnceValue(func() []paths.Pattern {
	return decision.MustPatterns(paths.Parse, "**/{locale,locales,i18n,l10n,lang,langs,translation,translations,messages,fixtures,__fixtures__,testdata,__mocks__,mocks,schemas}/**/auth.json")
})

// publicKey is the half of a key that its owner shows to others. It may be read.
var publicKey = sync.OnceValue(func() []paths.Pattern { return decision.MustPatterns(paths.Parse, "**/.ssh/*.pub", "~/.ssh/*.pub") })

// isPublic reports whether a public key is read, and nothing else is done to it.
func (a access) isPublic() bool {
	return a.reads && !a.writes && !a.unsure && !a.below && !a.glob && slices.ContainsFunc(publicKey(), a.path.Is)
}

// newKey is a file by the name of a key, in a directory of any name.
var newKey = sync.OnceValue(func() []paths.Pattern { return decision.MustPatterns(paths.Parse, "**/*.{pem,key}") })

// homeOfKeys are directories whose keys are no project's.
var homeOfKeys = sync.OnceValue(func() []paths.Pattern {
	return decision.MustPatterns(paths.Parse, "**/.{ssh,gnupg,aws,kube,docker,secrets}/**", "**/jetstream/**", "**/{audit,console}.key")
})

// isNewKey reports whether a program makes a key in the project that is not in use yet.
func (p policy) isNewKey(a access) bool {
	return a.key && p.root.Text != "" && a.path.Below(p.root) && slices.ContainsFunc(newKey(), a.path.Is) && !slices.ContainsFunc(homeOfKeys(), a.path.MayBe)
}

// scratch are files that may be written although they are in a protected directory: the tools
// of agents write plans and memories.
var scratch = sync.OnceValue(func() []paths.Pattern {
	return decision.MustPatterns(paths.Parse, "/dev/null", "/dev/std*", "/dev/tty", "/dev/fd/**", "/dev/shm/**", "/dev/tcp/**",
		"~/.claude/plans/**", "~/.claude/projects/*/memory/**")
})

// everybodys is scratch, and the directories for what lasts no longer than a session.
var everybodys = sync.OnceValue(func() []paths.Pattern {
	return append(decision.MustPatterns(paths.Parse, "/tmp/**", "/private/tmp/**", "/var/tmp/**", "/var/folders/**", "/private/var/folders/**"), scratch()...)
})
