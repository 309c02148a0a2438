package shell_test

import (
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

// TestCode: code that only computes and prints is read, and no other.
func TestCode(t *testing.T) {
	t.Parallel()
	for line, harmless := range map[string]bool{
		`python3 -c 'print(1+1)'`:                                                            true,
		`python3 -c "import sys; print(sys.version)"`:                                        true,
		`python3 -c "import torch; print(torch.__version__)"`:                                true,
		`curl -s localhost | python3 -c "import json,sys; print(json.load(sys.stdin)['a'])"`: true,
		`python3 -c "import json,sys
d = json.load(sys.stdin)
for k, v in d.items(): print(k, v)"`: true,
		`node -e "console.log(1+1)"`:                                           true,
		`node -p "process.versions.node"`:                                      true,
		`node -p 'JSON.stringify([1, 2].map(n => n * 2))'`:                     true,
		`python3 -c "import os; print(os.environ)"`:                            false,
		`python3 -c "print(open('.env').read())"`:                              false,
		`python3 -c "__import__('os').system('x')"`:                            false,
		`python3 -c "import os as sys; print(sys.environ)"`:                    false,
		`python3 -c "from os import environ as get; print(get)"`:               false,
		`python3 -c "print(f'{open(1)}')"`:                                     false,
		`python3 -c "exec('x')"`:                                               false,
		`python3 -c "eval('x')"`:                                               false,
		`python3 -c "print = exec; print('x')"`:                                false,
		`python3 -c "import sys; sys.modules['os'].system('x')"`:               false,
		`python3 -c "print(getattr(1, 'x'))"`:                                  false,
		`python3 -c "print(json.codecs.open('.env').read())"`:                  false,
		`python3 -c 'print("a" "b'`:                                            false,
		"python3 -c 'print(1)\nimport os\nos.system(1)'":                       false,
		`python3 -c "$CODE"`:                                                   false,
		`python3 -c "print('\x27')"`:                                           false,
		`node -e "require('fs').rmSync('x')"`:                                  false,
		`node -e "process.exit()"`:                                             false,
		`node -p process.env`:                                                  false,
		`node -e "[].constructor.constructor('x')()"`:                          false,
		`node -e "import('fs')"`:                                               false,
		"node -e 'console.log(`${x}`)'":                                        false,
		`node -e "console.log(require('./package.json').version)"`:             true,
		`node -e "console.log(require('./secrets.json').version)"`:             false,
		`perl -pi -e 's/foo/bar/g' src/a.ts`:                                   true,
		`perl -pe 's/(a+)b/$1/; s/x/y/i' f`:                                    true,
		`perl -pi -e 's/a/system("x")/e' f`:                                    false,
		`perl -pi -e 's/a(?{system 1})/b/' f`:                                  false,
		`perl -pi -e 's/a/@{[system 1]}/' f`:                                   false,
		`perl -pi -e 's/a/b/' -e 'system 1' f`:                                 false,
		`perl -Mevil -pe 's/a/b/' f`:                                           false,
		`node -e 'console.log(1)' -e 'evil()'`:                                 false,
		`node -r ./x.js -e 'console.log(1)'`:                                   false,
		`node -p process`:                                                      false,
		`node -e '[]["constructor"]["constructor"]("return process")()'`:       false,
		`node -e 'let c = "constructor"; [][c][c]("x")()'`:                     false,
		`node -e 'console.log(Object.entries(process))'`:                       false,
		`python3 -c "import requests; print(requests.get('http://x').json())"`: false,
		`python3 -c "import torch; torch.load('x')"`:                           false,
		`python3 -c "import evil"`:                                             false,
		`python3 -c "import json; json = 1"`:                                   false,
		`perl -e 'print 1'`:                                                    false,
	} {
		script := shell.Parse(line, "/repo")
		doubts := len(script.Doubts)
		for _, c := range script.Commands {
			doubts += len(c.Doubts)
		}
		if (doubts == 0) != harmless {
			t.Errorf("%q: %d doubts; harmless: %t", line, doubts, harmless)
		}
	}
}
