package flowguard

import (
	"cmp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookrouter/hookrouter/internal/builtin"
	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/guards/pathguard"
	"github.com/hookrouter/hookrouter/internal/guards/paths"
)

// The labels that the guard adds and checks.
const (
	SecretRead     = "secret-read"
	UntrustedInput = "untrusted-input"
)

// Options of the builtin. The zero Options know the tools of coding agents.
type Options struct {
	// Tools says what tools do that the guard does not know, or corrects what it knows.
	Tools Tools `json:"tools"`
	// Files are files at another level of trust than the others.
	Files Files `json:"files"`
	// Secret says what happens where a session that read a secret sends something out: ask,
	// deny or allow; empty means deny.
	Secret decision.Decision `json:"secret"`
	// Untrusted says what happens where a session that took in text of others sends something
	// out or changes what others rely on: ask, deny or allow; empty means ask.
	Untrusted decision.Decision `json:"untrusted"`
	// Prompts says whether a call passes that has no values but the user's own; true where it
	// is not given.
	Prompts *bool `json:"prompts"`
	// Timeout is how long a person is waited for, in seconds; 0 means the router's default.
	Timeout float64 `json:"timeout"`
}

// Tools are tools by what they do, by name or class, with *. One may be in several lists;
// of one that is in any, nothing else is assumed.
type Tools struct {
	// Trusted tools return nothing that others wrote, and change nothing.
	Trusted builtin.Tools `json:"trusted"`
	// Untrusted tools return what others may have written.
	Untrusted builtin.Tools `json:"untrusted"`
	// Secret tools return secrets.
	Secret builtin.Tools `json:"secret"`
	// Write tools change what others rely on, and send nothing out.
	Write builtin.Tools `json:"write"`
	// Egress tools send what they are given out: to people, services or the web.
	Egress builtin.Tools `json:"egress"`
}

// Files are patterns of paths, as those of path-guard.
type Files struct {
	// Secret files hold secrets, beside those that path-guard knows.
	Secret []string `json:"secret"`
	// Untrusted files were written by others.
	Untrusted []string `json:"untrusted"`
	// Public files are no secrets, whatever their name.
	Public []string `json:"public"`
}

// public are files that are named like a secret but contain none.
var public = decision.MustPatterns(paths.Parse, "**/.env.{example,sample,template}")

// synced are directories that programs copy to other machines, or that are on one.
var synced = decision.MustPatterns(paths.Parse,
	"~/{Dropbox,OneDrive,Nextcloud,ownCloud,iCloudDrive,GoogleDrive,Google Drive,pCloudDrive,MEGA}*/**",
	"~/Library/{CloudStorage,Mobile Documents}/**", "/Volumes/**", "/net/**", "/run/user/*/gvfs/**")

// compile checks the options and returns the configured guard.
func (o Options) compile() (g guard, err error) {
	g.Tools = o.Tools
	for name, list := range map[string]builtin.Tools{
		"trusted": o.Tools.Trusted, "untrusted": o.Tools.Untrusted, "secret": o.Tools.Secret, "write": o.Tools.Write, "egress": o.Tools.Egress,
	} {
		if err := list.Check(jsontext.Pointer("/tools/" + name)); err != nil {
			return g, err
		}
	}
	var wrong [6]error
	g.onSecret, wrong[0] = o.Secret.Or(decision.Deny, "/secret")
	g.onUntrusted, wrong[1] = o.Untrusted.Or(decision.Ask, "/untrusted")
	g.timeout, wrong[2] = decision.Timeout(o.Timeout)
	var secret, foreign, open []paths.Pattern
	secret, wrong[3] = decision.Patterns("/files/secret", o.Files.Secret, paths.Parse)
	foreign, wrong[4] = decision.Patterns("/files/untrusted", o.Files.Untrusted, paths.Parse)
	open, wrong[5] = decision.Patterns("/files/public", o.Files.Public, paths.Parse)
	if err := cmp.Or(wrong[:]...); err != nil {
		return g, err
	}
	g.secrets, g.foreign, g.outside = pathguard.Secret(secret, append(open, public...)), pathguard.Among(foreign), pathguard.Outside()
	g.synced = pathguard.Written(synced)
	g.prompts = o.Prompts == nil || *o.Prompts
	return g, nil
}
