package pathguard

import (
	"slices"
	"sync"

	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/paths"
)

// builtIn are the patterns that are protected by default: secrets must not be read or written,
// settings must not be written.
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
			// Accounts and credentials of programs.
			"~/.config/{sops,stripe,hcloud,configstore,netlify,.wrangler,argocd,ngrok,solana,bitwarden,1password,slack}/**", "~/.config/{helm/registry/config.json,io.datasette.llm/keys.json,code/user/globalstorage/state.vscdb}",
			"~/.{cache/huggingface/token,huggingface/token,supabase/access-token,railway/config.json,kaggle/kaggle.json,dbt/profiles.yml,snowflake/config.toml,snowsql/config,influxdbv2/configs}", "~/.{mylogin.cnf,msmtprc,viminfo,lesshst,claude.json,xauthority}",
			"~/.{wrangler,netlify,cloudflared,electrum,bitcoin,purple,irssi,thunderbird}/**", "~/.ethereum/keystore/**", "**/terraform.tfvars", "**/*.auto.tfvars", "**/{.dev.vars,.env~,.env.swp,.vault_pass,.vault_pass.txt,local.settings.json}",
			"~/.{sentryclirc,modal.toml,fetchmailrc,mbsyncrc,offlineimaprc,authinfo,authinfo.gpg,clasprc.json}", "~/.{age,aws-vault,sfdx,sf,mc,openstack,aliyun,jfrog}/**", "~/.config/{age,filezilla,remmina,openstack,mc,restic,borg,signal,discord,openai,anthropic,doppler,tea,linode-cli,scw,exoscale}/**", "~/library/{messages,mail}/**",
			"**/client_secret*.json", "**/kubeconfig.{yaml,yml,conf}", "**/*.ovpn", "**/{secret,secrets}.tfvars",
			// Homes in other places, backups of homes, and links to them.
			"**/.ssh/**", "**/.gnupg/**", "**/.aws/{credentials,config,sso/**,cli/**}", "**/.kube/config", "**/.docker/config.json", "**/.{pgpass,my.cnf,vault-token}", "**/.config/{gcloud/**,gh/hosts.yml}", "**/.{aws,ssh,gnupg}.{bak,old}/**",
			// Files of the router and of NATS.
			"**/*.{creds,nk}", "**/{audit,console}.key", "**/jetstream/**", "~/.config/{nats,hookrouter,hook-router,hookctl}/**",
			"/{,private/}etc/{shadow,gshadow,sudoers}", "/{,private/}etc/{shadow,gshadow}{-,.bak,.old,~}", "/{,private/}etc/sudoers.d/**", "/{,private/}etc/master.passwd", "/var/backups/{shadow,gshadow}*",
			"/etc/{wireguard,wpa_supplicant}/**", "/etc/networkmanager/system-connections/**", "/etc/krb5.keytab", "/tmp/krb5cc_*", "/etc/mysql/debian.cnf", "/var/lib/tailscale/**", "/proc/kcore", "/dev/{mem,kmem}", "/etc/ssh/ssh_host_*_key", "/proc/*/{environ,mem}", "/proc/[0-9]*/fd/*", "/proc/*/{root,cwd}/*/**", "/proc/*/task/**", "/var/run/secrets/**", "/run/secrets/**"),
		decision.MustPatterns(paths.Parse,
			"/etc/**", "/private/etc/**", "/usr/**", "/bin/**", "/sbin/**", "/{lib,lib32,lib64}/**", "/boot/**", "/dev/**", "/sys/**", "/proc/**", "/var/spool/cron/**", "/library/**", "/system/**",
			"C:/Windows/**", "C:/Program Files*/**",
			"~/.{bashrc,bash_profile,bash_login,bash_logout,profile,zshrc,zshenv,zprofile,zlogin,gitconfig,inputrc,xprofile}", "~/.config/{git,fish,autostart,systemd}/**", "~/library/launchagents/**",
			"**/.git/hooks/**", "**/.git/config", "**/.git/config.worktree", "**/.git/worktrees/*/{config.worktree,commondir,gitdir}", "**/.git/{commondir,gitdir}", "**/.git/modules/**/{config,hooks/**}", "**/.gitmodules",
			// Files that make version control, editors and dev containers run commands, and
			// releases of Yarn that run in its place.
			"**/.{husky,githooks,git-hooks,lefthook,lefthook-local}/**", "**/{,.}lefthook{,-local}.{yml,yaml,toml,json,jsonc}", "**/.config/lefthook*", "**/{.pre-commit-config,.overcommit,prek}.{yaml,yml,toml}", "**/.hg/hgrc*", "**/.jj/{repo/,}*config.toml",
			"**/.idea/{workspace,startup,watcherTasks,externalDependencies}.xml", "**/.vscode/{mcp,settings,tasks}.json", "**/.devcontainer/**/devcontainer.json", "**/.devcontainer.json",
			"**/.yarn/{releases,plugins}/**", "**/.yarnrc{,.yml}",
			// Files that control what an agent may do: hooks, permissions, MCP servers. Skills,
			// sub-agents and commands can contain hooks of their own, which the router does not
			// see.
			"**/.{mcp,lsp}.json", "**/.claude/{settings*.json,hooks/**,agents/**,commands/**,skills/**,plugins/**}", "~/.claude.json", "~/.claude/**", "**/.agents/plugins/**", "**/.agents/{skills,toolbox}/**", "**/.claude-plugin/**", "**/[h]ooks/hooks.json", "**/.*/{hooks,mcp}.json", "**/.devin/{hooks,config}*", "**/.goose/**", "~/.local/state/hookrouter/**",
			"**/.codex/{hooks.json,config.toml,requirements.toml,rules/**,hooks/**,agents/**}", "~/.codex/**",
			"**/.gemini/{settings,trusted_hooks,trustedFolders}.json", "**/.gemini/{policies,extensions,hooks,agents,commands,skills}/**",
			"**/.cursor/{hooks,mcp,permissions,cli,cli-config}.json", "**/.cursor/hooks/**", "~/.config/cursor/**",
			"**/.github/{hooks,agents,extensions}/**", "**/.github/{mcp,lsp,copilot/settings*}.json", "~/.copilot/{config,settings,mcp-config,lsp-config,permissions-config}.json", "~/.copilot/{hooks,extensions}/**", "**/*.code-workspace",
			"~/.{qwen,goose,cline,continue,kiro,factory,augment}/**", "**/.qwen/settings*.json", "**/.qwen/{extensions,hooks,agents,commands,skills}/**", "**/{.clinerules,.cline}/hooks/**", "**/{.roomodes,.kilocodemodes}", "**/.openhands/{hooks/**,setup.sh,pre-commit.sh}", "**/.factory/droids/**", "**/.kiro/{hooks,agents,settings}/**", "**/.{factory,augment,windsurf,continue,amp,pi}/{settings,hooks,mcp,config}*", "**/.{amp,pi}/{plugins,extensions}/**", "**/{crush,.crush}.json", "~/.config/{goose,amp,crush}/**",
			"**/opencode.{json,jsonc}", "**/.opencode/{plugin,plugins,tool,tools,agent,agents,mode,modes,command,commands,skill,skills}/**", "**/.opencode/package.json",
			"**/.amplifier/**", "~/.config/opencode/**", "**/.aider.conf.yml", "**/.claude/{workflows/**,statusline*,scheduled_tasks.json,launch.json}", "**/.cursor/{environment,worktrees}.json",
			"**/.{roo,zed,trae,kilocode,amazonq,junie,warp,codebuddy,iflow}/{settings,hooks,mcp,config,tasks}*", "**/.{qoder,grok,kimi,vibe,letta,rovodev,hermes}/{settings,hooks,mcp,config}*", "**/.{roo,zed,trae,kilocode,amazonq,junie,warp,codebuddy,iflow}/{hooks,mcp,agents}/**", "**/.amazonq/cli-agents/**", "**/.continue/mcpServers/**",
			// Files from which git and Python take commands or code.
			"**/.git/rebase-{merge,apply}/git-rebase-todo", "**/.git/sequencer/todo", "**/.git/{index,info/attributes,info/grafts}", "**/site-packages/{sitecustomize,usercustomize}.py", "**/site-packages/*.pth")
})

// notSecret are files that are named like a secret, but contain texts of a program or test data.
var notSecret = sync.OnceValue(func() []paths.Pattern {
	return decision.MustPatterns(paths.Parse, "**/{locale,locales,i18n,l10n,lang,langs,translation,translations,messages,fixtures,__fixtures__,testdata,__mocks__,mocks,schemas}/**/auth.json")
})

// publicKey matches public keys. They may be read.
var publicKey = sync.OnceValue(func() []paths.Pattern { return decision.MustPatterns(paths.Parse, "**/.ssh/*.pub", "~/.ssh/*.pub") })

// isPublic reports whether an access only reads a public key.
func (a access) isPublic() bool {
	return a.reads && !a.writes && !a.unsure && !a.below && !a.glob && slices.ContainsFunc(publicKey(), a.path.Is)
}

// newKey matches a file that is named like a key, in any directory.
var newKey = sync.OnceValue(func() []paths.Pattern { return decision.MustPatterns(paths.Parse, "**/*.{pem,key}") })

// homeOfKeys are directories whose keys do not belong to a project.
var homeOfKeys = sync.OnceValue(func() []paths.Pattern {
	return decision.MustPatterns(paths.Parse, "**/.{ssh,gnupg,aws,kube,docker,secrets}/**", "**/jetstream/**", "**/{audit,console}.key")
})

// isNewKey reports whether a program creates a new key in the project.
func (p policy) isNewKey(a access) bool {
	return a.key && p.root.Text != "" && a.path.Below(p.root) && slices.ContainsFunc(newKey(), a.path.Is) && !slices.ContainsFunc(homeOfKeys(), a.path.MayBe)
}

// scratch are files in protected directories that may be written: the tools of agents write plans
// and memories there.
var scratch = sync.OnceValue(func() []paths.Pattern {
	return decision.MustPatterns(paths.Parse, "/dev/null", "/dev/std*", "/dev/tty", "/dev/fd/**", "/dev/shm/**", "/dev/tcp/**",
		"~/.claude/plans/**", "~/.claude/projects/*/memory/**")
})

// everybodys adds the directories for temporary files to scratch.
var everybodys = sync.OnceValue(func() []paths.Pattern {
	return append(decision.MustPatterns(paths.Parse, "/tmp/**", "/private/tmp/**", "/var/tmp/**", "/var/folders/**", "/private/var/folders/**"), scratch()...)
})
