package shell

import (
	"slices"
	"strings"
)

// verbal are the programs that have verbs, with the options that may precede them.
var verbal = func() map[string]Options {
	containers := Options{Long: "-H= --host= --context= -c= --config= -l= --log-level= -f= --file= -p= --project-name= --project-directory= --profile= --env-file= -D --debug --tls"}
	terraform := Options{Long: "-chdir= -version -help"}
	all := map[string]Options{
		"git":     {Long: "-C= -c= --git-dir= --work-tree= --namespace= --config-env= --exec-path= --super-prefix= -p --paginate -P --no-pager --bare --no-replace-objects --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-optional-locks"},
		"kubectl": {Long: "-n= --namespace= --context= --cluster= --user= --kubeconfig= -s= --server= --token= --as= --as-group= --as-uid= --cache-dir= --certificate-authority= --client-certificate= --client-key= --log-flush-frequency= --password= --username= --profile= --profile-output= --request-timeout= --tls-server-name= -v= --v= --vmodule= --insecure-skip-tls-verify --match-server-version --warnings-as-errors --disable-compression"},
		"helm":    {Long: "-n= --namespace= --kube-context= --kubeconfig= --registry-config= --repository-cache= --repository-config= --burst-limit= --qps= --debug"},
		"aws":     {Long: "--profile= --region= --output= --endpoint-url= --query= --color= --ca-bundle= --cli-read-timeout= --cli-connect-timeout= --cli-binary-format= --debug --no-verify-ssl --no-paginate --no-sign-request --no-cli-pager --no-cli-auto-prompt"},
		"gcloud":  {Long: "--project= --account= --configuration= --verbosity= --format= --impersonate-service-account= --billing-project= --zone= --region= -q --quiet --no-user-output-enabled"},
		"gh":      {Long: "-R= --repo= --hostname="}, "glab": {Long: "-R= --repo="}, "az": {Long: "--subscription= -o= --output= --only-show-errors --verbose --debug"},
		"npm":  {Long: "--prefix= -C= -w= --workspace= --loglevel= --registry= -s --silent -ws --workspaces --if-present"},
		"pnpm": {Long: "-C= --dir= -F= --filter= --loglevel= -r --recursive -w --workspace-root -s --silent --if-present --parallel --stream"},
		"yarn": {Long: "--cwd= -s --silent"}, "cargo": {Long: "-C= --color= --config= -Z= -q --quiet -v --verbose --locked --offline --frozen"},
		"go": {Long: "-C="}, "uv": {Long: "--directory= --project= --color= -q --quiet -v --verbose --offline --no-progress"}, "poetry": {Long: "-C= --directory= -P= --project= -q -n -v --no-interaction"},
		"docker": containers, "podman": containers, "nerdctl": containers, "docker-compose": containers, "podman-compose": containers,
		"terraform": terraform, "tofu": terraform, "terragrunt": terraform, "pulumi": {Long: "-C= --cwd= --color= --non-interactive --logtostderr"},
		"redis-cli": {Long: "-h= -p= -n= -s= --pattern= --count= --raw --no-raw --scan"}, "wp": {Long: "--path= --url= --user= --allow-root"}, "pio": {}, "promtool": {}, "circleci": {}, "west": {Long: "-v"}, "flask": {Long: "--app= -A= --debug"}, "goose": {Long: "-dir= -table="}, "migrate": {Long: "-path= -database= -source= -prefetch= -lock-timeout= -verbose"}, "systemctl": {Long: "--user --no-pager --system -q --quiet"}, "alembic": {Long: "-c= --config= -n= --name= -x="}, "flyway": {Long: "-url= -user= -locations= -schemas= -baselineVersion= -table="},
		"hookctl": {Long: "-s= --server= --creds= --nkey= --context= --user= --password= --token= --timeout= --text --json"},
	}
	for name := range strings.FieldsSeq("gem twine hatch flit pdm maturin bun deno jsr dotnet nuget rails rake manage.py django-admin artisan bundle pip pip3 brew apt apt-get prisma flyctl heroku vercel netlify" +
		" rustup supabase nx turbo lerna conda mise asdf swift mix dart flutter composer argocd nomad consul vault eksctl doctl") {
		all[name] = Options{}
	}
	return all
}()

// Does reports whether one of the first n verbs is among verbs.
func (c Command) Does(n int, verbs []string) bool {
	return slices.ContainsFunc(c.Verbs(n), func(verb string) bool { return slices.Contains(verbs, verb) })
}

// Verbs returns up to n verbs of a program such as git. It skips the program's known options before
// each verb, and stops at an unknown option or at a word that is known only at run time.
func (c Command) Verbs(n int) (all []string) {
	for a := range verbal[c.Name()].In(c.Args()) {
		switch {
		case !a.plain():
			return all
		case c.Name() == "cargo" && strings.HasPrefix(a.Text, "+"): // its toolchain
		case a.Name == "" || a.Text == "-":
			if all = append(all, a.Text); len(all) == n {
				return all
			}
		case !a.Listed || a.Joined && !a.Takes || a.Value.Many || a.Value.Glob:
			return all
		}
	}
	return all
}
