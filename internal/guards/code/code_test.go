package code_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookrouter/hookrouter/internal/guards/code"
)

// TestRead checks that only code which computes, prints, or uses the project's own code is
// accepted.
func TestRead(t *testing.T) {
	t.Parallel()
	for language, cases := range map[string]map[string]bool{
		"Python": {
			"print(1 + 1)": true,
			"import app.models\nprint(app.models.Order.total)": true,
			"from app.parser import parse\nfor s in ['a', 'b']:\n    try:\n        print(repr(s), parse(s))\n    except Exception as e:\n        print(type(e).__name__, e)": true,
			"import sympy as sp; print(sp.latex(sp.symbols('x')))":                                       true,
			"import torch; print(torch.randn(3, 4).shape)":                                               true,
			"import torch; torch.load('x')":                                                              false,
			"import torch as t; t.load('x')":                                                             false,
			"import pyarrow.parquet as pq; print(pq.ParquetFile('a.parquet'))":                           true,
			"import inspect, app; print(inspect.getsource(app.run_all))":                                 true,
			"import importlib.metadata as m; print(m.version('requests'))":                               true,
			"import importlib; importlib.import_module('os')":                                            false,
			"import os; print(os.environ['PATH'], os.getenv('CI'))":                                      true,
			"import os; print(os.environ['API_KEY'])":                                                    false,
			"import os; print(os.environ)":                                                               false,
			"import os; os.environ['X'] = 'y'":                                                           false,
			"import os; os.remove('x')":                                                                  false,
			"import sys; p = (sys.path); p.insert(0, '/tmp')":                                            false,
			"import sys; sys.modules['os'].system('x')":                                                  false,
			"import shutil; print(shutil.rmtree)":                                                        false,
			"import boto3; print(boto3.__version__)":                                                     true,
			"import boto3; boto3.client('s3')":                                                           false,
			"import json; json.codecs.open('.env')":                                                      false,
			"import ast, sys, pathlib\nfor p in pathlib.Path('app').rglob('*.py'): print(p.read_text())": true,
			"from pathlib import Path\np = Path('a')\nprint((p / '../b').read_text())":                   false,
			"from pathlib import Path\nprint(Path('a').parent.joinpath('b').read_text())":                false,
			"x = '{0.__class__}'.format(1)":                                                              false,
			"print(f'{eval}')":                                                                           false,
			"print(f'{x:{eval}}')":                                                                       false,
			"print(f'{open(1)}')":                                                                        false,
			"d = {'a': 1}\nprint(f\"{d['a']:>5}\")":                                                      true,
			"getattr(1, 'x')":                                                                            false,
			"print = exec; print('x')":                                                                   false,
			"open('a/' + 'b')":                                                                           false,
			"import app; app.read('/home/me/' + '.ssh/id')":                                              false,
			"import app; app.delete_all()":                                                               false,
			"import pandas as pd; pd.read_csv('a').agg('to_pickle', path='b')":                           false,
			"import pandas as pd; print(pd.read_csv('a.csv').groupby('b').agg('mean'))":                  true,
			"import asyncio\nasync def main(): print(1)\nasyncio.run(main())":                            true,
			"import asyncio; asyncio.create_subprocess_shell('x')":                                       false,
			"import subprocess; subprocess.run(x, shell=True)":                                           false,
			"x = 1 #\r import os; os.remove('x')":                                                        false,
			"'''":                                                                                        false,
			"import requests; requests.post('https://x.example', json={})":                               false,
			"class A: pass": true,
		},
		"JavaScript": {
			"console.log(1)": true,
			"const {merge} = require('./dist/merge'); merge({a: [1]}, {})":                                                                             true,
			"import { z } from 'zod'; console.log(z.string().email().safeParse('a@b').success)":                                                        true,
			"const p = require('./package.json'); console.log(Object.entries({...p.dependencies, ...p.devDependencies}).map(([k, v]) => k + '@' + v))": true,
			"const fs = require('fs'); console.log(fs.readFileSync('a', 'utf8').split('\\n').length)":                                                  true,
			"const c = {}; for (const k of ['a']) c[k] = (c[k] || 0) + 1; console.log(c)":                                                              true,
			"console.log(/['\"]/.test('a'), 1 / 2, (1 + 2) / 3)":                                                                                       true,
			"console.log(`${[1].map(n => `${n}`)}`)":                                                                                                   true,
			"fetch('http://x.example').then(r => r.text()).then(console.log)":                                                                          true,
			"console.log(process.env.NODE_ENV)":                                                                                                        true,
			"console.log(process.env)":                                                                                                                 false,
			"console.log(process.env.NPM_TOKEN)":                                                                                                       false,
			"console.log(`${process.env.NPM_TOKEN}`)":                                                                                                  false,
			"require('fs').rmSync('x')":                                                                                                                false,
			"const {rmSync} = require('fs'); rmSync('x')":                                                                                              false,
			"const {rmSync: x} = require('fs'); x('x')":                                                                                                false,
			"require('child_process').execSync(x)":                                                                                                     false,
			"child_process.execSync('x')":                                                                                                              false,
			"import('child_process')":                                                                                                                  false,
			"require('child' + '_process')":                                                                                                            false,
			"[].constructor.constructor('x')()":                                                                                                        false,
			"[]['constructor']['constructor']('x')()":                                                                                                  false,
			"let c = 'con' + 'structor'; [][c][c]('x')()":                                                                                              false,
			"a = /'/; process.kill(1); b = /'/":                                                                                                        false,
			"if (1) /'/; process.kill(1); /'/":                                                                                                         false,
			"x++ / process.kill(1) / 2":                                                                                                                false,
			"eval('x')":                                                                                                                                false,
			"\\u0065val('x')":                                                                                                                          false,
			"fetch('http://x.example', {method: 'POST', body: 'x'})":                                                                                   false,
			"require('axios').post('x')":                                                                                                               false,
			"const c = require('crypto'); c.setEngine('x')":                                                                                            false,
			"fs.readFileSync(process.argv[1])":                                                                                                         false,
			"`":                                                                                                                                        false,
		},
		"Ruby": {
			"require 'money'; puts Money.new(1050, 'USD').format": true,
			"puts [3, 1].sort.map { |n| \"#{n * 2}\" }.join(',')": true,
			"puts YAML.load_file('a.yml')['b']":                   true,
			"puts ENV['HOME']":                                    false,
			"system 'x'":                                          false,
			"puts `x`":                                            false,
			"puts \"#{system('x')}\"":                             false,
			"Object.const_get('File').delete('x')":                false,
			"[1].each(&:system)":                                  false,
			"File.delete('x')":                                    false,
			"require 'open3'; 1":                                  false,
			"p /'/; system 'x'; /'/":                              false,
			"puts 'x'.send(:eval, 'y')":                           false,
		},
		"PHP": {
			"require 'vendor/autoload.php'; var_dump((new App\\Slug())->make('a'));": true,
			"echo json_encode(['a' => 1]), PHP_EOL;":                                 true,
			"$x = ['a' => 1]; foreach ($x as $k => $v) { echo \"$k: {$x['a']}\"; }":  true,
			"system('x');":                false,
			"$f = 'system'; $f('x');":     false,
			"array_map('system', ['x']);": false,
			"echo \"{$_ENV[0]}\";":        false,
			"echo `x`;":                   false,
			"unlink('x');":                false,

			"echo file_get_contents('http://x.example');": false,
			"(new $c)->x();": false,
		},
		"R": {
			"df <- read.csv('data/a.csv'); print(summary(df))": true,
			"testthat::test_file('tests/testthat/test-a.R')":   true,
			"system('x')":                  false,
			"do.call('system', list('x'))": false,
			"sapply('x', 'system')":        false,
			"Sys.getenv('X')":              false,
			"unlink('x')":                  false,
		},
		"Julia": {
			"using Pkg; Pkg.test(; test_args=[\"solver\"])": true,
			"using Statistics; println(mean([1, 2]))":       true,
			"run(`x`)":                         false,
			"using Pkg; Pkg.test(); rm(\"x\")": false,
		},
		"Elixir": {
			"IO.inspect(Enum.chunk_every(1..10, 3, 3, :discard))": true,
			"System.cmd(\"x\", [])":                               false,
			":os.cmd('x')":                                        false,
			"apply(System, :cmd, [1])":                            false,
			"File.rm!(\"x\")":                                     false,
			"IO.puts(\"#{File.rm(1)}\")":                          false,
		},
		"Go": {
			"package main\n\nimport (\n\t\"fmt\"\n\t\"net/url\"\n)\n\nfunc main() {\n\tu, err := url.Parse(\"a\")\n\tfmt.Println(u, err)\n}\n": true,
			"package main\nimport \"os/exec\"\nfunc main() { exec.Command(\"x\").Run() }":                                                      false,
			"package main\nimport \"os\"\nfunc main() { os.RemoveAll(\"x\") }":                                                                 false,
			"package main\nimport . \"os\"\nfunc main() { RemoveAll(\"x\") }":                                                                  false,
		},
		"COBOL": {"DISPLAY 1": false},
	} {
		for text, want := range cases {
			if _, ok := code.Read(text, language, false); ok != want {
				t.Errorf("%s %q: it is read: %t", language, text, ok)
			}
		}
	}
}

// TestConsole checks that code for the console of a framework may read data but not change it.
func TestConsole(t *testing.T) {
	t.Parallel()
	for language, cases := range map[string]map[string]bool{
		"Python": {
			"from shop.models import Product; print(Product.objects.filter(stock__lt=5).query)": true,
			"from shop.models import Product; Product.objects.all().delete()":                   false,
			"from shop.models import Product; Product.objects.update(stock=0)":                  false,
		},
		"Ruby": {
			"puts Order.where(status: :pending).joins(:items).distinct.to_sql": true,
			"puts User.order(:created_at).last.email":                          true,
			"User.update_all admin: true":                                      false,
			"User.destroy_all":                                                 false,
			"User.first.save!":                                                 false,
			"ActiveRecord::Base.connection.execute('x')":                       false,
			"puts Rails.application.credentials.x":                             false,
		},
		"PHP": {
			"echo App\\Models\\Invoice::whereNull('paid_at')->count();": true,
			"App\\Models\\Invoice::query()->delete();":                  false,
			"User::create(['a' => 1]);":                                 false,
			"DB::statement('x');":                                       false,
		},
		"Elixir": {
			"IO.inspect(App.Repo.aggregate(App.Product, :count), label: \"n\")": true,
			"App.Repo.delete_all(App.Product)":                                  false,
			"App.Repo.insert!(%App.Product{})":                                  false,
		},
	} {
		for text, want := range cases {
			if _, ok := code.Read(text, language, true); ok != want {
				t.Errorf("%s %q: it is read: %t", language, text, ok)
			}
		}
	}
}

// TestReach checks the files, commands and modules that are returned for code.
func TestReach(t *testing.T) {
	t.Parallel()
	read := func(name string) code.File { return code.File{Name: name} }
	written := func(name string) code.File { return code.File{Name: name, Write: true} }
	for text, want := range map[string][]code.File{
		"open('a', 'rb'); open('b', 'r+')":                                                     {read("a"), written("b")},
		"p = 'a'\ns = open(p).read()\nopen(p, 'w').write(s)":                                   {read("a"), written("a")},
		"import app; app.read('~/.ssh/id')":                                                    {read("~/.ssh/id")},
		"import pandas as pd; pd.read_csv('a.csv').to_csv('b.csv')":                            {read("a.csv"), written("a.csv"), read("b.csv"), written("b.csv")},
		"import glob\nfor f in sorted(glob.glob('a/*.json')): print(open(f).read())":           {{Name: "a/*.json", Glob: true}},
		"from pathlib import Path\nfor p in Path('src').glob('**/*.py'): print(p.read_text())": {{Name: "src", Pattern: "*.py"}},
		"from pathlib import Path\n(Path('a') / 'b').write_text('c')":                          {written("a/b")},
	} {
		reach, ok := code.Read(text, "Python", false)
		if !ok || !slices.EqualFunc(reach.Files, want, func(a, b code.File) bool { return a == b }) {
			t.Errorf("%q: %v %t; want %v", text, reach.Files, ok, want)
		}
	}
	reach, _ := code.Read("import subprocess, urllib.request\nsubprocess.run(['rm', '-r', 'x'], check=True)\nurllib.request.urlopen('http://x.example')", "Python", false)
	for text, language := range map[string]string{"import os; os.system('ls -l')": "Python", "import subprocess; print(subprocess.check_output('ls -l', shell=True, text=True))": "Python", "require('child_process').execSync('ls -l')": "JavaScript"} {
		reach, ok := code.Read(text, language, false)
		want := [][]code.Word{{{"sh", true}, {"-c", true}, {"ls -l", true}}}
		if diff := cmp.Diff(want, reach.Commands); diff != "" || !ok {
			t.Errorf("%s:\n%s", text, diff)
		}
	}
	want := [][]code.Word{{{"rm", true}, {"-r", true}, {"x", true}}, {{"curl", true}, {"--", true}, {"http://x.example", true}}}
	if diff := cmp.Diff(want, reach.Commands); diff != "" {
		t.Error(diff)
	}
}

// FuzzRead checks that nothing panics, that the result is deterministic, and that code with effects
// at its end is rejected whatever precedes it.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"print(1)", "'''", "#", "f'{x!r:>{n}}'", "/'/", "`${`x`}`", "(1)/2", "//", "/*", "x = /[/'\"]/", "\"#{1}\"", "%w[a]", "'a' 'b'", "$x->y", "\"{$x['a']}\"", "?'", "{", "import (\n\"fmt\"\n)"} {
		f.Add(text)
	}
	harm := map[string]string{
		"Python": "\nimport os\nos.remove('x')\n", "JavaScript": "\n;require('child_process').spawnSync('x')\n", "Ruby": "\nsystem 'x'\n", "PHP": "\n;system('x');\n",
		"R": "\nunlink('x')\n", "Julia": "\nrm(\"x\")\n", "Elixir": "\nSystem.cmd(\"x\", [])\n", "Go": "\nfunc init() { syscall.Kill(1, 9) }\n",
	}
	f.Fuzz(func(t *testing.T, text string) {
		for language, end := range harm {
			first, ok := code.Read(text, language, false)
			second, again := code.Read(text, language, false)
			if diff := cmp.Diff(first, second); diff != "" || ok != again {
				t.Errorf("%s %q: it is not the same twice:\n%s", language, text, diff)
			}
			if _, ok := code.Read(text+end, language, false); ok {
				t.Errorf("%s %q: it is read", language, text+end)
			}
		}
	})
}

func ExampleRead() {
	reach, ok := code.Read("import json\nprint(json.load(open('package.json'))['name'])", "Python", false)
	fmt.Println(ok, reach.Files[0].Name)
	_, ok = code.Read("import os\nos.removedirs('src')", "Python", false)
	fmt.Println(ok)
	// Output:
	// true package.json
	// false
}
