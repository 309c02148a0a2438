package commandguard

import (
	"strings"
	"sync"
)

// known lists the programs of everyday development. A program with verbs has its own line, with the
// verbs that are allowed or, after a !, those that are not. The other programs are allowed with any
// arguments. path-guard controls which files they may access.
const known = `
# read and print
java_home printenv ls dir pwd echo printf true false : test [ cat head tail wc grep egrep fgrep rg ag ack cut paste tr nl tac rev column fold expand fmt basename dirname realpath readlink stat file du df
which whereis type whoami id groups uname hostname date cal uptime ps top htop free vmstat lsof ss netstat pgrep pidof diff cmp comm colordiff delta cd pushd popd dirs sleep seq yes expr bc
shasum md5 md5sum sha1sum sha256sum sha512sum md5sum cksum b2sum xxd od hexdump strings base64 base32 jq yq xq gron xmllint tree fd fdfind find locate less more bat batcat man tldr nproc lscpu getconf locale
sort uniq shuf join lsb_release sw_vers pstree nvidia-smi pg_isready open xdg-open look awk gawk mawk nawk zcat zgrep zless bzcat xzcat tput clear tty stty xcbeautify xcpretty tap-spec tap-dot pino-pretty bunyan gotestfmt tparse cloc tokei scc benchstat hexyl iconv numfmt factor getopt ping dig nslookup host lsblk ldd nm objdump readelf size javap jdeps jps jstat journalctl stern htmlq pup dasel addr2line c++filt callgrind_annotate cg_annotate ms_print modinfo getent tshark capinfos tcpdump jstack dyff csvcut csvstat csvlook csvgrep csvsort csvjson
# of the shell itself
set shift return exit break continue read mapfile readarray let local declare typeset readonly export unset wait jobs fg bg ulimit umask hash getopts shopt trap source . logout
# change files
cp mv rm rmdir mkdir touch truncate ln chmod chown chgrp tee sed gsed split csplit mktemp patchelf dos2unix unix2dos install tar bsdtar gtar zip unzip gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd 7z rsync ditto
apply_patch ed vi vim nvim nano emacs code ctags sponge ffmpeg ffprobe convert magick identify pandoc dot mmdc optipng jpegoptim
# run what is judged itself, and shells whose scripts are files
env ccache sccache time timeout nice ionice nohup stdbuf command builtin exec setsid xargs npx bunx pnpx uvx watch flock caffeinate unbuffer entr cross-env xvfb-run hyperfine catchsegv busybox toybox eatmydata chronic strace ltrace gdb lldb valgrind arch
bash sh zsh dash ksh
# build, test, check
make gmake just task rake invoke nox tox ninja meson cmake ctest autoconf automake autoreconf configure bazel bazelisk buck2 gradle gradlew mvn mvnw ant sbt lein mill scons waf xmake premake5
gcc g++ cc c++ clang clang++ ld lld ar ranlib as javac java kotlinc kotlin scalac ghc stack cabal rustc swiftc tsc tsx ts-node node nodejs python python2 python3 pypy pypy3 perl ruby php lua luajit julia r rscript ocaml erl elixir iex racket clojure clj
clang-format clang-tidy cppcheck gofmt gofumpt goimports golangci-lint staticcheck govulncheck gopls gotestsum ginkgo mockgen protoc sqlc templ wire stringer air ko goreleaser
pytest py.test unittest coverage mypy pyright ruff black isort flake8 pylint bandit pre-commit pyflakes autopep8 yapf pydocstyle vulture radon hypothesis locust sphinx-build mkdocs ipython jupyter cython maturin pip-compile pip-audit venv virtualenv http.server json.tool compileall py_compile build cProfile doctest
eslint prettier jest vitest mocha ava tap nyc c8 playwright cypress next nuxt vite webpack rollup esbuild parcel swc babel turbo nx lerna storybook tailwindcss postcss stylelint biome oxlint knip depcheck madge typedoc nodemon concurrently serve http-server svelte-check astro remix ng vue-cli-service vue-tsc react-scripts expo tsup unbuild wait-on rimraf cpx mkdirp npm-check-updates ncu lighthouse size-limit source-map-explorer publint npm-run-all run-s run-p mmdc lint-staged commitlint husky create-react-app create-next-app create-vite degit husky markdownlint markdownlint-cli2 cspell
hugo mockery swag dlv terraform-docs k6 hey ab wrk zizmor shellcheck shfmt bats hadolint yamllint actionlint jsonlint ajv spectral vale codespell typos markdown-link-check lychee semgrep tfsec tflint checkov kubeconform kubeval trivy grype syft gitleaks trufflehog act
rspec rubocop standardrb sorbet srb brakeman rails-erb-lint jekyll phpunit phpstan psalm php-cs-fixer pest pint mix-format dialyzer credo rebar3 xcodebuild xcrun swiftlint swiftformat adb ktlint detekt dotnet-format zig nim crystal
uvicorn gunicorn fastapi hypercorn django celery puma unicorn streamlit
markdownlint-cli reportgenerator run-clang-tidy jps jstack torchrun deepspeed papermill tensorboard trash otool lipo plutil sidekiq elm-test elm-format elm-review openapi-typescript openapi-generator openapi-generator-cli graphql-codegen gqlgen orval quicktype json2ts ncc kill-port fuser json-server
infection rector phpcs phpcbf deptrac behat codecept erb_lint erblint haml-lint reek solargraph checkstyle pmd ktfmt google-java-format scalafmt scalafix xcodegen swiftgen csharpier hlint ormolu fourmolu stylish-haskell clj-kondo cljfmt
nbqa nbstripout jupytext interrogate refurb pyupgrade autoflake docformatter pytype pyre ty basedpyright deptry mutmut scalene memray py-spy kernprof sqlfluff sqruff pyinstaller nuitka
tsd attw tsgo oxfmt dprint rome xo standard ts-prune unimported jscpd plop hygen tsc-watch tsc-alias wasm-pack wasm-opt wat2wasm mdbook zola eleventy docusaurus vuepress vitepress asciidoctor plantuml d2
test-storybook autocannon clang-format-diff scala-cli godot blender gcovr lcov genhtml gcov bear iwyu cmake-format cmakelint git-cliff conventional-changelog auto-changelog difft dive controller-gen emulator aapt aapt2 apkanalyzer zipalign mvnd clickhouse-client websocat
ansible-playbook trunk pyproject-build patch grpcurl msbuild earthly dagger drizzle-kit shadcn uuidgen tesseract pdftotext pdfinfo pdftoppm say pbcopy createdb http https xh nc latexmk pdflatex xelatex lualatex bibtex biber typst
# fetch: see network
curl wget
# judged by what they are told in their language: see queriesOnly
pg_dump mysqldump psql mysql mariadb sqlite3 duckdb mongosh
# stop processes
kill pkill killall

openssl: rand dgst version x509 verify s_client req genrsa genpkey ecparam dhparam
git: am apply add annotate bisect blame branch cat-file check-attr check-ignore checkout cherry cherry-pick clean clone commit config count-objects describe diff diff-files diff-index diff-tree fetch for-each-ref format-patch fsck grep help init lfs log ls-files ls-remote ls-tree merge merge-base merge-tree mergetool mv name-rev notes pull push range-diff rebase reflog remote reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref sparse-checkout stash status stripspace submodule switch symbolic-ref tag update-index archive var verify-commit version whatchanged worktree bundle gc maintenance rerere interpret-trailers
npm: install i ci add test t tst run run-script start stop restart build ls list ll outdated audit view info show explain why fund doctor exec x init create pkg config/get version ping dedupe rebuild prune uninstall remove rm link search help root prefix bin docs pack update up cache/verify cache/ls diff query sbom dist-tag/ls
buf: ! push registry
eas-cli: ! update submit publish channel branch credentials env secret
pnpm: ! publish login logout config c token owner unpublish deprecate dist-tag access team adduser whoami setup self-update server env
yarn: ! publish login logout config token owner unpublish tag team npm global set policies plugin whoami
bun: -e --eval -p --print install i add test run build x init create update remove outdated pm dev start patch why info audit link unlink
deno: eval test run fmt lint check cache task bench compile doc info types init add serve coverage outdated remove install
pip: install list show freeze check download wheel index hash inspect debug help uninstall
pip3: install list show freeze check download wheel index hash inspect debug help uninstall
uv: sync run add remove lock tree pip venv python tool build init export version
pipx: run list install upgrade environment
pipenv: install run sync lock graph check
poetry: install run add remove lock show check build update init new env version export
pdm: install run add remove lock list build update init sync
hatch: run test build env version fmt new
conda: shell.bash/hook shell.zsh/hook shell.posix/hook activate deactivate install create list info env/list env/create env/export env/update run search update
bundle: install exec check list show outdated update info add config
gem: install list env which info search build
composer: why why-not depends prohibits licenses diagnose install require update show validate dump-autoload outdated test run-script run phpstan lint cs cs-fix stan check analyse fix format cs-check
go: clean build test vet fmt mod run generate install get list version env doc tool work help
cargo: build b test t run r check c clippy fmt doc add remove rm update bench tree metadata fetch init new nextest expand audit deny machete outdated search version help vendor llvm-cov clean fix package install miri size objdump nm bloat llvm-lines asm tarpaulin hack udeps sort msrv semver-checks geiger zigbuild fuzz insta mutants tauri sqlx watch
opam: env list install switch show info exec
pod: install update list outdated repo/update
conan: install list search profile create
vcpkg: install list search
nix: build develop shell fmt search flake/check flake/show flake/update flake/metadata flake/lock
rustup: show component target toolchain update default which doc
dotnet: pack --list-sdks --list-runtimes --info ef/migrations ef/dbcontext build test run restore format new add list publish watch tool clean sln ef/database csharpier outdated
mix: run test compile deps deps.tree deps.get format credo dialyzer phx.server deps.compile ecto.migrate ecto.create help phx.routes *.gen.* ecto.migrations ecto.rollback
swift: build test run package
dart: analyze format test run pub/get pub/add pub/upgrade pub/outdated pub/deps pub/run fix
setup.py: build build_ext develop install test bdist_wheel sdist egg_info check --version
flutter: analyze test run build pub/get pub/add pub/upgrade pub/outdated pub/deps pub/run format doctor create clean devices
rails: -T console c r s server t test runner routes g generate new db:migrate db:create db:prepare db:rollback db:migrate:redo db:test:prepare db:migrate:status db:version zeitwerk:check stats notes about assets:precompile db:seed
rake: test spec default build routes lint rubocop db:migrate db:create db:prepare assets:precompile -T -P -AT db:seed
manage.py: shell shell_plus runserver test migrate makemigrations check collectstatic showmigrations startapp makemessages compilemessages sqlmigrate loaddata diffsettings inspectdb
django-admin: shell startproject startapp check makemessages compilemessages
artisan: migrate:rollback tinker vendor:publish serve test migrate migrate:status route:list make:* list about config:cache optimize cache:clear config:clear route:clear route:cache view:clear view:cache optimize:clear queue:work queue:listen schedule:list storage:link event:list
flask: run routes db/upgrade db/migrate db/init db/current db/history --debug
alembic: downgrade upgrade current history heads revision check show
prisma: generate validate format version migrate/dev migrate/status migrate/diff db/pull studio db/push db/seed
brew: shellenv services/list list info search install upgrade update outdated deps doctor --prefix leaves
apt: list search show policy
apt-get: --version
mise: activate ls list install use current which run exec x where
corepack: enable prepare
nvm: use ls list current which install version
fnm: env use ls list current install
volta: list install which pin
pyenv: init virtualenv-init versions version which local install exec
rbenv: init versions version which local install exec
direnv: hook status version exec
ssh-agent: -s
nodenv: init
jenv: init
starship: init
zoxide: init
asdf: list current plugin install which where exec reshim
docker: history image/history cp inspect compose/config run exec compose/exec compose/run build ps images image/ls logs pull version info rm container/rm compose/up compose/build compose/ps compose/logs compose/pull compose/stop compose/start compose/restart compose/ls compose/images compose/top compose/down compose/version stop start restart stats top port diff buildx/build buildx/ls buildx/bake container/ls container/logs network/ls volume/ls tag wait search events system/df manifest/inspect buildx/inspect buildx/imagetools context/ls context/show compose/watch compose/create compose/port kill rmi network/create network/inspect volume/create volume/inspect image/inspect container/stop container/start
podman: run exec compose/exec compose/run build ps images logs pull version info compose/up compose/build compose/ps compose/logs stop start restart stats top tag
docker-compose: run exec up build ps logs pull stop start restart top images down version
podman-compose: run exec up build ps logs pull stop start restart down
kubectl: apply get describe logs explain api-resources api-versions version cluster-info top diff wait rollout/status rollout/history config/get-contexts config/current-context config/get-clusters auth/can-i auth/whoami kustomize events completion help config/view
helm: diff list ls status history template lint show search repo/list repo/add repo/update dependency dep version verify pull package create get/notes get/metadata
kustomize: build version cfg
terraform: show state/list init plan validate fmt version providers graph get workspace/list workspace/show test modules
tofu: show state/list init plan validate fmt version providers graph get workspace/list workspace/show test
terragrunt: plan validate hclfmt graph
pulumi: preview version stack/ls about
aws: s3/ls sts/get-caller-identity */describe-* */list-* logs/tail logs/filter-log-events help s3/cp cloudwatch/get-metric-statistics ce/get-cost-and-usage iam/get-role iam/get-policy s3api/head-object
gcloud: config/list config/get-value version info */*
az: account/show account/list group/list group/show vm/list version */list */show
gh: pr/list pr/view pr/create pr/checkout pr/diff pr/checks pr/status pr/comment pr/ready pr/edit pr/review issue/list issue/view issue/create issue/comment issue/edit issue/status run/list run/view run/watch run/download run/rerun repo/view repo/clone repo/list release/list release/view workflow/list workflow/view search api browse auth/status label/list status version repo/set-default cache/list gist/list gist/view release/download ruleset/list ruleset/view pr/update-branch project/list project/view issue/develop
glab: mr/list mr/view mr/create mr/checkout mr/diff mr/note issue/list issue/view issue/create issue/note ci/list ci/view ci/status ci/lint ci/trace repo/view repo/clone release/list release/view version
systemctl: status is-active is-enabled list-units list-unit-files list-timers cat
redis-cli: slowlog/get memory/usage ping get mget keys scan info ttl pttl exists type llen lrange scard smembers hget hgetall hkeys zrange zcard dbsize time strlen --scan
wp: plugin/list theme/list post/list user/list option/get core/version scaffold/*
promtool: check test query
circleci: config/validate version
dotnet-counters: ps monitor collect list
idf.py: build set-target size size-components size-files reconfigure fullclean clean menuconfig save-defconfig
pio: run check test
west: update build twister list topdir
argocd: app/list app/get app/diff app/history
supabase: status start stop gen db/diff db/lint migration/new migration/list
skaffold: diagnose render version lint
tilt: version get describe logs
flux: get version check logs stats tree diff
migrate: version create
perf: stat record report annotate list
dvc: status dag diff metrics plots params doctor version list ls data repro pull fetch checkout add exp stage
dbt: compile parse ls list test deps debug docs source
bq: ls show head query version
tmux: ls list-sessions lsw list-windows capture-pane has-session has new-session new kill-session kill-window kill-pane
screen: -ls -list
crontab: -l
accelerate: launch env test
mlflow: ui server run doctor
huggingface-cli: download scan-cache env
hf: download cache env
mamba: activate deactivate install create list info env/list env/create env/export run search update
micromamba: shell/hook activate deactivate install create list info run search update
pixi: run install add remove list shell info init update lock tree task
rye: sync run add build lint fmt test show
kind: create/cluster get load version
minikube: start status ip profile service version logs image stop
k3d: cluster/list cluster/create cluster/start cluster/stop version node/list image/import
amtool: check-config
logcli: query labels series stats
console: ! dbal:run-sql
symfony: server:start serve server:status server:log server:stop check:requirements check:security console composer
dune: build runtest test exec fmt clean promote
elm: make reactor
gleam: test build run check format add deps docs new
devbox: run install shell add list
moon: run check ci
nest: build start generate g info
wrangler: dev types pages/dev
vercel: dev build
netlify: dev build status
firebase: emulators:start emulators:exec
changeset: add status version
sequelize: db:migrate:undo db:migrate db:migrate:status migration:generate migration:create model:generate
sequelize-cli: db:migrate:undo db:migrate db:migrate:status migration:generate migration:create model:generate
typeorm: migration:run migration:generate migration:create migration:show
typeorm-ts-node-commonjs: migration:run migration:generate migration:create migration:show
knex: migrate:rollback seed:run migrate:latest migrate:make migrate:status migrate:list seed:make
mikro-orm: migration:create migration:up migration:list
goose: status version create validate
atlas: schema/inspect migrate/status migrate/lint migrate/diff migrate/hash
flyway: info validate
liquibase: status validate history
sqlx: migrate/info migrate/add migrate/run prepare database/create
diesel: migration/generate migration/run migration/list print-schema setup
sea-orm-cli: generate migrate/status
cdk: synth diff ls list doctor docs metadata init
sam: build validate local init
serverless: offline package
sls: offline package
ollama: list ps show pull run
react-native: run-android run-ios start bundle doctor config info log-android log-ios
cap: sync copy run build open add ls doctor
ionic: build serve cap generate
cordova: build run prepare
fastlane: lanes test tests scan lint
detox: build test
maestro: test
tuist: generate build test
quarkus: dev build test
wails: dev build
cobra-cli: add init
kubebuilder: create init edit
opa: test eval fmt check
conftest: test verify
skopeo: inspect list-tags
launchctl: list print
xcode-select: -p --print-path
avdmanager: list
sdkmanager: --list --list_installed
sdk: list current use version
hookctl: why handlers explain validate test watch scan trace doctor audit/tail audit/query audit/show audit/stats audit/verify audit/check audit/replay
`

// programs returns the allowed verbs of known programs, by name. Nil means all.
var programs = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(known) {
		name, verbs, has := strings.Cut(line, ": ")
		switch {
		case strings.HasPrefix(line, "#"):
		case has && !strings.Contains(name, " "):
			all[name] = strings.Fields(verbs)
		default:
			for name := range strings.FieldsSeq(line) {
				all[name] = nil
			}
		}
	}
	return all
})
