package builtin_test

import (
	"encoding/json"
	"testing"

	"github.com/hookrouter/hookrouter/internal/builtin/approvalpolicy"
	"github.com/hookrouter/hookrouter/internal/builtin/commandguard"
	"github.com/hookrouter/hookrouter/internal/builtin/decision"
	"github.com/hookrouter/hookrouter/internal/builtin/pathguard"
	"github.com/hookrouter/hookrouter/internal/hookfile/kind"
	"github.com/hookrouter/hookrouter/pkg/events"
)

// TestEverydayCommandsPass: a guard that asks about what everybody does all day is
// turned off soon.
func TestEverydayCommandsPass(t *testing.T) {
	t.Parallel()
	guards := map[string]kind.Hook{}
	var err error
	if guards["command-guard"], err = commandguard.New(kind.Section{}, commandguard.Options{}); err != nil {
		t.Fatal(err)
	}
	if guards["path-guard"], err = pathguard.New(kind.Section{}, pathguard.Options{}); err != nil {
		t.Fatal(err)
	}
	denies := approvalpolicy.Rule{Commands: []string{"terraform destroy"}, Decision: decision.Deny}
	if guards["approval-policy"], err = approvalpolicy.New(kind.Section{}, approvalpolicy.Options{Rules: []approvalpolicy.Rule{denies}, Default: decision.Allow}); err != nil {
		t.Fatal(err)
	}
	for _, line := range everyday {
		data, err := json.Marshal(map[string]any{"tool_name": "Bash", "tool_input": map[string]string{"command": line}, "cwd": "/repo"})
		if err != nil {
			t.Fatal(err)
		}
		for name, guard := range guards {
			if got, err := guard.Handler(t.Context(), events.Event{Name: events.ToolPre, Data: data}); err != nil || got.Action != "" {
				t.Errorf("%s, %q: %q (%s), %v", name, line, got.Action, got.Reason, err)
			}
		}
	}
}

var everyday = []string{
	"git status",
	"git diff HEAD~1 -- src/main.go",
	"git log --oneline -20",
	"git add -A && git commit -m \"fix: a thing\"",
	"git checkout -b feature/x",
	"git push -u origin feature/x",
	"git stash && git pull --rebase && git stash pop",
	"git show HEAD:README.md | head -50",
	"git branch -a",
	"git rebase main",
	"go test ./... 2>&1 | tail",
	"go test -race -run TestX ./pkg/... -count=1",
	"go build -o bin/app ./cmd/app",
	"go vet ./... && gofmt -l .",
	"npm ci",
	"npm run build -- --watch=false",
	"npx tsc --noEmit",
	"npx -y prettier --write src",
	"yarn install --frozen-lockfile",
	"pnpm test",
	"ls -la",
	"ls -la ~/ | head",
	"grep -r x . | head",
	"grep -rn \"TODO\" --include='*.go' src | wc -l",
	"rg -n foo src",
	"docker build .",
	"docker build -t app:latest -f docker/Dockerfile .",
	"docker compose up -d",
	"docker ps && docker logs web --tail 50",
	"make",
	"make -j8 test",
	"make -f build.mk all",
	"make -C sub all V=1",
	"cd x && y",
	"cd frontend && npm test",
	"for f in *.go; do echo \"$f\"; done",
	"for i in 1 2 3; do curl -s localhost:8080/health; done",
	"CGO_ENABLED=0 GOOS=linux go build ./...",
	"NODE_ENV=test npm test",
	"NODE_OPTIONS=--max-old-space-size=4096 npm run build",
	"PYTHONPATH=. pytest -q",
	"GOFLAGS=-mod=mod go build ./...",
	"cat <<EOF > src/file\nhello\nEOF",
	"cat <<'EOF' > src/main.py\nimport os\nprint(1)\nEOF",
	"cat src/a.go | sed -n '1,50p'",
	"sed -i 's/foo/bar/g' src/a.go",
	"sed -n '10,20p' src/a.go",
	"awk '{print $2}' f | sort | uniq -c | sort -rn | head",
	"awk '$3 > 100 {print $1}' f",
	"awk '/foo|bar/' f",
	"awk -F, '$1==\"a\" || $2==\"b\" {print}' f.csv",
	"find . -name '*.go' -not -path './vendor/*' | head",
	"find . -name '*.pyc' -delete",
	"find src -type f | xargs grep -l foo",
	"mkdir -p src/a/b && touch src/a/b/c.go",
	"rm -rf build dist node_modules",
	"rm -f a.tmp",
	"cp -r a b",
	"cp a.txt b.txt",
	"mv a b",
	"mv src/a.go src/b.go",
	"cp .env.example backup",
	"python3 -m venv .venv && source .venv/bin/activate && pip install -r requirements.txt",
	"python3 script.py --x 1",
	"pytest -q tests/test_a.py::test_b",
	"uv run pytest -q",
	"poetry run pytest",
	"cargo build --release && cargo test",
	"curl -s https://example.com/api | jq '.items[]'",
	"curl -sSL -o x.tgz https://example.com/x.tgz",
	"tar xzf x.tgz -C vendor",
	"tar czf x.tgz src",
	"unzip x.zip -d out",
	"export PATH=$PATH:/usr/local/go/bin && go version",
	"export PATH=\"$HOME/go/bin:$PATH\" && golangci-lint run",
	"PATH=/usr/local/go/bin:$PATH go test ./...",
	"ps aux | grep node",
	"kill 1234",
	"which go && go env GOPATH",
	"echo \"$HOME\" && pwd",
	"chmod +x script.sh && ./script.sh",
	"ssh host uptime",
	"wc -l src/*.go",
	"diff -u a b || true",
	"test -f x && echo yes",
	"sleep 1 && echo done",
	"head -n 20 README.md; tail -5 go.mod",
	"kubectl get pods -n x",
	"psql -c 'select 1' db",
	"sqlite3 x.db 'select count(*) from t'",
	"rsync -av src/ dst/",
	"ln -s ../a b",
	"timeout 60 go test ./...",
	"time make",
	"tee log.txt < x",
	"tar -I zstd -xf x.tar.zst",
	"jq -r '.a' package.json > /tmp/a",
	"while read -r l; do echo \"$l\"; done < f",
	"git diff --stat && git status --short",
	"ls .git .claude",
	"cat .claude/settings.json",
	"git add .claude",
	"git -C sub log -1",
	"EOF",
	"VAR=1 make",
	"[[ ${a[$((i+1))]} == x ]] && echo y",
	"rsync -e ssh -a src host:dst",
	"ssh -o BatchMode=yes host uptime",
	"GIT_EDITOR=true git rebase --continue",
	"HOME=/tmp npm ci",
	"git commit -m \"it runs $(date)\"",
	"git commit -m \"$(cat <<'EOF'\nfix: a thing\n\nIt didn't work.\nEOF\n)\"",
	"gh pr create --title x --body \"$(cat <<'EOF'\nbody\nEOF\n)\"",
	"git -C \"$DIR\" status",
	"kubectl get pods -n \"$NS\"",
	"npm run build -- \"$TARGET\"",
	"git log --since=\"$(date -d yesterday)\" | head",
	"make CC=clang",
	"find . -name node_modules -prune -o -name '*.ts' -print",
	"sed -E 's/a{2}e/f/; s/x/y/' f",
	"export FOO=bar BAZ=$(pwd)",
	"(cd sub && make) > log 2>&1",
	"npm install && npm run lint -- --fix",
	"crontab -l",
	"tmux ls",
	"sqlite3 x.db .tables",
	"ed -s f <<< $'1d\\nw\\nq'",
	"screen -ls",
	"npm exec -- eslint .",
	"sort -u -o x x",
}
