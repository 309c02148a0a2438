package process

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// attributes make a program the leader of a process group that dies with this process.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killMarked kills the processes whose environment has the mark: those that the program
// started, whatever group they are in, and whoever is their parent by now.
func killMarked(mark string) {
	killed := map[int]bool{}
	for again := true; again; { // they may start others meanwhile; the dead don't
		again = false
		entries, err := os.ReadDir("/proc")
		if err != nil {
			return
		}
		for _, entry := range entries {
			pid, err := strconv.Atoi(entry.Name())
			if err != nil || killed[pid] {
				continue
			}
			if killIfMarked(pid, mark) {
				killed[pid], again = true, true
			}
		}
	}
}

func killIfMarked(pid int, mark string) bool {
	p, err := os.FindProcess(pid) // before its environment is read: the id may be used again after it
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }()
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil || !bytes.Contains(append(env, 0), append([]byte(mark), 0)) {
		return false
	}
	return p.Kill() == nil
}
