package code_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hookrouter/hookrouter/internal/guards/code"
)

// TestWaysAround checks that code which reaches effects other than by their names is rejected.
func TestWaysAround(t *testing.T) {
	t.Parallel()
	for language, all := range map[string][]string{
		"Python": {
			"from os import *; system('x')",
			"from urllib.request import *; urlopen('http://x')",
			"import ｏｓ as o; o.system('x')",
			"from ｓubprocess import getoutput; getoutput('x')",
			"from builtinｓ import ｅval as e\ne('x')",
			"x=f\"\"\"{'{'} ' {__import__(\"os\").system(\"x\")} ' {'}'}\"\"\"",
			"x=f'''{1 # }\n+ __import__(\"os\").system(\"x\") # {\n}'''",
			"# coding: utf-7\n#+AAo-import os; os.system(\"x\")",
			"(x for x in [1]).gi_frame.f_builtins['__import__']('os').system('x')",
			"import sys; sys.exc_info()[2].tb_frame",
			"import inspect; inspect.currentframe()",
			"import string, inspect; string.Formatter().get_field('0.os.system',(inspect,),{})[0]('x')",
			"import inspect; print('{0.os.environ}'.format(inspect))",
			"import inspect; dict(inspect.getmembers(inspect))['os'].system('x')",
			"import inspect; inspect.getattr_static(inspect,'os').system('x')",
			"import typing\ndef f(x:\"__import__('os').system('x')\"): pass\ntyping.get_type_hints(f)",
			"import dataclasses; dataclasses._create_fn('f',[],[\"x\"])()",
			"import importlib.metadata; importlib.metadata.import_module('os').system('x')",
			"from importlib.metadata import import_module; import_module('os')",
			"import importlib.metadata as m; m.import_module('os')",
			"from importlib.metadata import EntryPoint; EntryPoint('a','os:system','g').load()('x')",
			"import importlib.metadata as m; m.distribution('pip').read_text('../../.env')",
			"import tokenize; tokenize._builtin_open('m','w').write('x')",
			"import io; io.FileIO('m','w')",
			"import argparse; argparse.FileType('w')('m')",
			"import shlex; shlex.shlex('').sourcehook('.env')[1].read()",
			"import inspect; inspect.linecache.getlines('.env')",
			"import pathlib; pathlib.PosixPath('.env').read_text()",
			"import sys, base64; sys.argv[1:]=['-e','.env']; base64.main()",
			"type(open('README.md','rb').raw)('m','w').write(b'x')",
			"from pathlib import Path; Path('README.md').__class__('.env').read_text()",
			"from pathlib import Path; import operator; operator.truediv(Path('../tmp'),'.env').read_text()",
			"from pathlib import Path; Path('a.txt').replace('b.txt')",
			"import contextlib\nwith contextlib.chdir('evil'): open('f')",
			"import unittest.mock; unittest.mock.pkgutil.resolve_name('os:system')('x')",
			"import xml.sax; xml.sax.parse('http://h/x', xml.sax.ContentHandler())",
			"import logging.handlers; logging.handlers.HTTPHandler('x', 'y')",
			"import linecache; linecache.getlines('.en' 'v')",
			"import app; app.read('.en' + 'v')",
			"F='README.md'\nget=str\nmatch '.env':\n case get(F): print(open(F).read())",
			"import glob\nfor f in glob.glob('*.md'):\n  (f)='.env'\n  print(open(f).read())",
			"import glob\nfor f in glob.glob('*.md'):\n  for _, f in [(1,'.env')]: print(open(f).read())",
			"import os, subprocess; (os.environ['PATH'])='/evil:/usr/bin'; subprocess.run(['ls'])",
			"import os, subprocess; os.environ['NODE_ENV']='x'; subprocess.run(['ls'])",
			"import os; os.environ['LD_PRELOAD'], x='./evil.so',1",
			"import os; os.environ['BASH_ENV']='x'",
			"import os; print(os.environ['MONGODB_URI'], os.environ['GH_PAT'])",
			"import yaml; y=yaml; y.load('x',Loader=1)",
			"import yaml; yaml.load_all('x')",
			"import json; json.__path__=['/tmp/evil']",
			"import asyncio; asyncio.get_event_loop().getaddrinfo('data.evil')",
		},
		"JavaScript": {
			"(0,child_process).execSync('x')",
			"({child_process}).child_process.execSync('x')",
			"this.child_process.execSync('x')",
			"(x=>x.child_process)(this).execSync('x')",
			"const k=['ev','al'].join('');const f=this[k];f('x')",
			"Object.values(this)",
			"const {['ev'+'al']:f}=globalOf; f('x')",
			"const {'constructor':F}=()=>1;F('x')()",
			"const {'unlinkSync':u}=require('fs');u('x')",
			"const {unlinkSync:u}=require('fs');u('x')",
			"const f=fs['unlinkSync'];f('x')",
			"new Map(Object.entries(require('fs'))).get('unlinkSync')('x')",
			"for(const [k,f] of Object.entries(fs)) f('x')",
			"new (require('fs').WriteStream)('m').end('x')",
			"const c=(f,n)=>f(n,'utf8');const {readFileSync}=require('fs');c(readFileSync,'.env')",
			"const {writeFileSync}=require('fs');Object.values({writeFileSync})",
			"let d=JSON.parse('{}');[d]=[require('fs')];d.readFileSync('.env')",
			"var of=4;x=of/2;require(\"child_process\").execSync(\"x\");1/1",
			"export default/'/;(await import(\"child_process\")).execSync(\"x\");/'/",
			"{if(1)/`/;require('child_process').execSync('x');//${\n}//`",
			"export * from 'data:text/javascript,x'",
			"export * from '/tmp/evil.mjs'",
			"Object.values(require('_http_client'))[0]",
			"const s=require('node:sqlite');s.prepare('x')",
			"fetch('http://localhost/x',{method:m})",
			"arguments[1]('child_process')",
			"require('./node_modules/rimraf')",
			"import {unlinkSync as u} from 'fs';u('x')",
			"import f from 'fs';f['unlinkSync']('x')",
		},
		"Ruby": {
			"puts %x'x'", "puts %x:x:", "y = %+'+; system(\"x\"); z = %+'+", "x = ?#; system \"x\"", "x = ?/; system(\"x\"); y = ?/",
			"[6,2].inject(:/); system(\"x\"); [6,2].inject(:/)", "if nil then 1 else/'/;system(\"x\");/'/ end",
			"[self.class.ancestors[-2],\"x\"].inject(\"metsys\".reverse.to_sym)", "alias_method :go, \"metsys\".reverse.to_sym",
			"User.all.each(&:destroy)", "STDOUT.class.read(\"|x\")", "$stdout.reopen(\"app.rb\",\"w\")", "ARGV << \".env\"; puts gets(nil)",
			"File.read(\"app.rb\", mode: \"w+\")", "YAML::load_file(\".env\")", "puts Rails.root.join(\"config/master.key\").read", "require \"mkmf\"; xsystem('x')",
			"require 'pstore'; 1", "$LOAD_PATH.unshift(\"/tmp/evil\")",
		},
		"PHP": {
			"SYSTEM('x');", "Eval('x');", "INCLUDE '/tmp/e.php';", "File_Get_Contents('.e'.'nv');", "\\system('x');", "new \\PDO('x');", "\\DB::statement('x');",
			"use function system as strlen; strlen('x');", "$f=strrev('metsys'); $f/**/('x');", "(strrev('x'))/**/('x');", "new/**/$c;", "$ {'x'};",
			"array_map(strrev('metsys'),['x']);", "usort($a, strrev('x'));", "filter_var('x', FILTER_CALLBACK, []);", "collect([1])->map(strrev('x'));",
			"echo \"{$u->delete()}\";", "$x=['\"'=>1]; echo \"{$x['\"']}\"; system(\"x\");//'", "app('files')->get('.env');", "Blade::render('x');", "$o->$m();",
		},
		"R": {
			"\"%#%\" = function(a,b) b; 1 %#% system(\"x\")", "\"syst\\x65m\"(\"x\")", "sapply(\"x\",paste0(\"syst\",\"em\"))", "baseenv()[['x']]('x')", "eval.parent(str2lang('x'))", "browseURL('x')", "setwd('/')",
		},
		"Julia":  {"success(Cmd([\"id\"]))", "eachline(Cmd([\"id\"]))", "readlines(\".env\")", "getglobal(1, Symbol(\"r\",\"un\"))(1)", "redirect_stdio(stdout=\"app.jl\")", "cd(\"/\")"},
		"Elixir": {"m = :os; m.cmd('x')", ":os .cmd('x')", "f = :file; f.write_file(1)", "String.to_atom(\"Elixir.System\").cmd(1)", "m.rm!(\"x\")"},
		"Go":     {"package main\nimport o \"os\"\nfunc main() { o.WriteFile(\"x\", nil, 0) }", "package main\nimport \"text/template\"\nfunc main() { template.ParseFiles(\".env\") }", "package main\nimport \"myapp/db\"\nfunc main() { db.DropAllTables() }"},
	} {
		for _, text := range all {
			if reach, ok := code.Read(text, language, false); ok {
				t.Errorf("%s %q is read: %+v", language, text, reach)
			}
		}
	}
	blocks, err := os.ReadFile("testdata/ways-around.txt")
	if err != nil {
		t.Fatal(err)
	}
	told := []string{"zipfile.ZipFile", "ElementTree", "pstats.Stats", "ConfigParser", "{mock}", "require('os')"} // code that names a file, or is harmless
	for _, block := range strings.Split("\n"+string(blocks), "\n### ")[1:] {
		language, text, _ := strings.Cut(block, "\n")
		reach, ok := code.Read(strings.TrimSpace(text), language, false)
		if ok && !slices.ContainsFunc(told, func(part string) bool { return strings.Contains(text, part) }) {
			t.Errorf("%s %q is read: %+v", language, text, reach)
		}
	}
	for _, text := range []string{"User.find_by_sql(\"delete\")", "User.first.deliver"} {
		if _, ok := code.Read(text, "Ruby", true); ok {
			t.Errorf("%q is read", text)
		}
	}
	for _, text := range []string{"User::fromQuery('x');", "User::firstOrCreate(1);", "Cache::forget('x');", "User::query()->UPDATE(1);"} {
		if _, ok := code.Read(text, "PHP", true); ok {
			t.Errorf("%q is read", text)
		}
	}
	for text, language := range map[string]string{
		"import zipfile; zipfile.ZipFile('m.py','w').close()":                 "Python",
		"import xml.etree.ElementTree as ET; ET.parse('a.xml').write('m.py')": "Python",
		"const fs=require('fs');fs.readFileSync('m.py',{flag:'w+'})":          "JavaScript",
		"Enum.into([1], File.stream!(\"m.py\"))":                              "Elixir",
	} {
		reach, ok := code.Read(text, language, false)
		written := false
		for _, f := range reach.Files {
			written = written || f.Name == "m.py" && f.Write
		}
		if ok && !written {
			t.Errorf("%s %q: %+v", language, text, reach)
		}
	}
}
