package auth

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/identity"
)

type configCmd struct {
	For       string `enum:"nats,kubernetes" default:"nats" help:"nats: what nats-server includes; kubernetes: a ConfigMap for nats-server and the routers, and a Secret for each identity."`
	Namespace string `default:"hook-router" help:"Namespace of the manifests."`
	directory
}

// Run prints the configuration.
func (c *configCmd) Run(e *cli.Env) error {
	a, err := identity.Open(c.path(e))
	if err != nil {
		return explained(err)
	}
	// The manifests in deploy/k8s let the server write only to its volume.
	dir := map[string]string{"nats": "./jwt", "kubernetes": "/data/jwt"}[c.For]
	conf, err := natsConfig(a, dir)
	if err != nil {
		return err
	}
	if c.For == "nats" {
		e.Out.Print("%s", conf)
		return nil
	}
	return c.manifests(e, a, conf)
}

// natsConfig returns the configuration for a nats-server to include. It contains no secret, since
// accounts are public keys and signatures. The server stores updates in dir.
func natsConfig(a *identity.Authority, dir string) (string, error) {
	files := a.Files()
	operator, err := os.ReadFile(files.Operator)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Who may connect, and what each may do: include this in the configuration of nats-server.\n"+
		"# New identities reach the server by hookctl auth push.\n"+
		"operator: %s\nsystem_account: %s\nresolver: {type: full, dir: %q}\nresolver_preload: {\n", operator, files.System, dir)
	tokens, err := filepath.Glob(filepath.Join(files.Accounts, "*.jwt"))
	if err != nil {
		return "", err
	}
	for _, path := range tokens {
		token, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "  %s: %s\n", strings.TrimSuffix(filepath.Base(path), ".jwt"), token)
	}
	return b.String() + "}\n", nil
}

// validSecret matches a valid end of a Secret's name.
var validSecret = regexp.MustCompile(`^[a-z0-9-]*[a-z0-9]$`)

// manifests prints a ConfigMap and the Secrets.
func (c *configCmd) manifests(e *cli.Env, a *identity.Authority, conf string) error {
	directory, err := os.ReadFile(filepath.Join(a.Dir(), identity.DirectoryFile))
	if err != nil {
		return err
	}
	secrets, err := c.secrets(a) // first, so that an error leaves no partial output
	if err != nil {
		return err
	}
	public := map[string]string{"auth.conf": conf, identity.DirectoryFile: string(directory)}
	e.Out.Print("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hookrouter-identities, namespace: %s}\ndata:\n", c.Namespace)
	for _, name := range slices.Sorted(maps.Keys(public)) {
		e.Out.Print("  %s: |\n    %s\n", name, strings.ReplaceAll(strings.TrimSpace(public[name]), "\n", "\n    "))
	}
	e.Out.Print("%s", secrets)
	return nil
}

// secrets returns one Secret for each identity, and one with the digests of the tokens.
func (c *configCmd) secrets(a *identity.Authority) (string, error) {
	var b strings.Builder
	for _, i := range a.Identities() {
		if !i.Revoked.IsZero() || i.User == "" {
			continue
		}
		if !validSecret.MatchString(i.Name) {
			return "", fmt.Errorf("identity %q: no Secret can have this name: revoke it, and add one whose name has no _ and does not end with -", i.Name)
		}
		creds, err := os.ReadFile(a.CredsFile(i))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: Secret\nmetadata: {name: hookrouter-creds-%s, namespace: %s}\ndata: {user.creds: %s}\n",
			i.Name, c.Namespace, base64.StdEncoding.EncodeToString(creds))
	}
	tokens, err := os.ReadFile(filepath.Join(a.Dir(), identity.TokensFile))
	if errors.Is(err, fs.ErrNotExist) {
		return b.String(), nil
	}
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "---\n# Routers read it beside identities.json: project both into one directory.\n"+
		"apiVersion: v1\nkind: Secret\nmetadata: {name: hookrouter-http-tokens, namespace: %s}\ndata: {%s: %s}\n",
		c.Namespace, identity.TokensFile, base64.StdEncoding.EncodeToString(tokens))
	return b.String(), nil
}
