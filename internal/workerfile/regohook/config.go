package regohook

import (
	"context"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
)

// DefaultQuery is the package that is evaluated if a configuration names no query.
const DefaultQuery = "data.hooks"

// Config is the section rego of a hook. Exactly one of Policy, Files and Bundle is
// given. Paths are found from the directory of the worker.
type Config struct {
	// Policy is the text of one policy.
	Policy string `json:"policy"`
	// Files are policies (.rego), data (.json, .yaml) and directories of both.
	Files []string `json:"files"`
	// Bundle is an OPA bundle: a directory or a .tar.gz file. One that is signed is
	// refused, since nothing here could verify it.
	Bundle string `json:"bundle"`
	// Query is the rule or the package that decides; empty means [DefaultQuery].
	Query string `json:"query"`
	// V0 says that the policies are in the syntax before OPA 1.0.
	V0 bool `json:"v0"`
	// Lenient leaves a builtin function that fails undefined, as OPA does; else the
	// hook fails.
	Lenient bool `json:"lenient"`
	// AllowNet are the hosts that http.send and the like may reach; empty means none.
	AllowNet []string `json:"allow_net"`
}

// networked are the functions that access the network.
var networked = []string{ast.HTTPSend.Name, ast.NetLookupIPAddr.Name}

// New builds the hook. It returns a [*kind.FieldError] on failure.
func New(s kind.Section, c Config) (kind.Hook, error) {
	withoutFiles()
	l := loader{dir: s.Worker.Dir, capabilities: capabilities(c.AllowNet), version: ast.RegoV1}
	if c.V0 {
		l.version = ast.RegoV0
	}
	set, err := l.load(c)
	if err != nil {
		return kind.Hook{}, err
	}
	compiler := ast.NewCompiler().WithCapabilities(l.capabilities).WithDefaultRegoVersion(l.version).WithSchemas(schemas())
	if compiler.Compile(set.modules); compiler.Failed() {
		return kind.Hook{}, l.positioned(set.at, compiler.Errors)
	}
	parsedQuery, err := parseQuery(c.Query, compiler)
	if err != nil {
		return kind.Hook{}, &kind.FieldError{Pointer: "/query", Err: err}
	}
	query, err := rego.New(
		rego.ParsedQuery(parsedQuery.body),
		rego.Compiler(compiler),
		rego.Store(inmem.NewFromObject(set.data)),
		rego.StrictBuiltinErrors(!c.Lenient),
	).PrepareForEval(context.Background())
	if err != nil {
		return kind.Hook{}, l.positioned(set.at, err)
	}
	warnings := l.warnings(set.at, parsedQuery, compiler)
	if s.FailsOpen() {
		warnings = append(warnings, l.openWarnings(set.at, parsedQuery, compiler)...)
	}
	p := &policy{query: query, rules: parsedQuery.rules, where: l.places(parsedQuery, compiler), name: l.relative}
	return kind.Hook{Handler: p.handle, Acts: len(c.AllowNet) > 0, Files: c.read(s.Worker), Warnings: warnings}, nil
}

// capabilities returns the capabilities of this version of OPA, with network access to the given
// hosts only.
func capabilities(hosts []string) *ast.Capabilities {
	c := ast.CapabilitiesForThisVersion()
	c.AllowNet = append([]string{}, hosts...) // nil would allow all hosts
	if len(hosts) == 0 {
		c.Builtins = slices.DeleteFunc(c.Builtins, func(b *ast.Builtin) bool { return slices.Contains(networked, b.Name) })
	}
	return c
}
