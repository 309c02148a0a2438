package shell

import (
	"slices"
	"strings"
)

// options are those that may precede a program's verb.
type options struct {
	values string // a value follows in a word of its own
	flags  string // none does
}

// verbal are programs whose first words that are no options say what they do.
var verbal = func() map[string]options {
	containers := options{values: "-H --host --context -c --config -l --log-level -f --file -p --project-name --project-directory --profile --env-file", flags: "-D --debug --tls"}
	terraform := options{values: "-chdir", flags: "-version -help"}
	all := map[string]options{
		"git": {
			values: "-C -c --git-dir --work-tree --namespace --config-env --exec-path --super-prefix",
			flags:  "-p --paginate -P --no-pager --bare --no-replace-objects --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-optional-locks",
		},
		"kubectl": {
			values: "-n --namespace --context --cluster --user --kubeconfig -s --server --token --as --as-group --as-uid --cache-dir --certificate-authority --client-certificate --client-key" +
				" --log-flush-frequency --password --username --profile --profile-output --request-timeout --tls-server-name -v --v --vmodule",
			flags: "--insecure-skip-tls-verify --match-server-version --warnings-as-errors --disable-compression",
		},
		"helm": {values: "-n --namespace --kube-context --kubeconfig --registry-config --repository-cache --repository-config --burst-limit --qps", flags: "--debug"},
		"aws": {
			values: "--profile --region --output --endpoint-url --query --color --ca-bundle --cli-read-timeout --cli-connect-timeout --cli-binary-format",
			flags:  "--debug --no-verify-ssl --no-paginate --no-sign-request --no-cli-pager --no-cli-auto-prompt",
		},
		"gcloud": {values: "--project --account --configuration --verbosity --format --impersonate-service-account --billing-project --zone --region", flags: "-q --quiet --no-user-output-enabled"},
		"gh":     {values: "-R --repo --hostname"}, "glab": {values: "-R --repo"}, "az": {values: "--subscription -o --output", flags: "--only-show-errors --verbose --debug"},
		"npm":  {values: "--prefix -C -w --workspace --loglevel --registry", flags: "-s --silent -ws --workspaces --if-present"},
		"pnpm": {values: "-C --dir -F --filter --loglevel", flags: "-r --recursive -w --workspace-root -s --silent --if-present --parallel --stream"},
		"yarn": {values: "--cwd", flags: "-s --silent"}, "cargo": {values: "-C --color --config -Z", flags: "-q --quiet -v --verbose --locked --offline --frozen"},
		"go": {values: "-C"}, "uv": {values: "--directory --project --color", flags: "-q --quiet -v --verbose --offline --no-progress"}, "poetry": {values: "-C --directory -P --project", flags: "-q -n -v --no-interaction"},
		"docker": containers, "podman": containers, "nerdctl": containers, "docker-compose": containers, "podman-compose": containers,
		"terraform": terraform, "tofu": terraform, "terragrunt": terraform, "pulumi": {values: "-C --cwd --color", flags: "--non-interactive --logtostderr"},
		"redis-cli": {values: "-h -p -n -s --pattern --count", flags: "--raw --no-raw --scan"}, "wp": {values: "--path --url --user", flags: "--allow-root"}, "pio": {}, "promtool": {}, "circleci": {}, "west": {flags: "-v"}, "flask": {values: "--app -A", flags: "--debug"}, "goose": {values: "-dir -table"}, "migrate": {values: "-path -database -source -prefetch -lock-timeout", flags: "-verbose"}, "systemctl": {flags: "--user --no-pager --system -q --quiet"}, "alembic": {values: "-c --config -n --name -x"}, "flyway": {values: "-url -user -locations -schemas -baselineVersion -table"},
		"hookctl": {values: "-s --server --creds --nkey --context --user --password --token --timeout", flags: "--text --json"},
	}
	for name := range strings.FieldsSeq("gem twine hatch flit pdm maturin bun deno jsr dotnet nuget rails rake manage.py django-admin artisan bundle pip pip3 brew apt apt-get prisma flyctl heroku vercel netlify" +
		" rustup supabase nx turbo lerna conda mise asdf swift mix dart flutter composer argocd nomad consul vault eksctl doctl") {
		all[name] = options{}
	}
	return all
}()

// Does reports whether one of the first n verbs is among some.
func (c Command) Does(n int, verbs []string) bool {
	return slices.ContainsFunc(c.Verbs(n), func(verb string) bool { return slices.Contains(verbs, verb) })
}

// Verbs are at most n of the words that say what a program such as git is told to do. Its
// options before each are passed over as far as they are known: where one is not, or a
// word is known only when it runs, the list ends.
func (c Command) Verbs(n int) (all []string) {
	known, args := verbal[c.Name()], c.Args()
	for len(args) > 0 && len(all) < n {
		w := args[0]
		if !w.plain() {
			return all
		}
		name, _, joined := strings.Cut(w.Text, "=")
		switch {
		case c.Name() == "cargo" && strings.HasPrefix(w.Text, "+"): // its toolchain
			args = args[1:]
		case len(w.Text) < 2 || w.Text[0] != '-':
			all, args = append(all, w.Text), args[1:]
		case slices.Contains(strings.Fields(known.values), w.Text) && len(args) > 1 && !args[1].Many && !args[1].Glob:
			args = args[2:]
		case slices.Contains(strings.Fields(known.flags), w.Text) || joined && slices.Contains(strings.Fields(known.values), name):
			args = args[1:]
		default:
			return all
		}
	}
	return all
}
