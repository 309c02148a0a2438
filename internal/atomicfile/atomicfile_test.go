package atomicfile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hookrouter/hookrouter/internal/atomicfile"
)

func TestAFileIsReplacedAsAWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := atomicfile.Write(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 4 {
		text := strings.Repeat(fmt.Sprint(i), 64<<10)
		wg.Go(func() {
			for range 20 {
				if err := atomicfile.Write(path, []byte(text), 0o600); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 200 {
		text, err := os.ReadFile(path)
		if err != nil || len(text) != 3 && (len(text) != 64<<10 || strings.Trim(string(text), string(text[:1])) != "") {
			t.Fatalf("%d bytes, %v", len(text), err)
		}
	}
	wg.Wait()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("it leaves files behind: %v", files)
	}
}

func TestAFileThatIsThereIsNotCreated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := atomicfile.Create(path, []byte("first"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Create(path, []byte("second"), 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error is %v", err)
	}
	if text, _ := os.ReadFile(path); string(text) != "first" {
		t.Errorf("it holds %q", text)
	}
	if err := atomicfile.Write(filepath.Join(path, "x"), nil, 0o600); err == nil {
		t.Error("a file in no directory was written")
	}
}
