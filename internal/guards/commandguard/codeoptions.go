package commandguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookrouter/hookrouter/internal/guards/shell"
)

var (
	// runsCommand are long options that take a command in any program.
	runsCommand = regexp.MustCompile(`(?i)^--?(on-?(success|failure|change|error|exit|first-?success|compilation\w*)|(pre|post)-?(run-?)?(command|cmd|hook|exec)|pager|cmd|(build\.)?(cmd|full_bin|pre_cmd|post_cmd)|helm-command|enable-exec|enable-alpha-plugins|shell-cmd|external-\w+|init-hook|diff-?(cmd|program|tool)|use-compress-program)(=|$)`)
	// loadsFile are long options that take a file of code, or the name of an installed plugin.
	loadsFile = regexp.MustCompile(`^--?(post-renderer|lua-filter|plugin|rcfile|init-file|init-script|require|import|bazelrc|loader|experimental-loader|node-options|script-file|rulesdir|config-file)(=|$)`)

	// commandOptions are further options that take a command or code, by program. A joined value is
	// recognized too.
	commandOptions = map[string]string{
		"latexmk": "-e -pdflatex -latex -xelatex -lualatex", "erl": "-eval -run -s", "nim": "--eval -e", "memray": "-c", "crystal": "eval", "sbt": "eval", "cdk": "-a --app", "tox": "-x --override",
		"clojure": "-Sdeps", "clj": "-Sdeps", "pio": "upload", "blender": "--python-expr --python-text --python-console", "west": "flash", "openssl": "-config -engine -provider -provider-path", "rustc": "-Clinker -Clink-arg -Clink-args -Zcodegen-backend", "gcc": "-B -wrapper -fplugin -specs", "g++": "-B -wrapper -fplugin -specs", "cc": "-B -wrapper -fplugin -specs -Xclang", "clang": "-B -Xclang -fplugin -fpass-plugin -load", "clang++": "-B -Xclang -fplugin -fpass-plugin -load",
		"vim": "-s -c --cmd -S --remote-send --remote-expr", "nvim": "-s -c --cmd -S -l --remote-send --remote-expr", "vi": "-s -c", "jupyter": "--existing --ServerApp.token --NotebookApp.token --ServerApp.password", "dvc": "--run",
		"nyc": "--hook-command", "patchelf": "--add-needed --set-interpreter --replace-needed", "7z": "-sdel", "py-spy": "--locals",
		"rsync": "--daemon", "code": "tunnel serve-web chat --open-url", "dlv": "attach connect", "act": "--container-options --privileged", "xmake": "l lua", "torchrun": "--no-python --no_python", "accelerate": "--no_python", "deepspeed": "--no_python", "mutmut": "--runner", "netlify": "-c --command", "just": "--chooser", "stack": "-e", "checkov": "--external-checks-git", "xmllint": "--shell", "man": "--html", "mysql": "--init-command --plugin-dir", "mariadb": "--init-command --plugin-dir",
		"terraform": "-force-copy -migrate-state", "tofu": "-force-copy -migrate-state", "drizzle-kit": "drop --force", "celery": "purge control", "pre-commit": "try-repo", "helm": "--show-secrets",
	}
	// fileOptions are further options that take a file of code, by program.
	fileOptions = map[string]string{
		"cmake": "-P -C", "blender": "--python -P", "godot": "--script -s", "pandoc": "--filter -F -L", "vim": "-u", "nvim": "-u", "vi": "-u", "gradle": "-I", "gradlew": "-I", "node": "-r", "nodejs": "-r", "nm": "--plugin", "ar": "--plugin", "luajit": "-l", "kustomize": "--helm-command", "javac": "-processorpath --processor-path", "rollup": "-p --configPlugin",
	}
	// cmakeTools are the commands of cmake -E that remove nothing and run nothing.
	cmakeTools = strings.Fields("make_directory copy copy_if_different copy_if_newer copy_directory copy_directory_if_different create_symlink create_hardlink touch touch_nocreate echo echo_append cat compare_files md5sum sha1sum sha256sum sha512sum tar capabilities sleep true false")
	// plugin matches the name of something installed.
	plugin = regexp.MustCompile(`^(NONE|@?[\w.-]+(/[\w.-]+)?)$`)
	// scriptURL matches JavaScript code in a data URL.
	scriptURL = regexp.MustCompile(`^(--?[\w-]+=)?data:(text|application)/(java|type)script`)
	// subscript matches a subscript with a command that the shell runs when it evaluates the
	// subscript.
	subscript = regexp.MustCompile("\\[[^\\]]*(\\$\\(|`)")
	// globCode matches a glob qualifier with which zsh runs code.
	globCode = regexp.MustCompile(`[*?/]\((#q)?[^)|$]*(e[:'"{\[<+]|\+\w)`)
	builtins = strings.Fields("declare typeset local export readonly getopts read mapfile readarray unset let test [ printf wait")
)

// takesCode reports whether a command runs another command, or code from outside the project,
// because of an option or of a text that a shell evaluates.
func takesCode(c shell.Command) bool {
	name, args := c.Name(), c.Args()
	if name == "cmake" && len(args) > 0 && args[0].Text == "-E" {
		return len(args) < 2 || !slices.Contains(cmakeTools, args[1].Text)
	}
	if pipesOut(c) {
		return true
	}
	commands, files := strings.Fields(commandOptions[name]), strings.Fields(fileOptions[name])
	for i, w := range args {
		option, value, joined := strings.Cut(w.Text, "=")
		next := ""
		if i+1 < len(args) {
			next = args[i+1].Text
		}
		switch {
		case slices.Contains(builtins, name) && w.Known && subscript.MatchString(w.Text), w.Glob && globCode.MatchString(w.Text), scriptURL.MatchString(w.Text):
			return true
		case runsCommand.MatchString(w.Text) && !harmlessValue(value, next), hasOption(commands, w.Text), option == "-C" && hasOption(commands, "-C"+next):
			return true
		case loadsFile.MatchString(w.Text) || slices.Contains(files, option):
			if !joined {
				value = next
			}
			if !loadsOwn(c, strings.TrimPrefix(value, "--require=")) {
				return true
			}
		case name == "php" && option == "-d" && strings.Contains(next, "_file=") && !loadsOwn(c, next[strings.Index(next, "=")+1:]):
			return true
		case strings.HasPrefix(w.Text, "--plugin=") && !loadsOwn(c, w.Text[strings.LastIndexByte(w.Text, '=')+1:]):
			return true
		}
	}
	return false
}

// hasOption reports whether a word is one of some options, alone or joined to a value.
func hasOption(options []string, word string) bool {
	return slices.ContainsFunc(options, func(o string) bool {
		return word == o || strings.HasPrefix(word, o) && strings.ContainsAny(word[len(o):len(o)+1], "=: ") || o == "-B" && strings.HasPrefix(word, o)
	})
}

// harmlessValue reports whether the value of such an option is harmless, such as a pager that only
// prints.
func harmlessValue(value, next string) bool {
	if value == "" {
		value = next
	}
	return slices.Contains(strings.Fields("cat never less more always auto true false"), value) || extendsPath.MatchString(value)
}

// extendsPath matches code for pylint that adds a directory of the project to the import path.
var extendsPath = regexp.MustCompile(`^['"]?(import sys|from pathlib import Path|; ?|sys\.path\.(append|insert)\((\d, ?)?['"](\.|\w[\w/-]*)['"]\))+['"]?$`)

// loadsOwn reports whether a file of code is in the project, or is installed.
func loadsOwn(c shell.Command, file string) bool {
	file = file[strings.LastIndexByte(file, '=')+1:]
	return file != "" && (plugin.MatchString(file) || ownFile(file, c.Dirs)) && !strings.Contains(file, "..") && !strings.HasPrefix(file, "-") && !strings.ContainsAny(file, "{(")
}
