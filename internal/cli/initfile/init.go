package initfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/hookrouter/hookrouter/internal/atomicfile"
	"github.com/hookrouter/hookrouter/internal/cli"
	"github.com/hookrouter/hookrouter/internal/cli/workerfiles"
)

// Cmd is hookctl init.
type Cmd struct {
	Dir    string `arg:"" optional:"" type:"existingdir" placeholder:"DIR" help:"The project; default: the current directory."`
	Output string `default:"worker.yaml" placeholder:"NAME" help:"Name of the file to write."`
	Force  bool   `help:"Overwrite an existing file."`
}

// Help describes the command.
func (c *Cmd) Help() string {
	return `The file is the starter policy for coding agents, with tests and with rules for the languages, .env files, git, build
files, CI configuration, agents' settings, containers, Terraform and Kubernetes manifests in the directory. Only denials and
questions are added. The project's own build targets are listed in comments, for a person to allow.`
}

// made is the result, and its JSON form.
type made struct {
	File     string   `json:"file"`
	Found    []string `json:"found"`
	Commands []string `json:"commands"` // of build files, in comments
}

// name matches a file name that contains no pattern characters.
var name = regexp.MustCompile(`^[A-Za-z0-9._-]+\.ya?ml$`)

// Run writes the file.
func (c *Cmd) Run(_ context.Context, e *cli.Env) error {
	if !name.MatchString(c.Output) {
		return workerfiles.InputError(fmt.Errorf("--output %q: give the name of a YAML file, such as worker.yaml", c.Output))
	}
	in := cmp.Or(c.Dir, ".") // kong does not apply a default to existingdir
	dir := os.DirFS(in)
	list, commands := found(dir), targets(dir)
	text, path := []byte(policy(c.Output, list, commands)), filepath.Join(in, c.Output)
	write := atomicfile.Create
	if c.Force {
		write = atomicfile.Write
	}
	if err := write(path, text, 0o644); errors.Is(err, fs.ErrExist) {
		return workerfiles.InputError(fmt.Errorf("%s is there already: --force writes over it, --output takes another name", path))
	} else if err != nil {
		return err
	}
	done := made{path, []string{}, append([]string{}, commands...)}
	for _, t := range list {
		done.Found = append(done.Found, t.Name)
	}
	if e.Out.Document(done) {
		return nil
	}
	e.Out.Fold(fmt.Sprintf("%s is written, for coding agents; found in this project: %s", path, names(list)))
	e.Out.Print("\nTry it:   hookctl test %s\nUse it:   hook-router up --policy %s\n", path, path)
	return nil
}
